# SPDX-License-Identifier: BSD-3-Clause
"""Candidates decided on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.spaces.solving import Solving


class SolvingOfCandidates(Solving):
    """All candidates are compared, and no other output that is known."""

    __slots__ = ()

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        from skstruct.spaces.solvers.on_device import listed_argmin

        space, n = self.space, self.space.n_candidates_
        allowed = np.zeros(space.n_known_, bool)
        allowed[:n] = True if space.allowed_ is None else space.allowed_
        return listed_argmin(space.listed_, allowed, backend)
