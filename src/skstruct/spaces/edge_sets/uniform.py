# SPDX-License-Identifier: BSD-3-Clause
"""Sets of edges, uniformly: all of them, sifted for those that are outputs."""

import numpy as np

from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few, list_closed_sets
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.uniform import LIMIT, Uniform


class UniformOfEdgeSets(UniformOfSets):
    """Outputs by their list, which is kept."""

    __slots__ = ()

    @kept
    def _listed(self) -> np.ndarray:
        return self.enumerate()

    @kept
    def _count(self) -> int:
        return len(self._listed)

    mean_embedding = Uniform.mean_embedding
    second_moment = Uniform.second_moment
    sample = Uniform.sample

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d).

        At most ``limit`` edge sets are sifted for those that are outputs.
        """
        constraints, space = self._one_row(), self.space
        if constraints.largest == len(space.edges_):
            self._check_few(limit)
        listed = list_closed_sets(
            space.dag_, constraints.low[0], constraints.high[0], constraints.largest, limit
        )
        return listed[space.contains(listed)]

    def _check_few(self, limit: int) -> None:
        """Refuse to sift more than so many edge sets."""
        constraints = self._one_row()
        n_open = int((constraints.high & ~constraints.low).sum())
        check_few(2**n_open, limit, self.space, f"sets of {n_open} possible edges")


class UniformWithinGraph(UniformOfEdgeSets):
    """Sets of edges of a graph, of which constraints leave some columns open."""

    __slots__ = ()

    @property
    def _is_complete(self) -> bool:
        """Whether all pairs of nodes are possible, and there are no constraints."""
        n = len(self.space.nodes_)
        free = not self.space.constraints_.is_masked
        return free and len(self.space.edges_) == n * (n - 1) // 2

    def _spread(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What is known of some columns, (n, m), with 1 for known edges; shape (n, d)."""
        everywhere = np.repeat(self._one_row().low.astype(values.dtype), len(values), axis=0)
        everywhere[:, columns] = values
        return everywhere
