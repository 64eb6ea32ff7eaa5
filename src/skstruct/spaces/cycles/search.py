# SPDX-License-Identifier: BSD-3-Clause
"""One problem of a cycle of least cost, and the local search for it from several starts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skstruct.spaces.solvers.assignment import min_cost_assignments


@dataclass(frozen=True)
class Problem:
    """Costs of arcs and what a cycle must obey, all nodes being allowed."""

    costs: np.ndarray  # shape: (N, N), inf where there is no arc and on the diagonal
    directed: bool
    low: np.ndarray  # shape: (N,), nodes that must be visited
    smallest: int  # 3 <= smallest <= largest <= N
    largest: int

    def cost(self, tour: np.ndarray) -> float:
        """Cost of a cycle of nodes in order of travel."""
        return float(self.costs[tour, np.roll(tour, -1)].sum())

    def allows(self, tour: np.ndarray) -> bool:
        """Whether the sizes and the nodes to visit are met, and all arcs are there."""
        sized = self.smallest <= len(tour) <= self.largest
        return sized and self.low[tour].sum() == self.low.sum() and self.cost(tour) < np.inf


def canonical(tours: np.ndarray, directed: bool) -> np.ndarray:
    """Cycles (n, N), padded with -1, from their smallest node on and in the canonical sense."""
    n, N = tours.shape
    length = np.maximum((tours >= 0).sum(axis=1), 1)[:, None]
    first = np.where(tours >= 0, tours, N).argmin(axis=1)[:, None]
    step = np.ones((n, 1), np.int64)
    if not directed:
        after = np.take_along_axis(tours, (first + 1) % length, axis=1)
        before = np.take_along_axis(tours, (first - 1) % length, axis=1)
        step[before < after] = -1
    at = np.arange(N)
    turned = np.take_along_axis(tours, (first + step * at) % length, axis=1)
    return np.where(at < length, turned, -1)


def tour_costs(costs: np.ndarray, tours: np.ndarray) -> np.ndarray:
    """Costs of cycles (n, N), padded with -1; infinite for a row that has none."""
    n, N = tours.shape
    length = (tours >= 0).sum(axis=1)[:, None]
    at = np.arange(N)
    ends = np.take_along_axis(tours, (at + 1) % np.maximum(length, 1), axis=1)
    arcs = costs[np.arange(n)[:, None], tours, ends]
    values = np.where(at < length, arcs, 0.0).sum(axis=1)
    return np.where(length[:, 0] > 0, values, np.inf)


TRIANGLES = 4  # that are starts, as they are and grown to full size
SHAKES = 50  # times that the best cycle is disturbed and improved again, before a relaxation
MORE_SHAKES = 30000  # divided by N: the same where a relaxation has left a gap
SEGMENT = 3  # nodes that move together; with more no answers were better
GUIDANCE = 10.0  # what an arc of weight 1 is worth, in largest costs


def disjoint_cycles(problem: Problem) -> tuple[list[np.ndarray], float]:
    """Cycles of two or more nodes that together cost least, and that cost: a lower bound.

    An assignment of a next node to each node; those that need no visit may stay where they
    are at no cost. A cycle with all other nodes staying is one such assignment.
    """
    costs = problem.costs.copy()
    np.fill_diagonal(costs, np.where(problem.low, np.inf, 0.0))
    there = np.isfinite(costs)
    following, value = min_cost_assignments(np.where(there, costs, 0.0)[None], there[None])
    return split_cycles(following[0]), float(value[0])


def split_cycles(following: np.ndarray) -> list[np.ndarray]:
    """The cycles of a permutation that have two or more nodes."""
    cycles, seen = [], np.zeros(len(following), bool)
    for start in np.flatnonzero(following != np.arange(len(following))):
        cycle = []
        while not seen[start]:
            seen[start] = True
            cycle.append(start)
            start = following[start]
        if cycle:
            cycles.append(np.array(cycle))
    return cycles


def patched(costs: np.ndarray, cycles: list[np.ndarray]) -> list[np.ndarray]:
    """Cycles joined two by two, each time where it costs least, until one is left.

    Arcs (a, a') and (b, b') of two cycles give way to (a, b') and (b, a'). Returns all the
    cycles that came about (Karp, 1979).
    """
    cycles, made = list(cycles), list(cycles)
    while len(cycles) > 1:
        cycles.sort(key=len)
        one = cycles.pop()
        a, a_next = one, np.roll(one, -1)
        b = np.concatenate(cycles)
        b_next = np.concatenate([np.roll(cycle, -1) for cycle in cycles])
        change = costs[np.ix_(a, b_next)] + costs[np.ix_(b, a_next)].T
        change = change - costs[a, a_next][:, None] - costs[b, b_next]
        at, to = np.unravel_index(change.argmin(), change.shape)
        owner = np.repeat(np.arange(len(cycles)), [len(cycle) for cycle in cycles])[to]
        other = cycles.pop(owner)
        where = int(np.flatnonzero(other == b[to])[0])
        joined = np.concatenate([one[: at + 1], np.roll(other, -where - 1), one[at + 1 :]])
        cycles.append(joined)
        made.append(joined)
    return made


def search_tour(problem: Problem, cycles: Sequence[np.ndarray] = ()) -> np.ndarray:
    """A cheap cycle that obeys all constraints; empty where none was found.

    It costs no more than any of ``cycles`` that obeys them.
    """
    from skstruct.spaces.cycles._numba_decoding import best_triangle

    N = len(problem.costs)
    arc = with_penalties(problem.costs)
    rng = np.random.default_rng(N)
    triangles = np.empty((N, 3), np.int64)
    values = [best_triangle(arc, node, triangles[node]) for node in range(N)]
    chosen = triangles[[np.argmin(values), *rng.permutation(N)[: TRIANGLES - 1]]]
    starts = [*cycles, *chosen, *chosen]
    full = np.arange(len(starts)) >= len(starts) - len(chosen)
    return improved_tour(problem, starts, full, rng.random((SHAKES, 6)))


def shaken_tour(problem: Problem, tour: np.ndarray) -> np.ndarray:
    """A cycle no more expensive than ``tour``, disturbed and improved many times."""
    N = len(problem.costs)
    draws = np.random.default_rng(N).random((MORE_SHAKES // N, 6))
    return improved_tour(problem, [tour], np.zeros(1, bool), draws)


def improved_tour(
    problem: Problem, starts: list[np.ndarray], full: np.ndarray, draws: np.ndarray | None = None
) -> np.ndarray:
    """The best cycle that local search finds from some starts; empty where none is allowed."""
    from skstruct.spaces.cycles._numba_decoding import search

    N = len(problem.costs)
    padded = np.full((len(starts), N), -1, np.int64)
    for row, start in zip(padded, starts):
        row[: len(start)] = start
    constraints = problem.low, problem.smallest, problem.largest
    draws, kept = np.empty((0, 6)) if draws is None else draws, np.empty(N, np.int64)
    arc = with_penalties(problem.costs)
    length, _ = search(arc, *constraints, SEGMENT, padded, full, draws, kept)
    tour = kept[:length]
    return tour if problem.allows(tour) else np.empty(0, np.int64)


def guided_start(problem: Problem, weight: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A walk through the nodes of y above 1/2, each time along the arc of greatest weight.

    ``weight`` is (N, N) and within [0, 1]; among arcs of about the same weight the one of least
    cost.
    """
    inside = (y > 0.5) | problem.low
    inside[np.argsort(-y, kind="stable")[:3]] = True
    arc = with_penalties(problem.costs)
    appeal = GUIDANCE * np.abs(problem.costs[np.isfinite(problem.costs)]).max() * weight - arc
    appeal[:, ~inside] = -np.inf
    node = int(y.argmax())
    walk = [node]
    for _ in range(inside.sum() - 1):
        appeal[:, node] = -np.inf
        node = int(appeal[node].argmax())
        walk.append(node)
    return np.array(walk)


def with_penalties(costs: np.ndarray) -> np.ndarray:
    """Costs where one missing arc is more expensive than any difference of cycles without."""
    there = np.isfinite(costs)
    most = np.abs(costs[there]).max(initial=0.0)
    return np.where(there, costs, 2 * len(costs) * most if most else 1.0)
