# SPDX-License-Identifier: BSD-3-Clause
"""Rankings, compiled: sums over all orders, Markov chains, uniform linear extensions.

An item placed next, after the set S of items already placed, weighs exp of ``position[item, |S|]``
for its position and of ``pair[item, q]`` for every q still to come. With Z(S) the sum over
everything that may follow S, Z(S) = sum_i weight(i, S) Z(S + i), and i comes next with probability
weight(i, S) Z(S + i) / Z(S). Where ``logs`` is set, weights and sums are kept as logarithms;
else they are numbers, which is faster and as exact unless they are too large or too small.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_linear_ordering import set_sizes
from skstruct.spaces.solvers._numba_markov_chains import below, fraction, word


@nb.njit(cache=True, nogil=True)
def row_weights(position, pair, logs, spot, lower, upper):
    """spot[i, t] of a position; lower and upper[i, R] of i before all of R, a half of a set."""
    d = len(position)
    half = (d + 1) // 2
    for i in range(d):
        for t in range(d):
            spot[i, t] = position[i, t] if logs else np.exp(position[i, t])
        lower[i, 0] = upper[i, 0] = 0.0
        for R in range(1, 1 << half):
            q = 0
            while (R >> q) & 1 == 0:
                q += 1
            rest = R & (R - 1)
            lower[i, R] = lower[i, rest] + (pair[i, q] if q != i else 0.0)
            if half + q < d and R >> (d - half) == 0:
                upper[i, R] = upper[i, rest] + (pair[i, half + q] if half + q != i else 0.0)
        if not logs:
            lower[i] = np.exp(lower[i])
            upper[i, : 1 << (d - half)] = np.exp(upper[i, : 1 << (d - half)])


@nb.njit(cache=True, nogil=True)
def sum_logs(spot, lower, upper, before, banned, stop, size, total):
    """total[S] = ln Z(S); ``before[i]`` must come earlier than i, ``banned[t]`` not be at t."""
    d = len(spot)
    half, full = (d + 1) // 2, (1 << d) - 1
    mask = (1 << half) - 1
    value = np.empty(d)
    for S in range(full, -1, -1):
        t, R = size[S], full ^ S
        if t >= stop:
            total[S] = 0.0
            continue
        low, high, most, many = R & mask, R >> half, -np.inf, 0
        left = R & ~banned[t]
        while left:
            one = left & -left
            left ^= one
            i = size[one - 1]  # the number of the bit: so many are below it
            if before[i] & R == 0:
                value[many] = spot[i, t] + (lower[i, low] + upper[i, high]) + total[S | one]
                most = max(most, value[many])
                many += 1
        total[S] = most
        if most > -np.inf:
            together = 0.0
            for k in range(many):
                together += np.exp(value[k] - most)
            total[S] += np.log(together)


@nb.njit(cache=True, nogil=True)
def sum_numbers(spot, lower, upper, before, banned, stop, size, total):
    """total[S] = Z(S)."""
    d = len(spot)
    half, full = (d + 1) // 2, (1 << d) - 1
    mask = (1 << half) - 1
    for S in range(full, -1, -1):
        t, R = size[S], full ^ S
        if t >= stop:
            total[S] = 1.0
            continue
        low, high, together = R & mask, R >> half, 0.0
        left = R & ~banned[t]
        while left:
            one = left & -left
            left ^= one
            i = size[one - 1]
            if before[i] & R == 0:
                together += spot[i, t] * (lower[i, low] * upper[i, high]) * total[S | one]
        total[S] = together


@nb.njit(cache=True, nogil=True, inline="always")
def share(spot, lower, upper, following, logs, inverse, R, i, t, half):
    """The probability that i comes next, R are all not placed; following Z(S + i), inverse 1 /
    Z(S).
    """
    side = R & ((1 << half) - 1)
    if logs:
        return np.exp(spot[i, t] + (lower[i, side] + upper[i, R >> half]) + following + inverse)
    return spot[i, t] * (lower[i, side] * upper[i, R >> half]) * (following * inverse)


@nb.njit(cache=True, nogil=True, inline="always")
def inverted(value, logs):
    return -value if logs else 1.0 / value


@nb.njit(cache=True, nogil=True)
def spread(spot, lower, upper, before, banned, stop, size, logs, total, paired, probabilities):
    """Walk all orders at once, by the probability reach[S] that the first |S| items are S.

    probabilities = reach, placed, below, above. placed[i, t] becomes the probability of i at t;
    where ``paired`` is set, below[i, R] and above[i, R] become the probabilities that R is what of
    the lower and of the upper half of the items does not come before i.
    """
    reach, placed, below, above = probabilities
    d = len(spot)
    half, full = (d + 1) // 2, (1 << d) - 1
    mask = (1 << half) - 1
    reach[:], below[:], above[:] = 0.0, 0.0, 0.0
    reach[0] = 1.0
    for S in range(full):
        t, R = size[S], full ^ S
        if t >= stop or reach[S] == 0.0:
            continue
        left, inverse = R & ~banned[t], inverted(total[S], logs)
        while left:
            one = left & -left
            left ^= one
            i = size[one - 1]
            if before[i] & R:
                continue
            then = total[S | one]
            mass = reach[S] * share(spot, lower, upper, then, logs, inverse, R, i, t, half)
            reach[S | one] += mass
            placed[i, t] += mass
            if paired:
                below[i, R & mask] += mass
                above[i, R >> half] += mass


@nb.njit(cache=True, nogil=True)
def count_ahead(below, above, d, ahead):
    """ahead[i, q] = the probability that i is placed, and q not before it."""
    half = (d + 1) // 2
    for i in range(d):
        for R in range(1 << half):
            for q in range(half):
                if (R >> q) & 1:
                    ahead[i, q] += below[i, R]
        for R in range(1 << (d - half)):
            for q in range(d - half):
                if (R >> q) & 1:
                    ahead[i, half + q] += above[i, R]
        ahead[i, i] = 0.0


@nb.njit(cache=True, nogil=True)
def sum_rows(positions, pairs, before, banned, stop, logs, log_partition, placed, ahead):
    """Partition function and probabilities of every row; arrays of one entry serve all rows.

    ``ahead`` may have no rows, and is not counted then.
    """
    n, d = placed.shape[:2]
    half = 1 << ((d + 1) // 2)
    spot, lower, upper = np.empty((d, d)), np.empty((d, half)), np.empty((d, half))
    below, above = np.empty((d, half)), np.empty((d, half))
    total, reach, size = np.empty(1 << d), np.empty(1 << d), set_sizes(d)
    for k in range(n):
        first = before[min(k, len(before) - 1)]
        never = banned[min(k, len(banned) - 1)]
        position, pair = positions[min(k, len(positions) - 1)], pairs[min(k, len(pairs) - 1)]
        row_weights(position, pair, logs[k], spot, lower, upper)
        if logs[k]:
            sum_logs(spot, lower, upper, first, never, stop, size, total)
            log_partition[k] = total[0]
            possible = total[0] > -np.inf
        else:
            sum_numbers(spot, lower, upper, first, never, stop, size, total)
            possible = total[0] > 0.0
            log_partition[k] = np.log(total[0]) if possible else -np.inf
        if possible:
            paired, probabilities = len(ahead) > 0, (reach, placed[k], below, above)
            spread(
                spot, lower, upper, first, never, stop, size, logs[k], total, paired, probabilities
            )
            if paired:
                count_ahead(below, above, d, ahead[k])


@nb.njit(cache=True, nogil=True)
def draw_one(spot, lower, upper, before, banned, stop, logs, total, uniform, order):
    """One order, from one random number for every position."""
    d = len(spot)
    half, full, S = (d + 1) // 2, (1 << d) - 1, 0
    for t in range(stop):
        left, chosen, R, inverse = uniform[t], -1, full ^ S, inverted(total[S], logs)
        for i in range(d):
            if ((S | banned[t]) >> i) & 1 or before[i] & R:
                continue
            then = total[S | (1 << i)]
            probability = share(spot, lower, upper, then, logs, inverse, R, i, t, half)
            if probability > 0.0:
                chosen = i
                left -= probability
                if left < 0.0:
                    break
        order[t] = chosen
        S |= 1 << chosen
    t = stop
    for i in range(d):  # whoever is left, in their own order
        if (S >> i) & 1 == 0:
            order[t] = i
            t += 1


@nb.njit(cache=True, nogil=True)
def draw_rows(positions, pairs, before, banned, stop, logs, uniform, orders):
    """Walk from the empty set, each item with its probability; uniform (n, draws, stop)."""
    n, n_draws, d = orders.shape
    half = 1 << ((d + 1) // 2)
    spot, lower, upper = np.empty((d, d)), np.empty((d, half)), np.empty((d, half))
    total, size = np.empty(1 << d), set_sizes(d)
    for k in range(n):
        first = before[min(k, len(before) - 1)]
        never = banned[min(k, len(banned) - 1)]
        position, pair = positions[min(k, len(positions) - 1)], pairs[min(k, len(pairs) - 1)]
        row_weights(position, pair, logs[k], spot, lower, upper)
        if logs[k]:
            sum_logs(spot, lower, upper, first, never, stop, size, total)
        else:
            sum_numbers(spot, lower, upper, first, never, stop, size, total)
        for draw in range(n_draws):
            draw_one(spot, lower, upper, first, never, stop, logs[k], total,
                     uniform[k, draw], orders[k, draw])  # fmt: skip


# Chains of orders in which two items change places, many at once.
#
# ``order[t]`` is the item at position t. From position ``top`` on, items are tied: they are in
# some order, which neither scores nor outputs know of.


POSITIONS, RANKS, PAIRS = 0, 1, 2  # what scores are of


@nb.njit(cache=True, nogil=True, inline="always")
def sign_score(u, d, p, q):
    """What a row of scores of pairs p < q gives to p before q."""
    if p < q:
        return u[p * (2 * d - p - 1) // 2 + q - p - 1]
    return -u[q * (2 * d - q - 1) // 2 + p - q - 1]


@nb.njit(cache=True, nogil=True)
def gain_by_pairs(u, order, s, t, top):
    """What the score gains if the items at s < t change places, in d - s steps at most."""
    d, a, b = len(order), order[s], order[t]
    gain = sign_score(u, d, b, a)
    for k in range(s + 1, min(t, top)):
        gain += sign_score(u, d, b, order[k]) + sign_score(u, d, order[k], a)
    gain *= 2.0
    if t >= top:  # a is tied with those that stay behind, as b was
        for k in range(top, d):
            if k != t:
                gain += sign_score(u, d, b, order[k]) - sign_score(u, d, a, order[k])
    return gain


@nb.njit(cache=True, nogil=True)
def any_two(streams, c, free, n_first):
    """Two free positions s <= t, s before the top; s = t is a step in which nothing happens.

    Without such steps the chain would go to and fro between even and odd orders.
    """
    s, t = free[below(streams, c, n_first)], free[below(streams, c, len(free))]
    return (s, t) if s < t else (t, s)


@nb.njit(cache=True, nogil=True)
def neighbors(streams, c, order, before, top):
    """Neighbors that may change places, or the last of the top and one behind; else s = t.

    One step in ``top`` + 1 does nothing.
    """
    d = len(order)
    s = below(streams, c, top + 1)
    t = s + 1
    if s == top - 1 and top < d:
        t = top + below(streams, c, d - top)
        for k in range(top, d):
            if before[order[k], order[t]]:  # waits for another one that is behind
                return s, s
    if s >= top or t >= d or before[order[s], order[t]]:
        return s, s
    return s, t


@nb.njit(cache=True, nogil=True)
def walk_orders(
    family, orders, scores, row, beta, n_steps, streams, value, free, n_first, before, top, accepted
):
    """Metropolis steps; where ``before`` has entries, neighbors change places only.

    ``value[t]`` is the rank at position t. What an exchange gains is written out here: a call
    that is given arrays counts references to them, which takes longer than the sums.
    """
    precedences, d = len(before) > 0, orders.shape[1]
    for c in range(len(orders)):
        order, u, done = orders[c], scores[row[c]], 0
        for _ in range(n_steps):
            if precedences:
                s, t = neighbors(streams, c, order, before, top)
            else:
                s, t = any_two(streams, c, free, n_first)
            if s == t:
                continue
            a, b = order[s], order[t]
            if family == POSITIONS:
                gain = u[a * d + t] + u[b * d + s] - u[a * d + s] - u[b * d + t]
            elif family == RANKS:
                gain = (u[a] - u[b]) * (value[t] - value[s])
            else:
                gain = gain_by_pairs(u, order, s, t, top)
            change = beta[c] * gain
            if change >= 0.0 or fraction(streams, c) < np.exp(change):
                order[s], order[t] = b, a
                done += 1
        accepted[c] = done


# Uniform linear extensions by coupling from the past, with a chain that bounds all others.
#
# The chain picks a position and a coin; with heads, the items at this position and the next change
# places unless one must come before the other. The bounding chain y has items and gaps: an item at
# position k of y is at k or earlier in every extension. Items enter at the last position, each
# after all that must come before it. Once y has no gap it is the only extension left.
#
# Nothing happens in y with tails. So a block of steps has three random streams: coins, 64 in a
# word, positions of steps with heads, and positions of steps with tails, which y does not need.
# That positions are not picked with quite the same probabilities is no error: every one of these
# moves keeps the uniform distribution.


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
    kept = before[a, b]
    order[k], order[k + 1] = a if kept else b, b if kept else a


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
