# SPDX-License-Identifier: BSD-3-Clause
"""Paths, uniformly: ways through states where there are no cycles, a list elsewhere."""

import numpy as np

from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.paths.arcs import NAME
from skstruct.spaces.paths.constraints import with_ends
from skstruct.spaces.paths.counting import list_simple_paths
from skstruct.spaces.paths.decoding import ends_open
from skstruct.spaces.solvers.state_graphs import StateGraph
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


class UniformOfPaths(Uniform):
    """Paths from one end to the other, within constraints."""

    __slots__ = ()

    @kept
    def _states(self) -> StateGraph | None:
        """All paths of a graph without cycles; None where these are listed, or there is none."""
        return self.space._states() if self.space.is_acyclic else None

    @kept
    def _listed(self) -> np.ndarray:
        return self.enumerate()

    def check_not_empty(self) -> None:
        if not self.size():
            self.space._raise_infeasible(0)

    def size(self) -> int:
        """Exact number of paths; with cycles these are listed, up to a million of them."""
        return len(self._listed) if self._states is None else int(self._states.total)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """Simple paths of a graph with cycles are those that constraints allow."""
        if self._states is not None:
            check_few(self._states.total, limit, NAME, "paths")
            return self._states.listed()
        limits, table = with_ends(self._one_row()), self.space._table
        if self.space.is_acyclic or not ends_open(limits, 1)[0]:
            return np.zeros((0, len(self.space.labels_)), np.int8)
        usable = limits.usable(table)[0]
        ends = int(limits.source[0]), int(limits.target[0])
        listed = list_simple_paths(table, usable, *ends, limit)
        return listed[self.space.contains(listed)]

    def mean_embedding(self) -> np.ndarray:
        """Probability of every arc to be on a uniform path; shape (d,)."""
        return super().mean_embedding() if self._states is None else self._states.mean()

    def second_moment(self) -> np.ndarray:
        """Probability of every two arcs to be on a uniform path; shape (d, d)."""
        return super().second_moment() if self._states is None else self._states.second_moment()

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        if self._states is None:
            return super().sample(n, rng)
        return self._states.sample(n, np.random.default_rng(rng))
