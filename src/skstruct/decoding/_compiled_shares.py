# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of amounts between two coordinates whose costs are sampled."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def height(points, values, t):
    """The sampled function at t, straight between samples."""
    m = len(points)
    k = min(max(np.searchsorted(points, t, side="right") - 1, 0), m - 2)
    return between(points, values, k, t)


@nb.njit(cache=True, nogil=True)
def between(points, values, k, t):
    """The line through samples k and k + 1 at t."""
    width = points[k + 1] - points[k]
    if width <= 0.0:
        return min(values[k], values[k + 1])
    return values[k] + (values[k + 1] - values[k]) / width * (t - points[k])


@nb.njit(cache=True, nogil=True)
def best_exchange(p, v, mu, first, second, both, limit):
    """Where to put the first of two coordinates, at a sample of its own, out of ``both``.

    The second one takes the rest. Returns the place and the cost of the two at price mu.
    Samples that alone cost no less than ``limit`` are passed over.
    """
    t, f, q, g = p[first], v[first], p[second], v[second]
    m = len(t)
    at, best, k = -1.0, limit, m - 2
    for i in range(m):
        cost = f[i] + mu * t[i]
        if cost >= best or (i > 0 and t[i] == t[i - 1]):
            continue
        rest = both - t[i]
        if rest < q[0]:
            break
        if rest > q[m - 1]:
            continue
        while k > 0 and q[k] > rest:
            k -= 1
        cost += between(q, g, k, rest) + mu * rest
        if cost < best:
            at, best = t[i], cost
    return at, best


@nb.njit(cache=True, nogil=True)
def exchange_rows(points, values, prices, z, residual, n_times):
    """Improve z (B, d) in place: the residual coordinate trades with every other one.

    At price mu coordinate j costs F_j(t) + mu t, of which ``least[j]`` is the minimum. A
    trade helps only if what both cost above their minima is less than before.
    """
    rows, d, m = values.shape
    least = np.empty(d)
    above = np.empty((d, m))
    for row in range(rows if m > 1 else 0):
        p, mu = points[row if len(points) > 1 else 0], prices[row]
        for j in range(d):
            least[j] = np.inf
            for k in range(m):
                least[j] = min(least[j], values[row, j, k] + mu * p[j, k])
            for k in range(m):
                above[j, k] = values[row, j, k] - least[j]
        for _ in range(n_times):
            r = residual[row]
            cost = height(p[r], above[r], z[row, r]) + mu * z[row, r]
            largest, other, at, stays = 1e-13 * (1.0 + np.abs(least).sum()), -1, 0.0, False
            for k in range(d):
                if k == r:
                    continue
                now = cost + height(p[k], above[k], z[row, k]) + mu * z[row, k]
                both = z[row, r] + z[row, k]
                t, after = best_exchange(p, above, mu, k, r, both, now - largest)
                if t >= 0.0:
                    largest, other, at, stays = now - after, k, t, True
                t, after = best_exchange(p, above, mu, r, k, both, now - largest)
                if t >= 0.0:
                    largest, other, at, stays = now - after, k, both - t, False
            if other < 0:
                break
            z[row, r] += z[row, other] - at
            z[row, other] = at
            if not stays:
                residual[row] = other
