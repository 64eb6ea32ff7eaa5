# SPDX-License-Identifier: BSD-3-Clause
r"""Cheapest cycles as a linear program over arcs and places, with subtour inequalities.

Every place is left once and entered once where it is visited: x(out of v) = x(into v) = y_v,
or x(at v) = 2 y_v without directions. Arcs that no cycle cheaper than a known one can use,
as their reduced costs say, are left out as soon as that is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from skstruct.decoding.polytopes.linear_programs import solve_linear_program, weak_dual_bounds
from skstruct.decoding.tours.cuts import Cut
from skstruct.decoding.tours.problems import Problem

PATIENCE = 3  # rounds with little gain before the rounds end
ANCHORED_PATIENCE = 8  # the same where some place must be visited
MARGIN = 1e-9  # of the largest cost: how much dearer an arc must be to be left out


class CycleProgram:
    """The arcs and inequalities so far; columns are the arcs, then the places."""

    def __init__(self, problem: Problem):
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

    def system(self):
        """A_eq, b_eq, A_ub, b_ub, low, high."""
        N, arcs = len(self.problem.costs), len(self.tails)
        place, at, one = np.arange(N), np.arange(arcs), np.ones(arcs)
        shape = (N, arcs)
        away = sparse.csr_array((one, (self.tails, at)), shape=shape)
        into = sparse.csr_array((one, (self.heads, at)), shape=shape)
        y = sparse.csr_array((np.ones(N), (place, place)), shape=(N, N))
        if self.problem.directed:
            A_eq = sparse.block_array([[away, -y], [into, -y]], format="csr")
        else:
            A_eq = sparse.block_array([[away + into, -2 * y]], format="csr")
        A_ub, b_ub = self._inequalities()
        low = np.concatenate([np.zeros(arcs), self.problem.low.astype(float)])
        return A_eq, np.zeros(A_eq.shape[0]), A_ub, b_ub, low, np.ones(arcs + N)

    def _inequalities(self):
        N, arcs = len(self.problem.costs), len(self.tails)
        total = np.concatenate([np.zeros(arcs), np.ones(N)])
        rows = [sparse.csr_array(-total[None]), sparse.csr_array(total[None])]
        right = [-float(self.problem.smallest), float(self.problem.largest)]
        if self.cuts:
            member = np.array(self._rows)
            within = sparse.csr_array((member[:, self.tails] & member[:, self.heads]) * 1.0)
            places = -member.astype(float)
            for row, cut in zip(places, self.cuts):
                for v in (cut.inside, cut.outside):
                    if v is not None:
                        row[v] += 1.0
            rows.append(sparse.hstack([within, sparse.csr_array(places)], format="csr"))
            right += [cut.right for cut in self.cuts]
        return sparse.vstack(rows, format="csr"), np.array(right)

    def relax(self):
        """The best point, a proven bound on every cycle of the arcs, and reduced costs."""
        cost, system = self.cost, self.system()
        answer = solve_linear_program(cost, *system)
        prices = answer.eq_prices[None], answer.ub_prices[None]
        bound = weak_dual_bounds(cost[None], *system, *prices, answer.point[None])[0]
        reduced = cost - system[0].T @ answer.eq_prices - system[2].T @ answer.ub_prices
        return answer.point, float(bound), reduced

    def holds(self, tour: np.ndarray) -> bool:
        """Whether the arcs of a cycle are all in the program."""
        return len(tour) > 0 and self._on(tour).sum() == len(tour)

    def visiting(self, place: int) -> CycleProgram:
        """A copy for the cycles that visit a place."""
        low = self.problem.low.copy()
        low[place] = True
        return self._copy(replace(self.problem, low=low), np.zeros(len(self.tails), bool))

    def avoiding(self, place: int) -> CycleProgram:
        """A copy for the cycles that do not."""
        return self._copy(self.problem, (self.tails == place) | (self.heads == place))

    def _copy(self, problem, left_out):
        other = CycleProgram(problem)
        other.tails, other.heads = self.tails[~left_out], self.heads[~left_out]
        other.cuts, other._rows = list(self.cuts), list(self._rows)
        return other

    def _on(self, tour):
        """Which arcs are those of a cycle."""
        ends = np.column_stack([tour, np.roll(tour, -1)])
        if not self.problem.directed:
            ends.sort(axis=1)
        N = len(self.problem.costs)
        return np.isin(self.tails * N + self.heads, ends[:, 0] * N + ends[:, 1])

    def leave_out(self, dear: np.ndarray) -> None:
        """Leave out arcs, (arcs,) of bool."""
        self.tails, self.heads = self.tails[~dear], self.heads[~dear]

    def too_dear(self, bound: float, reduced: np.ndarray, tour: np.ndarray) -> np.ndarray:
        """Arcs whose cycles all cost as much as ``tour``, or more; those of the tour are kept."""
        value = self.problem.price(tour)
        dear = bound + reduced[: len(self.tails)] > value + MARGIN * len(tour)
        return dear & ~self._on(tour)

    def weights(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x of the arcs, (N, N) and symmetric without directions, and y, (N,)."""
        N, arcs = len(self.problem.costs), len(self.tails)
        weight = np.zeros((N, N))
        weight[self.tails, self.heads] = point[:arcs]
        return (weight if self.problem.directed else weight + weight.T), point[arcs:]
