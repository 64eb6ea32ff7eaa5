# SPDX-License-Identifier: BSD-3-Clause
"""Forests and connected graphs as 0/1 rows over edges: which rows they are, and the cheapest."""

from __future__ import annotations

import numpy as np


def count_components(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """How many components each row of edges leaves; shape (n,).

    >>> count_components(np.array([[1, 0], [1, 1]]), np.array([[0, 1], [1, 2]]), 4).tolist()
    [3, 2]
    """
    from skstruct.decoding._compiled_components import count_parts

    parts = np.empty(len(Z), np.int64)
    count_parts(np.ascontiguousarray(Z), np.ascontiguousarray(edges), n_nodes, parts)
    return parts


def are_bipartite(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """Which rows of edges close no cycle of odd length; shape (n,).

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> are_bipartite(np.array([[1, 1, 0], [1, 1, 1]]), triangle, 3).tolist()
    [True, False]
    """
    from skstruct.decoding._compiled_components import two_colorable

    even = np.empty(len(Z), bool)
    two_colorable(np.ascontiguousarray(Z), np.ascontiguousarray(edges), n_nodes, even)
    return even


def cheapest_forests(costs, edges, n_nodes, low, high, smallest=0, largest=None):
    """For every row the edges without cycle of least total cost, exactly.

    Forests are the independent sets of a matroid, of which Kruskal's greedy order finds the
    cheapest of every size.

    Parameters
    ----------
    costs : array of shape (n, d)
    edges : int array of shape (d, 2)
    low, high : bool arrays of shape (1 or n, d)
        Edges that must and that may be in.
    smallest, largest : int
        Limits on the number of edges.

    Returns
    -------
    outputs : int8 array of shape (n, d)
    values : array of shape (n,)
        Infinite where the limits leave nothing.

    Examples
    --------
    >>> triangle, free = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros((1, 3), bool)
    >>> outputs, values = cheapest_forests(np.array([[-3.0, -1.0, -2.0]]), triangle, 3, free, ~free)
    >>> outputs.tolist(), values.tolist()
    ([[1, 0, 1]], [-5.0])
    """
    largest = len(edges) if largest is None else largest
    return _grown(costs, edges, n_nodes, low, high, True, False, smallest, largest)


def cheapest_connected(costs, edges, n_nodes, low, high):
    """For every row the edges of least total cost that connect all nodes, exactly.

    All edges of negative cost are worth taking; what they leave apart is joined by the
    cheapest tree over the components. Parameters and results as of :func:`cheapest_forests`.

    >>> triangle, free = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros((1, 3), bool)
    >>> outputs, values = cheapest_connected(np.array([[-3.0, 5.0, 2.0]]), triangle, 3, free, ~free)
    >>> outputs.tolist(), values.tolist()
    ([[1, 0, 1]], [-1.0])
    """
    return _grown(costs, edges, n_nodes, low, high, False, True, 0, len(edges))


def _grown(costs, edges, n_nodes, low, high, acyclic, connect, smallest, largest):
    from skstruct.decoding._compiled_components import grow_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    order = np.argsort(np.where(low, -np.inf, costs), axis=1, kind="stable")
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    outputs, found = np.zeros(costs.shape, np.int8), np.empty(len(costs), bool)
    masks = np.ascontiguousarray(edges, dtype=np.int64), n_nodes, low, high
    grow_rows(costs, order, *masks, acyclic, connect, smallest, largest, outputs, found)
    return outputs, np.where(found, (costs * outputs).sum(axis=1), np.inf)
