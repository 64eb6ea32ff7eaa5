# SPDX-License-Identifier: BSD-3-Clause
"""Compiled curves: lower convex hulls, piecewise quadratic curves, differences of roots."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def lower_hull(points, values, first, last, corners):
    """Corners of the hull of samples first..last (points sorted), by Andrew's monotone chain.

    Fills ``corners`` with their indices and returns how many there are. Of samples at one
    position only the lowest counts.
    """
    n = 1
    corners[0] = first
    for k in range(first + 1, last + 1):
        top = corners[n - 1]
        if points[k] <= points[top]:
            if values[k] >= values[top]:
                continue
            n -= 1
        while n > 1:
            a, c = corners[n - 2], corners[n - 1]
            rise, width = values[c] - values[a], points[c] - points[a]
            if rise * (points[k] - points[a]) < (values[k] - values[a]) * width:
                break
            n -= 1
        corners[n] = k
        n += 1
    return n


@nb.njit(cache=True, nogil=True)
def corner_indices(points, values):
    """Hull corners of every row: indices (d, m), repeating the last one, and their number."""
    d, m = values.shape
    chosen, size = np.zeros((d, m), np.int64), np.zeros(d, np.int64)
    for j in range(d):
        n = lower_hull(points[j], values[j], 0, m - 1, chosen[j])
        chosen[j, n:] = chosen[j, n - 1]
        size[j] = n
    return chosen, size


# Piecewise quadratic curves followed from left to right, knot by knot.


@nb.njit(cache=True, nogil=True)
def lowest_points(weights, knots, start, state, low, high, slack, points):
    """Fill ``points[b]`` with the smallest t in [low_b, high_b] of least F_b(t).

    ``state[b]`` holds value, slope and curvature of F_b just right of ``start``, which is
    at most low_b; the knots (positions, owners, slope jumps, curvature jumps, straight)
    are sorted and lie to the right of it. A value counts as less only by ``slack[b]``.
    """
    position, owner, slope_jump, curvature_jump, straight = knots
    for b in range(len(weights)):
        w, lo, hi = weights[b], low[b], high[b]
        t, f, s, q = start, state[b, 0], state[b, 1], state[b, 2]
        best, best_at = np.inf, lo
        for k in range(len(position) + 1):
            end = min(position[k], hi) if k < len(position) else hi
            if end >= lo:
                left = max(t, lo)
                h = left - t
                value = f + h * (s + 0.5 * q * h)
                if value < best - slack[b]:
                    best, best_at = value, left
                if q > 0 and s < 0:
                    bottom = t - s / q
                    value = f - 0.5 * s * s / q
                    if left < bottom < end and value < best - slack[b]:
                        best, best_at = value, bottom
            h = end - t
            f += h * (s + 0.5 * q * h)
            t = end
            if end >= hi:
                break
            s += q * h + w[owner[k]] * slope_jump[k]
            # Where no output is in its quadratic part, the curvature is zero, not a residue.
            q = 0.0 if straight[k] else q + w[owner[k]] * curvature_jump[k]
        if f < best - slack[b]:
            best_at = hi
        points[b] = best_at


@nb.njit(cache=True, nogil=True)
def follow(weights, knots, start, state, targets, values, curvatures):
    """Fill value at, and curvature right of, every one of the sorted ``targets`` (m,) >= start."""
    position, owner, slope_jump, curvature_jump, straight = knots
    for b in range(len(weights)):
        w = weights[b]
        t, f, s, q = start, state[b, 0], state[b, 1], state[b, 2]
        k = 0
        for i in range(len(targets)):
            while k < len(position) and position[k] <= targets[i]:
                h = position[k] - t
                f += h * (s + 0.5 * q * h)
                s += q * h + w[owner[k]] * slope_jump[k]
                q = 0.0 if straight[k] else q + w[owner[k]] * curvature_jump[k]
                t = position[k]
                k += 1
            h = targets[i] - t
            values[b, i] = f + h * (s + 0.5 * q * h)
            curvatures[b, i] = q


# Sums of absolute differences of roots, G(s) = sum_i w_i |s - r_i| at s = sqrt(t).
#
# Knots r are sorted for every coordinate, (d, n); heights are G at the knots, (*, d, n), those
# of row b at position[b]. Left of all knots the slope of G is -A, right of them A, the sum of the
# weights (B, d).


@nb.njit(cache=True, nogil=True)
def heights_at_knots(weights, knots, order, scale, first, heights):
    """Fill heights[b, j, k] = scale_j sum_i w_bi |r_jk - r_ji| from left to right.

    ``first`` (B, d) is G at the first knots, without the scale.
    """
    rows, d, n = heights.shape
    for b in range(rows):
        w = weights[b]
        total = w.sum()
        for j in range(d):
            r, by_size, height = knots[j], order[j], heights[b, j]
            value, slope = first[b, j], -total
            height[0] = scale[j] * value
            for k in range(1, n):
                slope += 2.0 * w[by_size[k - 1]]
                value += slope * (r[k] - r[k - 1])
                height[k] = scale[j] * value


@nb.njit(cache=True, nogil=True)
def piece(r, height, A, s):
    """Value and slope of G at s, the slope to the right of s where it jumps."""
    n = len(r)
    if s < r[0]:
        return height[0] - A * (s - r[0]), -A
    if s >= r[n - 1]:
        return height[n - 1] + A * (s - r[n - 1]), A
    k = np.searchsorted(r, s, side="right") - 1
    slope = (height[k + 1] - height[k]) / (r[k + 1] - r[k])
    return height[k] + slope * (s - r[k]), slope


@nb.njit(cache=True, nogil=True)
def evaluate(knots, heights, position, totals, S, values, slopes):
    """Fill values and slopes of G at S; all (B, d)."""
    rows, d = values.shape
    for b in range(rows):
        for j in range(d):
            found = piece(knots[j], heights[position[b], j], totals[b, j], S[b, j])
            values[b, j], slopes[b, j] = found


@nb.njit(cache=True, nogil=True)
def sample_rows(weights, first, S, owner, depths, scale, values, slack):
    """Fill values at S, sorted, and how far G is below its chords: depth times slope.

    S, owner (B, d, m) and depths (B, d, m - 1), or one row for all. Owner says whose root a
    point is, the number of outputs where it is nobody's. ``first`` (B, d) is G at the first
    points, without the scale.
    """
    rows, d, m = values.shape
    n = weights.shape[1]
    for b in range(rows):
        w = weights[b]
        total = w.sum()
        for j in range(d):
            shared = b if len(S) > 1 else 0
            s, own, depth = S[shared, j], owner[shared, j], depths[shared, j]
            value, slope = first[b, j], -total
            values[b, j, 0] = scale[j] * value
            for k in range(m - 1):
                if own[k] < n:
                    slope += 2.0 * w[own[k]]
                value += slope * (s[k + 1] - s[k])
                values[b, j, k + 1] = scale[j] * value
                slack[b, j, k] = -scale[j] * slope * depth[k] if slope < 0.0 else 0.0


@nb.njit(cache=True, nogil=True)
def least(r, height, A, mu, low, high):
    """Minimizer and minimum of G(s) + mu s^2 for s in [low, high].

    On a piece of slope c the minimum is at an end or, where mu > 0, at -c / (2 mu).
    """
    n = len(r)
    at, best = low, piece(r, height, A, low)[0] + mu * low * low
    value = piece(r, height, A, high)[0] + mu * high * high
    if value < best:
        at, best = high, value
    first, last = np.searchsorted(r, low), np.searchsorted(r, high, side="right")
    for k in range(first, last):
        value = height[k] + mu * r[k] * r[k]
        if value < best:
            at, best = r[k], value
    if mu <= 0.0:
        return at, best
    for k in range(max(first - 1, 0), min(last, n - 1)):
        rise, width = height[k + 1] - height[k], r[k + 1] - r[k]
        if rise + 2.0 * mu * r[k] * width < 0.0 < rise + 2.0 * mu * r[k + 1] * width:
            s = -rise / (2.0 * mu * width)
            if low < s < high:
                value = height[k] + rise / width * (s - r[k]) + mu * s * s
                if value < best:
                    at, best = s, value
    for c in (-A, A):  # the pieces beyond all knots
        s = -c / (2.0 * mu)
        if low < s < high and (s < r[0] if c == -A else s > r[n - 1]):
            value = piece(r, height, A, s)[0] + mu * s * s
            if value < best:
                at, best = s, value
    return at, best


@nb.njit(cache=True, nogil=True)
def least_rows(knots, heights, position, totals, mu, low, high, at, best):
    """Fill minimizers and minima; mu, low, high (B, d), limits in root coordinates."""
    rows, d = mu.shape
    for b in range(rows):
        for j in range(d):
            found = least(
                knots[j], heights[position[b], j], totals[b, j], mu[b, j], low[b, j], high[b, j]
            )
            at[b, j], best[b, j] = found
