# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of partial orders."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.edge_sets.description import DescriptionOfEdgeSets


class DescriptionOfOrders(DescriptionOfEdgeSets):
    """Which item is above which."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("relation", "relations")
    usual_losses: ClassVar[Sequence[str]] = ("hamming", "zero_one")

    def drawn_note(self, z: Any) -> str:
        n = len(self.space.items_)
        n_open = len(self.space.open_pairs(np.asarray(z)[None])[0])
        return f"{n_open} of {n * (n - 1) // 2} pairs are open."
