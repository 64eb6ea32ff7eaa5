# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of ordered levels."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.common.fixing import finder, only_one
from skstruct.spaces.description import Part, Parts
from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfLevels(DescriptionOfLabelSets):
    """The level, by its name."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("level", "levels")
    output_kind = "ordinal"
    fixable = ("in", "out")
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)

    def parts_of(self, z: Any) -> Parts:
        level = int(np.sum(z)) - 1
        return Parts([Part(level, self.space.labels_[level])])

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """The level that is in is both the lowest and the highest."""
        named = finder(self.space.labels_, "level")
        asked: dict[str, Any] = (
            {"exclude": [named(level) for level in excluded]} if excluded else {}
        )
        for level in included:
            for side in ("min_level", "max_level"):
                only_one(asked, side, named(level), "The")
        return asked
