# SPDX-License-Identifier: BSD-3-Clause
"""Compiled Metropolis steps among sequences of symbols."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_markov_chains import accepts, below, fraction


@nb.njit(cache=True, nogil=True)
def _worth(symbols, length, t, y, u, q, bigrams):
    """Scores of the symbol y at position t next to what stands beside it.

    A symbol at t has the coordinate t q + y, a bigram from t to t + 1 the coordinate
    T q + (t q + y) q + z, for T positions.
    """
    total = u[t * q + y]
    if bigrams:
        pairs = symbols.shape[0] * q
        if t > 0:
            total += u[pairs + ((t - 1) * q + symbols[t - 1]) * q + y]
        if t + 1 < length:
            total += u[pairs + (t * q + y) * q + symbols[t + 1]]
    return total


@nb.njit(cache=True, nogil=True)
def _try_length(symbols, length, u, warm, streams, c, q, shortest, longest, bigrams):
    """Propose one symbol more or one less at the end; the length afterwards."""
    if fraction(streams, c) < 0.5:
        if length == longest:
            return length
        y = below(streams, c, q)
        gain = _worth(symbols, length, length, y, u, q, bigrams)
        if not accepts(warm * gain + np.log(q), streams, c):
            return length
        symbols[length] = y
        return length + 1
    if length == shortest:
        return length
    loss = _worth(symbols, length, length - 1, symbols[length - 1], u, q, bigrams)
    if not accepts(-warm * loss - np.log(q), streams, c):
        return length
    symbols[length - 1] = -1
    return length - 1


@nb.njit(cache=True, nogil=True)
def walk_sequences(
    states, scores, row, beta, n_steps, streams, q, free, shortest, longest, bigrams
):
    """``n_steps`` proposals in every chain; how many of them changed something.

    One of all symbols is proposed at one of all free positions. Without bigrams its gain is
    written out here: a call that is given arrays counts references to them, which takes longer
    than the sum.
    """
    accepted = np.zeros(states.shape[0], np.int64)
    open_ends = longest > shortest
    for c in range(states.shape[0] if free.shape[0] else 0):
        symbols, u, warm = states[c], scores[row[c]], beta[c]
        length = 0
        while length < symbols.shape[0] and symbols[length] >= 0:
            length += 1
        for _ in range(n_steps):
            if open_ends and fraction(streams, c) < 0.5:
                new = _try_length(
                    symbols, length, u, warm, streams, c, q, shortest, longest, bigrams
                )
                accepted[c] += new != length
                length = new
                continue
            t, y = free[below(streams, c, free.shape[0])], below(streams, c, q)
            old = symbols[t]
            if t >= length or old == y:
                continue
            if bigrams:
                gain = _worth(symbols, length, t, y, u, q, bigrams)
                gain -= _worth(symbols, length, t, old, u, q, bigrams)
            else:
                gain = u[t * q + y] - u[t * q + old]
            change = warm * gain
            if change >= 0.0 or fraction(streams, c) < np.exp(change):
                symbols[t] = y
                accepted[c] += 1
    return accepted
