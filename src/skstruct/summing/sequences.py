# SPDX-License-Identifier: BSD-3-Clause
"""Laws of sequences that are embedded by positions, or by positions and bigrams."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law
from skstruct.summing.chains import ChainLaw


class SequenceLaw(Law):
    """The law of chains with marginals in the order of an embedding.

    Parameters
    ----------
    chains : ChainLaw
        Every row owns ``width`` positions; with bigrams, step t of row i has the matrix
        i (width - 1) + t.
    width : int
        Positions of a row, T.
    bigrams : bool
        Whether steps have coordinates of their own, after those of the positions.
    """

    def __init__(self, chains: ChainLaw, width: int, bigrams: bool):
        self.chains, self.width, self.bigrams = chains, width, bigrams
        self.log_partition = chains.log_partition

    def marginals(self):
        n = len(self.log_partition)
        if not self.bigrams:
            return self.chains.token_marginals().reshape(n, -1)
        return np.hstack([part.reshape(n, -1) for part in self.chains.gradient()])

    def sample(self, n, rng):
        drawn = self.chains.sample(n, rng)
        missing = self.width - drawn.shape[2]
        return np.pad(drawn, ((0, 0), (0, 0), (0, missing)), constant_values=-1)
