# SPDX-License-Identifier: BSD-3-Clause
"""Laws of cycles through few places, and local moves among cycles through many."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from skstruct.spaces.base import check_feasible
from skstruct.spaces.graphs.cycle_counts import arc_columns
from skstruct.spaces.graphs.cycle_tours import rows_to_tours, tours_to_rows
from skstruct.spaces.graphs.cycle_uniform import UniformCycles
from skstruct.summing.cycles import SignedLaw, cycle_paths
from skstruct.summing.paths import PathGraph, PathLaw


class LawfulCycles(UniformCycles):
    """Cycles with scores: exact laws for up to 15 places, Markov chains for any number."""

    @cached_property
    def _paths(self) -> PathGraph | None:
        """All cycles as paths; None where there are too many places."""
        limits, must, may = self._one_row().arcs(self._table)
        if not self.directed and must.any():
            return None  # which of its two ways a known edge is used is in no state
        sizes = int(limits.smallest[0]), int(limits.largest[0])
        return cycle_paths(self._table.column, may[0], limits.visited[0], sizes, self.directed)

    def _forget(self):
        super()._forget()
        self.__dict__.pop("_paths", None)

    def _limited(self, limits):
        narrowed = super()._limited(limits)
        narrowed.__dict__.pop("_paths", None)
        return narrowed

    def law(self, scores):
        """Laws of cycles by sums over sets of places; scores of shape (n, d)."""
        d = len(self.edges_)
        scores = self._checked_scores(scores, d // 2 if self._signed else d)
        self._check_rows(len(scores))
        if self.limits_.n_rows is not None or self._paths is None:
            return super().law(scores)
        law: PathLaw | SignedLaw
        if self._signed:
            there, back = arc_columns(len(self.nodes_))
            arcs = np.empty((len(scores), d))
            arcs[:, there], arcs[:, back] = scores, -scores
            law = SignedLaw(PathLaw(self._paths, arcs), there, back)
        else:
            law = PathLaw(self._paths, scores)
        check_feasible(np.isfinite(law.log_partition), self)
        return law

    def moves(self):
        """Parts are turned round or moved, and places come in and go out.

        None where edges are known: such cycles need not be within reach of each other.
        """
        from skstruct.walking.cycles import TourMoves

        limits = self.limits_
        if limits.n_rows is not None or limits.has_edges:
            return None
        self._check_not_empty()
        n_places, table = len(self.nodes_), self._table
        column, sign = table.column, np.ones((n_places, n_places))
        if self._signed:
            u, v = np.triu_indices(n_places, 1)
            column = np.full_like(column, -1)
            column[u, v] = column[v, u] = np.arange(len(u))
            sign[v, u] = -1.0
        return TourMoves(
            np.flatnonzero(limits.open[0]), limits.visited[0],
            (limits.smallest[0], limits.largest[0]), column, sign, not self.directed,
            tours_of=lambda Z: rows_to_tours(Z, table)[0],
            rows_of=lambda tours: tours_to_rows(tours, table),
        )  # fmt: skip
