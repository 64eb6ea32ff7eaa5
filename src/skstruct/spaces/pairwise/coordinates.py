# SPDX-License-Identifier: BSD-3-Clause
"""Labels and pairs of labels, which labels alone charge."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.coordinates import CoordinatesOfSets, EmbeddingsOfSets
from skstruct.spaces.pairwise.labels import without_pairs
from skstruct.spaces.pairwise.states import EMBEDDINGS


class CoordinatesOfStates(Coordinates):
    """An indicator for each state of a label, and of a pair of labels."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of "node states": pairs cost nothing."""
        space = self.space
        if embedding != "node states" or space.embedding != "states":
            return super().lift(costs, embedding)
        n, k, n_edges = len(space.labels_), len(space.states_), len(space.edges_)
        costs = check_costs(costs, n * k, used_by="PairwiseStates")
        return np.hstack([costs, np.zeros((len(costs), n_edges * k * k))])


class CoordinatesOfLabels(CoordinatesOfSets):
    """An indicator for each label, and for each pair of labels."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of labels, (n, number of labels): pairs cost nothing."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        costs = check_costs(costs, len(self.space.labels_), used_by="PairwiseLabels")
        return np.hstack([costs, np.zeros((len(costs), len(self.space.edges_)))])


class EmbeddingsOfStates(Embeddings):
    """With pairs of labels or without."""

    __slots__ = ()
    own = EMBEDDINGS


class EmbeddingsOfPairs(EmbeddingsOfSets):
    """As of label sets, without the pairs; a list is one of sets and pairs."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name in (self.space.embedding, "outputs"):
            return super().view(name, outputs, candidates)
        return Embeddings.of(without_pairs(self.space)).view(name, outputs, candidates)
