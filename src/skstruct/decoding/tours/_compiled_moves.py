# SPDX-License-Identifier: BSD-3-Clause
"""Moves that make a cycle cheaper: one at a time, always the best of all that there are.

The cycle is held twice in a row, ``twice[p + k] = twice[p]``, so that a segment never wraps.
A segment begins at p = 1..k and has ``length`` places; ``there[p]`` and ``back[p]`` add up
the arcs from position 0 to p in the sense of travel and against it. Missing arcs have a
price of their own, so that all costs are finite.
"""

from __future__ import annotations

import numba as nb
import numpy as np

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
    """The cycle twice in a row with sums along it; ``needed[p]`` places to visit before p."""
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
    """The best of: place x in, in the stead of a segment of 0..swapped places; a segment out."""
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
    """The best of: a segment turned round; one of up to ``longest`` places moved elsewhere."""
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
        tour[:k] = trial[:k]
