# SPDX-License-Identifier: BSD-3-Clause
"""Lower convex hulls of sampled functions of one number, one after another."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def lower_hull(points, values, first, last, corners):
    """Corners of the hull of samples first..last (points sorted), by Andrew's monotone chain.

    Fills ``corners`` with their indices and returns how many there are. Of samples at one
    place only the lowest counts.
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
def hull_heights(points, values, heights, slopes):
    """Fill the hull's height at every sample and its slope on every cell.

    points (B, d, m) or, with one row for all, (1, d, m); values and heights (B, d, m);
    slopes (B, d, m - 1). A cell of no width has the slope of the cell before it.
    """
    rows, d, m = values.shape
    corners = np.empty(m, np.int64)
    for b in range(rows):
        for j in range(d):
            t, v = points[b if len(points) > 1 else 0, j], values[b, j]
            n = lower_hull(t, v, 0, m - 1, corners)
            height, slope = heights[b, j], slopes[b, j]
            for k in range(corners[0] + 1):  # samples at the first place, but higher
                height[k] = v[corners[0]]
            before = 0
            for i in range(n - 1):
                a, c = corners[i], corners[i + 1]
                steepness = (v[c] - v[a]) / (t[c] - t[a])
                for k in range(before, c):
                    slope[k] = steepness
                for k in range(a + 1, c):
                    height[k] = v[a] + steepness * (t[k] - t[a])
                height[c] = v[c]
                before = c
            for k in range(corners[n - 1] + 1, m):
                height[k] = v[corners[n - 1]]
            for k in range(before, m - 1):
                slope[k] = slope[before - 1] if before > 0 else 0.0


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
