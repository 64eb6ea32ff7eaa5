# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of label sets in hierarchies."""

from collections.abc import Sequence
from typing import ClassVar

from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfHierarchies(DescriptionOfLabelSets):
    """The labels that are in, with all above them."""

    __slots__ = ()
    usual_losses: ClassVar[Sequence[str]] = ("hamming", "f1", "zero_one")
