# SPDX-License-Identifier: BSD-3-Clause
"""Labels that are known: their costs go to the labels next to them."""

from __future__ import annotations

import numpy as np


def fold(node_costs, edge_costs, edges, low, high):
    """The same costs for the labels that are not known, as node and edge costs and a shift.

    An edge to a label that is in is a cost of the label at its other end; an edge to one
    that is out costs nothing. Known labels then cost nothing and have no edges, whatever a
    solver makes of them.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows or 1, E)
    edges : int array of shape (E, 2)
    low, high : bool arrays of shape (rows or 1, n)
        Labels that must and that may be in.

    Returns
    -------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows or 1, E)
    shift : array of shape (rows,)
        What the known labels cost among themselves.

    Examples
    --------
    >>> costs = np.array([[3.0, 5.0]]), np.array([[-1.0]]), np.array([[0, 1]])
    >>> fold(*costs, np.array([[True, False]]), np.array([[True, True]]))
    (array([[0., 4.]]), array([[0.]]), array([3.]))
    """
    from skstruct.decoding.pairwise._compiled_held import fold as compiled

    masks = max(len(low), len(high)), node_costs.shape[1]
    low, high = (np.ascontiguousarray(np.broadcast_to(mask, masks)) for mask in (low, high))
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return compiled(*costs, np.ascontiguousarray(edges, dtype=np.int64), low, high)
