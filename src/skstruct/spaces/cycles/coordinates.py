# SPDX-License-Identifier: BSD-3-Clause
"""Arcs of cycles, which signed pairs charge."""

from collections.abc import Sequence

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.cycles.space import EMBEDDINGS
from skstruct.spaces.cycles.tours import arc_columns
from skstruct.spaces.embeddings import Embeddings


class CoordinatesOfCycles(Coordinates):
    """Indicators of edges or arcs, or signs of pairs."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of signed pairs as costs of arcs: c from u to v, -c from v to u."""
        by_arc = self.space.embedding == "indicators" and self.space.directed
        if embedding != "signed pairs" or not by_arc:
            return super().lift(costs, embedding)
        there, back = arc_columns(len(self.space.nodes_))
        costs = check_costs(costs, len(there), used_by="Cycles")
        lifted = np.empty((len(costs), 2 * len(there)))
        lifted[:, there], lifted[:, back] = costs, -costs
        return lifted


class EmbeddingsOfCycles(Embeddings):
    """Indicators of edges or arcs, or signs of pairs where cycles have a direction."""

    __slots__ = ()

    @property
    def own(self) -> Sequence[str]:  # type: ignore[override]
        return EMBEDDINGS if self.space.directed else ("indicators",)
