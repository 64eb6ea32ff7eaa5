# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of candidates."""

import numpy as np

from skstruct.spaces.classes.marginals import MarginalsOfClasses


class MarginalsOfCandidates(MarginalsOfClasses):
    """Candidates alone: of other outputs of training nothing is read."""

    __slots__ = ()

    @property
    def recalibrates(self) -> bool:
        return False

    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        return means[:, : self.space.n_candidates_]
