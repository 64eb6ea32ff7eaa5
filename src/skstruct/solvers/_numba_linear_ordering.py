# SPDX-License-Identifier: BSD-3-Clause
"""Linear ordering, compiled: dynamic programming over sets, local search, components, bounds.

An item placed next, after the set S of items already placed, costs
``position[item, |S|]`` for its position and ``pair[item, q]`` for every q still to come.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, stable_order
from skstruct.tolerances import TIE


@nb.njit(cache=True, nogil=True)
def half_sums(pair, later, lower, upper):
    """later[i] = all of row i of ``pair``; lower and upper its sums over halves of S."""
    d = len(pair)
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
def complete(position, later, lower, upper, before, banned, stop, size, best):
    """best[S] = least cost of everything that follows once the set S is placed.

    ``before[i]`` is the set of items that must come earlier than i, ``banned[t]`` the set
    that may not stand at position t; after ``stop`` positions nothing costs any more.
    """
    d = len(position)
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
def walk(position, later, lower, upper, before, banned, stop, best, order):
    """Follow the table from the empty set; the first item wins a tie."""
    d = len(position)
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
        half_sums(pair, later, lower, upper)
        complete(position, later, lower, upper, first, never, stop, size, best)
        values[k] = best[0]
        if best[0] < np.inf:
            walk(position, later, lower, upper, first, never, stop, best, orders[k])


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


# Local search for linear orderings: two starts, then one item at a time to its best position.
#
# ``pair[p, q]`` is the cost of p before q and antisymmetric.


MANY_ITEMS = 200


@nb.njit(cache=True, nogil=True)
def total(pair, order):
    cost = 0.0
    for p in range(len(order)):
        for q in range(p + 1, len(order)):
            cost += pair[order[p], order[q]]
    return cost


@nb.njit(cache=True, nogil=True)
def best_position(pair, order, start):
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
    """Move one item at a time to its best position, until no move helps.

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
            goal = best_position(pair, order, start)
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
        assign(part, other)
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


# Linear orderings from pair costs: splitting into components, and a packing bound.
#
# ``pair[p, q]`` is the cost of p before q and antisymmetric; an order costs the sum over
# its pairs, so p should come first when the entry is negative.


@nb.njit(cache=True, nogil=True)
def read_pairs(costs, pair):
    """The antisymmetric matrix of the costs of the pairs p < q."""
    d, k = len(pair), 0
    for p in range(d):
        pair[p, p] = 0.0
        for q in range(p + 1, d):
            pair[p, q] = costs[k]
            pair[q, p] = -costs[k]
            k += 1


@nb.njit(cache=True, nogil=True)
def split(pair, order):
    """Items by how many they beat, and where this order may be cut without loss.

    A pair of equal cost may point either way; pointing it along the order of total costs
    makes a tournament, whose strong components are intervals of the order of wins. Across
    components every pair is at its lowest cost, so each may be solved by itself.
    """
    d = len(pair)
    sums = np.zeros(d)
    for p in range(d):
        for q in range(d):
            sums[p] += pair[p, q]
    position, by_cost = np.empty(d, np.int64), np.empty(d, np.int64)
    stable_order(sums, by_cost)
    for k in range(d):
        position[by_cost[k]] = k
    wins = np.zeros(d, np.int64)
    for p in range(d):
        for q in range(d):
            if pair[p, q] < 0 or (pair[p, q] == 0 and position[p] < position[q]):
                wins[p] += 1
    # Among equal numbers of wins the lower total cost goes first: a better start.
    losses, rank = np.empty(d, np.int64), np.empty(d, np.int64)
    for k in range(d):
        losses[k] = -wins[by_cost[k]]
    stable_order(losses, rank)
    for k in range(d):
        order[k] = by_cost[rank[k]]
    ends, n_ends, reach = np.empty(d, np.int64), 0, 0
    for k in range(d):
        p = order[k]
        for at in range(d - 1, max(k, reach), -1):
            q = order[at]
            if pair[q, p] < 0 or (pair[q, p] == 0 and position[q] < position[p]):
                reach = at
                break
        if reach <= k:
            ends[n_ends] = k + 1
            n_ends += 1
    return ends[:n_ends]


