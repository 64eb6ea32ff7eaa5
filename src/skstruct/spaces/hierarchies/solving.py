# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of labels as programs, and decoded on a device."""

from collections.abc import Callable
from typing import Any

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.indicator_sets.decoding import set_program
from skstruct.spaces.solvers.mixed_programs import LinearSet
from skstruct.spaces.solving import Solving


class SolvingOfHierarchies(Solving):
    """Sets that a pass over a forest decides, where no size, group or path limits them."""

    __slots__ = ()

    def program(self) -> LinearSet | None:
        """A row for each arc, z_child <= z_parent, with those of constraints."""
        space = self.space
        if space.embedding != "indicators":
            return None
        return set_program(space.dag_, of_one_row(space.constraints_))

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        dag, limits = self.space.dag_, self.space.constraints_
        if not dag.is_forest or limits.is_sized or limits.groups or limits.one_path:
            return None
        from skstruct.spaces.solvers.on_device import forest_argmin

        low, high = self.space._close_masks(limits)
        return forest_argmin(dag, limits, low, high, backend)
