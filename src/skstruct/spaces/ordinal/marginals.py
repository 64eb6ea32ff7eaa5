# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of levels."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.poset.marginals import MarginalsOfElements
from skstruct.spaces.solvers.marginals import nearest_falling, nearest_on_simplex


class MarginalsOfLevels(MarginalsOfElements):
    """Levels, read off the probabilities to be at least at each."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"levels": "hamming"}

    @property
    def recalibrates(self) -> bool:
        return bool(self.space.constraints_.allowed.all())

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """Falling from one to zero; jumps where levels may be."""
        if not self.recalibrates:
            return super().coherent(means)
        first = 1.0 + np.abs(means).max(axis=1, keepdims=True)  # above all others: clipped to one
        return nearest_falling(np.hstack([first, means[:, 1:]]), self.space.dag_)

    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Probabilities of the levels."""
        return 0.0 - np.diff(means, axis=1, append=0.0)  # no minus zeros

    def means_of(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        return self.marked(nearest_on_simplex(marginals))

    def marked(self, probabilities: np.ndarray) -> Any:
        return probabilities[:, ::-1].cumsum(axis=1)[:, ::-1]
