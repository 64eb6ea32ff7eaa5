# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of least cost, compiled: a table of subsets, small cuts, and local search.

A cycle is cut open at its first node s. ``best[S, u]`` is the least cost of a path from s
through all nodes of S that ends in u, a node of S; S is a set of nodes behind s, and bit
b stands for node s + 1 + b. A node that must be visited is put first, so that s needs to
be tried no further.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign
from skstruct.spaces.solvers._numba_linear_ordering import set_sizes
from skstruct.tolerances import OPEN_CAPACITY


@nb.njit(cache=True, nogil=True)
def extend_paths(arc, m, largest, size, best):
    """Fill ``best``; arc[0] leads away from s, arc[1 + u, 1 + w] from bit u to bit w.

    Every entry is written once, from the only set that it extends: no filling beforehand.
    """
    reach = np.empty(m)
    for w in range(m):
        best[1 << w, w] = arc[0, 1 + w]
    for S in range(1, 1 << m):
        if size[S] + 2 > largest:
            continue
        reach[:] = np.inf
        for u in range(m):
            if (S >> u) & 1:
                so_far = best[S, u]
                for w in range(m):  # over all w, in S or not: this loop runs in lanes
                    cost = so_far + arc[1 + u, 1 + w]
                    reach[w] = cost if cost < reach[w] else reach[w]
        for w in range(m):
            if not (S >> w) & 1:
                best[S | (1 << w), w] = reach[w]


@nb.njit(cache=True, nogil=True)
def close_paths(arc, m, must, smallest, largest, size, best):
    """The minimum-cost cycle: its cost, its set of nodes and the last of them."""
    least, nodes, last = np.inf, 0, -1
    for S in range(1, 1 << m):
        if size[S] + 1 < smallest or size[S] + 1 > largest or (S & must) != must:
            continue
        for u in range(m):
            if (S >> u) & 1:
                cost = best[S, u] + arc[1 + u, 0]
                if cost < least:
                    least, nodes, last = cost, S, u
    return least, nodes, last


@nb.njit(cache=True, nogil=True)
def walk_back(arc, m, best, S, last, tour):
    """Write the bits of the best path in order of travel behind ``tour[0]``; its length."""
    length = 1
    rest = S
    while rest:
        rest &= rest - 1
        length += 1
    for k in range(length - 1, 0, -1):
        tour[k] = last
        S ^= 1 << last
        least, before = np.inf, -1
        for u in range(m):
            if (S >> u) & 1:
                cost = best[S, u] + arc[1 + u, 1 + last]
                if cost < least:
                    least, before = cost, u
        last = before
    return length


@nb.njit(cache=True, nogil=True)
def list_nodes(low, high, nodes):
    """The nodes that may be visited, one that must be first; how many, and if there is one."""
    count, first = 0, -1
    for v in range(len(high)):
        if high[v]:
            if low[v] and first < 0:
                first = count
            nodes[count] = v
            count += 1
    if first > 0:
        nodes[0], nodes[first] = nodes[first], nodes[0]
    return count, first >= 0


@nb.njit(cache=True, nogil=True)
def table_rows(costs, low, high, smallest, largest, most, tours):
    """Fill the rows of ``tours`` (n, N), which hold -1, with the nodes of a best cycle.

    Rows with more than ``most`` nodes that may be visited, or with no cycle, stay as they are.
    """
    n, N = tours.shape
    nodes, tour = np.empty(N, np.int64), np.empty(N, np.int64)
    m_most = min(N, most) - 1
    size, best = set_sizes(m_most), np.empty((1 << m_most, m_most))
    arc = np.empty((m_most + 1, m_most + 1))
    for row in range(n):
        count, anchored = list_nodes(low[row], high[row], nodes)
        if count > most:
            continue
        record = np.inf
        for s in range(1 if anchored else count - 2):
            m = count - 1 - s
            must = 0
            for b in range(m):
                if low[row, nodes[s + 1 + b]]:
                    must |= 1 << b
            for u in range(m + 1):
                for w in range(m + 1):
                    arc[u, w] = costs[row, nodes[s + u], nodes[s + w]]
            extend_paths(arc, m, largest[row], size, best)
            cost, S, last = close_paths(arc, m, must, smallest[row], largest[row], size, best)
            if cost < record:
                record = cost
                length = walk_back(arc, m, best, S, last, tour)
                tours[row, 0] = nodes[s]
                for k in range(1, N):
                    tours[row, k] = nodes[s + 1 + tour[k]] if k < length else -1


