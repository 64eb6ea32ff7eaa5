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
            lower[i, R] = lower[i, rest] + pair[i, q]
            if half + q < d and R >> (d - half) == 0:
                upper[i, R] = upper[i, rest] + pair[i, half + q]
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
        low, high, most = R & mask, R >> half, -np.inf
        for i in range(d):
            value[i] = -np.inf
            if ((S | banned[t]) >> i) & 1 or before[i] & R:
                continue
            value[i] = spot[i, t] + (lower[i, low] + upper[i, high]) + total[S | (1 << i)]
            most = max(most, value[i])
        if most == -np.inf:
            total[S] = most
            continue
        together = 0.0
        for i in range(d):
            if value[i] > -np.inf:
                together += np.exp(value[i] - most)
        total[S] = most + np.log(together)


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
        for i in range(d):
            if ((S | banned[t]) >> i) & 1 or before[i] & R:
                continue
            together += spot[i, t] * (lower[i, low] * upper[i, high]) * total[S | (1 << i)]
        total[S] = together


@nb.njit(cache=True, nogil=True, inline="always")
def share(spot, lower, upper, total, logs, S, R, i, t, half):
    """The chance that i comes next after S; R are all others."""
    side = R & ((1 << half) - 1)
    if logs:
        weight = spot[i, t] + (lower[i, side] + upper[i, R >> half])
        return np.exp(weight + total[S | (1 << i)] - total[S])
    weight = spot[i, t] * (lower[i, side] * upper[i, R >> half])
    return weight * total[S | (1 << i)] / total[S]


@nb.njit(cache=True, nogil=True)
def spread(spot, lower, upper, before, banned, stop, size, logs, total, reach, placed, below, above):
    """Walk all orders at once: reach[S] is the chance that the first |S| items are S.

    placed[i, t] becomes the chance of i at t; below[i, R] and above[i, R] the chance that R is
    what of the lower and of the upper half of the items is not placed before i.
    """
    d = len(spot)
    half, full = (d + 1) // 2, (1 << d) - 1
    mask = (1 << half) - 1
    reach[:] = 0.0
    below[:] = 0.0
    above[:] = 0.0
    reach[0] = 1.0
    for S in range(full):
        t, R = size[S], full ^ S
        if t >= stop or reach[S] == 0.0:
            continue
        for i in range(d):
            if ((S | banned[t]) >> i) & 1 or before[i] & R:
                continue
            mass = reach[S] * share(spot, lower, upper, total, logs, S, R, i, t, half)
            reach[S | (1 << i)] += mass
            placed[i, t] += mass
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
    """Partition function and chances of every row; arrays of one entry serve all rows."""
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
            spread(spot, lower, upper, first, never, stop, size, logs[k], total, reach,
                   placed[k], below, above)  # fmt: skip
            count_ahead(below, above, d, ahead[k])


@nb.njit(cache=True, nogil=True)
def draw_rows(places, pairs, before, banned, stop, logs, uniform, orders):
    """Walk from the empty set, each item with its chance; uniform (n, draws, stop)."""
    n, n_draws, d = orders.shape
    half, full = (d + 1) // 2, (1 << d) - 1
    spot = np.empty((d, d))
    lower, upper = np.empty((d, 1 << half)), np.empty((d, 1 << half))
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
            S = 0
            for t in range(stop):
                left, chosen, R = uniform[k, draw, t], -1, full ^ S
                for i in range(d):
                    if ((S | never[t]) >> i) & 1 or first[i] & R:
                        continue
                    chance = share(spot, lower, upper, total, logs[k], S, R, i, t, half)
                    if chance > 0.0:
                        chosen = i
                        left -= chance
                        if left < 0.0:
                            break
                orders[k, draw, t] = chosen
                S |= 1 << chosen
            t = stop
            for i in range(d):  # whoever is left, in their own order
                if (S >> i) & 1 == 0:
                    orders[k, draw, t] = i
                    t += 1
