# SPDX-License-Identifier: BSD-3-Clause
"""Local search for linear orderings: two starts, then one item at a time to its best place.

``pair[p, q]`` is the cost of p before q and antisymmetric.
"""

from __future__ import annotations

import numba as nb
import numpy as np

MANY_ITEMS = 200


@nb.njit(cache=True, nogil=True)
def total(pair, order):
    cost = 0.0
    for p in range(len(order)):
        for q in range(p + 1, len(order)):
            cost += pair[order[p], order[q]]
    return cost


@nb.njit(cache=True, nogil=True)
def insert(pair, order, most_sweeps):
    """Move one item at a time to its best place, until no move helps."""
    d = len(order)
    for _ in range(most_sweeps):
        moved = False
        for start in range(d):
            item = order[start]
            least, goal = 0.0, start
            change = 0.0
            for at in range(start - 1, -1, -1):  # item passes in front of order[at]
                change += 2 * pair[item, order[at]]
                if change < least:
                    least, goal = change, at
            change = 0.0
            for at in range(start + 1, d):  # order[at] passes in front of item
                change -= 2 * pair[item, order[at]]
                if change < least:
                    least, goal = change, at
            if goal < start:
                order[goal + 1 : start + 1] = order[goal:start].copy()
            elif goal > start:
                order[start:goal] = order[start + 1 : goal + 1].copy()
            if goal != start:
                order[goal] = item
                moved = True
        if not moved:
            break


@nb.njit(cache=True, nogil=True)
def take_extremes(pair, part):
    """Eades, Lin and Smyth (1993) for weights: repeatedly take out the item that should be
    first or last by the largest margin; returns the order of ``part``."""
    d = len(part)
    sums = np.zeros(d)
    for p in range(d):
        for q in range(d):
            sums[p] += pair[part[p], part[q]]
    left = np.ones(d, np.bool_)
    order = np.empty(d, np.int64)
    first, last = 0, d - 1
    while first <= last:
        chosen, size = -1, -1.0
        for p in range(d):
            if left[p] and abs(sums[p]) > size:
                chosen, size = p, abs(sums[p])
        if sums[chosen] <= 0:
            order[first] = part[chosen]
            first += 1
        else:
            order[last] = part[chosen]
            last -= 1
        left[chosen] = False
        for p in range(d):  # antisymmetric: along the row, not down the column
            sums[p] += pair[part[chosen], part[p]]
    return order


@nb.njit(cache=True, nogil=True)
def search_part(pair, part, most_sweeps):
    """A good order of a component, in place: local search from two starts.

    With many items the starts differ little at the end: there the better one is enough.
    """
    other = take_extremes(pair, part)
    if len(part) <= MANY_ITEMS:
        insert(pair, part, most_sweeps)
        insert(pair, other, most_sweeps)
    if total(pair, other) < total(pair, part):
        part[:] = other
    if len(part) > MANY_ITEMS:
        insert(pair, part, most_sweeps)
