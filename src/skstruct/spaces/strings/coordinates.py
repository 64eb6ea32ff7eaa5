# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of strings beside their counts of grams."""

from typing import Any

import numpy as np

from skstruct.spaces.sequence_sets.base import EMBEDDINGS
from skstruct.spaces.sequence_sets.embeddings import EmbeddingsOfSequenceSets
from skstruct.spaces.sequences.space import Sequences


class EmbeddingsOfStrings(EmbeddingsOfSequenceSets):
    """Symbols at positions and bigrams, as of sequences."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        space = self.space
        if name not in EMBEDDINGS:
            return super().view(name, outputs, candidates)
        view = Sequences(space.alphabet, space.length, name, constraints=space.constraints)
        learned = {key: value for key, value in vars(space).items() if key.endswith("_")}
        view.__dict__.update(learned)
        return view
