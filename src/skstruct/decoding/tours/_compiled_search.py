# SPDX-License-Identifier: BSD-3-Clause
"""Search for cheap cycles: repaired starts, improved, and shaken many times."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding.tours._compiled_moves import improve


@nb.njit(cache=True, nogil=True)
def put_cheapest(arc, only, inside, tour, k):
    """Insert, of the places outside (and in ``only``), the one that adds least; new length."""
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
def drop_cheapest(arc, low, inside, tour, k):
    """Take out, of the places that need no visit, the one that saves most; new length."""
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
    """Visit what must be visited and bring the size within its limits; new length."""
    inside = np.zeros(len(arc), np.bool_)
    for p in range(k):
        inside[tour[p]] = True
    missing = 0
    for v in range(len(arc)):
        missing += low[v] and not inside[v]
    while k > 3 and k + missing > largest:
        new = drop_cheapest(arc, low, inside, tour, k)
        if new == k:
            break
        k = new
    for _ in range(missing):
        if k == largest:  # only with three places left of which some need no visit
            k = drop_cheapest(arc, low, inside, tour, k)
        k = put_cheapest(arc, low, inside, tour, k)
    anywhere = np.ones(len(arc), np.bool_)
    while k < smallest:
        k = put_cheapest(arc, anywhere, inside, tour, k)
    return k


@nb.njit(cache=True, nogil=True)
def best_triangle(arc, through, tour):
    """Write the cheapest cycle of three places through one of them."""
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
    """A copy with two segments exchanged, a segment left out or places put in; its length."""
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

    A cycle of many places in bad order would lose most of them before the order gets better.
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
            tour[:k] = trial[:k]
    for row in range(len(draws)):
        length = shake(low, smallest, largest, draws[row], tour, k, trial)
        length, cost = improve(arc, low, smallest, largest, 2, longest, trial, length)
        if cost <= record:
            record, k = cost, length
            tour[:k] = trial[:k]
    kept[:k] = tour[:k]
    return k, record
