# SPDX-License-Identifier: BSD-3-Clause
"""Sequences within limits under the uniform distribution: counts, samples, lists."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from skstruct.decoding.chains.counting import ChainCounts
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.counting import LIMIT, check_few
from skstruct.spaces.sequences.forms import widened
from skstruct.spaces.sequences.limits import SequenceLimits


class UniformSequences(BaseSpace):
    """Sequences within limits: how many there are, samples and the list."""

    @property
    @abstractmethod
    def limits_(self) -> SequenceLimits:
        """What sequences must obey."""

    @property
    @abstractmethod
    def length_(self) -> int:
        """The longest length, T."""

    def _counts(self) -> ChainCounts:
        limits = self.limits_
        if limits.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return count_sequences(limits)

    def _some(self) -> ChainCounts:
        """Counts, where there is a sequence at all."""
        counts = self._counts()
        if counts.total == 0:
            raise InfeasibleError(f"{type(self).__name__}: no sequence meets the constraints.")
        return counts

    def size(self) -> int:
        """Exact number of sequences."""
        return self._counts().total

    def log_size(self) -> float:
        """Natural logarithm of their number; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf

    def enumerate(self, limit: int = LIMIT):
        """All sequences in canonical form; shape (size, T)."""
        counts = self._counts()
        check_few(counts.total, limit, self, "sequences")
        return widened(counts.listed(), self.length_)

    def sample(self, n: int, rng):
        """``n`` sequences drawn uniformly and independently; shape (n, T)."""
        drawn = self._some().sample(n, np.random.default_rng(rng))
        return widened(drawn, self.length_)


def count_sequences(limits: SequenceLimits) -> ChainCounts:
    """Counts of the sequences within limits that are the same in every row."""
    q, longest = limits.n_symbols, int(limits.longest[0])
    allowed = np.ones((longest, q), bool)
    known, barred = limits.known[0], limits.forbidden[0]
    for t in np.flatnonzero(known[:longest] >= 0):
        allowed[t] = np.arange(q) == known[t]
    if longest:
        allowed[0] &= ~barred[q, :q]
    moves = ~barred[:q, :q]
    return ChainCounts(
        allowed,
        None if moves.all() else moves,
        ends=~barred[:q, q],
        shortest=int(limits.least_lengths()[0]),
    )
