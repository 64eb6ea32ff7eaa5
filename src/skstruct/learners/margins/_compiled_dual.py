# SPDX-License-Identifier: BSD-3-Clause
"""Compiled steps of block-coordinate Frank-Wolfe, one example after another.

How the atoms of an example are kept is told in `_compiled_atoms`.
"""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)
from skstruct.learners.margins._compiled_rows import SUMS, example_scores, move

ITERATIONS, ACCURACY = 60, 1e-13  # of a line search: Newton steps, and share of the first slope
SWAPS, ENOUGH = 8, 0.3  # of a visit: steps, and share of its gap that is left alone


@nb.njit(cache=True, nogil=True)
def soft(z, threshold):
    """z, nearer to zero by the threshold."""
    if z > threshold:
        return z - threshold
    if z < -threshold:
        return z + threshold
    return 0.0


@nb.njit(cache=True, nogil=True)
def _rise(step, rise, curve, direction, z, shift, l1, share, lam):
    """Derivative of the dual along the direction, and its own derivative."""
    value, slope = rise - step * curve, -curve
    for e in range(direction.shape[0]):
        if direction[e] != 0.0:
            moved = soft(z[e] - step * share * direction[e] + shift[e], l1[e])
            value += share * direction[e] * moved / lam
            if moved != 0.0:
                slope -= (share * direction[e]) ** 2 / lam
    return value, slope


@nb.njit(cache=True, nogil=True)
def best_step(longest, rise, curve, direction, z, shift, l1, share, lam):
    """The exact step in [0, longest]: the root of a derivative that falls in straight pieces."""
    low, high = 0.0, longest
    start, slope = _rise(0.0, rise, curve, direction, z, shift, l1, share, lam)
    if start <= 0.0:
        return 0.0
    if _rise(longest, rise, curve, direction, z, shift, l1, share, lam)[0] >= 0.0:
        return longest
    value, step = start, 0.0
    for _ in range(ITERATIONS):
        step = step - value / slope if slope < 0.0 else high
        if not low < step < high:
            step = 0.5 * (low + high)
        value, slope = _rise(step, rise, curve, direction, z, shift, l1, share, lam)
        if abs(value) <= ACCURACY * start:
            break
        if value > 0.0:
            low = step
        else:
            high = step
    return step


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _evaluate(m, first, T, scores, w, stamps, atoms, values):
    """Loss plus score of every slot of an example."""
    points, point_constants, point_losses, _ = atoms
    for a in range(stamps.shape[1]):
        if stamps[m, a] < 0:
            continue
        value = point_losses[m, a]
        for t in range(T):
            for k in range(scores.shape[1]):
                value += scores[t, k] * points[first + t, a, k]
        for e in range(w.shape[0]):
            value += w[e] * point_constants[m, a, e]
        values[a] = value


@nb.njit(cache=True, nogil=True)
def _extremes(m, values, portions, stamps):
    """Best slot, worst slot that has a portion, and the gap of the example."""
    best, worst, mean, top, bottom = 0, 0, 0.0, -np.inf, np.inf
    for a in range(stamps.shape[1]):
        if stamps[m, a] < 0:
            continue
        mean += portions[m, a] * values[a]
        if values[a] > top:
            best, top = a, values[a]
        if portions[m, a] > 0.0 and values[a] < bottom:
            worst, bottom = a, values[a]
    return best, worst, top - mean


@nb.njit(cache=True, nogil=True)
def _climb(m, clock, scale, values, portions, stamps, products, change):
    """Shift portions from the worst slots to the best; `change` is what each gains.

    Every shift goes exactly as far as the dual climbs, if that is a square. It is one unless
    constants have a finite l1 > 0; then it lies above the square, and climbs all the same.
    Returns the gap that was met.
    """
    inner, met = products[m], 0.0
    change[:] = 0.0
    for swap in range(SWAPS):
        best, worst, gap = _extremes(m, values, portions, stamps)
        if swap == 0:
            met = gap
        if gap <= 0.0 or best == worst or (swap > 0 and gap <= ENOUGH * met):
            break
        stamps[m, best] = clock
        step, rise = portions[m, worst], values[best] - values[worst]
        bend = scale * (inner[best, best] + inner[worst, worst] - 2.0 * inner[best, worst])
        if bend * step > rise:
            step = rise / bend
            portions[m, worst] -= step
        else:
            portions[m, worst] = 0.0
        portions[m, best] += step
        change[best] += step
        change[worst] -= step
        for a in range(values.shape[0]):
            values[a] -= scale * step * (inner[a, best] - inner[a, worst])
    return met


