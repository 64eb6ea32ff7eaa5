# SPDX-License-Identifier: BSD-3-Clause
"""Sums of (t - y)^2 / (t + y) = t + y - 4 t u, u = y / (t + y), and their global minima.

All y and t are at least zero; 0 / 0 counts as zero, which TINY takes care of.
"""

import numpy as np

from skstruct._arrays import compiling as nb

TINY = 1e-300
N_START = 12  # cells to begin with, shorter near zero, where the curves bend most
MAX_CELLS = 2000  # looked at for one minimum
SPACE = MAX_CELLS + N_START + 2


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp"})
def moments(w, y, t):
    """sum_i w_i u_i, sum_i w_i u_i^2 and sum_i w_i u_i^2 / (t + y_i)."""
    first = second = third = 0.0
    for i in range(len(y)):
        inverse = 1.0 / (t + y[i] + TINY)
        u = y[i] * inverse
        wu = w[i] * u
        first += wu
        second += wu * u
        third += wu * u * inverse
    return first, second, third


@nb.njit(cache=True, nogil=True)
def jets(weights, outputs, T, values, slopes, curvatures):
    """Fill F, F' and F'' at T (B, d); outputs (d, n), without the scale of coordinates."""
    rows, d = T.shape
    for b in range(rows):
        w = weights[b]
        total = w.sum()
        for j in range(d):
            y, t = outputs[j], T[b, j]
            first, second, third = moments(w, y, t)
            values[b, j] = total * t + np.dot(w, y) - 4.0 * t * first
            slopes[b, j] = total - 4.0 * second
            curvatures[b, j] = 8.0 * third


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp"})
def bowl_and_dome(positive, negative, y, sums, t, mu):
    """P + mu t, N and their first and second derivatives, where F = P - N, both convex."""
    p1 = p2 = p3 = n1 = n2 = n3 = 0.0
    for i in range(len(y)):
        inverse = 1.0 / (t + y[i] + TINY)
        u = y[i] * inverse
        pu, nu = positive[i] * u, negative[i] * u
        p1 += pu
        n1 += nu
        pu *= u
        nu *= u
        p2 += pu
        n2 += nu
        p3 += pu * inverse
        n3 += nu * inverse
    up, up_y, down, down_y = sums
    bowl, dome = (up + mu) * t + up_y - 4.0 * t * p1, down * t + down_y - 4.0 * t * n1
    return bowl, dome, up + mu - 4.0 * p2, down - 4.0 * n2, 8.0 * p3, 8.0 * n3


@nb.njit(cache=True, nogil=True)
def cell_bound(low, high, left, right):
    """Where F = P - N may be least on a cell, and how low it can be there.

    Second derivatives fall with t. Where P''(high) >= N''(low), F is convex: its tangents
    are bounds, and the zero of its slope is a good guess. Otherwise it is at least the
    tangents of P less the chord of N.
    """
    width = high - low
    convex = right[4] >= left[5]
    chord = (right[1] - left[1]) / width
    falling = left[2] - (left[3] if convex else chord)
    rising = right[2] - (right[3] if convex else chord)
    if falling >= 0.0:
        return low, left[0] - left[1]
    if rising <= 0.0:
        return high, right[0] - right[1]
    # The tangents meet x past the lower end.
    lift = right[0] - right[1] - (left[0] - left[1])
    x = min(max((rising * width - lift) / (rising - falling), 0.0), width)
    below = left[0] - left[1] + falling * x
    if convex:
        x = -falling / (rising - falling) * width
    return low + x, below


@nb.njit(cache=True, nogil=True)
def least(positive, negative, y, mu, low, high, tolerance, ends, data):
    """Minimizer, minimum and lower bound of F(t) + mu t on [low, high], by splitting cells.

    ``ends`` (SPACE, 2) and ``data`` (SPACE, 2, 6) are room for a stack of cells.
    """
    sums = (positive.sum(), np.dot(positive, y), negative.sum(), np.dot(negative, y))
    before = bowl_and_dome(positive, negative, y, sums, low, mu)
    at, best = low, before[0] - before[1]
    if high <= low:
        return at, best, best
    n, start = 0, low
    for k in range(1, N_START + 1):
        t = low + (high - low) * (k / N_START) ** 4 if k < N_START else high
        found = bowl_and_dome(positive, negative, y, sums, t, mu)
        if found[0] - found[1] < best:
            at, best = t, found[0] - found[1]
        push(ends, data, n, start, t, before, found)
        before, start = found, t
        n += 1
    bound, looked_at = best, 0
    while n > 0:
        n -= 1
        left, right = entry(data[n, 0]), entry(data[n, 1])
        a, c = ends[n, 0], ends[n, 1]
        x, below = cell_bound(a, c, left, right)
        looked_at += 1
        closest = 0.01 * (c - a)
        x = min(max(x, a + closest), c - closest)
        # Nothing to gain, no time left, or no number between the ends.
        if below >= best - tolerance or looked_at > MAX_CELLS or not a < x < c:
            bound = min(bound, below)
            continue
        found = bowl_and_dome(positive, negative, y, sums, x, mu)
        if found[0] - found[1] < best:
            at, best = x, found[0] - found[1]
        push(ends, data, n, a, x, left, found)
        push(ends, data, n + 1, x, c, found, right)
        n += 2
    return at, best, bound


@nb.njit(cache=True, nogil=True)
def push(ends, data, n, low, high, left, right):
    """Put a cell on the stack."""
    ends[n, 0], ends[n, 1] = low, high
    for i in range(6):
        data[n, 0, i], data[n, 1, i] = left[i], right[i]


@nb.njit(cache=True, nogil=True)
def entry(row):
    """What is known of F at one end of a cell."""
    return row[0], row[1], row[2], row[3], row[4], row[5]


@nb.njit(cache=True, nogil=True)
def least_rows(positive, negative, outputs, mu, low, high, tolerance, at, best, bounds):
    """Fill minimizers, minima and bounds; mu, low, high (B, d), tolerance (B,)."""
    rows, d = mu.shape
    ends, data = np.empty((SPACE, 2)), np.empty((SPACE, 2, 6))
    for b in range(rows):
        for j in range(d):
            at[b, j], best[b, j], bounds[b, j] = least(
                positive[b], negative[b], outputs[j], mu[b, j], low[b, j], high[b, j],
                tolerance[b], ends, data,
            )  # fmt: skip
