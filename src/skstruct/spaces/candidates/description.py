# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of candidates: outputs of any kind, right or wrong as a whole."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.classes.description import DescriptionOfClasses
from skstruct.spaces.description import CanonicalRange, Description


class DescriptionOfCandidates(DescriptionOfClasses):
    """The one output of a list, as it is written."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("label", "labels")
    parts_of = Description.parts_of
    output_kind = "other"
    drawn_as = "classes"

    def examples(self, Z: np.ndarray) -> Any:
        """All that can be predicted, and what was seen in training."""
        return self.space.known_.array()

    def canonical_range(self) -> CanonicalRange:
        return 0, self.space.n_known_, None
