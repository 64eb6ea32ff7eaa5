# SPDX-License-Identifier: BSD-3-Clause
"""Moments of sequence embeddings under the uniform distribution.

Sequences drawn uniformly within limits are a Markov chain that may stop: with m_t(a) the
chance of symbol a at position t, and K_t(a, b) that of b next, the chance of a at s and b at
t > s is m_s(a) (K_s ... K_{t-1})(a, b), and likewise for bigrams at both ends. All terms are
chances, so that nothing cancels.
"""

from __future__ import annotations

import numpy as np

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
    places = [slice(t * q, (t + 1) * q) for t in range(width)]
    pairs = [slice((width + t * q) * q, (width + (t + 1) * q) * q) for t in range(width - 1)]
    moment = np.diag(mean)  # what is not below is of two symbols at one place, hence zero

    def put(one, other, joint):
        moment[one, other] = joint.reshape(one.stop - one.start, other.stop - other.start)
        moment[other, one] = moment[one, other].T

    for s in range(width):
        path = np.eye(q)  # chance of a symbol at t, given that at s
        for t in range(s, width):
            both = chance[s][:, None] * path  # the symbols at s and at t
            put(places[s], places[t], both)
            if bigrams and s > 0:  # those at s - 1, s and t
                three = (chance[s - 1][:, None] * steps[s - 1])[:, :, None] * path
                put(pairs[s - 1], places[t], three)
            if t + 1 < width:
                if bigrams:
                    put(places[s], pairs[t], both[:, :, None] * steps[t])
                if bigrams and s > 0:
                    put(pairs[s - 1], pairs[t], three[:, :, :, None] * steps[t])
                path = path @ steps[t]
    return moment
