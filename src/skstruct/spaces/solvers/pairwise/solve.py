# SPDX-License-Identifier: BSD-3-Clause
"""Least cost of labels and of pairs of labels: which solver for which graph."""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.exceptions import UndecidableError
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.pairwise.branch_and_bound import (
    all_pairs,
    best_by_branching,
    best_by_enumeration,
    open_cores,
    try_cores,
)
from skstruct.spaces.solvers.pairwise.forests import best_on_forest, best_on_own_forests, is_forest
from skstruct.spaces.solvers.pairwise.roof_duality import (
    best_halves,
    evaluate_points,
    fold,
    roof_dual,
    round_halves,
)
from skstruct.tolerances import ROUNDING_GAP


def local_polytope(n: int, edges: np.ndarray) -> BinaryProgram:
    """Labels y and products z with z <= y_i, z <= y_j and y_i + y_j <= 1 + z for every edge.

    >>> program = local_polytope(2, np.array([[0, 1]]))
    >>> program.solve(np.array([1.0, 1.0, -3.0]))
    (array([1, 1, 1], dtype=int8), -1.0)
    """
    count = len(edges)
    i, j = np.asarray(edges).T
    e, one = np.arange(count), np.ones(count)
    row = np.concatenate([e, e, count + e, count + e, 2 * count + e, 2 * count + e, 2 * count + e])
    column = np.concatenate([n + e, i, n + e, j, i, j, n + e])
    value = np.concatenate([one, -one, one, -one, one, one, -one])
    system = sparse.csr_array((value, (row, column)), shape=(3 * count, n + count))
    limits = np.concatenate([np.zeros(2 * count), one])
    return BinaryProgram(system, limits, sparse.csr_array((0, n + count)), np.zeros(0))


