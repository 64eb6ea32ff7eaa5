# SPDX-License-Identifier: BSD-3-Clause
r"""Linear programs over arcs and nodes with subtour inequalities, added as they break.

With x the arcs of a cycle and y its nodes, a set S with i in S and j outside obeys

.. math:: x(\delta^+(S)) = y(S) - x(E(S)) \ge [\text{visits } S] + [\text{visits the rest}] - 1
    \ge y_i + y_j - 1,

for edges without directions in the same form. Where every cycle has to visit S, because a
node there must be visited or too few nodes are left outside, 1 takes the place of y_i.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skstruct._arrays.stopping import Limit, check_cancelled
from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.spaces.cycles.search import Problem, guided_start, improved_tour, split_cycles
from skstruct.spaces.solvers.linear_programs import solve_linear_program, weak_dual_bounds
from skstruct.tolerances import CONNECTED_WEIGHT, CYCLE_GAP, INTEGRAL, REDUCED_COST_MARGIN

VIOLATED = 1e-4  # by how much an inequality must be broken to be added
WITNESSES = 2  # nodes on either side for which the inequality of a set is tried
LEVELS = (0.25, 0.5, 0.75)  # sets joined by arcs above these are looked at too


class Cut(NamedTuple):
    """x(E(S)) - y(S) + y_i + y_j <= 1, with 1 in the stead of y_i or y_j where it is None."""

    members: tuple[int, ...]
    inside: int | None
    outside: int | None

    @property
    def right(self) -> float:
        return 1.0 - (self.inside is None) - (self.outside is None)


def cuts_of(problem: Problem, members: np.ndarray, y: np.ndarray) -> list[Cut]:
    """Inequalities of a set (N,) of nodes at the point y, the strongest first.

    With one witness the next point would visit another node of the set in its stead.
    """
    N = len(y)
    if 2 * members.sum() > N:  # the same inequality, of the smaller side
        members = ~members

    def witnesses(side: np.ndarray) -> Any:
        if (problem.low & side).any() or N - side.sum() < problem.smallest:
            return [None]
        order = np.argsort(np.where(side, -y, 1.0), kind="stable")
        return order[: min(WITNESSES, int(side.sum()))].tolist()

    inside, outside = witnesses(members), witnesses(~members)
    nodes = tuple(np.flatnonzero(members).tolist())
    cuts = [Cut(nodes, i, outside[0]) for i in inside]
    return cuts + [Cut(nodes, inside[0], j) for j in outside[1:]]


def violation(cut: Cut, weight: np.ndarray, y: np.ndarray) -> float:
    """By how much a cut is broken; ``weight`` (N, N) is x of both arcs between two nodes."""
    S = list(cut.members)
    left = weight[np.ix_(S, S)].sum() / 2 - y[S].sum()
    for node in (cut.inside, cut.outside):
        left += 0.0 if node is None else y[node]
    return float(left - cut.right)


def violated_cuts(problem: Problem, weight: np.ndarray, y: np.ndarray) -> list[Cut]:
    """Inequalities that the point breaks, from parts, from pairs and from smallest cuts.

    ``weight`` (N, N) is x of every arc, symmetric where there are no directions.
    """
    from skstruct.spaces.cycles._numba_decoding import small_cuts

    weight = weight + weight.T if problem.directed else weight
    sets = [*_parts(weight, CONNECTED_WEIGHT), *_pairs(weight, y)]
    for level in LEVELS:
        sets += _parts(weight, level)
    sink = int(np.where(problem.low, 2.0, y).argmax())
    sets += list(small_cuts(weight / 2, y, sink, VIOLATED))
    cuts = dict.fromkeys(cut for members in sets for cut in cuts_of(problem, members, y))
    return [cut for cut in cuts if violation(cut, weight, y) > VIOLATED]


def _parts(weight: np.ndarray, level: float) -> list[np.ndarray]:
    """Sets of two or more nodes that arcs above a level join."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(weight > level, directed=False)
    large = np.flatnonzero(np.bincount(part, minlength=count) > 1)
    return [part == k for k in large] if len(large) > 1 or count > 1 else []


