# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of labels that are no more probable than their parents."""

import numpy as np

from skstruct.spaces.indicator_sets.marginals import MarginalsOfIndicators, given_marginals
from skstruct.spaces.solvers.marginals import nearest_falling


class MarginalsOfHierarchies(MarginalsOfIndicators):
    """Labels, none above its parents; of forests those given constraints are exact."""

    __slots__ = ()

    @property
    def suffice(self) -> bool:
        limits = self.space.constraints_
        return not (limits.groups or limits.one_path)

    @property
    def recalibrates(self) -> bool:
        limits = self.space.constraints_
        return not (limits.is_sized or limits.groups or limits.one_path)

    @property
    def is_free(self) -> bool:
        return self.recalibrates

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """From 0 to 1, no label above its parents: nearest by blocks on forests, else by turns."""
        if not self.recalibrates:
            return super().coherent(means)
        limits, dag = self.space.constraints_, self.space.dag_
        if limits.is_masked:  # what is known stands above, or below, all that is not
            low, high = limits.closed(dag)
            far = 1.0 + np.abs(means).max(initial=0.0)
            means = np.where(low, far, np.where(high, means, -far))
        return nearest_falling(means, dag)

    def condition(self, means: np.ndarray) -> np.ndarray:
        return given_marginals(self.space, means)
