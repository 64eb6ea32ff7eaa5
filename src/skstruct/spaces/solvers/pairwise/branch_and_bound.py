# SPDX-License-Identifier: BSD-3-Clause
"""Enumeration by Gray code where labels are few; branch and bound by roof duality."""

from typing import Any

import numpy as np

from skstruct._arrays.stopping import Limit
from skstruct.spaces.solvers.pairwise.forests import neighbors
from skstruct.spaces.solvers.pairwise.roof_duality import evaluate_points, fold, roof_dual
from skstruct.tolerances import TIE

MOST = 24  # labels: beyond, a row takes seconds
LANES = 16  # rows that go side by side
MOST_SIDE_BY_SIDE = 10  # labels: beyond, one row alone fills the lanes
ROWS_AT_ONCE = 256  # rows of so many labels that are worked on together


def best_by_enumeration(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost labels for any graph, in time 2^n: for up to a dozen labels.

    Of labels that cost the same those without the highest label in which they differ.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)

    Returns
    -------
    outputs : int8 array of shape (rows, n)
    values : array of shape (rows,)

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> best_by_enumeration(np.array([[-1.0, -2.0, -1.0]]), np.array([[2.0, 2.0, 2.0]]), triangle)
    (array([[0, 1, 0]], dtype=int8), array([-2.]))
    """
    n = node_costs.shape[1]
    if n > MOST:
        raise ValueError(f"All sets of {n} labels are too many to try; {MOST} labels at most.")
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    outputs = _by_last_labels(*costs, edges) if n > MOST_SIDE_BY_SIDE else _walk(*costs, edges)
    # Evaluated anew: values on the way have gathered the rounding of all steps.
    return outputs, evaluate_points(outputs, *costs, edges)


def _walk(node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray) -> Any:
    from skstruct.spaces.solvers.pairwise._numba_enumeration import best_sets

    if not node_costs.shape[1]:
        return np.zeros(node_costs.shape, np.int8)
    return best_sets(node_costs, edge_costs, edges)


def _by_last_labels(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    """The same with the last labels fixed in all ways: one row is enough to fill the lanes.

    It is done so for any number of rows: sums in another order could settle a tie in another
    way.
    """
    outputs = np.empty(node_costs.shape, np.int8)
    for first in range(0, len(outputs), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        own = edge_costs if len(edge_costs) == 1 else edge_costs[part]
        outputs[part] = _block_by_last_labels(node_costs[part], own, edges)
    return outputs


def _block_by_last_labels(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    rows, n = node_costs.shape
    n_fixed = LANES.bit_length() - 1
    ways = np.zeros((LANES, n), bool)
    ways[:, n - n_fixed :] = np.arange(LANES)[:, None] >> np.arange(n_fixed) & 1
    ways, known = np.tile(ways, (rows, 1)), np.arange(n) >= n - n_fixed
    pairs = np.repeat(edge_costs, LANES, axis=0) if len(edge_costs) > 1 else edge_costs
    nodes = np.repeat(node_costs, LANES, axis=0)
    nodes, pairs, shift = fold(nodes, pairs, edges, ways, ways | ~known)
    left = ~known[edges].any(axis=1)
    heads = np.ascontiguousarray(nodes[:, ~known]), np.ascontiguousarray(pairs[:, left])
    found = _walk(*heads, edges[left])
    values = evaluate_points(found, *heads, edges[left]) + shift
    best = values.reshape(rows, LANES).argmin(axis=1) + LANES * np.arange(rows)
    return np.hstack([found[best], ways[best][:, known]]).astype(np.int8)


def all_pairs(k: int) -> np.ndarray:
    """The edges of the full graph of k labels, (k (k - 1) / 2, 2)."""
    return np.column_stack(np.triu_indices(k, 1))


def open_cores(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, halves: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs of the k labels of one half in every row, where all others are settled.

    Returns
    -------
    core : int array of shape (rows, k)
        Which labels they are.
    node_costs : array of shape (rows, k)
    edge_costs : array of shape (rows, k (k - 1) / 2)
        Of ``all_pairs(k)``.
    """
    from skstruct.spaces.solvers.pairwise._numba_enumeration import core_costs

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    start, other, edge, _ = neighbors(node_costs.shape[1], edges)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return core_costs(*costs, np.ascontiguousarray(halves), k, start, other, edge)


