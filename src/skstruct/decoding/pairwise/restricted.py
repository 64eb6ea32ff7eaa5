# SPDX-License-Identifier: BSD-3-Clause
"""Least cost of labels and of pairs of labels, where some labels are known."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.held import fold
from skstruct.decoding.pairwise.solve import minimize, relax


def minimize_held(node_costs, edge_costs, edges, low, high, *, exact=False):
    """As ``minimize``, with some labels known; values are infinite where they contradict.

    Parameters
    ----------
    node_costs, edge_costs, edges, exact
        As in ``minimize``.
    low, high : bool arrays of shape (rows or 1, n)
        Labels that must and that may be in.

    Examples
    --------
    >>> costs = np.array([[3.0, 5.0]]), np.array([[-6.0]]), np.array([[0, 1]])
    >>> minimize_held(*costs, np.array([[True, False]]), np.array([[True, True]]))
    (array([[1, 1]], dtype=int8), array([2.]), array([2.]))
    """
    nodes, pairs, shift = fold(node_costs, edge_costs, edges, low, high)
    outputs, values, bounds = minimize(nodes, pairs, edges, exact=exact)
    outputs = (outputs & high | low).astype(np.int8)
    shift = np.where((low & ~high).any(axis=1), np.inf, shift)
    return outputs, values + shift, bounds + shift


def relax_held(node_costs, edge_costs, edges, low, high) -> np.ndarray:
    """As ``relax``, with some labels known and without contradiction."""
    nodes, pairs, _ = fold(node_costs, edge_costs, edges, low, high)
    return np.clip(relax(nodes, pairs, edges), low, high)
