# SPDX-License-Identifier: BSD-3-Clause
"""Classes, each as likely as any other."""

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.common.covariances import Covariance, Exchangeable
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


class UniformOfClasses(Uniform):
    """One of k; those that may not be predicted count, too."""

    __slots__ = ()

    def size(self) -> int:
        return len(self.space.labels_)

    def mean_embedding(self) -> np.ndarray:
        return np.full(self.size(), 1.0 / self.size())

    def second_moment(self) -> np.ndarray:
        check_square_fits(self.size(), "The second moment", "covariance() needs no matrix.")
        return np.eye(self.size()) / self.size()

    def _closed_covariance(self) -> Covariance | None:
        """I / k - 11' / k^2."""
        return Exchangeable(0.0, 1.0 / self.size(), self.size())

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        return np.arange(self.size())

    def all_outputs(self, most: int) -> np.ndarray:
        """Those that may be predicted, however many these are."""
        listed, allowed = self.enumerate(), self.space.allowed_
        return listed if allowed is None else listed[allowed]

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        return np.random.default_rng(rng).integers(self.size(), size=n)

    def uniform_means(self, n: int) -> np.ndarray:
        known, allowed = len(self.space.listed_), self.space.allowed_
        allowed = np.atleast_2d(np.ones(known, bool) if allowed is None else allowed)
        means: np.ndarray = allowed / allowed.sum(axis=1, keepdims=True)
        if means.shape[1] < known:  # outputs that are known but never predicted
            means = np.pad(means, [(0, 0), (0, known - means.shape[1])])
        return np.array(np.broadcast_to(means, (n, means.shape[1])))
