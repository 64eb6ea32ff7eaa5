# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of classes."""

from typing import ClassVar

import numpy as np

from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.marginals import nearest_on_simplex


class MarginalsOfClasses(Marginals):
    """Classes, whose probabilities sum to one."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"classes": "zero_one"}

    @property
    def recalibrates(self) -> bool:
        return True

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """Nearest on the simplex of those that may be predicted."""
        listed = self.space.kbest(np.zeros((1, means.shape[1])), means.shape[1])
        predicted = np.sort(listed.outputs[np.isfinite(listed.values)])
        found = np.zeros(means.shape)
        found[:, predicted] = nearest_on_simplex(means[:, predicted])
        return found
