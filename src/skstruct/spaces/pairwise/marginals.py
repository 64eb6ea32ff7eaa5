# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of labels that have costs by pair."""

import numpy as np

from skstruct.spaces.indicator_sets.marginals import MarginalsOfIndicators


class MarginalsOfPairwiseLabels(MarginalsOfIndicators):
    """Labels, without pairs of them."""

    __slots__ = ()

    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        return means[:, : len(self.space.labels_)]
