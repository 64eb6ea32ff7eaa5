# SPDX-License-Identifier: BSD-3-Clause
"""Paths of least cost, row by row of a batch: which way each row is decided.

Without cycles in the graph, everything is dynamic programming in the order of the nodes. With
cycles, rows of costs from zero on go to Dijkstra, others to Bellman and Ford. Rows with a cycle of
negative cost in the way, or whose path misses what it must visit, are NP-hard: few nodes are
searched by tables over sets of nodes [1]_, many by integer programs.

References
----------
.. [1] M. Held and R. M. Karp (1962), "A dynamic programming approach to sequencing problems".
"""

from typing import Any

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.paths.arcs import ArcTable
from skstruct.spaces.paths.constraints import PathConstraints
from skstruct.spaces.paths.counting import state_graph
from skstruct.spaces.paths.integer_programs import HardPath, min_simple_path

MOST_NODES = 12  # for tables over sets of nodes: 2**12 x 12 entries, 400 kB

Decoding = tuple[np.ndarray, np.ndarray, np.ndarray]


def decode(
    table: ArcTable, costs: np.ndarray, limits: PathConstraints, hurried: bool = False
) -> Decoding:
    """Outputs (n, d), values, infinite where there is no path, and bounds (n,).

    Parameters
    ----------
    costs : array of shape (n, d)
    limits : PathConstraints with ends
    hurried : bool, default=False
        Whether rows of integer programs are answered by the best path for costs that are not
        negative, where that is within the constraints; the bound is then the sum of those that are.
    """
    if table.order is None:
        return _cyclic(table, costs, limits, hurried)
    outputs, values = k_onward(table, costs, limits, None)
    return outputs, values, values


