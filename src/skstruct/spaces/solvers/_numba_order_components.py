# SPDX-License-Identifier: BSD-3-Clause
"""Linear orderings from pair costs, compiled: components, local search, and a packing bound.

``pair[p, q]`` is the cost of p before q and antisymmetric; an order costs the sum over its pairs,
so p should come first when the entry is negative. A part is what stands at positions
begin..end - 1 of an order. Whoever calls allocates the arrays that are worked in: every allocation
within a kernel takes long to compile.
"""

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import stable_order
from skstruct.spaces.solvers._numba_linear_ordering import complete, half_sums, walk
from skstruct.tolerances import TIE

MANY_ITEMS = 200


@nb.njit(cache=True, nogil=True)
def read_pairs(costs, row, pair):
    """The antisymmetric matrix of the costs of the pairs p < q."""
    d, k = len(pair), 0
    for p in range(d):
        pair[p, p] = 0.0
        for q in range(p + 1, d):
            pair[p, q] = costs[row, k]
            pair[q, p] = -costs[row, k]
            k += 1


@nb.njit(cache=True, nogil=True)
def component_rows(costs, pair, sums, place, by_cost, rank, orders, ends):
    """Items by how many they beat, and where these orders (n, d) may be cut without loss.

    A pair of equal cost may point either way; pointing it along the order of total costs
    makes a tournament, whose strong components are intervals of the order of wins. Across
    components every pair is at its lowest cost, so each may be solved by itself. At every
    position ``ends`` (n, d) has the end of its component.
    """
    n, d = orders.shape
    for row in range(n):
        read_pairs(costs, row, pair)
        for p in range(d):
            sums[p] = 0.0
            for q in range(d):
                sums[p] += pair[p, q]
        stable_order(sums, by_cost)
        for k in range(d):
            place[by_cost[k]] = k
        # Among equal numbers of wins the lower total cost goes first: a better start.
        for k in range(d):
            p, sums[k] = by_cost[k], 0.0
            for q in range(d):
                if pair[p, q] < 0 or (pair[p, q] == 0 and k < place[q]):
                    sums[k] -= 1.0
        stable_order(sums, rank)
        for k in range(d):
            orders[row, k] = by_cost[rank[k]]
        begin, reach = 0, 0
        for k in range(d):
            p, at = orders[row, k], d - 1
            while at > k and at > reach:
                q = orders[row, at]
                if pair[q, p] < 0 or (pair[q, p] == 0 and place[q] < place[p]):
                    reach = at
                at -= 1
            while reach <= k and begin <= k:
                ends[row, begin] = k + 1
                begin += 1


@nb.njit(cache=True, nogil=True)
def excess(pair, order, begin, end):
    """What a part costs more than if all of its pairs were at their least cost."""
    cost, least = 0.0, 0.0
    for p in range(begin, end):
        for q in range(p + 1, end):
            cost += pair[order[p], order[q]]
            least -= abs(pair[order[p], order[q]])
    return cost - least


@nb.njit(cache=True, nogil=True)
def solve_rows(
    costs, most, pair, small, later, lower, upper, zeros, none, size, best, items,
    orders, ends, values, bounds,
):  # fmt: skip
    """Put components of 3..``most`` items into their best orders; adds what these cost more."""
    n, d = orders.shape
    for row in range(n):
        begin, order = 0, orders[row]
        read_pairs(costs, row, pair)
        while begin < d:
            end = ends[row, begin]
            m = end - begin
            if 2 < m <= most:
                for p in range(m):
                    for q in range(m):
                        small[p, q] = pair[order[begin + p], order[begin + q]]
                half_sums(m, small, later, lower, upper)
                complete(m, zeros, later, lower, upper, none, none, m, size, best)
                walk(m, zeros, later, lower, upper, none, none, m, best, items)
                for p in range(m):
                    items[p] = order[begin + items[p]]
                for p in range(m):
                    order[begin + p] = items[p]
                more = excess(pair, order, begin, end)
                values[row] += more
                bounds[row] += more
            begin = end


@nb.njit(cache=True, nogil=True)
def best_position(pair, order, begin, end, start):
    """Where the item at ``start`` is best put within a part, all others staying as they are."""
    item = order[start]
    least, goal = 0.0, start
    change = 0.0
    for at in range(start - 1, begin - 1, -1):  # item passes in front of order[at]
        change += 2 * pair[item, order[at]]
        if change < least:
            least, goal = change, at
    change = 0.0
    for at in range(start + 1, end):  # order[at] passes in front of item
        change -= 2 * pair[item, order[at]]
        if change < least:
            least, goal = change, at
    return goal


