# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the labels of plain sets."""

import numpy as np

from skstruct.spaces.indicator_sets.marginals import MarginalsOfIndicators, given_marginals
from skstruct.spaces.solvers.marginals import nearest_sized
from skstruct.tolerances import SURE


class MarginalsOfLabelSets(MarginalsOfIndicators):
    """Labels, each from 0 to 1, or known; their sums within the sizes of sets."""

    __slots__ = ()

    @property
    def suffice(self) -> bool:
        return not self.space.constraints_.groups

    @property
    def recalibrates(self) -> bool:
        return not self.space.constraints_.groups

    @property
    def is_free(self) -> bool:
        limits = self.space.constraints_
        return not (limits.groups or limits.is_sized)

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """Between 0 and 1, or what is known of a label, with sums within the sizes."""
        limits = self.space.constraints_
        if limits.groups:
            return super().coherent(means)
        low, high = limits.low.astype(np.float64), limits.high.astype(np.float64)
        return nearest_sized(means, low, high, limits.smallest, limits.largest)

    def condition(self, means: np.ndarray) -> np.ndarray:
        return given_marginals(self.space, means)

    def means_of(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Sums are brought within the sizes by factors: what may be stays possible."""
        limits, d = self.space.constraints_, marginals.shape[1]
        if not limits.is_sized:
            return marginals
        total = np.maximum(marginals.sum(axis=1, keepdims=True), SURE)
        there = marginals * np.minimum(1.0, limits.largest / total)
        total = np.maximum((1.0 - there).sum(axis=1, keepdims=True), SURE)
        away: np.ndarray = (1.0 - there) * np.minimum(1.0, (d - limits.smallest) / total)
        return 1.0 - away
