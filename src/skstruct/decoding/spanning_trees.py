# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees as 0/1 rows over the edges of a graph: the cheapest, random ones, all."""

from __future__ import annotations

import numpy as np


def cheapest_trees(costs: np.ndarray, edges: np.ndarray, n_nodes: int, low=None, high=None):
    """For every row of costs the spanning tree of least total cost.

    Exact for costs of any sign: all spanning trees have the same number of edges. Among
    equally cheap edges the first is taken.

    Parameters
    ----------
    costs : array of shape (n, d)
    edges : int array of shape (d, 2)
        The nodes 0, 1, ... that each edge joins; several may join the same.
    n_nodes : int
    low, high : bool arrays of shape (1 or n, d), default=None
        Edges that must and that may be in; None for no limit.

    Returns
    -------
    trees : int8 array of shape (n, d)
    values : array of shape (n,)
        Infinite where no tree obeys the limits.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> trees, values = cheapest_trees(np.array([[3.0, -1.0, 2.0]]), triangle, 3)
    >>> trees.tolist(), values.tolist()
    ([[0, 1, 1]], [1.0])
    """
    from skstruct.decoding._compiled_spanning_trees import cheapest_tree_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    n, d = costs.shape
    trees, found = np.zeros((n, d), np.int8), np.zeros(n, bool)
    low = np.zeros((1, d), bool) if low is None else np.ascontiguousarray(low)
    high = np.ones((1, d), bool) if high is None else np.ascontiguousarray(high)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    cheapest_tree_rows(costs, edges, n_nodes, low, high, trees, found)
    return trees, np.where(found, (costs * trees).sum(axis=1), np.inf)


def are_trees(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """Which 0/1 rows are spanning trees; shape (n,).

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> are_trees(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0]]), triangle, 3).tolist()
    [True, False, False]
    """
    from skstruct.decoding._compiled_spanning_trees import tree_rows

    Z = np.ascontiguousarray(Z, dtype=np.int8)
    good = np.zeros(len(Z), bool)
    tree_rows(Z, np.ascontiguousarray(edges, dtype=np.int64), n_nodes, good)
    return good


def sample_trees(n: int, edges: np.ndarray, n_nodes: int, rng) -> np.ndarray:
    """``n`` spanning trees of a connected graph, uniform and independent; int8 (n, d).

    References
    ----------
    Wilson (1996). Generating random spanning trees more quickly than the cover time. STOC.
    """
    from skstruct.decoding._compiled_spanning_trees import random_trees

    trees = np.zeros((n, len(edges)), np.int8)
    tail, head = np.concatenate([edges, edges[:, ::-1]]).T
    order = np.argsort(tail, kind="stable")
    start = np.searchsorted(tail[order], np.arange(n_nodes + 1))
    number = np.tile(np.arange(len(edges)), 2)
    random_trees(start, head[order], number[order], trees, np.random.default_rng(rng))
    return trees


def list_trees(edges: np.ndarray, n_nodes: int, count: int) -> np.ndarray:
    """All ``count`` spanning trees of a graph that has so many; int8 (count, d).

    >>> list_trees(np.array([[0, 1], [0, 2], [1, 2]]), 3, 3).tolist()
    [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """
    from skstruct.decoding._compiled_spanning_trees import all_trees

    trees = np.zeros((count, len(edges)), np.int8)
    all_trees(np.ascontiguousarray(edges, dtype=np.int64), n_nodes, trees)
    return trees