def _pairs(weight: np.ndarray, y: Any) -> list[np.ndarray]:
    """Two nodes with more between them than one of them has."""
    u, v = np.nonzero(np.triu(weight, 1) > np.minimum.outer(y, y) + VIOLATED)
    sets = np.zeros((len(u), len(y)), bool)
    sets[np.arange(len(u)), u] = sets[np.arange(len(u)), v] = True
    return list(sets)


# Minimum-cost cycles as a linear program over arcs and nodes, with subtour inequalities.
#
# Every node is left once and entered once where it is visited: x(out of v) = x(into v) = y_v,
# or x(at v) = 2 y_v without directions. Arcs that no cycle cheaper than a known one can use,
# as their reduced costs say, are left out as soon as that is known.


PATIENCE = 3  # rounds with little gain before the rounds end
ANCHORED_PATIENCE = 8  # the same where some node must be visited


class CycleProgram:
    """The arcs and inequalities so far; columns are the arcs, then the nodes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        there = np.isfinite(problem.costs)
        ends = np.nonzero(there if problem.directed else np.triu(there))
        self.tails, self.heads = ends  # shape: (arcs,)
        self.cuts: list[Cut] = []
        self._rows: list[np.ndarray] = []  # of every cut: (N,), membership

    @property
    def patience(self) -> int:
        """Rounds with little gain that are worth while."""
        return ANCHORED_PATIENCE if self.problem.low.any() else PATIENCE

    @property
    def cost(self) -> np.ndarray:
        N = len(self.problem.costs)
        return np.concatenate([self.problem.costs[self.tails, self.heads], np.zeros(N)])

    def add(self, cuts: list[Cut]) -> None:
        """Add inequalities that are not there yet."""
        known = set(self.cuts)
        for cut in cuts:
            if cut not in known:
                self.cuts.append(cut)
                member = np.zeros(len(self.problem.costs), bool)
                member[list(cut.members)] = True
                self._rows.append(member)

    def system(self) -> tuple[Any, np.ndarray, Any, np.ndarray, np.ndarray, np.ndarray]:
        """A_eq, b_eq, A_ub, b_ub, low, high."""
        N, arcs = len(self.problem.costs), len(self.tails)
        node, at, one = np.arange(N), np.arange(arcs), np.ones(arcs)
        shape = (N, arcs)
        away = sparse.csr_array((one, (self.tails, at)), shape=shape)
        into = sparse.csr_array((one, (self.heads, at)), shape=shape)
        y = sparse.csr_array((np.ones(N), (node, node)), shape=(N, N))
        if self.problem.directed:
            A_eq = sparse.block_array([[away, -y], [into, -y]], format="csr")
        else:
            A_eq = sparse.block_array([[away + into, -2 * y]], format="csr")
        A_ub, b_ub = self._inequalities()
        low = np.concatenate([np.zeros(arcs), self.problem.low.astype(float)])
        return A_eq, np.zeros(A_eq.shape[0]), A_ub, b_ub, low, np.ones(arcs + N)

    def _inequalities(self) -> tuple[Any, np.ndarray]:
        N, arcs = len(self.problem.costs), len(self.tails)
        total = np.concatenate([np.zeros(arcs), np.ones(N)])
        rows = [sparse.csr_array(-total[None]), sparse.csr_array(total[None])]
        right = [-float(self.problem.smallest), float(self.problem.largest)]
        if self.cuts:
            member = np.array(self._rows)
            within = sparse.csr_array((member[:, self.tails] & member[:, self.heads]) * 1.0)
            nodes = -member.astype(float)
            for row, cut in zip(nodes, self.cuts):
                for v in (cut.inside, cut.outside):
                    if v is not None:
                        row[v] += 1.0
            rows.append(sparse.hstack([within, sparse.csr_array(nodes)], format="csr"))
            right += [cut.right for cut in self.cuts]
        return sparse.vstack(rows, format="csr"), np.array(right)

    def relax(self) -> tuple[np.ndarray, float, np.ndarray]:
        """The best point, a proven bound on every cycle of the arcs, and reduced costs."""
        cost, system = self.cost, self.system()
        answer = solve_linear_program(cost, *system)
        duals = answer.eq_duals[None], answer.ub_duals[None]
        bound = weak_dual_bounds(cost[None], *system, *duals, answer.point[None])[0]
        reduced = cost - system[0].T @ answer.eq_duals - system[2].T @ answer.ub_duals
        return answer.point, float(bound), reduced

    def holds(self, tour: np.ndarray) -> bool:
        """Whether the arcs of a cycle are all in the program."""
        return len(tour) > 0 and self._on(tour).sum() == len(tour)

    def visiting(self, node: int) -> CycleProgram:
        """A copy for the cycles that visit a node."""
        low = self.problem.low.copy()
        low[node] = True
        return self._copy(replace(self.problem, low=low), np.zeros(len(self.tails), bool))

    def avoiding(self, node: int) -> CycleProgram:
        """A copy for the cycles that do not."""
        return self._copy(self.problem, (self.tails == node) | (self.heads == node))

    def _copy(self, problem: Problem, left_out: np.ndarray) -> CycleProgram:
        other = CycleProgram(problem)
        other.tails, other.heads = self.tails[~left_out], self.heads[~left_out]
        other.cuts, other._rows = list(self.cuts), list(self._rows)
        return other

    def _on(self, tour: np.ndarray) -> np.ndarray:
        """Which arcs are those of a cycle."""
        ends = np.column_stack([tour, np.roll(tour, -1)])
        if not self.problem.directed:
            ends.sort(axis=1)
        N = len(self.problem.costs)
        return np.isin(self.tails * N + self.heads, ends[:, 0] * N + ends[:, 1])

    def leave_out(self, expensive: np.ndarray) -> None:
        """Leave out arcs, (arcs,) of bool."""
        self.tails, self.heads = self.tails[~expensive], self.heads[~expensive]

    def too_dear(self, bound: float, reduced: np.ndarray, tour: np.ndarray) -> np.ndarray:
        """Arcs whose cycles all cost as much as ``tour``, or more; those of the tour are kept."""
        value = self.problem.cost(tour)
        expensive = bound + reduced[: len(self.tails)] > value + REDUCED_COST_MARGIN * len(tour)
        return expensive & ~self._on(tour)

    def weights(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x of the arcs, (N, N) and symmetric without directions, and y, (N,)."""
        N, arcs = len(self.problem.costs), len(self.tails)
        weight = np.zeros((N, N))
        weight[self.tails, self.heads] = point[:arcs]
        return (weight if self.problem.directed else weight + weight.T), point[arcs:]