@nb.njit(cache=True, nogil=True)
def insert(pair, order, begin, end, again, most_sweeps):
    """Move one item of a part at a time to its best position, until no move helps.

    After the first sweep only items that others have moved past are looked at again; when
    none of them moves, a sweep over all items confirms it or goes on. ``again`` (d,), by
    position, is worked in.
    """
    everything, moved = False, False
    for _ in range(most_sweeps):
        if not moved:
            if everything:
                break
            everything = True
            for at in range(begin, end):
                again[at] = True
        moved = False
        for start in range(begin, end):
            if not again[start]:
                continue
            again[start] = False
            goal = best_position(pair, order, begin, end, start)
            if goal == start:
                continue
            item, at = order[start], start
            step = 1 if goal > start else -1
            while at != goal:
                order[at] = order[at + step]
                again[at] = True
                at += step
            order[goal] = item
            again[goal] = True
            moved, everything = True, False


@nb.njit(cache=True, nogil=True)
def take_extremes(pair, part, begin, end, sums, left, order):
    """Eades, Lin and Smyth (1993) for weights: repeatedly take out the item that should be
    first or last by the largest margin; writes the order of a part."""
    for p in range(begin, end):
        sums[p], left[p] = 0.0, True
        for q in range(begin, end):
            sums[p] += pair[part[p], part[q]]
    first, last = begin, end - 1
    while first <= last:
        chosen, size = -1, -1.0
        for p in range(begin, end):
            if left[p] and abs(sums[p]) > size:
                chosen, size = p, abs(sums[p])
        item = part[chosen]
        if sums[chosen] <= 0:
            order[first] = item
            first += 1
        else:
            order[last] = item
            last -= 1
        left[chosen] = False
        for p in range(begin, end):  # antisymmetric: along the row, not down the column
            sums[p] += pair[item, part[p]]


@nb.njit(cache=True, nogil=True)
def packed_cycles(pair, order, begin, end, left):
    """What a part loses in every order against all pairs at their least cost, at least.

    Preferences u -> w -> v -> u cannot all be met: one of the three costs twice its size
    more than it might. Cycles packed so that no pair pays more than it has add up (this is
    a solution of the dual of the triangle program). Only pairs that ``order`` turns
    around can pay, short spans first because they have the fewest cycles to choose from.
    """
    # What each pair can still pay, by position. Above the diagonal pairs met along this
    # order; below it the same once more, so that both legs of a cycle are read along rows.
    for p in range(begin, end):
        for q in range(p + 1, end):
            left[p, q] = left[q, p] = -2 * pair[order[p], order[q]]
    packed = 0.0
    for span in range(2, end - begin):
        for u in range(begin, end - span):
            v = u + span
            turned = -left[u, v]
            w = u + 1
            while turned > 0 and w < v:
                size = left[u, w] if left[u, w] < left[v, w] else left[v, w]
                size = size if size < turned else turned
                if size > 0:
                    turned -= size
                    left[u, w] -= size
                    left[w, u] -= size
                    left[v, w] -= size
                    left[w, v] -= size
                    packed += size
                w += 1
    return packed


@nb.njit(cache=True, nogil=True)
def search_rows(
    costs, most_exact, most_sweeps, pair, left, sums, again, other,
    orders, ends, values, bounds, unproven,
):  # fmt: skip
    """Order components of more than ``most_exact`` items by local search from two starts.

    With many items the starts differ little at the end: there the better one is enough.
    ``unproven`` gets the size of the smallest component whose order may not be the best.
    """
    n, d = orders.shape
    for row in range(n):
        begin, order = 0, orders[row]
        read_pairs(costs, row, pair)
        while begin < d:
            end = ends[row, begin]
            if end - begin > most_exact:
                take_extremes(pair, order, begin, end, sums, again, other)
                few = end - begin <= MANY_ITEMS
                if few:
                    insert(pair, order, begin, end, again, most_sweeps)
                    insert(pair, other, begin, end, again, most_sweeps)
                if excess(pair, other, begin, end) < excess(pair, order, begin, end):
                    for p in range(begin, end):
                        order[p] = other[p]
                if not few:
                    insert(pair, order, begin, end, again, most_sweeps)
                more = excess(pair, order, begin, end)
                packed = packed_cycles(pair, order, begin, end, left)
                values[row] += more
                bounds[row] += packed
                if packed < more * (1 - TIE) and end - begin < unproven[row]:
                    unproven[row] = end - begin
            begin = end
