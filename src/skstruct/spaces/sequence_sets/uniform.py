# SPDX-License-Identifier: BSD-3-Clause
"""Sequences within constraints, uniformly: how many there are, samples and the list."""

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.constraints import SequenceConstraints
from skstruct.spaces.sequence_sets.formats import widened
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


def count_sequences(constraints: SequenceConstraints) -> ChainCounts:
    """Counts of the sequences within constraints that are the same in every row."""
    q, longest = constraints.n_symbols, int(constraints.longest[0])
    allowed = np.ones((longest, q), bool)
    known, barred = constraints.known[0], constraints.forbidden[0]
    for t in np.flatnonzero(known[:longest] >= 0):
        allowed[t] = np.arange(q) == known[t]
    if longest:
        allowed[0] &= ~barred[q, :q]
    proposals = ~barred[:q, :q]
    return ChainCounts(
        allowed,
        None if proposals.all() else proposals,
        ends=~barred[:q, q],
        shortest=int(constraints.least_lengths()[0]),
    )


class UniformOfSequenceSets(Uniform):
    """Sequences by sums over chains. A child brings the moments of its embedding."""

    __slots__ = ()

    def _counts(self) -> ChainCounts:
        return count_sequences(self._one_row())

    def _some(self) -> ChainCounts:
        """Counts, where there is a sequence at all."""
        counts = self._counts()
        if counts.total == 0:
            name = type(self.space).__name__
            raise InfeasibleError(f"{name}: no sequence meets the constraints.")
        return counts

    def size(self) -> int:
        return self._counts().total

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        counts = self._counts()
        check_few(counts.total, limit, self.space, "sequences")
        return widened(counts.listed(), self.space.length_)

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        drawn = self._some().sample(n, np.random.default_rng(rng))
        return widened(drawn, self.space.length_)