# Small cuts between one node and all others, by augmenting paths.


@nb.njit(cache=True, nogil=True)
def reach(room, source, sink, came_from, queue):
    """Breadth first along arcs with room; whether the sink was reached."""
    came_from[:] = -1
    came_from[source] = source
    queue[0] = source
    waiting, done = 1, 0
    while done < waiting:
        u = queue[done]
        done += 1
        for v in range(len(room)):
            if came_from[v] < 0 and room[u, v] > OPEN_CAPACITY:
                came_from[v] = u
                if v == sink:
                    return True
                queue[waiting] = v
                waiting += 1
    return False


@nb.njit(cache=True, nogil=True)
def small_cuts(capacity, y, sink, slack):
    """Sets S, one for each row, with room below y[v] + y[sink] - 1 for some v in S.

    ``capacity`` is symmetric; the sink is in no set. Nodes within a set that was found are
    not tried as sources again.
    """
    N = len(capacity)
    found, count = np.zeros((N, N), np.bool_), 0
    covered = np.zeros(N, np.bool_)
    came_from, queue = np.empty(N, np.int64), np.empty(N, np.int64)
    room = np.empty((N, N))
    for source in np.argsort(-y):
        enough = y[source] + y[sink] - 1.0 - slack
        if enough <= 0.0:
            break
        if source == sink or covered[source]:
            continue
        assign(room, capacity)
        flow = 0.0
        while flow < enough and reach(room, source, sink, came_from, queue):
            amount, v = np.inf, sink
            while v != source:
                amount = min(amount, room[came_from[v], v])
                v = came_from[v]
            v = sink
            while v != source:
                u = came_from[v]
                room[u, v] -= amount
                room[v, u] += amount
                v = u
            flow += amount
        if flow < enough:
            for v in range(N):
                found[count, v] = came_from[v] >= 0
                covered[v] = covered[v] or found[count, v]
            count += 1
    return found[:count]


# Moves that make a cycle cheaper: one at a time, always the best of all that there are.
#
# The cycle is stored twice in a row, ``twice[p + k] = twice[p]``, so that a segment never wraps.
# A segment begins at p = 1..k and has ``length`` nodes; ``there[p]`` and ``back[p]`` add up
# the arcs from position 0 to p in the sense of travel and against it. Missing arcs have a
# cost of their own, so that all costs are finite.


PUT, DROP, TURN, MOVE, MOVE_TURNED = 0, 1, 2, 3, 4


@nb.njit(cache=True, nogil=True)
def tour_cost(arc, tour, k):
    """Cost of the cycle tour[:k]."""
    total = arc[tour[k - 1], tour[0]]
    for p in range(k - 1):
        total += arc[tour[p], tour[p + 1]]
    return total


@nb.njit(cache=True, nogil=True)
def unroll(arc, low, tour, k, twice, there, back, needed):
    """The cycle twice in a row with sums along it; ``needed[p]`` nodes to visit before p."""
    for p in range(2 * k):
        twice[p] = tour[p % k]
    there[0] = back[0] = 0.0
    needed[0] = 0
    for p in range(2 * k - 1):
        u, v = twice[p], twice[p + 1]
        there[p + 1] = there[p] + arc[u, v]
        back[p + 1] = back[p] + arc[v, u]
        needed[p + 1] = needed[p] + low[u]


@nb.njit(cache=True, nogil=True)
def best_change(arc, outside, k, smallest, largest, swapped, twice, there, needed):
    """The best of: node x in, in the stead of a segment of 0..swapped nodes; a segment out."""
    record, kind, at, span, what = 0.0, -1, 0, 0, 0
    for p in range(1, k + 1):
        a = twice[p - 1]
        for length in range(0, k - 1):
            end = p + length
            if length and needed[end] > needed[p]:
                break
            b = twice[end]
            gone = there[end] - there[p - 1]
            if length and k - length >= smallest and arc[a, b] - gone < record:
                record, kind, at, span = arc[a, b] - gone, DROP, p, length
            if length > swapped or k - length + 1 < smallest or k - length + 1 > largest:
                continue
            for x in outside:
                change = arc[a, x] + arc[x, b] - gone
                if change < record:
                    record, kind, at, span, what = change, PUT, p, length, x
    return record, kind, at, span, what


