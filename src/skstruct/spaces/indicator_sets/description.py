# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of label sets: 0/1 rows over ``labels_`` that obey the graph ``dag_``."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.description import CanonicalRange, Description, Part, Parts


class DescriptionOfLabelSets(Description):
    """The labels that are in, each by its name."""

    __slots__ = ()
    usual_losses: ClassVar[Sequence[str]] = ("f1", "zero_one")

    @property
    def output_kind(self) -> str:
        return "hierarchy" if len(self.space.dag_.parents) else "labels"

    def output_dag(self) -> Any:
        return self.space.dag_

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def parts_of(self, z: Any) -> Parts:
        names = self.space.labels_
        return Parts([Part(int(j), names[j]) for j in np.flatnonzero(z)])

    def canonical_range(self) -> CanonicalRange:
        return -1, 2, self.space.dag_.n_nodes