@nb.njit(cache=True, nogil=True)
def _combine(m, first, T, change, atoms, moved, constants):
    """Sums of the slots of an example, by what each gained."""
    points, point_constants, _, _ = atoms
    moved[:T] = 0.0
    constants[:] = 0.0
    for a in range(change.shape[0]):
        if change[a] == 0.0:
            continue
        for t in range(T):
            for k in range(moved.shape[1]):
                moved[t, k] += change[a] * points[first + t, a, k]
        for e in range(constants.shape[0]):
            constants[e] += change[a] * point_constants[m, a, e]


@nb.njit(cache=True, nogil=True)
def _lengthen(
    m, T, scores, gram, share, lam, l1, shift, z, change, moved, constants, portions, atoms
):
    """Go on, or back, in the direction of all shifts together, to where the dual is highest."""
    losses, longest = atoms[2], np.inf
    rise = norm = 0.0
    for a in range(change.shape[0]):
        rise += change[a] * losses[m, a]
        if change[a] < 0.0:  # portions have changed already
            longest = min(longest, 1.0 - portions[m, a] / change[a])
    for t in range(T):
        for k in range(moved.shape[1]):
            rise += scores[t, k] * moved[t, k]
            for s in range(T):
                norm += gram[t * T + s] * moved[t, k] * moved[s, k]
    if longest == np.inf:
        return
    step = best_step(
        longest, share * rise, share**2 * norm / lam, constants, z, shift, l1, share, lam
    )
    for a in range(change.shape[0]):
        portions[m, a] = max(0.0, portions[m, a] + (step - 1.0) * change[a])
    moved[:T] *= step
    constants *= step


@nb.njit(cache=True, nogil=True)
def visit(
    order, clock, starts, rows, gram, gram_starts, share, lam, l1, shift, W, S, z, w,
    portions, stamps, atoms,
):  # fmt: skip
    """Exact steps between the known atoms of every example in `order`.

    Returns the sum of the gaps that were met, each with the weights of its turn.
    """
    slots, q, r = stamps.shape[1], atoms[0].shape[2], w.shape[0]
    longest, total = 0, 0.0
    for m in order:
        longest = max(longest, starts[m + 1] - starts[m])
    priced = False  # whether some constants make the dual more than a square
    for e in range(r):
        priced |= 0.0 < l1[e] < np.inf
    scores, moved = np.empty((2, longest, q))
    constants, values, change = np.empty(r), np.zeros(slots), np.empty(slots)
    for m in order:
        first, last = starts[m], starts[m + 1]
        T, inner = last - first, gram[gram_starts[m] : gram_starts[m + 1]]
        example_scores(first, last, rows, W, S, scores)
        _evaluate(m, first, T, scores, w, stamps, atoms, values)
        gap = _climb(m, clock, share[m] / lam, values, portions, stamps, atoms[3], change)
        if gap <= 0.0:
            continue
        total += share[m] * gap
        _combine(m, first, T, change, atoms, moved, constants)
        if priced:
            _lengthen(
                m, T, scores, inner, share[m], lam, l1, shift, z, change, moved, constants,
                portions, atoms,
            )  # fmt: skip
        for e in range(r):
            if constants[e] != 0.0:
                z[e] -= share[m] * constants[e]
                w[e] = soft(z[e] + shift[e], l1[e]) / lam
        move(first, last, rows, W, S, -share[m] / lam, moved[:T])
    return total
