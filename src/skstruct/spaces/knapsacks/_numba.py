# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks of whole weights, one row after another, by dynamic programming over the capacity."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def fill_rows(costs, weights, room, low, high, outputs, feasible):
    """The least cost set of every row; costs (n, d), weights (d,), room (1 or n,), whole numbers.

    Masks are (1 or n, d). Of equal sets the one without the last item in which they differ.
    """
    n, d = costs.shape
    largest = max(room.max(), 0)
    best, other = np.zeros(largest + 1), np.zeros(largest + 1)
    taken, items = np.zeros((d, largest + 1), np.uint8), np.empty(d, np.int64)
    for i in range(n):
        left = room[min(i, len(room) - 1)]
        must, may = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
        feasible[i] = True
        for j in range(d):
            outputs[i, j] = 1 if must[j] else 0
            if must[j]:
                left -= weights[j]
                feasible[i] = feasible[i] and may[j]
        if left < 0:
            feasible[i] = False
        if not feasible[i]:
            continue
        k, total = 0, 0
        for j in range(d):
            if may[j] and not must[j] and costs[i, j] < 0 and weights[j] <= left:
                items[k] = j
                total += weights[j]
                k += 1
        if total <= left:
            for t in range(k):
                outputs[i, items[t]] = 1
            continue
        fill(costs[i], weights, items[:k], left, total, best, other, taken)
        for t in range(k - 1, -1, -1):
            if taken[t, left] == 1:
                outputs[i, items[t]] = 1
                left -= weights[items[t]]


@nb.njit(cache=True, nogil=True)
def fill(cost, weights, items, left, total, best, other, taken):
    """Fill ``taken[t, x]``: whether a set of the first t + 1 items in room x has the last of them.

    ``total`` is what all items weigh: less room than is left when all later ones are in is never
    asked for.
    """
    best[: left + 1] = 0.0
    behind = total
    for t in range(len(items)):
        weight, gain = weights[items[t]], -cost[items[t]]
        behind -= weight
        start = max(left - behind, 0)
        for x in range(start, min(weight, left + 1)):
            other[x] = best[x]
            taken[t, x] = 0
        first = max(start, weight)
        choose(
            best[first : left + 1],
            best[first - weight : left + 1 - weight],
            gain,
            other[first : left + 1],
            taken[t, first : left + 1],
        )
        best, other = other, best


@nb.njit(cache=True, nogil=True)
def choose(less, more, gain, best, taken):
    """The better of ``less`` and ``more + gain`` at each place: a loop over places side by side."""
    for x in range(len(less)):
        with_it = more[x] + gain
        taken[x] = with_it > less[x]
        best[x] = with_it if with_it > less[x] else less[x]
