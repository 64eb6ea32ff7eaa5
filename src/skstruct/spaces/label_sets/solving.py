# SPDX-License-Identifier: BSD-3-Clause
"""Label sets as programs, and decoded on a device."""

from collections.abc import Callable
from typing import Any

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.indicator_sets.decoding import set_program
from skstruct.spaces.solvers.mixed_programs import LinearSet
from skstruct.spaces.solving import Solving


class SolvingOfLabelSets(Solving):
    """Sets that a threshold decides, where no size and no group limits them."""

    __slots__ = ()

    def program(self) -> LinearSet | None:
        """All sets of so many labels; known ones are limits."""
        space = self.space
        if space.embedding != "indicators":
            return None
        return set_program(space.dag_, of_one_row(space.constraints_))

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        constraints = self.space.constraints_
        if constraints.is_sized or constraints.groups:
            return None
        from skstruct.spaces.solvers.on_device import sets_argmin, threshold

        return sets_argmin(threshold, constraints, constraints.low, constraints.high, backend)
