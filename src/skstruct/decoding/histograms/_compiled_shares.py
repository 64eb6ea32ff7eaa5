# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of amounts between two coordinates whose costs are sampled.

At a price mu of a unit coordinate j costs F_j(t) + mu t; what counts is how much that is
above its least value. The gap of a row is all of this added up, so that nothing above the
gap is worth looking at.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def height(points, above, t):
    """The sampled function at t, straight between samples."""
    k = min(max(np.searchsorted(points, t, side="right") - 1, 0), len(points) - 2)
    width = points[k + 1] - points[k]
    if width <= 0.0:
        return min(above[k], above[k + 1])
    return above[k] + (above[k + 1] - above[k]) / width * (t - points[k])


@nb.njit(cache=True, nogil=True)
def reduce_costs(points, values, mu, z, above, cost):
    """Fill what every sample, and z, costs above the least of its coordinate; returns the gap."""
    d, m = values.shape
    gap = 0.0
    for j in range(d):
        least = np.inf
        for k in range(m):
            above[j, k] = values[j, k] + mu * points[j, k]
            least = min(least, above[j, k])
        for k in range(m):
            above[j, k] -= least
        cost[j] = height(points[j], above[j], z[j])
        gap += cost[j]
    return gap


@nb.njit(cache=True, nogil=True)
def list_worthwhile(points, above, gap, listed, n_listed, reach):
    """Numbers of the samples that cost less than the gap, and the range around them."""
    d, m = above.shape
    for j in range(d):
        n = 0
        reach[j, 0], reach[j, 1] = np.inf, -np.inf
        for k in range(m):
            if above[j, k] < gap:
                reach[j, 0] = min(reach[j, 0], points[j, max(k - 1, 0)])
                reach[j, 1] = max(reach[j, 1], points[j, min(k + 1, m - 1)])
                if k == 0 or points[j, k] > points[j, k - 1]:
                    listed[j, n] = k
                    n += 1
        n_listed[j] = n


@nb.njit(cache=True, nogil=True)
def best_exchange(p, above, first, second, both, limit, listed, reach):
    """Where to put the first of two coordinates, at a sample of its own, out of ``both``.

    The second one takes the rest. Returns the place, negative if none costs less than
    ``limit``, and the cost of the two.
    """
    at, best = -1.0, limit
    for k in listed:
        cost, rest = above[first, k], both - p[first, k]
        if cost < best and reach[second, 0] <= rest <= reach[second, 1]:
            cost += height(p[second], above[second], rest)
            if cost < best:
                at, best = p[first, k], cost
    return at, best


@nb.njit(cache=True, nogil=True)
def best_partner(p, above, z, cost, r, tiny, listed, n_listed, reach):
    """The coordinate that coordinate r trades with best, and where it goes; -1 for none."""
    largest, other, at = tiny, -1, 0.0
    for k in range(len(z)):
        if k == r:
            continue
        now, both = cost[r] + cost[k], z[r] + z[k]
        own = listed[k, : n_listed[k]]
        t, after = best_exchange(p, above, k, r, both, now - largest, own, reach)
        if t >= 0.0:
            largest, other, at = now - after, k, t
        own = listed[r, : n_listed[r]]
        t, after = best_exchange(p, above, r, k, both, now - largest, own, reach)
        if t >= 0.0:
            largest, other, at = now - after, k, both - t
    return other, at


@nb.njit(cache=True, nogil=True)
def exchange_rows(points, values, prices, z, n_times, patience, smallest):
    """Improve z (B, d) in place: the coordinate that costs most above its least trades.

    When it finds no partner the next one tries, until as many as ``patience`` have failed.
    Gains below ``smallest`` (B,) do not count.
    """
    rows, d, m = values.shape
    above, cost, tried = np.empty((d, m)), np.empty(d), np.empty(d, np.bool_)
    listed, n_listed = np.empty((d, m), np.int64), np.empty(d, np.int64)
    reach = np.empty((d, 2))
    for row in range(rows if m > 1 else 0):
        p = points[row if len(points) > 1 else 0]
        gap = reduce_costs(p, values[row], prices[row], z[row], above, cost)
        list_worthwhile(p, above, gap, listed, n_listed, reach)
        tried[:] = False
        n_tried = 0
        for _ in range(n_times):
            r = -1
            for j in range(d):
                if not tried[j] and (r < 0 or cost[j] > cost[r]):
                    r = j
            if n_tried == patience or r < 0 or cost[r] <= smallest[row]:
                break
            k, at = best_partner(p, above, z[row], cost, r, smallest[row], listed, n_listed, reach)
            if k < 0:
                tried[r] = True
                n_tried += 1
                continue
            z[row, r] += z[row, k] - at
            z[row, k] = at
            for j in (r, k):
                cost[j] = height(p[j], above[j], z[row, j])
            tried[:] = False
            n_tried = 0