@nb.njit(cache=True, nogil=True)
def best_reordering(arc, k, longest, twice, there, back):
    """The best of: a segment turned round; one of up to ``longest`` nodes moved elsewhere."""
    record, kind, at, span, what = 0.0, -1, 0, 0, 0
    for p in range(1, k + 1):
        a, first = twice[p - 1], twice[p]
        for length in range(1, k):
            end = p + length
            last, b = twice[end - 1], twice[end]
            gone = there[end] - there[p - 1]
            turned = back[end - 1] - back[p]
            change = arc[a, last] + arc[first, b] + turned - gone
            if change < record:
                record, kind, at, span = change, TURN, p, length
            if length > longest or length > k - 2:
                continue
            kept = there[end - 1] - there[p]
            saved = arc[a, b] - gone
            for q in range(end, p + k - 1):
                u, v = twice[q], twice[q + 1]
                bridge = saved - arc[u, v]
                change = bridge + arc[u, first] + kept + arc[last, v]
                if change < record:
                    record, kind, at, span, what = change, MOVE, p, length, q
                change = bridge + arc[u, last] + turned + arc[first, v]
                if change < record:
                    record, kind, at, span, what = change, MOVE_TURNED, p, length, q
    return record, kind, at, span, what


@nb.njit(cache=True, nogil=True)
def apply_move(k, kind, at, span, what, twice, tour):
    """Write the cycle after a move into ``tour``; its new length."""
    end, new = at + span, 0
    if kind == PUT:
        tour[0] = what
        new = 1
    elif kind == TURN:
        for p in range(end - 1, at - 1, -1):
            tour[new] = twice[p]
            new += 1
    for p in range(end, at + k):
        tour[new] = twice[p]
        new += 1
        if p == what and kind == MOVE:
            for s in range(at, end):
                tour[new] = twice[s]
                new += 1
        elif p == what and kind == MOVE_TURNED:
            for s in range(end - 1, at - 1, -1):
                tour[new] = twice[s]
                new += 1
    return new


@nb.njit(cache=True, nogil=True)
def improve(arc, low, smallest, largest, swapped, longest, tour, k):
    """Make moves until none makes tour[:k] cheaper; its length and cost."""
    N = len(arc)
    twice, trial = np.empty(2 * N, np.int64), np.empty(N, np.int64)
    there, back, needed = np.empty(2 * N), np.empty(2 * N), np.empty(2 * N, np.int64)
    inside = np.zeros(N, np.bool_)
    cost = tour_cost(arc, tour, k)
    while True:
        unroll(arc, low, tour, k, twice, there, back, needed)
        inside[:] = False
        for p in range(k):
            inside[tour[p]] = True
        outside = np.flatnonzero(~inside)
        change = best_change(arc, outside, k, smallest, largest, swapped, twice, there, needed)
        reordering = best_reordering(arc, k, longest, twice, there, back)
        _, kind, at, span, what = change if change[0] < reordering[0] else reordering
        if kind < 0:
            return k, cost
        new = apply_move(k, kind, at, span, what, twice, trial)
        better = tour_cost(arc, trial, new)
        if not better < cost:  # the sums had promised what was rounding
            return k, cost
        k, cost = new, better
        assign(tour[:k], trial)


# Search for cheap cycles: repaired starts, improved, and shaken many times.


@nb.njit(cache=True, nogil=True)
def put_min_cost(arc, only, inside, tour, k):
    """Insert, of the nodes outside (and in ``only``), the one that adds least; new length."""
    record, what, at = np.inf, -1, 0
    for x in range(len(arc)):
        if inside[x] or not only[x]:
            continue
        for p in range(k):
            u, v = tour[p], tour[(p + 1) % k]
            change = arc[u, x] + arc[x, v] - arc[u, v]
            if change < record:
                record, what, at = change, x, p
    if what < 0:
        return k
    for p in range(k, at + 1, -1):
        tour[p] = tour[p - 1]
    tour[at + 1] = what
    inside[what] = True
    return k + 1


@nb.njit(cache=True, nogil=True)
def drop_min_cost(arc, low, inside, tour, k):
    """Take out, of the nodes that need no visit, the one that saves most; new length."""
    record, at = np.inf, -1
    for p in range(k):
        if low[tour[p]]:
            continue
        a, x, b = tour[p - 1 if p else k - 1], tour[p], tour[(p + 1) % k]
        change = arc[a, b] - arc[a, x] - arc[x, b]
        if change < record:
            record, at = change, p
    if at < 0:
        return k
    inside[tour[at]] = False
    for p in range(at, k - 1):
        tour[p] = tour[p + 1]
    return k - 1


