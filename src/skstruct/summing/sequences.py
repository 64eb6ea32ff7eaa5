# SPDX-License-Identifier: BSD-3-Clause
"""Laws of sequences in the order of an embedding: positions, bigrams at them, n-grams."""

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
        n, q = len(self.log_partition), self.chains.unary.shape[1]
        if not self.bigrams:
            return self.chains.token_marginals().reshape(n, self.width * q)
        nodes, steps = self.chains.gradient()
        per_row = max(self.width - 1, 0) * q * q
        return np.hstack([nodes.reshape(n, self.width * q), steps.reshape(n, per_row)])

    def sample(self, n, rng):
        return _widened(self.chains.sample(n, rng), self.width)


class GramLaw(Law):
    """The law of chains with the expected numbers of symbols or of bigrams as marginals.

    Parameters
    ----------
    chains : ChainLaw
        Every row owns ``width`` positions.
    width : int
        Positions of a row, T.
    n : 1 or 2
        Whether single symbols are counted, or pairs that follow each other.
    """

    def __init__(self, chains: ChainLaw, width: int, n: int):
        self.chains, self.width, self.n = chains, width, n
        self.log_partition = chains.log_partition

    def marginals(self):
        rows, q = len(self.log_partition), self.chains.unary.shape[1]
        if self.n == 2:
            return self.chains.transition_counts().reshape(rows, q * q)
        return self.chains.token_marginals().reshape(rows, self.width, q).sum(axis=1)

    def sample(self, n, rng):
        return _widened(self.chains.sample(n, rng), self.width)


def _widened(drawn, width):
    missing = width - drawn.shape[2]
    return np.pad(drawn, ((0, 0), (0, 0), (0, missing)), constant_values=-1)
