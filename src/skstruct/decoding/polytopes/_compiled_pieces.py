# SPDX-License-Identifier: BSD-3-Clause
"""Convex, piecewise linear curves below or above sampled ones, as costs of the simplex."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding.curves._compiled_hulls import lower_hull
from skstruct.decoding.polytopes._compiled_basis import Curve


@nb.njit(cache=True, nogil=True)
def close(curve, j, n):
    """Make the outer corners bounds; a single corner becomes a cell of no width."""
    if n == 1:
        curve.points[j, 1] = curve.points[j, 0]
        curve.slopes[j, 1] = 0.0
        n = 2
    curve.slopes[j, 0] = -np.inf
    curve.slopes[j, n] = np.inf
    curve.size[j] = n


@nb.njit(cache=True, nogil=True)
def hull_of(points, values, j, first, last, curve, corners):
    """The lower hull of the samples first..last of a coordinate; returns its steepest slope."""
    steepest = 0.0
    n = lower_hull(points[j], values[j], first, last, corners)
    for i in range(n):
        curve.points[j, i] = points[j, corners[i]]
        if i > 0:
            a, c = corners[i - 1], corners[i]
            slope = (values[j, c] - values[j, a]) / (points[j, c] - points[j, a])
            curve.slopes[j, i] = slope
            steepest = max(steepest, abs(slope))
    close(curve, j, n)
    return steepest


@nb.njit(cache=True, nogil=True)
def hull_curve(points, values, curve, corners):
    """The lower hulls of the samples of every coordinate as a cost of the simplex.

    Returns the steepest slope.
    """
    steepest = 0.0
    for j in range(len(points)):
        slope = hull_of(points, values, j, 0, points.shape[1] - 1, curve, corners)
        steepest = max(steepest, slope)
    return steepest


@nb.njit(cache=True, nogil=True)
def local_curve(points, values, y, curve):
    """Convex-concave step: the kinks upwards stay, the rest is linear with its slope at y.

    That function is convex, lies above the true one and touches it at y.
    """
    d, m = points.shape
    for j in range(d):
        t, v = points[j], values[j]
        here, before, raised = 0.0, np.inf, 0.0  # slope at y; kinks upwards on the left of y
        for k in range(m - 1):
            if t[k + 1] > t[k] and (t[k] <= y[j] or before == np.inf):
                here = (v[k + 1] - v[k]) / (t[k + 1] - t[k])
                raised += max(here - before, 0.0)
                before = here
        slope, before, size = here - raised, np.inf, 1
        curve.points[j, 0] = t[0]
        for k in range(m - 1):
            if t[k + 1] > t[k]:
                steep = (v[k + 1] - v[k]) / (t[k + 1] - t[k])
                if steep > before:
                    slope += steep - before
                    curve.points[j, size] = t[k]
                    size += 1
                curve.slopes[j, size] = slope
                before = steep
        if t[m - 1] > t[0]:
            curve.points[j, size] = t[m - 1]
            size += 1
        close(curve, j, size)


@nb.njit(cache=True, nogil=True)
def local_corners(points, values, y):
    """The same as points, heights (d, k) and sizes (d,); heights count from zero on the left."""
    d, m = points.shape
    curve = Curve(np.zeros((d, m + 2)), np.zeros((d, m + 3)), np.empty(d, np.int64))
    local_curve(points, values, y, curve)
    heights = np.zeros((d, m + 2))
    for j in range(d):
        for k in range(1, m + 2):
            if k < curve.size[j]:
                width = curve.points[j, k] - curve.points[j, k - 1]
                heights[j, k] = heights[j, k - 1] + curve.slopes[j, k] * width
            else:
                curve.points[j, k] = curve.points[j, k - 1]
                heights[j, k] = heights[j, k - 1]
    return curve.points, heights, curve.size


@nb.njit(cache=True, nogil=True)
def chord_cost(points, values, y):
    """The sum of the piecewise linear curves through the samples."""
    total = 0.0
    for j in range(len(points)):
        low, high = 0, points.shape[1] - 1
        while high - low > 1:
            middle = (low + high) // 2
            if points[j, middle] <= y[j]:
                low = middle
            else:
                high = middle
        width = points[j, high] - points[j, low]
        share = (y[j] - points[j, low]) / width if width > 0 else 0.0
        total += values[j, low] + share * (values[j, high] - values[j, low])
    return total
