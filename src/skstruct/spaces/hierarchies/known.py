# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets known in part: paths that end early may leave open what is below."""

from typing import Any

import numpy as np

from skstruct.spaces.indicator_sets.known import KnownOfSets


class KnownOfHierarchies(KnownOfSets):
    """Closed sets; with ``open_below`` a set says nothing of what is below its last labels."""

    __slots__ = ()

    def has_gaps(self, Y: Any) -> bool:
        return bool(self.space.open_below) or super().has_gaps(Y)

    def open_labels(self, Z: np.ndarray) -> np.ndarray:
        """With ``open_below`` all labels below those that have no child in the set."""
        if not self.space.open_below:
            return super().open_labels(Z)
        dag = self.space.dag_
        above = dag.ancestors.astype(np.float64)
        marked = np.asarray(Z) @ above > 0
        has_child = np.zeros(Z.shape, bool)
        for child, parent in zip(dag.children, dag.parents):
            has_child[:, parent] |= marked[:, child]
        below = (marked & ~has_child).astype(np.float64) @ above.T > 0
        return np.asarray(below & ~marked)
