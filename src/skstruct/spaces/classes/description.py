# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of classes: one label of many."""

from collections.abc import Sequence
from typing import Any, ClassVar

from skstruct.spaces.description import CanonicalRange, Description, Part, Parts


class DescriptionOfClasses(Description):
    """The one class, by its name."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("class", "classes")
    output_kind = "classes"

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def parts_of(self, z: Any) -> Parts:
        return Parts([Part(int(z), self.space.labels_[int(z)])])

    def canonical_range(self) -> CanonicalRange:
        return 0, len(self.space.labels_), None
