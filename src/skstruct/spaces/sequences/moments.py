# SPDX-License-Identifier: BSD-3-Clause
"""Moments of sequence embeddings under the uniform distribution.

Sequences drawn uniformly within limits are a Markov chain that may stop: with m_t(a) the
chance of symbol a at position t, and K_t(a, b) that of b next, the chance of a at s and b at
t > s is m_s(a) (K_s ... K_{t-1})(a, b), and likewise for bigrams at both ends. All terms are
chances, so that nothing cancels.
"""

from __future__ import annotations

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.decoding.chains.counting import ChainCounts


def mean_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Chance of each symbol at each of ``width`` positions, and of each bigram; shape (d,)."""
    chance, steps = _chances(counts, width)
    if not bigrams:
        return chance.ravel()
    return np.concatenate([chance.ravel(), (chance[:-1, :, None] * steps).ravel()])


def _chances(counts: ChainCounts, width: int):
    """m (width, q) and K (width - 1, q, q); positions that no sequence reaches have none."""
    q = counts.n_symbols
    chance, steps = np.zeros((width, q)), np.zeros((width - 1, q, q))
    if counts.length:
        chance[0], steps[: counts.length - 1] = counts.as_markov_chain()
    for t in range(width - 1):
        chance[t + 1] = chance[t] @ steps[t]
    return chance, steps


def second_moment_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Chance of each two coordinates of the embedding together; shape (d, d)."""
    chance, steps = _chances(counts, width)
    q, mean = counts.n_symbols, mean_of_chains(counts, width, bigrams)
    check_square_fits(len(mean), "The second moment", "Shorter sequences or no bigrams take less.")
    moment = np.diag(mean)  # what is not below is of two symbols at one place, hence zero
    pairs = width * q  # where bigrams begin

    def put(one, other, joint):
        """Chances of coordinates ``one``, ``one`` + 1, ... with ``other``, ``other`` + 1, ..."""
        joint = joint.reshape(-1, joint.shape[-1])
        one, other = slice(one, one + len(joint)), slice(other, other + joint.shape[1])
        moment[one, other], moment[other, one] = joint, joint.T

    both = np.zeros((0, q, q))  # symbols at s and at t, for all s <= t
    three = np.zeros((0, q, q, q))  # symbols at s - 1, s and t, for all 0 < s <= t
    for t in range(width):
        both = np.concatenate([both, np.diag(chance[t])[None]])
        put(0, t * q, both)
        if bigrams and t:
            here = chance[t - 1][:, None] * steps[t - 1]
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