MOST_ROUNDS = 60
MOST_ANCHORS = 8  # nodes that cycles must visit or avoid, one after the other
LEAST_PROGRESS = 0.02  # of the gap


class Rounds(NamedTuple):
    """What some rounds came to."""

    tour: np.ndarray  # a cycle no more expensive than the one at the beginning
    bound: float  # on the cost of every cycle
    y: np.ndarray  # shape: (N,), how much the last point visits nodes
    complete: bool  # whether no inequality was broken in the end


def cut_rounds(
    program: CycleProgram, tour: np.ndarray, bound: float = -np.inf, limit: Limit | None = None
) -> Rounds:
    """Solve the program and add inequalities until none is broken, or little is gained.

    Bounds hold for cycles of the arcs still in the program; the others cost as much as the
    tour at hand, or more.
    """
    problem, patience = program.problem, program.patience
    value, y, cuts = _value(problem, tour), np.zeros(len(problem.costs)), None
    for _ in range(MOST_ROUNDS):
        try:
            point, lower, reduced = program.relax()
        except InfeasibleError:
            return Rounds(tour, bound if program.holds(tour) else value, y, True)
        except UnverifiedAnswerError:
            break
        patience -= lower - bound <= LEAST_PROGRESS * (value - lower)
        bound = max(bound, min(lower, value))
        for found in (integral_tour(program, point), guided_tour(program, point)):
            if _value(problem, found) < value:
                tour, value = found, problem.cost(found)
        weight, y = program.weights(point)
        if bound >= value - CYCLE_GAP or not patience or is_late(limit):
            break
        cuts = violated_cuts(problem, weight, y)
        if not cuts:
            break
        if len(tour):
            program.leave_out(program.too_dear(lower, reduced, tour))
        program.add(cuts)
    return Rounds(tour, min(bound, value), y, cuts == [])


