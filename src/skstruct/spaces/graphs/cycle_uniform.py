# SPDX-License-Identifier: BSD-3-Clause
"""Cycles within limits under the uniform distribution: counts, moments, samples, lists."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.counting import LIMIT, check_few
from skstruct.spaces.graphs.base import EdgeSetSpace
from skstruct.spaces.graphs.cycle_counts import CycleCounts, cycles_by_size
from skstruct.spaces.graphs.cycle_tours import list_tours, sample_tours, tours_to_rows


class UniformCycles(EdgeSetSpace):
    """Cycles within limits: how many there are, their moments, samples and the list.

    Limits on places and sizes are counted in closed form, and so are moments as long as all
    places are alike. Everything else comes from the list of all cycles, where that is short.
    """

    @property
    @abstractmethod
    def _signed(self) -> bool:
        """Whether psi are signed pairs; an error where that name is not known."""

    def _one_row(self):
        """The :class:`CycleLimits`, if all rows have the same."""
        return super()._one_row()

    # ------------------------------------------------------------- counts
    def _by_size(self) -> list[int]:
        """Directed cycles of 0, 1, 2, ... places, where edges are not limited."""
        limits = self._one_row()
        n_held = int(limits.visited.sum())
        if (limits.visited & ~limits.open).any():
            return [0]
        counts = cycles_by_size(int(limits.open.sum()) - n_held, n_held)
        inside = range(int(limits.smallest[0]), int(limits.largest[0]) + 1)
        return [count if size in inside else 0 for size, count in enumerate(counts)]

    @cached_property
    def _count(self) -> int:
        if self._one_row().has_edges:
            return len(self._listed)
        return sum(self._by_size()) // (1 if self.directed else 2)

    def _counts(self) -> CycleCounts | None:
        """Counts through arcs, where all places are alike."""
        limits = self._one_row()
        if limits.has_edges or limits.has_places:
            return None
        sizes = int(limits.smallest[0]), int(limits.largest[0])
        return CycleCounts.of(len(self.nodes_), *sizes)

    # ------------------------------------------------------------- moments
    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all cycles; shape (d,)."""
        self._check_not_empty()
        counts = self._counts()
        if counts is None:
            return self.embed(self._listed).mean(axis=0)
        if self._signed:  # a cycle and its reverse cancel
            return np.zeros(len(self.edges_) // 2)
        return np.full(len(self.edges_), counts.mean(self.directed))

    def covariance(self):
        """Covariance of psi over all cycles, by its eigenspaces where all places are alike."""
        self._check_not_empty()
        counts = self._counts()
        if counts is None:
            return BaseSpace.covariance(self)
        if self._signed:
            return counts.signed_pairs()
        return counts.arcs() if self.directed else counts.edges()

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all cycles; shape (d, d)."""
        self._check_not_empty()
        mean = self.mean_embedding()
        check_square_fits(
            len(mean), "The second moment", "covariance() and mean_embedding() need no matrix."
        )
        if self._counts() is None:
            psi = self.embed(self._listed)
            return psi.T @ psi / len(psi)
        return self.covariance().dense() + np.outer(mean, mean)

    # ------------------------------------------------------------- lists and samples
    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All cycles in canonical form, shorter ones first; shape (size, d)."""
        known_edges = self._one_row().has_edges
        if not known_edges:
            check_few(self._count, limit, self, "cycles")
        limits, _, may = self._one_row().arcs(self._table)
        sizes = int(limits.smallest[0]), int(limits.largest[0])
        tours = list_tours(limits.visited[0], may[0], sizes, self.directed, limit)
        Z = tours_to_rows(tours, self._table)
        return Z[limits.allow(Z)] if known_edges else Z

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` cycles drawn uniformly and independently; shape (n, d)."""
        self._check_not_empty()
        rng, limits = np.random.default_rng(rng), self._one_row()
        if limits.has_edges:
            return self._listed[rng.integers(len(self._listed), size=n)]
        low, high = limits.visited[0], limits.open[0]
        return tours_to_rows(sample_tours(n, rng, low, high, self._by_size()), self._table)
