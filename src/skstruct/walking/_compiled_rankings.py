# SPDX-License-Identifier: BSD-3-Clause
"""Chains of orders in which two items change places, many at once.

``order[t]`` is the item at position t. From position ``top`` on, items are tied: they are in
some order, which neither scores nor outputs know of.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_random import below, fraction

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
