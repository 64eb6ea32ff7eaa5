# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of knapsacks of whole weights: sums over all sets, in logarithms."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def add_logs(a, b):
    """log(exp(a) + exp(b)); both may be minus infinity."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + np.log1p(np.exp(b - a))


@nb.njit(cache=True, nogil=True)
def fill_after(scores, weights, room, low, high, after):
    """after[t, x]: log of the sum of exp(scores) over sets of the items from t on in room x."""
    d = len(weights)
    after[d, : room + 1] = 0.0
    for t in range(d - 1, -1, -1):
        weight = weights[t]
        for x in range(room + 1):
            without = -np.inf if low[t] else after[t + 1, x]
            within = -np.inf
            if high[t] and x >= weight:
                within = scores[t] + after[t + 1, x - weight]
            after[t, x] = add_logs(without, within)


@nb.njit(cache=True, nogil=True)
def log_partitions(scores, weights, room, low, high, totals):
    """Fill ``totals`` (n,); room (1 or n,), masks (1 or n, d)."""
    after = np.empty((len(weights) + 1, max(room.max(), 0) + 1))
    for i in range(len(scores)):
        left = room[min(i, len(room) - 1)]
        totals[i] = -np.inf
        if left >= 0:
            must, may = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
            fill_after(scores[i], weights, left, must, may, after)
            totals[i] = after[0, left]


@nb.njit(cache=True, nogil=True)
def fill_marginals(scores, weights, room, low, high, means):
    """Fill ``means`` (n, d), the probability of every item; zero where a row has no set."""
    d = len(weights)
    widest = max(room.max(), 0) + 1
    after, now, then = np.empty((d + 1, widest)), np.empty(widest), np.empty(widest)
    for i in range(len(scores)):
        left = room[min(i, len(room) - 1)]
        means[i] = 0.0
        if left < 0:
            continue
        must, may = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
        fill_after(scores[i], weights, left, must, may, after)
        if after[0, left] == -np.inf:
            continue
        now[: left + 1] = 0.0
        now[left] = 1.0  # probability of so much room before item t
        for t in range(d):
            weight = weights[t]
            then[: left + 1] = 0.0
            for x in range(left + 1):
                if now[x] == 0.0:
                    continue
                share = 0.0
                if may[t] and x >= weight:
                    share = np.exp(scores[i, t] + after[t + 1, x - weight] - after[t, x])
                    share = min(share, 1.0)
                    then[x - weight] += now[x] * share
                if not must[t]:
                    then[x] += now[x] * (1.0 - share)
                means[i, t] += now[x] * share
            now, then = then, now


@nb.njit(cache=True, nogil=True)
def draw_rows(scores, weights, room, low, high, coins, drawn):
    """Fill ``drawn`` (n, draws, d) by uniform numbers ``coins`` of the same shape."""
    d = len(weights)
    after = np.empty((d + 1, max(room.max(), 0) + 1))
    for i in range(len(scores)):
        left = room[min(i, len(room) - 1)]
        must, may = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
        fill_after(scores[i], weights, left, must, may, after)
        for r in range(drawn.shape[1]):
            x = left
            for t in range(d):
                take = must[t]
                if not take and may[t] and x >= weights[t]:
                    within = scores[i, t] + after[t + 1, x - weights[t]]
                    take = coins[i, r, t] < np.exp(within - after[t, x])
                drawn[i, r, t] = 1 if take else 0
                if take:
                    x -= weights[t]
