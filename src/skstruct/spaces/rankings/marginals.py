# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of pairs of items, and of positions."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.marginals import doubly_stochastic, nearest_doubly_stochastic


class MarginalsOfRankings(Marginals):
    """Pairs, which of two items comes first; positions, where each item is."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"pairs": "kendall", "positions": "footrule"}

    def parts(self) -> tuple[str, ...]:
        return (self.space.embedding,) if self.space.embedding in self.losses else ()

    def axes(self, width: int, parts: str | None = None) -> list[Any]:
        items = self.space.items_
        return [items, range(1, len(items) + 1) if parts == "positions" else items]

    def view(self, parts: str | None = None) -> Any:
        return Embeddings.of(self.space).view("pairs" if parts is None else parts)

    @property
    def recalibrates(self) -> bool:
        return self.space.constraints_.is_free

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """Positions are doubly stochastic; of two items of a pair, either is first.

        Whether preferences of three pairs and more are those of rankings is looked at only within
        constraints.
        """
        d = len(self.space.items_)
        if not self.recalibrates:
            return super().coherent(means)
        if self.space.embedding == "pairs":
            return np.clip(means, -1.0, 1.0)
        return nearest_doubly_stochastic(means.reshape(-1, d, d)).reshape(means.shape)

    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        """P(item i before item j), or P(item i at position j); shape (n, d, d)."""
        d = len(self.space.items_)
        if self.space.embedding == "positions":
            return means.reshape(-1, d, d)
        first, second = np.triu_indices(d, 1)
        found = np.full((len(means), d, d), 0.5)
        found[:, first, second] = (1.0 + means) / 2.0
        found[:, second, first] = (1.0 - means) / 2.0
        return found

    def means_of(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        if self.space.embedding == "positions":  # by factors: what may be stays possible
            return doubly_stochastic(marginals).reshape(len(marginals), -1)
        first, second = np.triu_indices(len(self.space.items_), 1)
        return (marginals - marginals.swapaxes(1, 2))[:, first, second]