def try_cores(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, halves: np.ndarray, k: int
) -> np.ndarray:
    """Best labels of rows with k labels of one half: all ways to set these.

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> costs = np.array([[-1.0, -2.0, -1.0]]), np.array([[2.0, 2.0, 2.0]])
    >>> try_cores(*costs, triangle, np.array([[0.5, 0.5, 0.0]]), 2)
    array([[0, 1, 0]], dtype=int8)
    """
    core, nodes, pairs = open_cores(node_costs, edge_costs, edges, halves, k)
    outputs = halves.astype(np.int8)
    found, _ = best_by_enumeration(nodes, pairs, all_pairs(k))
    np.put_along_axis(outputs, core, found, axis=1)
    return outputs


PARTS_AT_ONCE = 512  # parts that are bounded together
MOST_TRIED_OUT = 10  # open labels that are tried in all ways


def best_by_branching(
    node_cost: np.ndarray, edge_cost: np.ndarray, output: np.ndarray, limit: Limit | None = None
) -> tuple[np.ndarray, float]:
    """Best labels of one row of a full graph, from labels that are good already.

    A part holds some labels in and some out. It is dropped when its bound says that nothing
    in it is better than the best labels found, settled where roof duality settles labels,
    tried in all ways when few labels are open, and else split at the open label with most
    at stake.

    Parameters
    ----------
    node_cost : array of shape (k,)
    edge_cost : array of shape (k (k - 1) / 2,)
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    output : int8 array of shape (k,)

    Returns
    -------
    output : int8 array of shape (k,)
    bound : float
        No labels cost less: the cost of the output, unless a limit was met.

    Examples
    --------
    >>> costs = np.array([-1.0, -2.0, -1.0]), np.array([2.0, 0.5, 2.0])
    >>> best_by_branching(*costs, np.zeros(3, np.int8))
    (array([0, 1, 0], dtype=int8), -2.0)
    """
    k = len(node_cost)
    edges, node_cost, edge_cost = all_pairs(k), node_cost[None], edge_cost[None]
    slack = TIE * (np.abs(node_cost).sum() + np.abs(edge_cost).sum())
    value = evaluate_points(output[None], node_cost, edge_cost, edges)[0]
    limit = Limit() if limit is None else limit
    # Parts, where 1 is in and 0 is out, and what nothing in each of them is better than.
    waiting = [(np.full((1, k), 0.5), np.array([-np.inf]))]
    while waiting:
        if limit.is_over:
            return output, float(min([value, *(below.min() for _, below in waiting)]))
        parts, below = waiting.pop()
        at_once = min(PARTS_AT_ONCE, limit.nodes())
        if len(parts) > at_once:
            waiting.append((parts[at_once:], below[at_once:]))
            parts, below = parts[:at_once], below[:at_once]
        limit.take(len(parts))
        costs = np.repeat(node_cost, len(parts), axis=0), edge_cost, edges
        parts, at_stake, bounds = _bounded(parts, *costs)
        bounds = np.maximum(bounds, below)
        kept = bounds < value - slack
        parts, at_stake, bounds = parts[kept], at_stake[kept], bounds[kept]
        n_open = (parts == 0.5).sum(axis=1)
        for size in np.unique(n_open[n_open <= MOST_TRIED_OUT]):
            leaves = parts[n_open == size]
            found = try_cores(costs[0][: len(leaves)], edge_cost, edges, leaves, int(size))
            totals = evaluate_points(found, costs[0][: len(leaves)], edge_cost, edges)
            if totals.min() < value:
                output, value = found[totals.argmin()], totals.min()
        large = n_open > MOST_TRIED_OUT
        if large.any():
            waiting.append((_split(parts[large], at_stake[large]), np.repeat(bounds[large], 2)))
    return output, float(value)


def _bounded(
    parts: np.ndarray, node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parts with the labels that roof duality settles, what is at stake for labels, bounds."""
    low, high = parts == 1.0, parts > 0.0
    nodes, pairs, shift = fold(node_costs, edge_costs, edges, low, high)
    halves, bounds = roof_dual(nodes, pairs, edges)
    parts = np.where(parts == 0.5, halves, parts)
    at_stake = np.zeros(parts.shape)
    for end in edges.T:
        np.add.at(at_stake.T, end, np.abs(pairs).T)
    return parts, np.where(parts == 0.5, at_stake, -1.0), bounds + shift


def _split(parts: np.ndarray, at_stake: np.ndarray) -> np.ndarray:
    """Every part twice, with the label of most at stake out and in."""
    split = np.repeat(parts, 2, axis=0)
    label = np.repeat(at_stake.argmax(axis=1), 2)
    split[np.arange(len(split)), label] = np.arange(len(split)) % 2
    return split
