# SPDX-License-Identifier: BSD-3-Clause
"""Paths, uniformly: ways through states where there are no cycles, a list elsewhere."""

from typing import Any

import numpy as np

from skstruct.spaces.common.counting import check_few
from skstruct.spaces.facets import kept
from skstruct.spaces.paths.arcs import NAME
from skstruct.spaces.paths.constraints import with_ends
from skstruct.spaces.paths.counting import ListedPaths, list_simple_paths
from skstruct.spaces.paths.decoding import ends_open
from skstruct.spaces.uniform import LIMIT, Uniform


class UniformOfPaths(Uniform):
    """Paths from one end to the other, within constraints."""

    __slots__ = ()

    def _simple(self, limit: int) -> np.ndarray:
        """Simple paths of a graph with cycles; those that constraints allow."""
        limits, table = with_ends(self._one_row()), self.space._table
        if not ends_open(limits, 1)[0]:
            return np.zeros((0, len(self.space.labels_)), np.int8)
        usable = limits.usable(table)[0]
        ends = int(limits.source[0]), int(limits.target[0])
        listed = list_simple_paths(table, usable, *ends, limit)
        return listed[self.space.contains(listed)]

    @kept
    def _paths(self) -> Any:
        if not self.space.is_acyclic:
            return ListedPaths(self._simple(LIMIT))
        states = self.space._states()
        empty = np.zeros((0, len(self.space.labels_)), np.int8)
        return ListedPaths(empty) if states is None else states

    def _some(self) -> Any:
        if not self._paths.total:
            self.space._raise_infeasible(0)
        return self._paths

    def size(self) -> int:
        """Exact number of paths; with cycles these are listed, up to a million of them."""
        return int(self._paths.total)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All paths in canonical form; shape (size, d)."""
        if not self.space.is_acyclic:
            return self._simple(limit)
        check_few(self._paths.total, limit, NAME, "paths")
        return self._paths.listed()

    def mean_embedding(self) -> np.ndarray:
        """Probability of every arc to be on a uniform path; shape (d,)."""
        return self._some().mean()

    def second_moment(self) -> np.ndarray:
        """Probability of every two arcs to be on a uniform path; shape (d, d)."""
        return self._some().second_moment()

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """``n`` paths drawn uniformly and independently; int8 (n, d)."""
        return self._some().sample(n, np.random.default_rng(rng))
