# SPDX-License-Identifier: BSD-3-Clause
"""States of pairs, which signs of pairs charge."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.tournaments.signs import TournamentStates


class CoordinatesOfStates(Coordinates):
    """An indicator for each state of each pair."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of signed pairs, (n, d), where no pair is open: a sign costs its multiple."""
        view = self.space
        if embedding != "signed pairs" or view.space.partial:
            return super().lift(costs, embedding)
        costs = check_costs(costs, len(view.labels_), used_by="Tournaments")
        return (costs[:, :, None] * np.array(view.states_, dtype=float)).reshape(len(costs), -1)


class EmbeddingsOfTournaments(Embeddings):
    """Signs of pairs, or an indicator for each state of each pair."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == TournamentStates.embedding:
            return TournamentStates(self.space)
        return super().view(name, outputs, candidates)
