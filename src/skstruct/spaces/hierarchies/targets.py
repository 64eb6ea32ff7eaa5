# SPDX-License-Identifier: BSD-3-Clause
"""Targets of closed sets of labels, by depth."""

import numpy as np

from skstruct.spaces.indicator_sets.targets import TargetsOfSets


class TargetsOfHierarchies(TargetsOfSets):
    """Labels further down are rarer."""

    __slots__ = ()

    def blocks(self) -> np.ndarray | None:
        """The depth of each label: those further down are smoothed otherwise."""
        depth: np.ndarray = self.space.dag_.depth
        return depth
