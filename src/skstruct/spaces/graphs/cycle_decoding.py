# SPDX-License-Identifier: BSD-3-Clause
"""The cheapest cycles within limits, the best one and the k best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.decoding.prefixes import k_best_sequences
from skstruct.decoding.tours.cycles import cheapest_cycles, is_exact
from skstruct.decoding.tours.problems import price_tours
from skstruct.spaces.graphs.cycle_limits import CycleLimits
from skstruct.spaces.graphs.cycle_tours import tours_to_rows
from skstruct.spaces.graphs.edge_table import EdgeTable

ROUNDING = 1e-7  # share of the largest cost by which bounds may be off


def decides_exactly(limits: CycleLimits) -> bool:
    """Whether so few places may be visited that the best cycle is found for sure."""
    return is_exact(int(limits.open.sum(axis=1).max()))


@dataclass
class CycleProblem:
    """Costs of arcs, infinite where limits exclude them, and the other limits.

    A known arc is expressed by its absence of alternatives. A known edge may be used in
    either direction, which no matrix of possible arcs says: it is made so cheap that every
    cycle with all known edges costs less than any cycle without one of them.
    """

    prices: np.ndarray  # as they came, shape: (n, N, N)
    arcs: np.ndarray  # as they are decoded, shape: (n, N, N)
    limits: CycleLimits
    table: EdgeTable
    bonus: np.ndarray  # how much cheaper every known edge is made, shape: (n,)

    @classmethod
    def of(cls, prices: np.ndarray, limits: CycleLimits, table: EdgeTable) -> CycleProblem:
        """The problem of costs of arcs (n, N, N) within limits."""
        n, N, _ = prices.shape
        arcs, bonus = prices, np.zeros(n)
        if limits.has_edges:
            limits, must, may = limits.arcs(table)
            if not table.directed and must.any():
                largest = np.abs(arcs).max(axis=(1, 2), initial=0.0)
                bonus = np.where(largest > 0, 3 * N * largest, 1.0)
                arcs = arcs - bonus[:, None, None] * must
            arcs = np.where(may, arcs, np.inf)
        return cls(prices, arcs, limits, table, bonus)

    def solve(self, rows=slice(None), allowed=None, directed=None, prove=False):
        """Tours, values and bounds of some rows.

        Parameters
        ----------
        allowed : bool array of shape (m, N, N), default=None
            Which place may follow each; a place that may follow itself may be left out.
        """
        arcs, limits = self.arcs[rows], self.limits.rows(rows)
        visited = limits.visited
        if allowed is not None:
            arcs = np.where(allowed, arcs, np.inf)
            visited = visited | ~np.diagonal(allowed, axis1=1, axis2=2)
        return cheapest_cycles(
            arcs, directed=self.table.directed if directed is None else directed,
            low=visited, high=limits.open, smallest=limits.smallest, largest=limits.largest,
            prove=prove,
        )  # fmt: skip

    def best(self, prove: bool):
        """Outputs, values (infinite where nothing was found) and bounds."""
        tours, values, bounds = self.solve(prove=prove)
        Z = tours_to_rows(tours, self.table)
        if not self.limits.low.any():
            return Z, values, bounds
        met = (self.limits.low <= Z).all(axis=1)
        values = np.where(met, price_tours(self.prices, tours), np.inf)
        if decides_exactly(self.limits):
            return Z, values, values
        bounds = bounds + (1 - ROUNDING) * self.bonus * self.limits.low.sum(axis=1)
        # A third of the bonus is N times the largest cost: cycles with all known edges cost less.
        bounds = np.where((self.bonus > 0) & (bounds > self.bonus / 3), np.inf, bounds)
        return Z, values, np.minimum(bounds, values)

    def k_best(self, k: int):
        """The k cheapest, as outputs (n, k', d) and whether they are any (n, k').

        A cycle is the sequence of what follows each place. Where direction does not matter,
        every cycle is two such sequences of the same cost: among the first 2k are k cycles.
        """
        n, N, _ = self.arcs.shape

        def best_within(rows, allowed):
            tours, values, _ = self.solve(rows, allowed, directed=True)
            return _followers(tours), values

        m = k if self.table.directed else 2 * k
        following, values = k_best_sequences(best_within, n, N, N, m)
        row, rank, place = np.nonzero(following != np.arange(N))
        Z = np.zeros((*values.shape, len(self.table.edges)), np.int8)
        Z[row, rank, self.table.column[place, following[row, rank, place]]] = 1
        found = np.isfinite(values) & (self.limits.low[:, None] <= Z).all(axis=2)
        if not self.table.directed:
            found &= _first_of_each(Z)
        return Z, found


def _followers(tours: np.ndarray) -> np.ndarray:
    """For every place the one that follows, itself where it is left out; shape (n, N)."""
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
