# SPDX-License-Identifier: BSD-3-Clause
"""Items at positions, which ranks charge."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.rankings.space import EMBEDDINGS


class CoordinatesOfRankings(Coordinates):
    """Ranks, pairs, or an indicator for each item at each position."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of ranks, charged for every item at every position."""
        space = self.space
        by_position = space.embedding == "positions" and space.constraints_.top is None
        if embedding != "ranks" or not by_position:
            return super().lift(costs, embedding)
        d = len(space.items_)
        costs = check_costs(costs, d, used_by="Rankings")
        return (costs[:, :, None] * np.arange(1.0, d + 1)).reshape(len(costs), d * d)


class EmbeddingsOfRankings(Embeddings):
    """Ranks, pairs, positions and ratings."""

    __slots__ = ()
    own = tuple(EMBEDDINGS)
    squared = ("pairs", "pair shares", "positions", "rating differences", "rating shares")

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name.startswith("rating") and outputs is not None and not np.isnan(outputs).any():
            name = f"complete {name}"  # then there are d numbers instead of one per pair
        return super().view(name, outputs, candidates)
