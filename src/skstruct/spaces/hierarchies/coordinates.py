# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of hierarchies."""

from typing import Any

import numpy as np

from skstruct.spaces.indicator_sets.coordinates import EmbeddingsOfSets
from skstruct.spaces.indicator_sets.parent_products import ParentProducts


class EmbeddingsOfHierarchies(EmbeddingsOfSets):
    """Products of labels and their parents, too."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == "indicators and parents":
            return ParentProducts(self.space)
        return super().view(name, outputs, candidates)
