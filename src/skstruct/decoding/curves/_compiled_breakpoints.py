# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise quadratic curves followed from left to right, knot by knot."""

from __future__ import annotations

import numba as nb
import numpy as np


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