def best_by_program(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, halves: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Best labels and lower bounds of every row, with labels of 0 and 1 in ``halves`` kept."""
    rows, n = node_costs.shape
    program = local_polytope(n, edges)
    outputs, bounds = np.empty((rows, n), np.int8), np.empty(rows)
    free = np.zeros(len(edges))
    for row in range(rows):
        cost = np.concatenate([node_costs[row], edge_costs[min(row, len(edge_costs) - 1)]])
        low = np.concatenate([halves[row] == 1.0, free])
        high = np.concatenate([halves[row] > 0.0, free + 1.0])
        point, bounds[row] = program.solve(cost, low, high)
        outputs[row] = point[:n]
    return outputs, bounds


ENUMERATED_LABELS = 9  # labels: all sets of so many are tried in less time than a minimum cut takes
CORE = 14  # labels left open by roof duality that are tried in all ways
BRANCHED = 64  # labels left open that branch and bound of our own is for: beyond, HiGHS


def is_exact(n: int, edges: np.ndarray) -> bool:
    """Whether ``minimize`` finds the best labels without being asked to, whatever the costs."""
    return n <= CORE or is_forest(n, edges)


def minimize(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, *, exact: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""0/1 labels of least :math:`\sum_i a_i y_i + \sum_e w_e y_i y_j`, row by row.

    A forest is solved by max-product, a graph of few labels by trying all sets. Both settle
    ties by index: of labels that cost the same those are taken that are without the highest
    label in which they differ. Else rows whose edges of some cost are a forest are solved as
    such. For the others roof duality gives a lower bound and settles some labels, all of them
    where no edge costs more than zero; those left open are tried in all ways when they are few,
    and improved step by step when not.

    The solver of a row depends on the graph and on that row alone, and so do its ties.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)
    exact : bool, default=False
        Whether rows with a gap left are solved by branch and bound, within the limits of the
        settings.

    Returns
    -------
    outputs : int8 array of shape (rows, n)
    values : array of shape (rows,)
    bounds : array of shape (rows,)
        No labels cost less; equal to ``values`` where these are proven to be the least.

    Examples
    --------
    >>> square = np.array([[0, 1], [0, 3], [1, 2], [2, 3]])
    >>> minimize(np.array([[-1.0, -1.5, -1.0, 0.5]]), np.array([[2.0, -1.0, 2.0, -1.0]]), square)
    (array([[1, 0, 1, 1]], dtype=int8), array([-3.5]), array([-3.5]))
    """
    n = node_costs.shape[1]
    if is_forest(n, edges):
        outputs, values = best_on_forest(node_costs, edge_costs, edges)
        return outputs, values, values
    if n <= ENUMERATED_LABELS:
        outputs, values = best_by_enumeration(node_costs, edge_costs, edges)
        return outputs, values, values
    outputs, values, found = best_on_own_forests(node_costs, edge_costs, edges)
    bounds, rows = values.copy(), np.flatnonzero(~found)
    if len(rows):
        own = node_costs[rows], *without_zeros(_rows(edge_costs, rows), edges)
        outputs[rows], values[rows], bounds[rows] = _from_halves(*own, exact)
    return outputs, values, bounds


def relax(node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Labels of least cost in the local polytope, (rows, n) of 0, 1/2 and 1."""
    if is_forest(node_costs.shape[1], edges):
        return best_on_forest(node_costs, edge_costs, edges)[0]
    outputs, _, found = best_on_own_forests(node_costs, edge_costs, edges)
    points, rows = outputs.astype(float), np.flatnonzero(~found)
    if len(rows):
        own = node_costs[rows], *without_zeros(_rows(edge_costs, rows), edges)
        points[rows] = best_halves(*own)
    return points


def without_zeros(edge_costs: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges that cost something in some row, with their costs."""
    used = edge_costs.any(axis=0)
    return (edge_costs, edges) if used.all() else (edge_costs[:, used], edges[used])


def _from_halves(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, exact: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From roof duality to 0/1 labels."""
    halves, bounds = roof_dual(node_costs, edge_costs, edges)
    outputs, values = halves.astype(np.int8), bounds.copy()
    n_open = (halves == 0.5).sum(axis=1)
    if not n_open.any():
        return outputs, values, bounds
    for k in np.unique(n_open[n_open > 0]):
        rows = np.flatnonzero(n_open == k)
        costs = node_costs[rows], _rows(edge_costs, rows), edges
        few = k <= CORE
        solve = partial(try_cores, k=int(k)) if few else round_halves
        outputs[rows] = solve(*costs, halves[rows])
        values[rows] = evaluate_points(outputs[rows], *costs)
        if few:  # the settled labels are persistent: nothing is better
            bounds[rows] = values[rows]
    bounds = np.minimum(bounds, values)
    if exact:
        _close(node_costs, edge_costs, edges, halves, outputs, values, bounds)
    return outputs, values, bounds


def _rows(edge_costs: np.ndarray, rows: Any) -> np.ndarray:
    return edge_costs if len(edge_costs) == 1 else edge_costs[rows]


def _close(
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    halves: np.ndarray,
    outputs: np.ndarray,
    values: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Solve the rows with a gap by branch and bound, in place."""
    size = np.abs(node_costs).sum(axis=1) + np.abs(edge_costs).sum(axis=1)
    for row in np.flatnonzero(values - bounds > ROUNDING_GAP * size):
        one = slice(row, row + 1)
        costs = node_costs[one], _rows(edge_costs, one), edges
        k = int((halves[row] == 0.5).sum())
        lower, slack = bounds[row], ROUNDING_GAP * size[row]
        if k <= BRANCHED:
            core, nodes, pairs = open_cores(*costs, halves[one], k)
            found, of_core = best_by_branching(nodes[0], pairs[0], outputs[row, core[0]])
            outputs[row, core[0]] = found
            gap = evaluate_points(found[None], nodes, pairs, all_pairs(k))[0] - of_core
            values[one] = evaluate_points(outputs[one], *costs)
            lower = values[row] - gap - slack if gap > 0 else values[row]
        else:
            try:
                points, (lower,) = best_by_program(*costs, halves[one])
            except UndecidableError:  # the limits are met: labels and bound are what they were
                continue
            point_values = evaluate_points(points, *costs)
            if point_values[0] < values[row]:
                outputs[one], values[one] = points, point_values
        bounds[row] = min(max(bounds[row], lower), values[row])


def minimize_fixed(
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    exact: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    >>> minimize_fixed(*costs, np.array([[True, False]]), np.array([[True, True]]))
    (array([[1, 1]], dtype=int8), array([2.]), array([2.]))
    """
    nodes, pairs, shift = fold(node_costs, edge_costs, edges, low, high)
    outputs, values, bounds = minimize(nodes, pairs, edges, exact=exact)
    outputs = (outputs & high | low).astype(np.int8)
    shift = np.where((low & ~high).any(axis=1), np.inf, shift)
    return outputs, values + shift, bounds + shift


def relax_fixed(
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """As ``relax``, with some labels known and without contradiction."""
    nodes, pairs, _ = fold(node_costs, edge_costs, edges, low, high)
    return np.clip(relax(nodes, pairs, edges), low, high)
