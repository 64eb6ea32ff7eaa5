# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of knapsacks."""

from typing import Any

import numpy as np

from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets
from skstruct.spaces.knapsacks.weights import constraint_names, read_capacity


class DescriptionOfKnapsacks(DescriptionOfLabelSets):
    """The items that are packed, and what they weigh together."""

    __slots__ = ()

    def drawn_note(self, z: Any) -> str:
        """How much of each capacity is used."""
        space = self.space
        loads = space.weights_ @ np.asarray(z, dtype=np.float64)
        rooms = read_capacity(space.capacity, len(loads), constraint_names(space.weights))
        used = [f"{load:.4g} of {room:.4g}" for load, room in zip(loads, rooms)]
        return f"weight: {', '.join(used)}"
