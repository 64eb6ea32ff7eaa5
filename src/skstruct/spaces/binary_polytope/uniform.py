# SPDX-License-Identifier: BSD-3-Clause
"""0/1 points of polytopes, uniformly: by their list."""

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.uniform import Seed


class UniformOfBinaryPolytopes(UniformOfSets):
    """All 0/1 points, sifted for those within the constraints."""

    __slots__ = ()

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        return self._count_listed(low, high)

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        listed = self._listed
        if not len(listed):
            raise InfeasibleError("BinaryPolytope: no 0/1 point meets the constraints.")
        return listed[np.random.default_rng(rng).integers(len(listed), size=n)]
