# SPDX-License-Identifier: BSD-3-Clause
"""Candidates, each as likely as any other."""

import numpy as np

from skstruct.spaces.classes.uniform import UniformOfClasses
from skstruct.spaces.common.covariances import Covariance


class UniformOfCandidates(UniformOfClasses):
    """Candidates, and outputs that are known and never predicted: their columns are zero."""

    __slots__ = ()

    def _pad(self, array: np.ndarray) -> np.ndarray:
        return np.pad(array, [(0, self.space.n_known_ - self.size())] * array.ndim)

    def mean_embedding(self) -> np.ndarray:
        return self._pad(super().mean_embedding())

    def second_moment(self) -> np.ndarray:
        return self._pad(super().second_moment())

    def _closed_covariance(self) -> Covariance | None:
        if self.space.n_known_ > self.size():  # coordinates that are always zero
            return None
        return super()._closed_covariance()
