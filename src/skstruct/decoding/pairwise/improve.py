# SPDX-License-Identifier: BSD-3-Clause
"""Labels that no change of one label, or of two neighbors, makes cheaper."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.graphs import neighbors
from skstruct.decoding.pairwise.roof import price_points


def improve(node_costs, edge_costs, edges, starts, open_=None) -> np.ndarray:
    """Steepest descent from given labels.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)
    starts : 0/1 array of shape (rows, n)
    open_ : bool array of shape (rows, n), default=None
        Labels that may be changed; all when None.

    Returns
    -------
    outputs : int8 array of shape (rows, n)

    Examples
    --------
    >>> costs = np.array([[1.0, 1.0, 0.5]]), np.array([[-3.0, 1.0]]), np.array([[0, 1], [1, 2]])
    >>> improve(*costs, np.array([[0, 0, 1]]))
    array([[1, 1, 0]], dtype=int8)
    """
    from skstruct.decoding.pairwise._compiled_cores import descend

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    outputs = np.array(starts, dtype=np.int8, order="C")
    open_ = np.ones(outputs.shape, bool) if open_ is None else np.ascontiguousarray(open_)
    start, other, edge, _ = neighbors(outputs.shape[1], edges)
    descend(*costs, edges, start, other, edge, open_, outputs)
    return outputs


def round_halves(node_costs, edge_costs, edges, halves) -> np.ndarray:
    """0/1 labels from half-integral ones: descents from three starts, the best of them.

    Labels of one half start at 0, at 1, and where they would be best if all labels next to
    them were as they are, halves included.
    """
    open_ = halves == 0.5
    i, j = np.asarray(edges).T
    pull = np.array(node_costs, dtype=float)
    for end, across in ((i, j), (j, i)):
        np.add.at(pull.T, end, (edge_costs * halves[:, across]).T)
    guesses = [np.zeros(halves.shape), np.ones(halves.shape), pull < 0]
    costs = node_costs, edge_costs, edges
    found = [improve(*costs, np.where(open_, guess, halves), open_) for guess in guesses]
    values = np.array([price_points(outputs, *costs) for outputs in found])
    return np.array(found)[values.argmin(axis=0), np.arange(len(halves))]
