# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all orders of up to some 20 items, by dynamic programming over sets of items.

An item placed next, after the set S of items already placed, weighs exp of ``place[item, |S|]``
for its position and of ``pair[item, q]`` for every q still to come. With Z(S) the sum over
everything that may follow S, Z(S) = sum_i weight(i, S) Z(S + i), and i comes next with chance
weight(i, S) Z(S + i) / Z(S). Where ``logs`` is set, weights and sums are kept as logarithms;
else they are numbers, which is faster and as exact unless they are too large or too small.
"""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)
from skstruct.decoding._compiled_orders import set_sizes


@nb.njit(cache=True, nogil=True)
def row_weights(place, pair, logs, spot, lower, upper):
    """spot[i, t] of a position; lower and upper[i, R] of i before all of R, a half of a set."""
    d = len(place)
    half = (d + 1) // 2
    for i in range(d):
        for t in range(d):
            spot[i, t] = place[i, t] if logs else np.exp(place[i, t])
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
    """The chance that i comes next, R are all not placed; following Z(S + i), inverse 1 / Z(S)."""
    side = R & ((1 << half) - 1)
    if logs:
        return np.exp(spot[i, t] + (lower[i, side] + upper[i, R >> half]) + following + inverse)
    return spot[i, t] * (lower[i, side] * upper[i, R >> half]) * (following * inverse)


@nb.njit(cache=True, nogil=True, inline="always")
def inverted(value, logs):
    return -value if logs else 1.0 / value


@nb.njit(cache=True, nogil=True)
def spread(spot, lower, upper, before, banned, stop, size, logs, total, paired, chances):
    """Walk all orders at once, by the chance reach[S] that the first |S| items are S.

    chances = reach, placed, below, above. placed[i, t] becomes the chance of i at t; where
    ``paired`` is set, below[i, R] and above[i, R] become the chances that R is what of the lower
    and of the upper half of the items does not come before i.
    """
    reach, placed, below, above = chances
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
    """ahead[i, q] = the chance that i is placed, and q not before it."""
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
def sum_rows(places, pairs, before, banned, stop, logs, log_partition, placed, ahead):
    """Partition function and chances of every row; arrays of one entry serve all rows.

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
        place, pair = places[min(k, len(places) - 1)], pairs[min(k, len(pairs) - 1)]
        row_weights(place, pair, logs[k], spot, lower, upper)
        if logs[k]:
            sum_logs(spot, lower, upper, first, never, stop, size, total)
            log_partition[k] = total[0]
            possible = total[0] > -np.inf
        else:
            sum_numbers(spot, lower, upper, first, never, stop, size, total)
            possible = total[0] > 0.0
            log_partition[k] = np.log(total[0]) if possible else -np.inf
        if possible:
            paired, chances = len(ahead) > 0, (reach, placed[k], below, above)
            spread(spot, lower, upper, first, never, stop, size, logs[k], total, paired, chances)
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
            chance = share(spot, lower, upper, then, logs, inverse, R, i, t, half)
            if chance > 0.0:
                chosen = i
                left -= chance
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
def draw_rows(places, pairs, before, banned, stop, logs, uniform, orders):
    """Walk from the empty set, each item with its chance; uniform (n, draws, stop)."""
    n, n_draws, d = orders.shape
    half = 1 << ((d + 1) // 2)
    spot, lower, upper = np.empty((d, d)), np.empty((d, half)), np.empty((d, half))
    total, size = np.empty(1 << d), set_sizes(d)
    for k in range(n):
        first = before[min(k, len(before) - 1)]
        never = banned[min(k, len(banned) - 1)]
        place, pair = places[min(k, len(places) - 1)], pairs[min(k, len(pairs) - 1)]
        row_weights(place, pair, logs[k], spot, lower, upper)
        if logs[k]:
            sum_logs(spot, lower, upper, first, never, stop, size, total)
        else:
            sum_numbers(spot, lower, upper, first, never, stop, size, total)
        for draw in range(n_draws):
            draw_one(spot, lower, upper, first, never, stop, logs[k], total,
                     uniform[k, draw], orders[k, draw])  # fmt: skip
