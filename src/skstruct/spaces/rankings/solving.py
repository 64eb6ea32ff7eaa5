# SPDX-License-Identifier: BSD-3-Clause
"""Rankings decided on a device."""

from collections.abc import Callable
from typing import Any

from skstruct.spaces.rankings.space import EMBEDDINGS
from skstruct.spaces.solving import Solving


class SolvingOfRankings(Solving):
    """By ranks, a sort; by positions, an assignment."""

    __slots__ = ()

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        space = self.space
        scheme: Any = EMBEDDINGS[space.embedding]
        found: Callable[..., Any] | None
        found = scheme.tensor_argmin(len(space.items_), space.constraints_, backend)
        return found
