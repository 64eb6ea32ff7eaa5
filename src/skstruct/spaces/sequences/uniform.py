# SPDX-License-Identifier: BSD-3-Clause
"""Moments of sequence embeddings under the uniform distribution.

Sequences drawn uniformly within constraints are a Markov chain that may stop: with m_t(a) the
probability of symbol a at position t, and K_t(a, b) that of b next, the probability of a at s and
b at t > s is m_s(a) (K_s ... K_{t-1})(a, b), and likewise for bigrams at both ends. All terms are
probabilities, so that nothing cancels.
"""

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.uniform import UniformOfSequenceSets


def mean_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Probability of each symbol at each of ``width`` positions, and of each bigram; shape (d,)."""
    probability, steps = _probabilities(counts, width)
    if not bigrams:
        return probability.ravel()
    return np.concatenate([probability.ravel(), (probability[:-1, :, None] * steps).ravel()])


def _probabilities(counts: ChainCounts, width: int) -> tuple[np.ndarray, np.ndarray]:
    """m (width, q) and K (width - 1, q, q); positions that no sequence reaches have none."""
    q = counts.n_symbols
    probability, steps = np.zeros((width, q)), np.zeros((width - 1, q, q))
    if counts.length:
        probability[0], steps[: counts.length - 1] = counts.as_markov_chain()
    for t in range(width - 1):
        probability[t + 1] = probability[t] @ steps[t]
    return probability, steps


def second_moment_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Probability of each two coordinates of the embedding together; shape (d, d)."""
    probability, steps = _probabilities(counts, width)
    q, mean = counts.n_symbols, mean_of_chains(counts, width, bigrams)
    check_square_fits(len(mean), "The second moment", "Shorter sequences or no bigrams take less.")
    moment = np.diag(mean)  # what is not below is of two symbols at one position, hence zero
    pairs = width * q  # where bigrams begin

    def put(one: int, other: int, joint: np.ndarray) -> None:
        """Probabilities of coordinates ``one``, ``one`` + 1, ... with ``other``, ``other`` + 1,
        ...
        """
        joint = joint.reshape(-1, joint.shape[-1])
        rows, columns = slice(one, one + len(joint)), slice(other, other + joint.shape[1])
        moment[rows, columns], moment[columns, rows] = joint, joint.T

    both = np.zeros((0, q, q))  # symbols at s and at t, for all s <= t
    three = np.zeros((0, q, q, q))  # symbols at s - 1, s and t, for all 0 < s <= t
    for t in range(width):
        both = np.concatenate([both, np.diag(probability[t])[None]])
        put(0, t * q, both)
        if bigrams and t:
            here = probability[t - 1][:, None] * steps[t - 1]
            three = np.concatenate([three, (here[:, :, None] * np.eye(q))[None]])
            put(pairs, t * q, three)
        if t + 1 == width:
            break
        if bigrams:
            put(0, pairs + t * q * q, (both[..., None] * steps[t]).reshape(t + 1, q, q * q))
            four = three[..., None] * steps[t]
            put(pairs, pairs + t * q * q, four.reshape(t, q, q, q * q))
            three = three @ steps[t]
        both = both @ steps[t]
    return moment


class UniformOfSequences(UniformOfSequenceSets):
    """Symbols at positions, and bigrams."""

    __slots__ = ()

    @property
    def _form(self) -> tuple[int, bool]:
        return self.space.length_, self.space._has_bigrams

    def mean_embedding(self) -> np.ndarray:
        return mean_of_chains(self._some(), *self._form)

    def second_moment(self) -> np.ndarray:
        return second_moment_of_chains(self._some(), *self._form)
