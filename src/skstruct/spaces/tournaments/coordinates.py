# SPDX-License-Identifier: BSD-3-Clause
"""States of pairs, which signs of pairs charge."""

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates


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
