# SPDX-License-Identifier: BSD-3-Clause
"""Compiled work on samples of curves: where they are too coarse, and finer ones put in."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def cells_around(points, at, narrowest):
    """Ends (d,) of the cell of samples (d, k) that holds each coordinate and of those next to it.

    Also which of them are wider than ``narrowest`` (d,).
    """
    d, k = points.shape
    low, high, wide = np.empty(d), np.empty(d), np.zeros(d, np.bool_)
    for j in range(d):
        t = points[j]
        right = 0
        while right < k - 1 and t[right] <= at[j]:
            right += 1
        left = right
        while left > 0 and t[left] >= t[right]:
            left -= 1
        low[j], high[j] = t[left], t[right]
        while left > 0 and t[left] >= low[j]:
            left -= 1
        while right < k - 1 and t[right] <= high[j]:
            right += 1
        low[j], high[j] = t[left], t[right]
        wide[j] = high[j] - low[j] > narrowest[j]
    return low, high, wide


@nb.njit(cache=True, nogil=True)
def _append(points, values, slack, n, t, v, s):
    """Add a sample with the slack of the cell before it; one at the same place replaces none."""
    if n > 0 and t <= points[n - 1]:
        return n
    points[n], values[n] = t, v
    if n > 0:
        slack[n - 1] = s
    return n + 1


@nb.njit(cache=True, nogil=True)
def _joint(t, v, s, k, at, value):
    """Slack of a part of cell k that ends at a new sample: its chord may lie higher."""
    width = t[k + 1] - t[k]
    share = (at - t[k]) / width if width > 0.0 else 0.0
    return s[k] + max(0.0, value - (v[k] + share * (v[k + 1] - v[k])))


@nb.njit(cache=True, nogil=True)
def merge_samples(points, values, slack, new_points, new_values, new_slack, wide):
    """Samples (d, k) with those of one interval per coordinate in place of the old ones there.

    ``slack`` (d, k - 1) says how far a curve may lie below the chord of a cell. Coordinates that
    are not ``wide`` stay as they are.
    """
    d, k = points.shape
    m = new_points.shape[1]
    t, v = np.empty((d, k + m)), np.empty((d, k + m))
    s, size = np.zeros((d, k + m)), np.zeros(d, np.int64)
    for j in range(d):
        n, left, right = 0, new_points[j, 0], new_points[j, m - 1]
        for i in range(k):
            if wide[j] and points[j, i] >= left:
                break
            n = _append(t[j], v[j], s[j], n, points[j, i], values[j, i], slack[j, max(i - 1, 0)])
        if wide[j]:
            joint = _joint(points[j], values[j], slack[j], max(i - 1, 0), left, new_values[j, 0])
            n = _append(t[j], v[j], s[j], n, left, new_values[j, 0], joint)
            for i in range(1, m):
                n = _append(
                    t[j], v[j], s[j], n, new_points[j, i], new_values[j, i], new_slack[j, i - 1]
                )
            joined = False
            for i in range(1, k):
                if points[j, i] > right:
                    gap = slack[j, i - 1]
                    if not joined:
                        gap = _joint(points[j], values[j], slack[j], i - 1, right,
                                     new_values[j, m - 1])  # fmt: skip
                        joined = True
                    n = _append(t[j], v[j], s[j], n, points[j, i], values[j, i], gap)
        size[j] = n
    most = size.max()
    for j in range(d):
        for i in range(size[j], most):
            t[j, i], v[j, i] = t[j, size[j] - 1], v[j, size[j] - 1]
    return t[:, :most].copy(), v[:, :most].copy(), s[:, : most - 1].copy()
