# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks, uniformly: by a table over the capacity, or a list."""

from typing import Any

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.knapsacks.table import list_fillings
from skstruct.spaces.uniform import LIMIT


class UniformOfKnapsacks(UniformOfSets):
    """Sets of items by what they weigh, where one constraint has whole weights."""

    __slots__ = ()

    def _alike(self, constraints: Any) -> Any:
        """All sets as paths; None where they are listed."""
        table = self.space._summed(constraints)
        return None if table is None else table.alike()

    def _closed_form(self) -> Any:
        return self._alike(self._one_row())

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        alike = self._alike(self._one_row().within(low, high))
        return self._count_listed(low, high) if alike is None else alike.total

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        known, space = self._one_row(), self.space
        alike = self._alike(known)
        if alike is not None:
            check_few(alike.total, limit, space, "sets")
        listed = list_fillings(space.weights_, known.capacity[0] + space._slack, known, limit)
        if listed is None:
            raise UndecidableError(f"Knapsacks: there are more than {limit} sets; raise limit.")
        return listed
