# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of least cost within constraints on nodes, edges and sizes, and the k best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.spaces.cycles.constraints import CycleConstraints
from skstruct.spaces.cycles.decoding import is_exact, min_cost_cycles
from skstruct.spaces.cycles.round_trips import proven_round_trips, visits_all
from skstruct.spaces.cycles.search import canonical, tour_costs
from skstruct.spaces.cycles.tours import tours_to_rows
from skstruct.spaces.edge_sets.table import EdgeTable
from skstruct.spaces.solvers.k_best import k_best_sequences
from skstruct.tolerances import SOLVER_GAP


def decides_exactly(constraints: CycleConstraints) -> bool:
    """Whether so few nodes may be visited that the best cycle is found for sure."""
    return is_exact(int(constraints.open.sum(axis=1).max()))


@dataclass
class CycleProblem:
    """Costs of arcs, infinite where constraints exclude them, and the other constraints.

    A known arc is expressed by its absence of alternatives. A known edge may be used in
    either direction, which no matrix of possible arcs says: it is made so cheap that every
    cycle with all known edges costs less than any cycle without one of them.
    """

    given_costs: np.ndarray  # as they came, shape: (n, N, N)
    arcs: np.ndarray  # as they are decoded, shape: (n, N, N)
    constraints: CycleConstraints
    table: EdgeTable
    known: np.ndarray  # arcs that must be used, shape: (1 or n, N, N)
    bonus: np.ndarray  # how much cheaper every known edge is made, shape: (n,)

    @classmethod
    def of(
        cls, given_costs: np.ndarray, constraints: CycleConstraints, table: EdgeTable
    ) -> CycleProblem:
        """The problem of costs of arcs (n, N, N) within constraints."""
        n, N, _ = given_costs.shape
        arcs, bonus, must = given_costs, np.zeros(n), np.zeros((1, N, N), bool)
        if constraints.has_edges:
            constraints, must, may = constraints.arcs(table)
            if not table.directed and must.any():
                largest = np.abs(arcs).max(axis=(1, 2), initial=0.0)
                bonus = np.where(largest > 0, 3 * N * largest, 1.0)
                arcs = arcs - bonus[:, None, None] * must
            arcs = np.where(may, arcs, np.inf)
        return cls(given_costs, arcs, constraints, table, must, bonus)

    def solve(
        self,
        rows: Any = slice(None),
        allowed: np.ndarray | None = None,
        directed: bool | None = None,
        prove: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tours, values and bounds of some rows.

        Parameters
        ----------
        allowed : bool array of shape (m, N, N), default=None
            Which node may follow each; a node that may follow itself may be left out.
        """
        arcs, constraints = self.arcs[rows], self.constraints.rows(rows)
        visited = constraints.visited
        if allowed is not None:
            arcs = np.where(allowed, arcs, np.inf)
            visited = visited | ~np.diagonal(allowed, axis1=1, axis2=2)
        return min_cost_cycles(
            arcs, directed=self.table.directed if directed is None else directed,
            low=visited, high=constraints.open, smallest=constraints.smallest,
            largest=constraints.largest, prove=prove,
        )  # fmt: skip

    def best(self, prove: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs, values (infinite where nothing was found) and bounds.

        Round trips through all nodes come from branch and bound, as far as that is finished.
        """
        n, N, _ = self.arcs.shape
        tours, bounds = np.full((n, N), -1, np.int64), np.full(n, np.inf)
        proven = self._fill_round_trips(tours)
        left = np.flatnonzero(~proven)
        if len(left):
            tours[left], _, bounds[left] = self.solve(left, prove=prove)
        Z, values = tours_to_rows(tours, self.table), tour_costs(self.given_costs, tours)
        low = self.constraints.low
        if low.any():
            values = np.where((low <= Z).all(axis=1), values, np.inf)
            bounds = bounds + (1 - SOLVER_GAP) * self.bonus * low.sum(axis=1)
            # A third of the bonus is N times the largest cost: cycles with all known edges
            # cost less.
            bounds = np.where((self.bonus > 0) & (bounds > self.bonus / 3), np.inf, bounds)
        proven |= decides_exactly(self.constraints)
        return Z, values, np.where(proven, values, np.minimum(bounds, values))

    def _fill_round_trips(self, tours: np.ndarray) -> np.ndarray:
        """Write proven round trips through all nodes; which rows these are."""
        proven = np.zeros(len(tours), bool)
        rows = np.flatnonzero(visits_all(self.constraints, len(tours)))
        if self.table.directed or not len(rows):
            return proven
        known = self.known if len(self.known) == 1 else self.known[rows]
        costs = np.where(self.arcs[rows] < np.inf, self.given_costs[rows], np.inf)
        found, done = proven_round_trips(costs, known, self.constraints.rows(rows).open)
        tours[rows[done]], proven[rows[done]] = canonical(found[done], False), True
        return proven

    def k_best(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k of least cost, as outputs (n, k', d) and whether they are any (n, k').

        A cycle is the sequence of what follows each node. Where direction does not matter,
        every cycle is two such sequences of the same cost: among the first 2k are k cycles.
        """
        n, N, _ = self.arcs.shape

        def best_within(rows: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            tours, values, _ = self.solve(rows, allowed, directed=True)
            return _followers(tours), values

        m = k if self.table.directed else 2 * k
        following, values = k_best_sequences(best_within, n, N, N, m)
        row, rank, node = np.nonzero(following != np.arange(N))
        Z = np.zeros((*values.shape, len(self.table.edges)), np.int8)
        Z[row, rank, self.table.column[node, following[row, rank, node]]] = 1
        found = np.isfinite(values) & (self.constraints.low[:, None] <= Z).all(axis=2)
        if not self.table.directed:
            found &= _first_of_each(Z)
        return Z, found


def _followers(tours: np.ndarray) -> np.ndarray:
    """For every node the one that follows, itself where it is left out; shape (n, N)."""
    following = np.tile(np.arange(tours.shape[1]), (len(tours), 1))
    row, step = np.nonzero(tours >= 0)
    after = np.where(step + 1 < (tours >= 0).sum(axis=1)[row], step + 1, 0)
    following[row, tours[row, step]] = tours[row, after]
    return following


def _first_of_each(Z: np.ndarray) -> np.ndarray:
    """Marks outputs (n, m, d) that did not occur before in their row; shape (n, m)."""
    first = np.zeros(Z.shape[:2], bool)
    for row, outputs in enumerate(Z):
        first[row, np.unique(outputs, axis=0, return_index=True)[1]] = True
    return first