def anchored_rounds(program: CycleProgram, rounds: Rounds, limit: Limit | None = None) -> Rounds:
    """A better bound where no node must be visited and the rounds so far left a gap.

    Then the inequalities are weak: half of a cycle here and half of one there may do. Cycles
    that visit a certain node have strong ones; those that avoid it go on with another node.
    """
    problem = program.problem
    visiting = np.inf  # no cycle that visits a node tried so far costs less
    for _ in range(MOST_ANCHORS):
        node = int(rounds.y.argmax())
        settled = rounds.complete and rounds.y[node] > 1 - INTEGRAL  # nothing to gain
        value = _value(problem, rounds.tour)
        if settled or rounds.bound >= min(visiting, value - CYCLE_GAP) or is_late(limit):
            break
        with_it = cut_rounds(program.visiting(node), rounds.tour, rounds.bound, limit)
        visiting = min(visiting, with_it.bound)
        program = program.avoiding(node)
        rounds = cut_rounds(program, with_it.tour, rounds.bound, limit)
    bound = min(visiting, rounds.bound, _value(problem, rounds.tour))
    return rounds._replace(bound=bound)


def is_late(limit: Limit | None) -> bool:
    """Whether time is over; rounds are no nodes."""
    check_cancelled()
    return limit is not None and limit.seconds <= 0


def _value(problem: Problem, tour: np.ndarray) -> float:
    return problem.cost(tour) if len(tour) else np.inf


def guided_tour(program: CycleProgram, point: np.ndarray) -> np.ndarray:
    """What local search makes of a point; empty if nothing that obeys all constraints."""
    start = guided_start(program.problem, *program.weights(point))
    return improved_tour(program.problem, [start], np.zeros(1, bool))


def integral_tour(program: CycleProgram, point: np.ndarray) -> np.ndarray:
    """The cycle that a point stands for; empty if it is none that obeys all constraints."""
    whole = np.abs(point - np.rint(point)).max() <= INTEGRAL
    cycles = integral_cycles(program, point) if whole else []
    one = len(cycles) == 1 and program.problem.allows(cycles[0])
    return cycles[0] if one else np.empty(0, np.int64)


def integral_cycles(program: CycleProgram, point: np.ndarray) -> list[np.ndarray]:
    """The cycles of a point of whole numbers."""
    used = np.rint(point[: len(program.tails)]) > 0
    tails, heads = program.tails[used], program.heads[used]
    following = np.arange(len(program.problem.costs))
    if program.problem.directed:
        following[tails] = heads
        return split_cycles(following)
    return _undirected_cycles(tails, heads, len(following))


def _undirected_cycles(tails: np.ndarray, heads: np.ndarray, N: int) -> list[np.ndarray]:
    """Cycles of edges that meet every node twice or not at all."""
    near: list[list[int]] = [[] for _ in range(N)]
    for u, v in zip(tails.tolist(), heads.tolist()):
        near[u].append(v)
        near[v].append(u)
    cycles, seen = [], np.zeros(N, bool)
    for start in range(N):
        cycle, node = [], start
        while near[node] and not seen[node]:
            seen[node] = True
            cycle.append(node)
            ahead = [v for v in near[node] if not seen[v]]
            node = ahead[0] if ahead else node
        if cycle:
            cycles.append(np.array(cycle))
    return cycles
