# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of elements by all that is above them."""

from collections.abc import Sequence
from typing import ClassVar

from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfElements(DescriptionOfLabelSets):
    """The element, with all above it."""

    __slots__ = ()
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)
