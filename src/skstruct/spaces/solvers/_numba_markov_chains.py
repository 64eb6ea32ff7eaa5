# SPDX-License-Identifier: BSD-3-Clause
"""Compiled Markov chains: random numbers, the test of Metropolis, coupling from the past.

The random numbers are xoshiro256++ of D. Blackman and S. Vigna (2019).
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True, inline="always")
def _rotated(word, by):
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@nb.njit(cache=True, nogil=True)
def word(streams, c):
    """The next 64 random bits of stream c."""
    a, b, p, q = streams[c, 0], streams[c, 1], streams[c, 2], streams[c, 3]
    drawn = _rotated(a + q, 23) + a
    shifted = b << np.uint64(17)
    p ^= a
    q ^= b
    b ^= p
    a ^= q
    p ^= shifted
    streams[c, 0], streams[c, 1], streams[c, 2], streams[c, 3] = a, b, p, _rotated(q, 45)
    return drawn


@nb.njit(cache=True, nogil=True)
def fraction(streams, c):
    """A number from 0 to below 1, of 53 random bits."""
    return float(word(streams, c) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@nb.njit(cache=True, nogil=True)
def below(streams, c, n):
    """A whole number from 0 to n - 1; the bias is at most n / 2**53."""
    return int(fraction(streams, c) * n)


# The test of Metropolis, compiled.


@nb.njit(cache=True, nogil=True, inline="always")
def accepts(log_ratio, streams, c):
    """True with probability min(1, exp(log_ratio)); a sure step asks for no random number."""
    return log_ratio >= 0.0 or fraction(streams, c) < np.exp(log_ratio)


@nb.njit(cache=True, nogil=True)
def walk_choices(states, values, row, beta, n_steps, streams):
    """Propose any of the choices, all alike; values of shape (r, m)."""
    accepted = np.zeros(len(states), np.int64)
    m = values.shape[1]
    for c in range(len(states)):
        value, here = values[row[c]], states[c]
        for _ in range(n_steps):
            there = below(streams, c, m)
            change = beta[c] * (value[there] - value[here])
            if change >= 0.0 or fraction(streams, c) < np.exp(change):
                here = there
                accepted[c] += 1
        states[c] = here
    return accepted


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
HALF_STEP = 1.0 / 18014398509481984.0  # 2**-54 keeps numbers off 0 and 1


@nb.njit(cache=True, nogil=True)
def _open_stream(seeds, c, block, stream):
    """The stream of one block of time, always the same: SplitMix64 of the seed and the block."""
    x = seeds[c, 0] ^ (np.uint64(block + 1) * np.uint64(0xD1342543DE82EF95))
    for k in range(4):
        x += GOLDEN
        z = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        stream[0, k] = z ^ (z >> np.uint64(31)) ^ seeds[c, k]


@nb.njit(cache=True, nogil=True)
def _sweep(
    x, apart, stream, node, pair, low, high, soft, near, edge, up, above, down, below, order
):  # fmt: skip
    """Draw every site anew, in the top chain x[0] and in the bottom chain x[1].

    Returns how many sites of them differ, which were ``apart``. All in one loop, since arrays
    that are handed on cost more than what is done with them here.
    """
    for j in order:
        if low[j] == high[j]:
            continue
        u = float(word(stream, 0) >> np.uint64(11)) * (2.0 * HALF_STEP) + HALF_STEP
        # In iff log(u / (1 - u)) < log odds: one number for both chains, so that the upper one
        # stays above the lower one whatever is rounded.
        need = np.log(u / (1.0 - u))
        differed = x[0, j] != x[1, j]
        for c in range(2 if apart else 1):  # chains that have met stay together: one is enough
            forced_out = forced_in = False
            for k in range(up[j], up[j + 1]):
                forced_out |= not x[c, above[k]]
            for k in range(down[j], down[j + 1]):
                forced_in |= x[c, below[k]]
            odds = node[j]
            for k in range(soft[j], soft[j + 1]):
                if x[c, near[k]]:
                    odds += pair[edge[k]]
            x[c, j] = forced_in or (need < odds and not forced_out)
        if apart:
            apart += int(x[0, j] != x[1, j]) - int(differed)
    return apart


@nb.njit(cache=True, nogil=True)
def couple(
    seeds, row, node, pair, low, high, soft, near, edge, up, above, down, below, order, level,
    states,
):  # fmt: skip
    """Run from 2**level sweeps in the past to now, from the top and from the bottom.

    Block b of time has its own stream, and 2**(b - 1) sweeps; block 0, the last, has one.
    ``states`` get where the top chain ends; returns whether the bottom chain ends there too.
    """
    met = np.zeros(len(row), np.bool_)
    stream, x = np.empty((1, 4), np.uint64), np.empty((2, len(order)), np.bool_)
    for c in range(len(row)):
        r = row[c]
        x[0], x[1] = high[r], low[r]
        apart = int((x[0] != x[1]).sum())
        for block in range(level, -1, -1):
            _open_stream(seeds, c, block, stream)
            for _ in range(1 if block == 0 else 1 << (block - 1)):
                apart = _sweep(
                    x, apart, stream, node[r], pair[r], low[r], high[r], soft, near, edge, up,
                    above, down, below, order,
                )  # fmt: skip
        met[c] = apart == 0
        states[c] = x[0]
    return met


@nb.njit(cache=True, nogil=True)
def sides(pair, edges, n_nodes):
    """Sides on which pairs of positive score are together, those of negative score apart.

    Union-find with parities, pairs of positive score first. Returns the sides (r, n_nodes) and
    for every row the first pair, of negative score, that cannot be kept apart; -1 for none.
    """
    n_rows, n_edges = pair.shape
    side = np.zeros((n_rows, n_nodes), np.bool_)
    wrong = np.full(n_rows, -1, np.int64)
    parent, parity = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.bool_)
    for r in range(n_rows):
        for i in range(n_nodes):
            parent[i], parity[i] = i, False
        for negative in (False, True):
            for e in range(n_edges):
                score = pair[r, e]
                if score == 0.0 or (score < 0.0) != negative:
                    continue
                i, of_i = _root(parent, parity, edges[e, 0])
                j, of_j = _root(parent, parity, edges[e, 1])
                if i != j:
                    parent[i], parity[i] = j, (of_i != of_j) != negative
                elif (of_i != of_j) != negative and wrong[r] < 0:
                    wrong[r] = e
        for i in range(n_nodes):
            side[r, i] = _root(parent, parity, i)[1]
    return side, wrong


@nb.njit(cache=True, nogil=True)
def _root(parent, parity, i):
    odd = False
    while parent[i] != i:
        odd ^= parity[i]
        i = parent[i]
    return i, odd


@nb.njit(cache=True, nogil=True)
def replayed(values, reach, first):
    """Where a meta chain is now that was at proposal ``first``, counted back from now.

    Proposal s moves a chain from all outputs with a value below ``reach[s]``.
    """
    here = first
    for s in range(first - 1, -1, -1):
        if values[here] < reach[s]:
            here = s
    return here