@nb.njit(cache=True, nogil=True)
def repair(arc, low, smallest, largest, tour, k):
    """Visit what must be visited and bring the size within its constraints; new length."""
    inside = np.zeros(len(arc), np.bool_)
    for p in range(k):
        inside[tour[p]] = True
    missing = 0
    for v in range(len(arc)):
        missing += low[v] and not inside[v]
    while k > 3 and k + missing > largest:
        new = drop_min_cost(arc, low, inside, tour, k)
        if new == k:
            break
        k = new
    for _ in range(missing):
        if k == largest:  # only with three nodes left of which some need no visit
            k = drop_min_cost(arc, low, inside, tour, k)
        k = put_min_cost(arc, low, inside, tour, k)
    anywhere = np.ones(len(arc), np.bool_)
    while k < smallest:
        k = put_min_cost(arc, anywhere, inside, tour, k)
    return k


@nb.njit(cache=True, nogil=True)
def best_triangle(arc, through, tour):
    """Write the minimum-cost cycle of three nodes through one of them."""
    record = np.inf
    for u in range(len(arc)):
        for v in range(len(arc)):
            if u in (v, through) or v == through:
                continue
            cost = arc[through, u] + arc[u, v] + arc[v, through]
            if cost < record:
                record = cost
                tour[0], tour[1], tour[2] = through, u, v
    return record


@nb.njit(cache=True, nogil=True)
def shake(low, smallest, largest, draws, tour, k, shaken):
    """A copy with two segments exchanged, a segment left out or nodes put in; its length."""
    N = len(low)
    start = int(draws[0] * k)
    for p in range(k):
        shaken[p] = tour[(start + p) % k]
    if draws[1] < 0.3:
        span = min(1 + int(draws[2] * 5), k - smallest)
        free = True
        for p in range(k - span, k):
            free = free and not low[shaken[p]]
        if free and span > 0:
            return k - span
    elif draws[1] < 0.6 and k < largest:
        inside = np.zeros(N, np.bool_)
        for p in range(k):
            inside[shaken[p]] = True
        outside = np.flatnonzero(~inside)
        for t in range(min(1 + int(draws[2] * 3), largest - k)):
            x = outside[int(draws[3 + t] * len(outside))]
            if not inside[x]:
                inside[x] = True
                shaken[k] = x
                k += 1
        return k
    reach = min(k - 1, 30)
    one, two = 1 + int(draws[2] * (reach - 1)), 1 + int(draws[3] * (reach - 1))
    one, two = min(one, two), max(one, two) + 1
    for p in range(two):  # [0, one) and [one, two) change places
        shaken[p] = tour[(start + (p + one if p < two - one else p - two + one)) % k]
    return k


@nb.njit(cache=True, nogil=True)
def settle(arc, low, smallest, largest, longest, full, tour, k):
    """Repair and improve a start; ``full`` lets it first grow and be ordered at full size.

    A cycle of many nodes in bad order would lose most of them before the order gets better.
    """
    k = repair(arc, low, largest if full else smallest, largest, tour, k)
    if full:
        k, _ = improve(arc, low, k, k, 1, longest, tour, k)
    return improve(arc, low, smallest, largest, 2, longest, tour, k)


@nb.njit(cache=True, nogil=True)
def search(arc, low, smallest, largest, longest, starts, full, draws, kept):
    """Write the best cycle found into ``kept``; its length and cost.

    ``starts`` (m, N) are cycles padded with -1; ``full`` (m,) of bool; ``draws`` (shakes, 6)
    are uniform numbers.
    """
    N = len(arc)
    tour, trial = np.empty(N + 1, np.int64), np.empty(N + 1, np.int64)
    record, k = np.inf, 0
    for row in range(len(starts)):
        length = 0
        while length < N and starts[row, length] >= 0:
            trial[length] = starts[row, length]
            length += 1
        length, cost = settle(arc, low, smallest, largest, longest, full[row], trial, length)
        if cost < record:
            record, k = cost, length
            assign(tour[:k], trial)
    for row in range(len(draws)):
        length = shake(low, smallest, largest, draws[row], tour, k, trial)
        length, cost = improve(arc, low, smallest, largest, 2, longest, trial, length)
        if cost <= record:
            record, k = cost, length
            assign(tour[:k], trial)
    assign(kept[:k], tour)
    return k, record
