# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of graphs beside the indicators of edges."""

from typing import Any

import numpy as np

from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.embeddings import SizedSets


class EmbeddingsOfGraphs(Embeddings):
    """By number of edges, where all graphs are outputs."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == "sized indicators" and self.space.property is None:
            return SizedSets(self.space)
        return super().view(name, outputs, candidates)
