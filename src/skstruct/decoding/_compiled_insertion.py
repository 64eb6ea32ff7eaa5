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
def best_place(pair, order, start):
    """Where the item at ``start`` is best put, all others staying as they are."""
    item = order[start]
    least, goal = 0.0, start
    change = 0.0
    for at in range(start - 1, -1, -1):  # item passes in front of order[at]
        change += 2 * pair[item, order[at]]
        if change < least:
            least, goal = change, at
    change = 0.0
    for at in range(start + 1, len(order)):  # order[at] passes in front of item
        change -= 2 * pair[item, order[at]]
        if change < least:
            least, goal = change, at
    return goal


@nb.njit(cache=True, nogil=True)
def insert(pair, order, most_sweeps):
    """Move one item at a time to its best place, until no move helps.

    After the first sweep only items that others have moved past are looked at again; when
    none of them moves, a sweep over all items confirms it or goes on.
    """
    d = len(order)
    again = np.ones(d, np.bool_)  # by position
    everything = True
    for _ in range(most_sweeps):
        moved = False
        for start in range(d):
            if not again[start]:
                continue
            again[start] = False
            goal = best_place(pair, order, start)
            if goal == start:
                continue
            item, step = order[start], 1 if goal > start else -1
            for at in range(start, goal, step):
                order[at] = order[at + step]
                again[at] = True
            order[goal] = item
            again[goal] = True
            moved = True
        if moved:
            everything = False
        elif everything:
            break
        else:
            again[:] = True
            everything = True


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


@nb.njit(cache=True, nogil=True)
def improve_top(pair, order, top, most_sweeps):
    """Exchange one of the first ``top`` items for the best other, or move it, in place.

    Items behind the top are in no order: the list T costs the sum of its items' rows, plus
    pair[j, i] for every j before i in T.
    """
    d = len(order)
    sums = np.zeros(d)
    for p in range(d):
        for q in range(d):
            sums[p] += pair[p, q]
    for _ in range(most_sweeps):
        moved = False
        for start in range(top):
            least, goal = listed_cost(pair, sums, order, top, start, order[start])
            source = start
            for at in range(top, d):
                cost, place = listed_cost(pair, sums, order, top, start, order[at])
                if cost < least - 1e-12 * abs(least):
                    least, goal, source = cost, place, at
            moved |= goal != start or source != start
            order[start], order[source] = order[source], order[start]
            item, step = order[start], 1 if goal > start else -1
            for at in range(start, goal, step):
                order[at] = order[at + step]
            order[goal] = item
        if not moved:
            break


@nb.njit(cache=True, nogil=True)
def listed_cost(pair, sums, order, top, start, item):
    """What ``item`` adds to the list without the one at ``start``, and where it adds least."""
    cost = sums[item]
    for t in range(top):  # with the item in front of all others
        if t != start:
            cost += pair[item, order[t]]
    least, goal, place = cost, 0, 0
    for t in range(top):
        if t == start:
            continue
        cost += 2 * pair[order[t], item]
        place += 1
        if cost < least or (cost == least and place == start):
            least, goal = cost, place
    return least, goal
