# SPDX-License-Identifier: BSD-3-Clause
"""Cheapest cycles through few places, exact by dynamic programming over sets of places.

A cycle is cut open at its first place s. ``best[S, u]`` is the least cost of a path from s
through all places of S that ends in u, a place of S; S is a set of places behind s, and bit
b stands for place s + 1 + b. A place that must be visited is put first, so that s needs to
be tried no further.
"""

from __future__ import annotations

import numba as nb
import numpy as np


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
    """The cheapest cycle: its cost, its set of places and the last of them."""
    least, places, last = np.inf, 0, -1
    for S in range(1, 1 << m):
        if size[S] + 1 < smallest or size[S] + 1 > largest or (S & must) != must:
            continue
        for u in range(m):
            if (S >> u) & 1:
                cost = best[S, u] + arc[1 + u, 0]
                if cost < least:
                    least, places, last = cost, S, u
    return least, places, last


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
def list_places(low, high, places):
    """The places that may be visited, one that must be first; how many, and if there is one."""
    count, first = 0, -1
    for v in range(len(high)):
        if high[v]:
            if low[v] and first < 0:
                first = count
            places[count] = v
            count += 1
    if first > 0:
        places[0], places[first] = places[first], places[0]
    return count, first >= 0


@nb.njit(cache=True, nogil=True)
def set_sizes(m):
    """Number of members of every set of m places."""
    size = np.zeros(1 << m, np.int64)
    for S in range(1, 1 << m):
        size[S] = size[S >> 1] + (S & 1)
    return size


@nb.njit(cache=True, nogil=True)
def table_rows(costs, low, high, smallest, largest, most, tours):
    """Fill the rows of ``tours`` (n, N), which hold -1, with the places of a best cycle.

    Rows with more than ``most`` places that may be visited, or with no cycle, stay as they are.
    """
    n, N = tours.shape
    places, tour = np.empty(N, np.int64), np.empty(N, np.int64)
    m_most = min(N, most) - 1
    size, best = set_sizes(m_most), np.empty((1 << m_most, m_most))
    arc = np.empty((m_most + 1, m_most + 1))
    for row in range(n):
        count, anchored = list_places(low[row], high[row], places)
        if count > most:
            continue
        record = np.inf
        for s in range(1 if anchored else count - 2):
            m = count - 1 - s
            must = 0
            for b in range(m):
                if low[row, places[s + 1 + b]]:
                    must |= 1 << b
            for u in range(m + 1):
                for w in range(m + 1):
                    arc[u, w] = costs[row, places[s + u], places[s + w]]
            extend_paths(arc, m, largest[row], size, best)
            cost, S, last = close_paths(arc, m, must, smallest[row], largest[row], size, best)
            if cost < record:
                record = cost
                length = walk_back(arc, m, best, S, last, tour)
                tours[row, 0] = places[s]
                for k in range(1, N):
                    tours[row, k] = places[s + 1 + tour[k]] if k < length else -1