def closed_costs(costs: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Costs, infinite where arcs are closed; C-contiguous."""
    if usable.all():
        return np.ascontiguousarray(costs)
    return np.where(usable, costs, np.inf)


def _on_each(array: np.ndarray, n: int) -> np.ndarray:
    """Numbers (1 or n,) for each of n rows."""
    return np.ascontiguousarray(np.broadcast_to(array, (n,)), dtype=np.int64)


def ends_open(limits: PathConstraints, n: int) -> np.ndarray:
    """Whether both ends may be visited; shape (n,)."""
    row = np.minimum(np.arange(n), len(limits.open) - 1)
    source, target = _on_each(limits.source, n), _on_each(limits.target, n)
    return np.asarray(limits.open[row, source] & limits.open[row, target])


# ---------------------------------------------------------------------- without cycles


def k_onward(
    table: ArcTable, costs: np.ndarray, limits: PathConstraints, k: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The best paths (n, d) with values (n,), or the k best: (n, k, d) and (n, k)."""
    n, d = costs.shape
    closed = closed_costs(costs, limits.usable_onward(table))
    possible = np.broadcast_to(ends_open(limits, n) & limits.spans(table), (n,))
    if not limits.is_short:
        ends = table.position[limits.source], table.position[limits.target]
        outputs, values = table.onward.best(closed, k, *ends)
    else:
        many = () if k is None else (k,)
        outputs, values = np.zeros((n, *many, d), np.int8), np.full((n, *many), np.inf)
        settings = (limits.source, limits.target, limits.longest)
        kinds = np.column_stack([_on_each(setting, n) for setting in settings])
        for kind in np.unique(kinds, axis=0):
            rows = np.flatnonzero((kinds == kind).all(axis=1))
            part = closed[rows]
            graph = state_graph(table, np.isfinite(part).any(axis=0), *map(int, kind))
            if graph is not None:
                padded = np.column_stack([part, np.zeros(len(part))])  # steps that take no arc
                found, values[rows] = graph.best(padded, k)
                outputs[rows] = found[..., :d]
    if not possible.all():
        outputs[~possible], values[~possible] = 0, np.inf
    return outputs, values


# ---------------------------------------------------------------------- with cycles


def _cyclic(table: ArcTable, costs: np.ndarray, limits: PathConstraints, hurried: bool) -> Decoding:
    n = len(costs)
    closed = closed_costs(costs, limits.usable(table))
    source, target = _on_each(limits.source, n), _on_each(limits.target, n)
    outputs, values, hard = _without_limits(table, closed, source, target)
    lost = ~ends_open(limits, n)
    met = np.ones(n, bool)
    if not limits.only_closes:
        met = limits.allow(outputs, visited_nodes(table, outputs, source, target))
    lost |= ~met & (source == target)  # a path without arcs is the only one
    hard |= np.isfinite(values) & ~met
    outputs[lost | hard], values[lost | hard] = 0, np.inf
    bounds = values.copy()
    rows = np.flatnonzero(hard & ~lost)
    if len(rows):
        part = outputs[rows], values[rows], bounds[rows]
        _search(table, closed[rows], limits.rows(rows), source[rows], target[rows], *part, hurried)
        outputs[rows], values[rows], bounds[rows] = part
    return outputs, values, bounds


def _without_limits(
    table: ArcTable, costs: np.ndarray, source: np.ndarray, target: np.ndarray
) -> Decoding:
    """Outputs, values, and which rows have a cycle of negative cost in the way."""
    from skstruct.spaces.paths._numba_paths import CYCLE, NONE, bellman_ford, dijkstra

    n, steps = len(costs), table.steps
    outputs, values, status = np.zeros(costs.shape, np.int8), np.empty(n), np.zeros(n, np.int8)
    positive = costs.min(axis=1) >= 0
    graph = steps.first, steps.target, steps.origin, steps.column
    rows = np.flatnonzero(positive)
    dijkstra(costs, rows, *graph, source, target, outputs, values)
    rows = np.flatnonzero(~positive)
    bellman_ford(costs, rows, *graph, table.back, source, target, outputs, values, status)
    values[status == NONE] = np.inf
    return outputs, values, status == CYCLE


def visited_nodes(
    table: ArcTable, Z: np.ndarray, source: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Nodes of paths with these ends (n,), where they are known; bool (n, N)."""
    visited = np.zeros((len(Z), len(table.nodes)), bool)
    row, arc = np.nonzero(Z)
    visited[row[:, None], table.edges[arc]] = True
    for end in (source, target):
        known = np.flatnonzero(end >= 0)
        visited[known, end[known]] = True
    return visited


def _search(
    table: ArcTable,
    costs: np.ndarray,
    limits: PathConstraints,
    source: np.ndarray,
    target: np.ndarray,
    outputs: np.ndarray,
    values: np.ndarray,
    bounds: np.ndarray,
    hurried: bool,
) -> None:
    """Fill in the best simple paths of rows that nothing quicker decides."""
    n, longest = len(costs), _on_each(limits.longest, len(costs))
    low = np.broadcast_to(limits.low, costs.shape)
    visited = np.broadcast_to(limits.required(table), (n, len(table.nodes)))
    if len(table.nodes) <= MOST_NODES and (table.directed or not low.any()):
        _by_subsets(table, costs, limits, source, target, visited, longest, outputs, values)
        bounds[:] = values
        return
    some = _without_limits(table, np.maximum(costs, 0.0), source, target)[0]
    good = limits.allow(some, visited_nodes(table, some, source, target))
    for i in range(n):
        if hurried and good[i]:
            outputs[i], values[i] = some[i], costs[i, some[i] > 0].sum()
            bounds[i] = np.minimum(costs[i], 0.0).sum()
            continue
        problem = HardPath(
            table, costs[i], int(source[i]), int(target[i]), low[i], visited[i], int(longest[i])
        )
        output, values[i], bounds[i] = min_simple_path(problem, some[i] if good[i] else None)
        if output is None and bounds[i] < np.inf:
            raise UndecidableError(
                f"Paths: no path within the constraints was found in row {i}, and that there is "
                "none was not shown; raise time_limit or node_limit."
            )
        outputs[i] = 0 if output is None else output


def _by_subsets(
    table: ArcTable,
    costs: np.ndarray,
    limits: PathConstraints,
    source: np.ndarray,
    target: np.ndarray,
    visited: np.ndarray,
    longest: np.ndarray,
    outputs: np.ndarray,
    values: np.ndarray,
) -> None:
    """Tables over sets of nodes; a path does not leave its end, nor enter its beginning."""
    from skstruct.spaces.paths._numba_paths import subset_paths

    steps = table.steps
    if limits.low.any():
        costs = np.where(limits.beside_low(table), costs, np.inf)
    required = visited @ (1 << np.arange(visited.shape[1]))
    graph: Any = steps.first, steps.target, steps.origin, steps.column
    subset_paths(costs, *graph, source, target, required, longest, outputs, values)
    low, (u, v) = np.broadcast_to(limits.low, costs.shape), table.edges.T
    lost = (low & ((u == target[:, None]) | (v == source[:, None]))).any(axis=1)
    outputs[lost], values[lost] = 0, np.inf
