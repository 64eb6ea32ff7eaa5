# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees, forests and connected graphs as 0/1 rows over the edges of a graph."""

from typing import Any

import numpy as np


def min_cost_trees(
    costs: np.ndarray,
    edges: np.ndarray,
    n_nodes: int,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
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
        Infinite where no tree obeys the constraints.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> trees, values = min_cost_trees(np.array([[3.0, -1.0, 2.0]]), triangle, 3)
    >>> trees.tolist(), values.tolist()
    ([[0, 1, 1]], [1.0])
    """
    from skstruct.spaces.edge_sets._numba_spanning_trees import min_cost_tree_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    n, d = costs.shape
    trees, found = np.zeros((n, d), np.int8), np.zeros(n, bool)
    low = np.zeros((1, d), bool) if low is None else np.ascontiguousarray(low)
    high = np.ones((1, d), bool) if high is None else np.ascontiguousarray(high)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    min_cost_tree_rows(costs, edges, n_nodes, low, high, trees, found)
    return trees, np.where(found, (costs * trees).sum(axis=1), np.inf)


def are_trees(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """Which 0/1 rows are spanning trees; shape (n,).

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> are_trees(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0]]), triangle, 3).tolist()
    [True, False, False]
    """
    from skstruct.spaces.edge_sets._numba_spanning_trees import tree_rows

    Z = np.ascontiguousarray(Z, dtype=np.int8)
    good = np.zeros(len(Z), bool)
    tree_rows(Z, np.ascontiguousarray(edges, dtype=np.int64), n_nodes, good)
    return good


def sample_trees(n: int, edges: np.ndarray, n_nodes: int, rng: Any) -> np.ndarray:
    """``n`` spanning trees of a connected graph, uniform and independent; int8 (n, d).

    References
    ----------
    Wilson (1996). Generating random spanning trees more quickly than the cover time. STOC.
    """
    from skstruct.spaces.edge_sets._numba_spanning_trees import random_trees

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
    from skstruct.spaces.edge_sets._numba_spanning_trees import all_trees

    trees = np.zeros((count, len(edges)), np.int8)
    all_trees(np.ascontiguousarray(edges, dtype=np.int64), n_nodes, trees)
    return trees


def count_components(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """How many components each row of edges leaves; shape (n,).

    >>> count_components(np.array([[1, 0], [1, 1]]), np.array([[0, 1], [1, 2]]), 4).tolist()
    [3, 2]
    """
    from skstruct.spaces.edge_sets._numba_spanning_trees import count_parts

    parts = np.empty(len(Z), np.int64)
    count_parts(np.ascontiguousarray(Z), np.ascontiguousarray(edges), n_nodes, parts)
    return parts


def are_bipartite(Z: np.ndarray, edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """Which rows of edges close no cycle of odd length; shape (n,).

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> are_bipartite(np.array([[1, 1, 0], [1, 1, 1]]), triangle, 3).tolist()
    [True, False]
    """
    from skstruct.spaces.edge_sets._numba_spanning_trees import two_colorable

    even = np.empty(len(Z), bool)
    two_colorable(np.ascontiguousarray(Z), np.ascontiguousarray(edges), n_nodes, even)
    return even


def min_cost_forests(
    costs: np.ndarray,
    edges: np.ndarray,
    n_nodes: int,
    low: np.ndarray,
    high: np.ndarray,
    smallest: int = 0,
    largest: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the edges without cycle of least total cost, exactly.

    Forests are the independent sets of a matroid, of which Kruskal's greedy order finds the
    one of least cost of every size.

    Parameters
    ----------
    costs : array of shape (n, d)
    edges : int array of shape (d, 2)
    low, high : bool arrays of shape (1 or n, d)
        Edges that must and that may be in.
    smallest, largest : int
        Constraints on the number of edges.

    Returns
    -------
    outputs : int8 array of shape (n, d)
    values : array of shape (n,)
        Infinite where the constraints leave nothing.

    Examples
    --------
    >>> triangle, free = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros((1, 3), bool)
    >>> outputs, values = min_cost_forests(np.array([[-3.0, -1.0, -2.0]]), triangle, 3, free, ~free)
    >>> outputs.tolist(), values.tolist()
    ([[1, 0, 1]], [-5.0])
    """
    largest = len(edges) if largest is None else largest
    return _grown(costs, edges, n_nodes, low, high, True, False, smallest, largest)


def min_cost_connected(
    costs: np.ndarray, edges: np.ndarray, n_nodes: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the edges of least total cost that connect all nodes, exactly.

    All edges of negative cost are worth taking; what they leave apart is joined by the
    minimum-cost tree over the components. Parameters and results as of :func:`min_cost_forests`.

    >>> triangle, free = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros((1, 3), bool)
    >>> outputs, values = min_cost_connected(np.array([[-3.0, 5.0, 2.0]]), triangle, 3, free, ~free)
    >>> outputs.tolist(), values.tolist()
    ([[1, 0, 1]], [-1.0])
    """
    return _grown(costs, edges, n_nodes, low, high, False, True, 0, len(edges))


def _grown(
    costs: np.ndarray,
    edges: np.ndarray,
    n_nodes: int,
    low: np.ndarray,
    high: np.ndarray,
    acyclic: bool,
    connect: bool,
    smallest: int,
    largest: int,
) -> tuple[np.ndarray, np.ndarray]:
    from skstruct.spaces.edge_sets._numba_spanning_trees import grow_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    order = np.argsort(np.where(low, -np.inf, costs), axis=1, kind="stable")
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    outputs, found = np.zeros(costs.shape, np.int8), np.empty(len(costs), bool)
    masks = np.ascontiguousarray(edges, dtype=np.int64), n_nodes, low, high
    grow_rows(costs, order, *masks, acyclic, connect, smallest, largest, outputs, found)
    return outputs, np.where(found, (costs * outputs).sum(axis=1), np.inf)
