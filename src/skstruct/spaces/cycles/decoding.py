# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of least cost from matrices of costs: exact when small, certified always."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skstruct._arrays.stopping import Limit
from skstruct.spaces.cycles.relaxation import (
    CycleProgram,
    anchored_rounds,
    cut_rounds,
    integral_cycles,
    violated_cuts,
)
from skstruct.spaces.cycles.search import (
    Problem,
    canonical,
    disjoint_cycles,
    patched,
    search_tour,
    shaken_tour,
    tour_costs,
)
from skstruct.spaces.solvers.linear_programs import INFEASIBLE
from skstruct.tolerances import CYCLE_GAP, SOLVER_GAP

MOST_PROGRAMS = 200
STRETCH = 1e3  # of costs up to 1: the solver stops at a gap of 1e-6, which cannot be set
SECONDS = 120.0  # for one problem; what is proven by then is the bound


def prove_tour(
    program: CycleProgram, tour: np.ndarray, bound: float, limit: Limit
) -> tuple[np.ndarray, float]:
    """The best cycle and its cost; or a cycle and a bound where a limit was met.

    Every solution of an integer program is a set of disjoint cycles. Where it is one cycle,
    that is the best one; else each of them gives an inequality that it breaks.
    """
    problem = program.problem
    value = problem.cost(tour) if len(tour) else np.inf
    for _ in range(MOST_PROGRAMS):
        if limit.is_over or bound >= value - CYCLE_GAP:
            break
        answer = _integer_answer(program, limit)
        if answer.status == INFEASIBLE:
            return tour, (bound if len(tour) else np.inf)
        limit.take(int(answer.mip_node_count or 1))
        if answer.mip_dual_bound is not None:
            bound = max(bound, min(float(answer.mip_dual_bound) / STRETCH, value))
        if answer.x is None:
            break
        for cycle in integral_cycles(program, answer.x):
            if problem.allows(cycle) and problem.cost(cycle) < value:
                tour, value = cycle, problem.cost(cycle)
        cuts = violated_cuts(problem, *program.weights(np.rint(answer.x)))
        if not cuts:
            break
        program.add(cuts)
    return tour, min(bound, value)


def _integer_answer(program: CycleProgram, limit: Limit) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp

    cost = program.cost
    A_eq, b_eq, A_ub, b_ub, low, high = program.system()
    return milp(
        STRETCH * cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(low, high),
        constraints=[
            LinearConstraint(A_eq, b_eq, b_eq),
            LinearConstraint(A_ub, np.full(len(b_ub), -np.inf), b_ub),
        ],
        options=limit.of_program(),
    )


def solve_problem(problem: Problem, prove: bool = False) -> tuple[np.ndarray, float]:
    """A cheap cycle (empty where none was found) and a lower bound on the cost of every one.

    Costs are divided by the largest, so that the tolerances of the solvers mean the same
    for all.
    """
    sizes = np.abs(problem.costs[np.isfinite(problem.costs)])
    scale = max(sizes.max(initial=0.0), np.finfo(float).tiny)
    tour, bound = _solve(replace(problem, costs=problem.costs / scale), prove)
    return tour, bound * scale


def _solve(problem: Problem, prove: bool) -> tuple[np.ndarray, float]:
    cycles, bound, limit = [], -np.inf, Limit(SECONDS)
    if problem.directed:
        disjoint, bound = disjoint_cycles(problem)
        if np.isinf(bound):
            return np.empty(0, np.int64), bound
        if len(disjoint) == 1 and problem.allows(disjoint[0]):
            return disjoint[0], bound
        cycles = [cycle for cycle in patched(problem.costs, disjoint) if len(cycle) > 2]
    tour = search_tour(problem, cycles)
    if len(tour) and bound >= problem.cost(tour) - CYCLE_GAP:
        return tour, bound
    program = CycleProgram(problem)
    rounds = cut_rounds(program, tour, bound, limit)
    if len(rounds.tour) and not problem.low.any():
        rounds = anchored_rounds(program, rounds, limit)
    tour, bound = rounds.tour, rounds.bound
    if len(tour) and bound < problem.cost(tour) - CYCLE_GAP:
        tour = shaken_tour(problem, tour)
    value = problem.cost(tour) if len(tour) else np.inf
    # Without a cycle at hand, whether there is one is a question that has to be answered.
    if (prove or not len(tour)) and bound < value - CYCLE_GAP:
        tour, bound = prove_tour(program, tour, bound, limit)
    return tour, bound


