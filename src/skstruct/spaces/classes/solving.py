# SPDX-License-Identifier: BSD-3-Clause
"""Classes decided on a device."""

from collections.abc import Callable
from typing import Any

from skstruct.spaces.solving import Solving


class SolvingOfClasses(Solving):
    """All classes are compared."""

    __slots__ = ()

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        from skstruct.spaces.solvers.on_device import listed_argmin

        space = self.space
        return listed_argmin(space.listed_, space.allowed_, backend)
