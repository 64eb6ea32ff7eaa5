# SPDX-License-Identifier: BSD-3-Clause
"""Matchings, uniformly: closed forms for complete graphs, node by node for others."""

from typing import Any

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import UndecidableError
from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.edge_sets.uniform import UniformWithinGraph
from skstruct.spaces.matchings.counting import (
    CompleteDistribution,
    CompleteMatchings,
    CompletePairings,
)
from skstruct.spaces.matchings.distribution import MOST_STEPS, open_graph
from skstruct.spaces.solvers.state_graphs import StateGraph
from skstruct.spaces.uniform import LIMIT, Seed


class UniformOfMatchings(UniformWithinGraph):
    """Matchings of what constraints leave open, beside the edges that are known."""

    __slots__ = ()

    def _open_graph(self) -> Any:
        return open_graph(self.space)

    @kept
    def _distribution(self) -> CompleteDistribution | StateGraph:
        """Matchings of what constraints leave open."""
        left, perfect, shape = self._open_graph(), self.space.perfect, self.space._shape
        if left is None:
            return CompleteMatchings(1, perfect=True)  # which has none
        nodes, ends, _ = left
        distribution: CompleteDistribution = CompleteMatchings(len(nodes), perfect)
        if shape is not None:
            n_first = int((nodes < shape[0]).sum())
            distribution = CompletePairings(n_first, len(nodes) - n_first, perfect)
        return distribution if len(ends) == len(distribution.edges) else self._all_paths()

    def _all_paths(self) -> StateGraph:
        paths: StateGraph | None = self.space._paths
        if paths is None:
            nodes, ends, _ = self._open_graph()
            raise UndecidableError(
                f"Matchings: counting those of a graph of {len(nodes)} nodes and {len(ends)} edges "
                f"takes more than {MOST_STEPS} steps; it is #P-hard in general, and easy for "
                "complete graphs, for few nodes and for graphs that are long and narrow."
            )
        return paths

    @kept
    def _count(self) -> int:
        return self._distribution.total

    def mean_embedding(self) -> np.ndarray:
        """Probability of every edge to be in a matching; shape (d,)."""
        self.check_not_empty()
        return self._spread(self._distribution.mean()[None], self._open_graph()[2])[0]

    def second_moment(self) -> np.ndarray:
        self.check_not_empty()
        what = "The second moment over Matchings"
        check_square_fits(len(self.space.edges_), what, "covariance() needs no matrix.")
        mean, columns = self.mean_embedding(), self._open_graph()[2]
        moment = np.outer(mean, mean)  # right wherever one of the two is known
        moment[np.ix_(columns, columns)] = self._distribution.second_moment()
        return moment

    def _closed_covariance(self) -> Covariance | None:
        free = not self.space.constraints_.is_masked
        if free and isinstance(self._distribution, CompleteDistribution):
            return self._distribution.covariance()
        return None

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        self.check_not_empty()
        drawn = self._distribution.sample(n, np.random.default_rng(rng))
        return self._spread(drawn, self._open_graph()[2])

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        check_few(self.size(), limit, self.space, "matchings")
        if self.size() == 0:
            return np.zeros((0, len(self.space.edges_)), np.int8)
        return self._spread(self._all_paths().listed(), self._open_graph()[2])
