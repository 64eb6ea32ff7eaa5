# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates of another view."""

from typing import Any

import numpy as np

from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.embeddings import SizedSets
from skstruct.spaces.indicator_sets.parent_products import ParentProducts
from skstruct.spaces.poset.space import OtherEmbedding


class CoordinatesOfView(Coordinates):
    """Those of the view whose embedding elements have."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        return Coordinates.of(self.space.view).lift(costs, embedding)

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        return Coordinates.of(self.space.view).project(means, embedding)


class EmbeddingsOfElements(Embeddings):
    """Those of sets of labels, of the sets of all that is above an element."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        views: dict[str, Any] = {
            "sized indicators": SizedSets,
            "indicators and parents": ParentProducts,
        }
        if name in views:
            return OtherEmbedding(views[name](self.space))
        return super().view(name, outputs, candidates)
