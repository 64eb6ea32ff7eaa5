# SPDX-License-Identifier: BSD-3-Clause
"""Symbols at positions and bigrams, which symbols alone charge."""

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.sequence_sets.base import EMBEDDINGS
from skstruct.spaces.sequence_sets.embeddings import EmbeddingsOfSequenceSets


class CoordinatesOfSequences(Coordinates):
    """An indicator for each symbol at each position, and perhaps for each bigram."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of symbols at positions: bigrams cost nothing."""
        space = self.space
        if embedding != "positions" or space.embedding != "bigrams":
            return super().lift(costs, embedding)
        T, q = space.length_, len(space.symbols_)
        costs = check_costs(costs, T * q, used_by="Sequences")
        return np.hstack([costs, np.zeros((len(costs), (T - 1) * q * q))])


class EmbeddingsOfSequences(EmbeddingsOfSequenceSets):
    """Symbols at positions, or also bigrams."""

    __slots__ = ()
    own = EMBEDDINGS