MOST_NODES = 16  # for the table: 2**15 x 15 entries, 4 MB


def is_exact(N: int) -> bool:
    """Whether ``min_cost_cycles`` finds the best cycle without being asked to."""
    return N <= MOST_NODES


def min_cost_cycles(
    costs: np.ndarray,
    *,
    directed: bool,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
    smallest: Any = 3,
    largest: np.ndarray | None = None,
    prove: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""For every row a cycle of little cost, its cost, and a lower bound on the least cost.

    A cycle visits three or more of the N nodes, each once, and costs the sum of its arcs,

    .. math:: c(v_1, v_2) + c(v_2, v_3) + \dots + c(v_k, v_1),

    of any sign. Up to 16 nodes that may be visited the answer is the best, by dynamic
    programming over sets of nodes. Above, a local search meets a bound: from an assignment
    with free self-loops (directed), then from a linear program with subtour inequalities.
    Where ``costs`` are antisymmetric and neither nodes nor sizes are limited, the value is
    at most 0 and at most the bound divided by floor(N / 3).

    Parameters
    ----------
    costs : array of shape (n, N, N)
        Costs of arcs from the first node to the second, symmetric unless ``directed``;
        ``np.inf`` where there is no arc. The diagonal is not read.
    directed : bool
        Whether a cycle and its reverse are two.
    low, high : bool arrays of shape (1 or n, N), default=None
        Nodes that must, and that may, be visited; None for none and for all.
    smallest, largest : int or int array of shape (n,)
        Number of nodes of a cycle; never less than 3.
    prove : bool, default=False
        Close gaps by integer programs with subtour inequalities, within constraints, for two
        minutes a row or as long as the settings allow.

    Returns
    -------
    tours : int array of shape (n, N)
        Nodes in order of travel from the smallest number on, the second one smaller than
        the last unless ``directed``; padded with -1.
    values : array of shape (n,)
        Infinite where there is no cycle.
    bounds : array of shape (n,)
        No cycle costs less; equal to ``values`` where these are proven to be the least.

    References
    ----------
    Held and Karp (1962), "A dynamic programming approach to sequencing problems"; Fischetti,
    Salazar and Toth (1997), "A branch-and-cut algorithm for the symmetric generalized
    traveling salesman problem", for the subtour inequalities.

    Examples
    --------
    >>> costs = np.ones((1, 4, 4))
    >>> costs[0, [0, 2, 1], [2, 1, 0]] = -1.0
    >>> tours, values, bounds = min_cost_cycles(costs, directed=True)
    >>> tours.tolist(), values.tolist(), bounds.tolist()
    ([[0, 2, 1, -1]], [-3.0], [-3.0])
    """
    return _min_cost(costs, directed, low, high, smallest, largest, prove, MOST_NODES)


def _min_cost(
    costs: np.ndarray,
    directed: bool,
    low: np.ndarray | None,
    high: np.ndarray | None,
    smallest: Any,
    largest: np.ndarray | None,
    prove: bool,
    most_nodes: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As above, where rows of more than ``most_nodes`` nodes do without the table."""
    from skstruct.spaces.cycles._numba_decoding import table_rows

    costs = _checked_costs(costs, directed)
    n, N, _ = costs.shape
    low, high = _checked_mask(low, "low", False, n, N), _checked_mask(high, "high", True, n, N)
    smallest = np.maximum(_checked_sizes(smallest, "smallest", 3, n), 3)
    largest = np.minimum(_checked_sizes(largest, "largest", N, n), N)
    n_nodes = high.sum(axis=1)
    possible = np.maximum(smallest, low.sum(axis=1)) <= np.minimum(largest, n_nodes)
    possible &= ~(low & ~high).any(axis=1)
    tours, bounds = np.full((n, N), -1, np.int64), np.full(n, np.inf)
    few = np.flatnonzero(possible & (n_nodes <= most_nodes))
    if len(few):
        found = np.full((len(few), N), -1, np.int64)
        constraints = low[few], high[few], smallest[few], largest[few]
        table_rows(costs[few], *constraints, most_nodes, found)
        tours[few] = found
    many = np.flatnonzero(possible & (n_nodes > most_nodes))
    for row in many:
        nodes = np.flatnonzero(high[row])
        sizes = int(smallest[row]), min(int(largest[row]), len(nodes))
        must = low[row, nodes]
        problem = Problem(costs[row][np.ix_(nodes, nodes)], directed, must, *sizes)
        tour, bounds[row] = solve_problem(problem, prove)
        tours[row, : len(tour)] = nodes[tour]
    tours = canonical(tours, directed)
    values = tour_costs(costs, tours)
    bounds[few] = values[few]
    return tours, values, _closed(bounds, values, costs)


def _closed(bounds: np.ndarray, values: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The bounds, or the values themselves where the two differ by rounding alone."""
    finite = np.where(np.isfinite(costs), np.abs(costs), 0.0).max(axis=(1, 2), initial=0.0)
    with np.errstate(invalid="ignore"):
        close = np.abs(values - bounds) <= SOLVER_GAP * np.maximum(finite, np.abs(values))
    return np.where(close, values, np.minimum(bounds, values))


def _checked_costs(costs: np.ndarray, directed: bool) -> np.ndarray:
    """A copy with an infinite diagonal."""
    costs = np.array(costs, dtype=np.float64, order="C")
    if costs.ndim != 3 or costs.shape[1] != costs.shape[2]:
        raise ValueError(f"Costs of arcs have shape (n, N, N); got shape {costs.shape}.")
    if costs.shape[1] < 3:
        raise ValueError(f"A cycle needs three nodes or more; got {costs.shape[1]}.")
    N = costs.shape[1]
    costs[:, np.arange(N), np.arange(N)] = np.inf
    bad = np.argwhere(np.isnan(costs) | (costs == -np.inf))
    if len(bad):
        row, u, v = bad[0]
        raise ValueError(
            f"Costs of arcs are numbers or +inf; in row {row} the arc from {u} to {v} "
            f"costs {costs[row, u, v]}."
        )
    if not directed and not np.array_equal(costs, costs.swapaxes(1, 2)):
        row, u, v = np.argwhere(costs != costs.swapaxes(1, 2))[0]
        raise ValueError(
            f"Costs without directions are symmetric; in row {row} they are "
            f"{costs[row, u, v]} from {u} to {v} and {costs[row, v, u]} from {v} to {u}. "
            "Use directed=True for costs that differ."
        )
    return costs


def _checked_mask(mask: np.ndarray | None, name: str, default: bool, n: int, N: int) -> np.ndarray:
    mask = np.full((1, N), default) if mask is None else np.asarray(mask, dtype=bool)
    if mask.ndim != 2 or mask.shape[1] != N or mask.shape[0] not in (1, n):
        raise ValueError(f"{name} has shape (1, {N}) or ({n}, {N}); got shape {mask.shape}.")
    return np.ascontiguousarray(np.broadcast_to(mask, (n, N)))


def _checked_sizes(size: Any, name: str, default: int, n: int) -> np.ndarray:
    size = np.asarray(default if size is None else size)
    if size.shape not in ((), (1,), (n,)) or not np.issubdtype(size.dtype, np.integer):
        raise ValueError(
            f"{name} is a whole number or an array of {n}; got {size.dtype} of shape {size.shape}."
        )
    return np.ascontiguousarray(np.broadcast_to(size, (n,)).astype(np.int64))
