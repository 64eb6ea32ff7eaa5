# SPDX-License-Identifier: BSD-3-Clause
"""Cliques, uniformly: every node is a coin."""

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.common.covariances import Covariance, PairScheme
from skstruct.spaces.indicator_sets.counting import mean_of_products, second_moment_of_products
from skstruct.spaces.pairwise.uniform import UniformOfLabelsAndEdges


class UniformOfCliques(UniformOfLabelsAndEdges):
    """Edges inside of sets of nodes that are all equally likely."""

    __slots__ = ()

    def mean_embedding(self) -> np.ndarray:
        """Probability of every edge to be inside; shape (d,)."""
        mean = mean_of_products(self.space.edges_, *self._bounds())
        return mean[len(self.space.labels_) :]

    def second_moment(self) -> np.ndarray:
        edges, n = self.space.edges_, len(self.space.labels_)
        what = "The second moment over Cliques"
        check_square_fits(len(edges), what, "covariance() needs no matrix.")
        return second_moment_of_products(edges, *self._bounds())[n:, n:]

    def _closed_covariance(self) -> Covariance | None:
        if self.space.constraints_.is_masked:
            return None
        # On ones B+'B+ is 2 (n - 1), on stars n - 2, on the rest 0.
        n = len(self.space.labels_)
        return PairScheme(n, ((2 * n - 1) / 16, (n - 1) / 16, 1 / 16), signed=False)
