# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the symbols at every position."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.inference import Inference
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.marginals import nearest_on_simplex
from skstruct.tolerances import SURE


class MarginalsOfSequences(Marginals):
    """Symbols, whose probabilities sum to one at every position, or to less past an end."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"symbols": "hamming"}

    def axes(self, width: int, parts: str | None = None) -> list[Any]:
        return [range(self.space.length_), self.space.symbols_]

    @property
    def recalibrates(self) -> bool:
        """With symbols alone, of one length, without constraints."""
        return not self._has_bigrams and self._has_one_length and self.is_free

    @property
    def is_free(self) -> bool:
        return self.space.constraints is None

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """Symbols of a position on the simplex; bigrams and lengths as sequences have them."""
        if not self.recalibrates:
            return super().coherent(means)
        q = len(self.space.symbols_)
        return nearest_on_simplex(means.reshape(-1, q)).reshape(means.shape)

    def condition(self, means: np.ndarray) -> np.ndarray:
        """Symbols independent of each other, given what is known; nearest with bigrams."""
        if self._has_bigrams or not self._has_one_length:
            return super().condition(means)
        known = Inference.of(self.space).distribution(np.log(np.maximum(means, SURE)))
        return super().condition(means) if known is None else known.marginals()

    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Probabilities of symbols; shape (n, T, q)."""
        T, q = self.space.length_, len(self.space.symbols_)
        return means[:, : T * q].reshape(-1, T, q)

    def means_of(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        return marginals.reshape(len(marginals), -1)

    @property
    def _has_bigrams(self) -> bool:
        return self.space.embedding == "bigrams"

    @property
    def _has_one_length(self) -> bool:
        low, high = self.space.lengths_
        return low == high
