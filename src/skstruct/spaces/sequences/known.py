# SPDX-License-Identifier: BSD-3-Clause
"""Sequences known in part, under embeddings of symbols and of pairs of neighbours."""

import numpy as np

from skstruct.spaces.sequence_sets.known import KnownOfSequenceSets


class KnownOfSequences(KnownOfSequenceSets):
    """Columns of positions whose symbols are known."""

    __slots__ = ()

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        """All symbols of a position are known, or none; a bigram where both positions are."""
        T, q = self.space.length_, len(self.space.symbols_)
        if known.shape[1] > T:
            return None
        known = np.hstack([known, np.ones((len(known), T - known.shape[1]), bool)])
        columns = np.repeat(known, q, axis=1)
        if self.space.embedding == "positions":
            return columns
        return np.hstack([columns, np.repeat(known[:, :-1] & known[:, 1:], q * q, axis=1)])
