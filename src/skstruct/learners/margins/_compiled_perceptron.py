# SPDX-License-Identifier: BSD-3-Clause
"""Compiled visits of the structured perceptron, one example after another."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.learners.margins._compiled_rows import KERNEL, example_scores, move

ROUNDING = 1e-12  # share of the terms of a sum below which it is zero


@nb.njit(cache=True, nogil=True)
def _inner(scores, w, directions, constants):
    """<scores, direction> with that of the constants, and the size of its terms."""
    value, size = 0.0, 0.0
    for t in range(directions.shape[0]):
        for k in range(directions.shape[1]):
            term = scores[t, k] * directions[t, k]
            value += term
            size += abs(term)
    for e in range(w.shape[0]):
        value += w[e] * constants[e]
        size += abs(w[e] * constants[e])
    return value, size


@nb.njit(cache=True, nogil=True)
def fix_violations(
    order, starts, offset, directions, constants, rows, W, S, A, w, moments, constant_moments,
    n_seen,
):  # fmt: skip
    """Add psi(y) - psi(z) wherever it has no positive score; returns the number of updates.

    ``directions`` (R, q) and ``constants`` (B, r) are these differences, with the rows of
    example number i from ``offset[i]`` on. W changes, or where inputs are kernel values
    the coefficients A (N, q) and the scores S (N, q) of all rows. Moments collect every change
    times the number of examples seen before it: after t of them, the mean of the weights so
    far is the weights minus the moments / t.
    """
    n_updates, longest = 0, 0
    for m in order:
        longest = max(longest, starts[m + 1] - starts[m])
    scores, none = np.empty((longest, directions.shape[1])), np.empty((0, 0))
    for i in range(order.shape[0]):
        first, last = starts[order[i]], starts[order[i] + 1]
        change = directions[offset[i] : offset[i + 1]]
        if np.any(change != 0.0) or np.any(constants[i] != 0.0):
            example_scores(first, last, rows, W, S, scores)
            value, size = _inner(scores, w, change, constants[i])
            if value <= ROUNDING * size:
                n_updates += 1
                move(first, last, rows, W, S, 1.0, change)
                if rows[0] == KERNEL:
                    A[first:last] += change
                    moments[first:last] += n_seen * change
                else:
                    move(first, last, rows, moments, none, n_seen, change)
                w += constants[i]
                constant_moments += n_seen * constants[i]
        n_seen += 1.0
    return n_updates
