# SPDX-License-Identifier: BSD-3-Clause
"""Levels, each as likely as any other."""

import numpy as np

from skstruct.spaces.poset.uniform import UniformOfElements


class UniformOfLevels(UniformOfElements):
    """Levels of a scale, without a table of which are above which."""

    __slots__ = ()

    def mean_embedding(self) -> np.ndarray:
        """The share of levels that are at least i; shape (d,)."""
        marked = np.zeros(len(self.space.labels_), np.int64)
        marked[self._some()] = 1
        return marked[::-1].cumsum()[::-1] / marked.sum()

    def second_moment(self) -> np.ndarray:
        """The share of levels that are at least the larger of i and j; shape (d, d)."""
        level = np.arange(len(self.space.labels_))
        return self.mean_embedding()[np.maximum.outer(level, level)]
