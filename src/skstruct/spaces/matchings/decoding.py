# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost matchings, of a graph or between two groups, for many costs at once."""

from typing import Any

import numpy as np

from skstruct.spaces.solvers.assignment import min_cost_assignments

BITS = 40  # costs are rounded to so many binary digits of the most expensive of their row


def min_cost_matchings(
    costs: np.ndarray,
    edges: np.ndarray,
    n_nodes: int,
    low: np.ndarray,
    high: np.ndarray,
    *,
    perfect: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """For every row of costs the matching of least total cost in a graph.

    Exact for costs that are multiples of 2**-40 of the largest of their row; others are
    rounded to such, far below what a sum of them is exact to.

    Parameters
    ----------
    costs : array of shape (n, d)
        Finite, of any sign.
    edges : int array of shape (d, 2)
        The nodes 0, 1, ... that each edge joins, no two edges the same.
    n_nodes : int
    low, high : bool arrays of shape (1 or n, d)
        Edges that must and that may be in.
    perfect : bool
        Whether every node must be matched.

    Returns
    -------
    matchings : int8 array of shape (n, d)
    values : array of shape (n,)
        Infinite where no matching obeys the constraints.

    References
    ----------
    Galil (1986). Efficient algorithms for finding maximum matching in graphs. ACM
    Computing Surveys 18.

    Examples
    --------
    >>> path, free = np.array([[0, 1], [1, 2], [2, 3]]), np.ones((1, 3), bool)
    >>> found, values = min_cost_matchings(
    ...     np.array([[-2.0, -3.0, -2.0]]), path, 4, ~free, free, perfect=False
    ... )
    >>> found.tolist(), values.tolist()
    ([[1, 0, 1]], [-4.0])
    """
    from skstruct.spaces.matchings._numba_blossom import heaviest_matchings, new_search

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    fixed, free, possible = hold_edges(edges, n_nodes, low, high)
    whole = _whole_numbers(costs)
    # A perfect matching has the most edges: each is worth more than all costs together.
    worth = (n_nodes + 1) << (BITS + 1) if perfect else 0
    weights = np.ascontiguousarray(np.where(free, worth - whole, 0))
    outputs = np.zeros(costs.shape, np.int8)
    heaviest_matchings(weights, edges, new_search(n_nodes), outputs)
    outputs |= fixed
    if perfect:
        possible = possible & (2 * outputs.sum(axis=1) == n_nodes)
    return outputs, np.where(possible, (costs * outputs).sum(axis=1), np.inf)


def _whole_numbers(costs: np.ndarray) -> Any:
    """Costs times a power of two, rounded; none beyond 2**BITS."""
    exponent = np.frexp(np.abs(costs).max(axis=1, initial=0.0))[1]
    return np.rint(np.ldexp(costs, BITS - exponent[:, None])).astype(np.int64)


def hold_edges(
    edges: np.ndarray, n_nodes: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What constraints leave open: a known edge takes both its nodes.

    Returns
    -------
    fixed, free : bool arrays of shape (1 or n, d)
        Edges that are in, and those that may join them.
    possible : bool array of shape (1 or n,)
        False where an edge must be in and out, or two share a node.
    """
    low, high = np.broadcast_arrays(low, high)
    if not low.any():
        return low, high, np.ones(len(low), bool)
    taken = np.zeros((len(low), n_nodes), np.int64)
    row, edge = np.nonzero(low)
    for end in edges[edge].T:
        np.add.at(taken, (row, end), 1)
    possible = (taken <= 1).all(axis=1) & ~(low & ~high).any(axis=1)
    open_ = (taken[:, edges[:, 0]] == 0) & (taken[:, edges[:, 1]] == 0)
    return low, high & open_, possible


def min_cost_pairings(
    costs: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    shape: tuple[int, int],
    low: np.ndarray,
    high: np.ndarray,
    *,
    perfect: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """For every row of costs the minimum-cost matching between two groups.

    Edge e joins number ``rows[e]`` of the first group and ``columns[e]`` of the second. A
    matching that need not be perfect is an assignment in which not to be matched costs
    nothing: all costs above zero become zero, and what costs zero is left out.

    Parameters
    ----------
    costs, low, high, perfect
        As in :func:`min_cost_matchings`.
    rows, columns : int arrays of shape (d,)
    shape : how many are in each group; the same number, where perfect

    Returns
    -------
    matchings : int8 array of shape (n, d)
    values : array of shape (n,)

    Examples
    --------
    >>> at, free = np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.ones((1, 4), bool)
    >>> costs = np.array([[-3.0, -2.0, -2.0, 1.0]])
    >>> min_cost_pairings(costs, *at, (2, 2), ~free, free, perfect=False)
    (array([[0, 1, 1, 0]], dtype=int8), array([-4.]))
    >>> min_cost_pairings(costs, *at, (2, 2), free[:, :1] > np.arange(4), free, perfect=True)
    (array([[1, 0, 0, 1]], dtype=int8), array([-2.]))
    """
    costs, size = np.asarray(costs, dtype=np.float64), max(shape)
    edges = np.column_stack([rows, columns + shape[0]])
    fixed, free, possible = hold_edges(edges, sum(shape), low, high)
    square = np.zeros((len(costs), size, size))
    if perfect:
        square[:, rows, columns] = costs
        allowed = np.zeros((len(free), size, size), bool)
        allowed[:, rows, columns] = free | fixed
        chosen, values = min_cost_assignments(square, allowed)
        possible = possible & np.isfinite(values)
    else:
        square[:, rows, columns] = np.where(free, np.minimum(costs, 0.0), 0.0)
        chosen, _ = min_cost_assignments(square)
    taken = chosen[:, rows] == columns
    if not perfect:
        taken &= square[:, rows, columns] < 0
    outputs = (taken | fixed).astype(np.int8)
    return outputs, np.where(possible, (costs * outputs).sum(axis=1), np.inf)
