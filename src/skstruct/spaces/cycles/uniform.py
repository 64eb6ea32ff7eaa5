# SPDX-License-Identifier: BSD-3-Clause
"""Cycles within constraints, uniformly: how many there are, their moments, samples and the list."""

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.cycles.tours import (
    CycleCounts,
    arc_columns,
    cycles_by_size,
    list_tours,
    sample_tours,
    tours_to_rows,
)
from skstruct.spaces.edge_sets.table import EdgeTable
from skstruct.spaces.edge_sets.uniform import UniformOfEdgeSets
from skstruct.spaces.uniform import LIMIT, Seed


class UniformOfCycles(UniformOfEdgeSets):
    """Closed forms for constraints on nodes and sizes, and for moments where nodes are alike.

    Everything else comes from the list of all cycles, where that is short.
    """

    __slots__ = ()

    @property
    def _signed(self) -> bool:
        return bool(self.space._signed)

    @property
    def _table(self) -> EdgeTable:
        return self.space._table

    # ------------------------------------------------------------- counts
    def _by_size(self) -> list[int]:
        """Directed cycles of 0, 1, 2, ... nodes, where edges are not limited."""
        constraints = self._one_row()
        n_fixed = int(constraints.visited.sum())
        if (constraints.visited & ~constraints.open).any():
            return [0]
        counts = cycles_by_size(int(constraints.open.sum()) - n_fixed, n_fixed)
        inside = range(int(constraints.smallest[0]), int(constraints.largest[0]) + 1)
        return [count if size in inside else 0 for size, count in enumerate(counts)]

    @kept
    def _count(self) -> int:
        if self._one_row().has_edges:
            return len(self._listed)
        return sum(self._by_size()) // (1 if self.space.directed else 2)

    def _counts(self) -> CycleCounts | None:
        """Counts through arcs, where all nodes are alike."""
        constraints = self._one_row()
        if constraints.has_edges or constraints.has_nodes:
            return None
        sizes = int(constraints.smallest[0]), int(constraints.largest[0])
        return CycleCounts.of(len(self.space.nodes_), *sizes)

    # ------------------------------------------------------------- moments
    def mean_embedding(self) -> np.ndarray:
        self.check_not_empty()
        counts = self._counts()
        if counts is None:
            return super().mean_embedding()
        n_arcs = len(self.space.edges_)
        if self._signed:  # a cycle and its reverse cancel
            return np.zeros(n_arcs // 2)
        return np.full(n_arcs, counts.mean(self.space.directed))

    def _closed_covariance(self) -> Covariance | None:
        """Where all nodes are alike."""
        self.check_not_empty()
        counts = self._counts()
        if counts is None:
            return None
        if self._signed:
            return counts.signed_pairs()
        return counts.arcs() if self.space.directed else counts.edges()

    def second_moment(self) -> np.ndarray:
        check_square_fits(
            len(self.mean_embedding()),
            "The second moment",
            "covariance() and mean_embedding() need no matrix.",
        )
        return super().second_moment()

    # ------------------------------------------------------------- lists and samples
    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All cycles in canonical form, shorter ones first; shape (size, d)."""
        known_edges, table = self._one_row().has_edges, self._table
        if not known_edges:
            check_few(self._count, limit, self.space, "cycles")
        constraints, _, may = self._one_row().arcs(table)
        sizes = int(constraints.smallest[0]), int(constraints.largest[0])
        tours = list_tours(constraints.visited[0], may[0], sizes, self.space.directed, limit)
        Z = tours_to_rows(tours, table)
        return Z[constraints.allow(Z)] if known_edges else Z

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        self.check_not_empty()
        constraints = self._one_row()
        if constraints.has_edges:
            return super().sample(n, rng)
        low, high = constraints.visited[0], constraints.open[0]
        tours = sample_tours(n, np.random.default_rng(rng), low, high, self._by_size())
        return tours_to_rows(tours, self._table)

    def sibling(self, Z: np.ndarray) -> np.ndarray:
        """The reverse of each cycle, for which signed pairs have the opposite sign."""
        if not self._signed:
            raise ValueError("Cycles: only signed pairs turn their sign with the direction.")
        there, back = arc_columns(len(self.space.nodes_))
        Z = np.asarray(Z)
        turned = np.empty_like(Z)
        turned[:, there], turned[:, back] = Z[:, back], Z[:, there]
        return turned