@nb.njit(cache=True, nogil=True)
def solve_part(pair, part):
    """Put the few items of ``part`` into their best order, in place."""
    d = len(part)
    half = 1 << ((d + 1) // 2)
    small, zeros = np.empty((d, d)), np.zeros((d, d))
    for p in range(d):
        for q in range(d):
            small[p, q] = pair[part[p], part[q]]
    later, lower, upper = np.empty(d), np.empty((d, half)), np.empty((d, half))
    best, none, order = np.empty(1 << d), np.zeros(d, np.int64), np.empty(d, np.int64)
    half_sums(small, later, lower, upper)
    complete(zeros, later, lower, upper, none, none, d, set_sizes(d), best)
    walk(zeros, later, lower, upper, none, none, d, best, order)
    for p in range(d):
        order[p] = part[order[p]]
    assign(part, order)


@nb.njit(cache=True, nogil=True)
def packed_cycles(pair, order):
    """What every order loses against all pairs at their of least cost, at least.

    Preferences u -> w -> v -> u cannot all be met: one of the three costs twice its size
    more than it might. Cycles packed so that no pair pays more than it has add up (this is
    a solution of the dual of the triangle program). Only pairs that ``order`` turns
    around can pay, short spans first because they have the fewest cycles to choose from.
    """
    d = len(order)
    # What each pair can still pay, by position. Above the diagonal pairs met along this
    # order; below it the same once more, so that both legs of a cycle are read along rows.
    left = np.empty((d, d))
    for p in range(d):
        for q in range(p + 1, d):
            left[p, q] = left[q, p] = -2 * pair[order[p], order[q]]
    packed = 0.0
    for span in range(2, d):
        for u in range(d - span):
            v = u + span
            turned = -left[u, v]
            if turned <= 0:
                continue
            for w in range(u + 1, v):
                size = min(turned, left[u, w], left[v, w])
                if size > 0:
                    turned -= size
                    left[u, w] -= size
                    left[w, u] -= size
                    left[v, w] -= size
                    left[w, v] -= size
                    packed += size
                    if turned <= 0:
                        break
    return packed


@nb.njit(cache=True, nogil=True)
def met(pair, part):
    """What the pairs of a part would gain if all were at their of least cost."""
    gain = 0.0
    for p in range(len(part)):
        for q in range(p + 1, len(part)):
            gain += abs(pair[part[p], part[q]])
    return gain


@nb.njit(cache=True, nogil=True)
def linear_order_rows(costs, d, most_exact, most_sweeps, orders, values, bounds, unproven):
    """Fill orders (n, d), their costs and lower bounds (n,), and the size of the smallest
    component whose order may not be the best (n,), d + 1 for none; costs (n, d (d - 1) / 2)."""
    pair = np.empty((d, d))
    for n in range(len(costs)):
        read_pairs(costs[n], pair)
        order = orders[n]
        ends = split(pair, order)
        begin, bound, unproven[n] = 0, 0.0, d + 1
        for k in range(len(costs[n])):
            bound -= abs(costs[n, k])
        for end in ends:
            part = order[begin:end]
            if 2 < len(part) <= most_exact:
                solve_part(pair, part)
                bound += total(pair, part) + met(pair, part)
            elif len(part) > most_exact:
                search_part(pair, part, most_sweeps)
                packed = packed_cycles(pair, part)
                bound += packed
                if packed < (total(pair, part) + met(pair, part)) * (1 - TIE):
                    unproven[n] = min(unproven[n], len(part))
            begin = end
        values[n], bounds[n] = total(pair, order), bound
