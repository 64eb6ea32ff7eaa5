# SPDX-License-Identifier: BSD-3-Clause
"""Laws of matchings, and local moves among them."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.base import check_feasible
from skstruct.spaces.graphs.allowed import WithinGraph
from skstruct.spaces.graphs.matching_tables import MatchingTable, short_range_order
from skstruct.spaces.listed_laws import FEW
from skstruct.summing.base import Law
from skstruct.summing.held import HeldLaw
from skstruct.summing.listed import ListedLaw
from skstruct.summing.matchings import matching_paths
from skstruct.summing.paths import PathGraph, PathLaw
from skstruct.walking.matchings import MatchingMoves

MOST_STATES = 200_000  # of a table that is built to list what it counts: about a second


class LawfulMatchings(WithinGraph):
    """Matchings with scores: exact laws of graphs not too entangled, Markov chains."""

    perfect: bool

    @property
    @abstractmethod
    def _shape(self) -> tuple[int, int] | None:
        """How many nodes are in each of two groups."""

    @abstractmethod
    def _open_graph(self) -> Any:
        """What limits leave open: nodes, edges between them and the columns of these."""

    def _forget(self):
        super()._forget()
        self.__dict__.pop("_paths", None)

    def _limited(self, limits):
        narrowed = super()._limited(limits)
        narrowed.__dict__.pop("_paths", None)
        return narrowed

    def law(self, scores):
        """Laws of matchings, node by node where that is not too entangled; scores (n, d)."""
        scores = self._checked_scores(scores, len(self.edges_))
        self._check_rows(len(scores))
        if self.limits_.n_rows is not None:
            return super().law(scores)
        open_graph = self._open_graph()
        check_feasible(np.full(len(scores), open_graph is not None), self)
        if self._paths is None:
            return self._law_of_few(scores, *open_graph)
        law = PathLaw(self._paths, scores[:, open_graph[2]])
        check_feasible(np.isfinite(law.log_partition), self)
        return HeldLaw(law, open_graph[2], self.limits_.low[0], scores)

    def _law_of_few(self, scores, nodes, ends, columns) -> Law | None:
        """The law by a list, as of a star with many leaves; None where counting takes long."""
        try:
            table = MatchingTable(len(nodes), ends, self.perfect, limit=MOST_STATES)
        except UndecidableError:
            return None
        if table.count > FEW:
            return None
        check_feasible(np.full(len(scores), table.count > 0), self)
        outputs = self._spread(table.listed(), columns)
        return ListedLaw(outputs, outputs, scores)

    @cached_property
    def _paths(self) -> PathGraph | None:
        """Matchings of what limits leave open as paths; None where these are too many."""
        nodes, ends, _ = self._open_graph()
        order = short_range_order(len(nodes), ends)
        return matching_paths(ends, np.argsort(order), self.perfect)

    def moves(self):
        """Edges come in, go out, slide along and change places.

        None for perfect matchings of graphs that are not complete: they need not be within
        reach of each other.
        """
        if self.limits_.n_rows is not None:
            return None
        open_graph = self._open_graph()
        check_feasible(np.array([open_graph is not None]), self)
        nodes, ends, columns = open_graph
        if self.perfect and len(ends) < self._n_pairs(nodes):
            return None
        return MatchingMoves(len(nodes), ends, columns, self.limits_.low[0], self.perfect)

    def _n_pairs(self, nodes) -> int:
        """Edges between all of these nodes."""
        if self._shape is None:
            return len(nodes) * (len(nodes) - 1) // 2
        n_first = int((nodes < self._shape[0]).sum())
        return n_first * (len(nodes) - n_first)
