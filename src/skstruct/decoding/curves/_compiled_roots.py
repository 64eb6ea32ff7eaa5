# SPDX-License-Identifier: BSD-3-Clause
"""Sums of absolute differences of roots, G(s) = sum_i w_i |s - r_i| at s = sqrt(t).

Knots r are sorted for every coordinate, (d, n); heights are G at the knots, (*, d, n), those
of row b at place[b]. Left of all knots the slope of G is -A, right of them A, the sum of the
weights (B, d).
"""

from __future__ import annotations

import numba as nb
import numpy as np


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
def evaluate(knots, heights, place, totals, S, values, slopes):
    """Fill values and slopes of G at S; all (B, d)."""
    rows, d = values.shape
    for b in range(rows):
        for j in range(d):
            found = piece(knots[j], heights[place[b], j], totals[b, j], S[b, j])
            values[b, j], slopes[b, j] = found


@nb.njit(cache=True, nogil=True)
def sample_rows(weights, first, S, owner, depths, scale, values, slack):
    """Fill values at S, sorted, and how far the cells sag: depth times slope where G falls.

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
def least_rows(knots, heights, place, totals, mu, low, high, at, best):
    """Fill minimizers and minima; mu, low, high (B, d), limits in root coordinates."""
    rows, d = mu.shape
    for b in range(rows):
        for j in range(d):
            found = least(
                knots[j], heights[place[b], j], totals[b, j], mu[b, j], low[b, j], high[b, j]
            )
            at[b, j], best[b, j] = found
