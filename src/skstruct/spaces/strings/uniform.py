# SPDX-License-Identifier: BSD-3-Clause
"""Moments of counts of n-grams under the uniform distribution.

Strings drawn uniformly within constraints are a Markov chain that may stop. With m_t the
probabilities of the symbols at position t and K_t those of going on, an n-gram a b ... stands at t
with probability m_t(a) K_t(a, b) ..., and its mean count is the sum over positions.
"""

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.uniform import UniformOfSequenceSets

MOST_MOMENTS = 2**12  # coordinates whose second moments fit into memory


def mean_counts(counts: ChainCounts, order: int) -> np.ndarray:
    """Mean number of each n-gram; shape (q**order,)."""
    total = np.zeros(counts.n_symbols**order)
    if counts.length < order:
        return total
    probability, steps = counts.as_markov_chain()
    for t in range(counts.length - order + 1):
        total += _extended(probability, steps[t : t + order - 1])
        if t + order < counts.length:
            probability = probability @ steps[t]
    return total


def _extended(probability: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Probabilities of the first symbols, one more for every step; flat."""
    for step in steps:
        probability = probability[..., None] * step
    return probability.ravel()


def second_counts(counts: ChainCounts, order: int) -> np.ndarray:
    """Mean of the product of each two counts; shape (q**order, q**order).

    Counts before an n-gram is appended are carried along by state, E[k 1(state)]: appending c
    adds k e' + e k' + e e' to k k', with e the indicator of c.
    """
    q, d = counts.n_symbols, counts.n_symbols**order
    check_square_fits(d, "The second moment", "Shorter n-grams take less.")
    if counts.length < order:
        return np.zeros((d, d))
    if order == 1:
        return _second_of_symbols(counts)
    n_states = d // q
    moment, carried = np.zeros((d, d)), np.zeros((d, n_states))
    first, steps = counts.as_markov_chain()
    state = _extended(first, steps[: order - 2])
    for step in steps[order - 2 :]:
        onward = np.tile(step, (n_states // q, 1))  # by the last symbol of the state
        appended = np.diag((state[:, None] * onward).ravel())
        before = (carried[:, :, None] * onward).reshape(d, d)
        moment += before + before.T + appended
        carried = (before + appended).reshape(d, q, n_states).sum(axis=1)
        state = appended.diagonal().reshape(q, n_states).sum(axis=0)
    return moment


def _second_of_symbols(counts: ChainCounts) -> np.ndarray:
    """The same for single symbols, with the last one as the state; shape (q, q)."""
    state, steps = counts.as_markov_chain()
    moment = carried = np.diag(state)
    for step in steps:
        state = state @ step
        before, appended = carried @ step, np.diag(state)
        moment = moment + before + before.T + appended
        carried = before + appended
    return moment


class UniformOfStrings(UniformOfSequenceSets):
    """How often each n-gram occurs."""

    __slots__ = ()

    def _width(self) -> int:
        return int(self.space._width())

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all strings; shape (q**n,)."""
        self._width()
        return mean_counts(self._some(), self.space.n)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all strings; shape (q**n, q**n)."""
        if self._width() > MOST_MOMENTS:
            raise ValueError(
                f"Strings: second moments are for up to {MOST_MOMENTS:,} n-grams; there are "
                f"{self._width():,}."
            )
        return second_counts(self._some(), self.space.n)
