# SPDX-License-Identifier: BSD-3-Clause
"""Linear ordering, compiled: dynamic programming over sets, and the best first items.

An item placed next, after the set S of items already placed, costs
``position[item, |S|]`` for its position and ``pair[item, q]`` for every q still to come.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import TIE


@nb.njit(cache=True, nogil=True)
def half_sums(d, pair, later, lower, upper):
    """later[i] = all of row i of ``pair``; lower and upper its sums over halves of S."""
    half = (d + 1) // 2
    for i in range(d):
        later[i] = lower[i, 0] = upper[i, 0] = 0.0
        for q in range(d):
            if q != i:
                later[i] += pair[i, q]
        for S in range(1, 1 << half):
            q = 0
            while (S >> q) & 1 == 0:
                q += 1
            rest = S & (S - 1)
            lower[i, S] = lower[i, rest] + pair[i, q]
            if half + q < d and S >> (d - half) == 0:
                upper[i, S] = upper[i, rest] + pair[i, half + q]


@nb.njit(cache=True, nogil=True)
def complete(d, position, later, lower, upper, before, banned, stop, size, best):
    """best[S] = least cost of everything that follows once the set S is placed.

    ``before[i]`` is the set of items that must come earlier than i, ``banned[t]`` the set
    that may not stand at position t; after ``stop`` positions nothing costs any more.
    """
    half = (d + 1) // 2
    mask = (1 << half) - 1
    for S in range((1 << d) - 1, -1, -1):
        t = size[S]
        if t >= stop:
            best[S] = 0.0
            continue
        low, high, least = S & mask, S >> half, np.inf
        for i in range(d):
            if ((S | banned[t]) >> i) & 1 or before[i] & ~S:
                continue
            cost = position[i, t] + (later[i] - lower[i, low] - upper[i, high]) + best[S | (1 << i)]
            if cost < least:
                least = cost
        best[S] = least


@nb.njit(cache=True, nogil=True)
def walk(d, position, later, lower, upper, before, banned, stop, best, order):
    """Follow the table from the empty set; the first item wins a tie."""
    half = (d + 1) // 2
    mask = (1 << half) - 1
    S = 0
    for t in range(stop):
        chosen, least = -1, np.inf
        for i in range(d):
            if ((S | banned[t]) >> i) & 1 or before[i] & ~S:
                continue
            follow = later[i] - lower[i, S & mask] - upper[i, S >> half]
            cost = position[i, t] + follow + best[S | (1 << i)]
            if cost < least:
                chosen, least = i, cost
        order[t] = chosen
        S |= 1 << chosen
    t = stop
    for i in range(d):  # whoever is left, in their own order
        if (S >> i) & 1 == 0:
            order[t] = i
            t += 1


@nb.njit(cache=True, nogil=True)
def set_sizes(d):
    """Number of members of every set of d items; int8 of shape (2**d,)."""
    size = np.zeros(1 << d, np.int8)
    for S in range(1, 1 << d):
        size[S] = size[S >> 1] + (S & 1)
    return size


@nb.njit(cache=True, nogil=True)
def order_rows(positions, pairs, before, banned, stop, orders, values):
    """Fill orders and values; the cost arrays may have one entry that serves all rows."""
    n, d = orders.shape
    half = 1 << ((d + 1) // 2)
    later, lower, upper = np.empty(d), np.empty((d, half)), np.empty((d, half))
    best, size = np.empty(1 << d), set_sizes(d)
    for k in range(n):
        position, pair = positions[min(k, len(positions) - 1)], pairs[min(k, len(pairs) - 1)]
        first = before[min(k, len(before) - 1)]
        never = banned[min(k, len(banned) - 1)]
        half_sums(d, pair, later, lower, upper)
        complete(d, position, later, lower, upper, first, never, stop, size, best)
        values[k] = best[0]
        if best[0] < np.inf:
            walk(d, position, later, lower, upper, first, never, stop, best, orders[k])


@nb.njit(cache=True, nogil=True)
def count_completions(before, banned, stop, size, count):
    """count[S] = number of ways to go on once the set S is placed."""
    d = len(before)
    for S in range((1 << d) - 1, -1, -1):
        t = size[S]
        if t >= stop:
            count[S] = 1
            continue
        count[S] = 0
        for i in range(d):
            if not (((S | banned[t]) >> i) & 1 or before[i] & ~S):
                count[S] += count[S | (1 << i)]


@nb.njit(cache=True, nogil=True)
def draw_orders(before, banned, stop, count, uniform, orders):
    """Walk from the empty set, each item with the share of orders that go on with it."""
    d = len(before)
    for n in range(len(orders)):
        S = 0
        for t in range(stop):
            left = uniform[n, t] * count[S]
            chosen = -1
            for i in range(d):
                if ((S | banned[t]) >> i) & 1 or before[i] & ~S or count[S | (1 << i)] == 0:
                    continue
                chosen = i
                left -= count[S | (1 << i)]
                if left < 0:
                    break
            orders[n, t] = chosen
            S |= 1 << chosen
        t = stop
        for i in range(d):
            if (S >> i) & 1 == 0:
                orders[n, t] = i
                t += 1


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
                cost, position = listed_cost(pair, sums, order, top, start, order[at])
                if cost < least - TIE * abs(least):
                    least, goal, source = cost, position, at
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
    least, goal, position = cost, 0, 0
    for t in range(top):
        if t == start:
            continue
        cost += 2 * pair[order[t], item]
        position += 1
        if cost < least or (cost == least and position == start):
            least, goal = cost, position
    return least, goal
