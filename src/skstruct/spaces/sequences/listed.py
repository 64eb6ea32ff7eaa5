# SPDX-License-Identifier: BSD-3-Clause
"""Sequences narrowed to a list of them."""

from __future__ import annotations

import numpy as np

from skstruct.spaces.listed import ListedOutputs
from skstruct.spaces.sequences.forms import sequence_lengths, widened


class ListedSequences(ListedOutputs):
    """Listed sequences, whatever the width of the arrays they come in."""

    @property
    def symbols_(self):
        return self.space.symbols_

    @property
    def length_(self):
        return self.space.length_

    @classmethod
    def of(cls, space, outputs, candidates):
        """The view of ``BaseSpace.with_embedding``, all outputs equally wide."""
        parts = [outputs] if candidates is None else [outputs, candidates]
        parts = [np.asarray(part, dtype=np.int64) for part in parts]
        width = max(part.shape[1] for part in parts)
        return cls(space, *(widened(part, width) for part in parts))

    def embed(self, Z):
        width = self.listed_.shape[1]
        Z = widened(np.asarray(Z, dtype=np.int64), width)
        if Z.shape[1] == width:
            return super().embed(Z)
        fits = sequence_lengths(Z) <= width
        cut = np.where(fits[:, None], Z[:, :width], -2)  # -2: no sequence, hence not listed
        return super().embed(np.ascontiguousarray(cut))
