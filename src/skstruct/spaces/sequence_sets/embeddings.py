# SPDX-License-Identifier: BSD-3-Clause
"""Lists of sequences."""

from typing import Any

import numpy as np

from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.sequence_sets.base import ListedSequences
from skstruct.spaces.sequence_sets.formats import widened


class EmbeddingsOfSequenceSets(Embeddings):
    """Lists of sequences, whatever the width of the arrays they come in."""

    __slots__ = ()
    squared = ("positions",)

    def listed(self, outputs: np.ndarray, candidates: np.ndarray | None) -> Any:
        parts = [outputs] if candidates is None else [outputs, candidates]
        parts = [np.asarray(part, dtype=np.int64) for part in parts]
        width = max(part.shape[1] for part in parts)
        return ListedSequences(self.space, *(widened(part, width) for part in parts))
