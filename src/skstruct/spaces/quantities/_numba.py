# SPDX-License-Identifier: BSD-3-Clause
"""Compiled costs over amounts that add up to a total: quadratic, sampled, exchanges."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers.curves._numba import lower_hull


@nb.njit(cache=True, nogil=True)
def water_levels(a, b, order, level, start, flow, least):
    """Minimum-cost use of s >= 0 units by the coordinates with a > 0, as a function of s.

    Coordinates fill up in the order of b. While the first k + 1 of them are in use the dual
    of a unit is level[k] + (s - start[k]) / flow[k], and ``least[k]`` is the cost at start[k].
    Returns how many such pieces there are; the last one never ends.
    """
    n = 0
    for j in order:
        if a[j] > 0.0:
            share = 0.5 / a[j]
            if n == 0:
                start[0] = least[0] = 0.0
                flow[0] = share
            else:
                more = (b[j] - level[n - 1]) * flow[n - 1]
                start[n] = start[n - 1] + more
                least[n] = least[n - 1] + more * 0.5 * (level[n - 1] + b[j])
                flow[n] = flow[n - 1] + share
            level[n] = b[j]
            n += 1
    return n


@nb.njit(cache=True, nogil=True)
def best_split(a, b, total, n_pieces, level, start, flow, least):
    """How much s of the total the bowls (a > 0) get where one other coordinate has the rest.

    With that coordinate's a <= 0 and b: a (total - s)^2 + b (total - s) + least(s), a
    quadratic on every piece. Returns its least value and s.
    """
    best, at = (a * total + b) * total, 0.0
    for k in range(n_pieces):
        low = start[k]
        if low >= total:
            break
        high = min(total, start[k + 1]) if k + 1 < n_pieces else total
        bend = 1.0 / flow[k] + 2.0 * a
        stationary = high
        if bend > 0.0:
            stationary = low + (b + 2.0 * a * (total - low) - level[k]) / bend
            stationary = min(max(stationary, low), high)
        for s in (stationary, high):
            rest, more = total - s, s - low
            value = (a * rest + b) * rest + least[k] + (level[k] + 0.5 * more / flow[k]) * more
            if value < best:
                best, at = value, s
    return best, at


@nb.njit(cache=True, nogil=True)
def quadratic_rows(a, b, orders, total, z):
    """Fill z with minimizers of sum_j a_j z_j^2 + b_j z_j; ``orders`` sorts the rows of b.

    Two coordinates with a <= 0 that share some amount cost no less than one of them with
    all of it (their cost is concave), so at most one is in use.
    """
    d = a.shape[1]
    level, start, flow, least = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for row in range(len(a)):
        n = water_levels(a[row], b[row], orders[row], level, start, flow, least)
        value, at, other = np.inf, total, -1
        if n > 0:
            k = piece_of(total, start, n)
            more = total - start[k]
            value = least[k] + (level[k] + 0.5 * more / flow[k]) * more
        for j in range(d):
            if a[row, j] <= 0.0:
                found, s = best_split(a[row, j], b[row, j], total, n, level, start, flow, least)
                if found < value:
                    value, at, other = found, s, j
        z[row] = 0.0
        if n > 0 and at > 0.0:
            k = piece_of(at, start, n)
            pour(a[row], b[row], at, level[k] + (at - start[k]) / flow[k], z[row])
        if other >= 0:
            z[row, other] = total - at


@nb.njit(cache=True, nogil=True)
def piece_of(s, start, n):
    """The last piece that starts before s."""
    k = n - 1
    while k > 0 and start[k] >= s:
        k -= 1
    return k


@nb.njit(cache=True, nogil=True)
def pour(a, b, s, dual, z):
    """Fill z with the use of s units by the coordinates with a > 0, at a dual variable."""
    used = 0.0
    for j in range(len(z)):
        if a[j] > 0.0 and b[j] < dual:
            z[j] = (dual - b[j]) * 0.5 / a[j]
            used += z[j]
    if used > 0.0:
        z *= s / used  # what rounding left over


@nb.njit(cache=True, nogil=True)
def lowered(values, slack, v):
    """Fill v with values less the slack of the cells beside: chords between these are bounds."""
    m = len(values)
    for k in range(m):
        before = slack[k - 1] if k > 0 else 0.0
        after = slack[k] if k < m - 1 else 0.0
        v[k] = values[k] - max(before, after)


@nb.njit(cache=True, nogil=True)
def mix_rows(points, values, slack, total, z, bounds, duals, spans):
    """Minimum-cost way to share the total where costs are the lower hulls of samples.

    points (B, d, m) or (1, d, m), from 0 to at least the total; values (B, d, m), slack
    (B, d, m - 1). Every coordinate starts at its first point, then the minimum-cost segments of
    all hulls are taken until the total is reached, the last one in part: its slope is the
    dual variable. ``spans`` are the ranges of the values, added up.
    """
    rows, d, m = values.shape
    corners, v = np.empty(m, np.int64), np.empty(m)
    slopes, widths, owner = np.empty(d * m), np.empty(d * m), np.empty(d * m, np.int64)
    for row in range(rows):
        n_segments, cost, left = 0, 0.0, total
        spans[row] = 0.0
        for j in range(d):
            t = points[row if len(points) > 1 else 0, j]
            lowered(values[row, j], slack[row, j], v)
            spans[row] += values[row, j].max() - values[row, j].min()
            n = lower_hull(t, v, 0, m - 1, corners)
            z[row, j] = t[corners[0]]
            cost += v[corners[0]]
            left -= z[row, j]
            for i in range(n - 1):
                low, high = corners[i], corners[i + 1]
                widths[n_segments] = t[high] - t[low]
                slopes[n_segments] = (v[high] - v[low]) / widths[n_segments]
                owner[n_segments] = j
                n_segments += 1
        duals[row] = 0.0
        for i in np.argsort(slopes[:n_segments]):
            if left <= 0.0:
                break
            taken = min(left, widths[i])
            j = owner[i]
            z[row, j] += taken
            cost += slopes[i] * taken
            left -= taken
            duals[row] = slopes[i]
        bounds[row] = cost


# Exchanges of amounts between two coordinates whose costs are sampled.
#
# At a dual variable mu of a unit coordinate j costs F_j(t) + mu t; what counts is how much that is
# above its least value. The gap of a row is all of this added up, so that nothing above the
# gap is worth looking at.


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

    The second one takes the rest. Returns the position, negative if none costs less than
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
def exchange_rows(points, values, duals, z, n_times, patience, smallest):
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
        gap = reduce_costs(p, values[row], duals[row], z[row], above, cost)
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
