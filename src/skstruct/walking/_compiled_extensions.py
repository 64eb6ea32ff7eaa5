# SPDX-License-Identifier: BSD-3-Clause
"""Uniform linear extensions by coupling from the past, with a chain that bounds all others.

The chain picks a position and a coin; with heads, the items at this position and the next change
places unless one must come before the other. The bounding chain y has items and gaps: an item at
position k of y is at k or earlier in every extension. Items enter at the last position, each
after all that must come before it. Once y has no gap it is the only extension left.

Nothing happens in y with tails. So a block of steps has three random streams: coins, 64 in a
word, positions of steps with heads, and positions of steps with tails, which y does not need.
That positions are not picked with quite the same chances is no error: every one of these moves
keeps the uniform law.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_random import word

COINS, HEADS, TAILS = 0, 1, 2
ONE = np.uint64(1)


@nb.njit(cache=True, nogil=True, inline="always")
def position(streams, which, d):
    """One of the d - 1 positions that have a next one."""
    return np.int64(((word(streams, which) >> np.uint64(32)) * np.uint64(d - 1)) >> np.uint64(32))


@nb.njit(cache=True, nogil=True, inline="always")
def n_heads(coins):
    """Number of bits that are set."""
    coins -= (coins >> ONE) & np.uint64(0x5555555555555555)
    twos = np.uint64(0x3333333333333333)
    coins = (coins & twos) + ((coins >> np.uint64(2)) & twos)
    coins = (coins + (coins >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((coins * np.uint64(0x0101010101010101)) >> np.uint64(56))


@nb.njit(cache=True, nogil=True)
def begin(entering, latest, bound):
    """The bounding chain's first state, d for a gap; gives how many items are in it.

    Item ``entering[j]`` is at position ``latest[j]`` at the latest, as so many must follow it.
    """
    d, n_in = len(bound), 0
    for k in range(d):
        bound[k] = d
        if n_in < d and latest[n_in] <= k:
            bound[k] = entering[n_in]
            n_in += 1
    return n_in


@nb.njit(cache=True, nogil=True, inline="always")
def swap(order, k, before):
    """Let k and the next change places, if they may; gaps may."""
    a, b = order[k], order[k + 1]
    held = before[a, b]
    order[k], order[k + 1] = a if held else b, b if held else a


@nb.njit(cache=True, nogil=True, inline="always")
def step_bound(bound, k, before, entering, n_in):
    """A step with heads of the bounding chain; gives how many items are in it."""
    swap(bound, k, before)
    if bound[len(bound) - 1] == len(bound):
        bound[len(bound) - 1] = entering[n_in]
        n_in += 1
    return n_in


@nb.njit(cache=True, nogil=True)
def bound_block(before, entering, latest, n_words, streams, bound):
    """64 steps for every word of coins, from the first state; gives whether no gap is left."""
    d = len(bound)
    n_in = begin(entering, latest, bound)
    for _ in range(n_words):
        for _ in range(n_heads(word(streams, COINS))):
            k = position(streams, HEADS, d)
            n_in = step_bound(bound, k, before, entering, n_in)
    return n_in == d


@nb.njit(cache=True, nogil=True)
def follow_block(before, entering, latest, n_words, streams, bound, order):
    """The same steps of the bounding chain, and of an order that was at their beginning.

    The order's coin is that of the bounding chain, turned where its item is the one that comes
    next in y: a coin that is fair whatever the order, and with which y remains a bound.
    """
    d = len(bound)
    n_in = begin(entering, latest, bound)
    for _ in range(n_words):
        coins = word(streams, COINS)
        for _ in range(64):
            heads, coins = (coins & ONE) == ONE, coins >> ONE
            k = position(streams, HEADS if heads else TAILS, d)
            if heads != (order[k] == bound[k + 1]):
                swap(order, k, before)
            if heads:
                n_in = step_bound(bound, k, before, entering, n_in)


@nb.njit(cache=True, nogil=True)
def words_until_closed(before, entering, latest, streams):
    """After how many words of coins a bounding chain has no gap left."""
    d, n_words = len(entering), 0
    bound = np.empty(d, np.int64)
    n_in = begin(entering, latest, bound)
    while n_in < d:
        n_words += 1
        for _ in range(n_heads(word(streams, COINS))):
            k = position(streams, HEADS, d)
            n_in = step_bound(bound, k, before, entering, n_in)
    return n_words


@nb.njit(cache=True, nogil=True)
def draw_extensions(before, entering, latest, n_first, streams, orders):
    """One uniform linear extension in every row of orders; d at least 2.

    Blocks of ``n_first``, 2 ``n_first``, 4 ``n_first``, ... words of coins lie one before the
    other in the past. The first one whose end does not depend on its beginning gives the order
    there; all later blocks are run again, with their own randomness, from that order on.

    ``before`` has a row and a column more, for gaps; streams has shape (n, 3, 4).
    """
    n, d = orders.shape
    bound, seeds = np.empty(d, np.int64), np.empty((64, 3, 4), np.uint64)
    for c in range(n):
        block = 0
        seeds[0] = streams[c]
        while not bound_block(before, entering, latest, n_first << block, streams[c], bound):
            # The positions with tails of this block are still to come: others get their own.
            block += 1
            for k in range(4):
                streams[c, TAILS, k] = word(streams[c], COINS)
            seeds[block] = streams[c]
        orders[c] = bound
        for later in range(block - 1, -1, -1):
            n_words = n_first << later
            follow_block(before, entering, latest, n_words, seeds[later], bound, orders[c])
