# SPDX-License-Identifier: BSD-3-Clause
"""Compiled steps of block-coordinate Frank-Wolfe, one example after another.

Example m keeps atoms in slots: directions (slots, N, q), constants (slots, M, r), losses and
portions (slots, M). Portions sum to one. Slot 0 is a mixture of atoms that were given up.
"""

from __future__ import annotations

import numba as nb
import numpy as np

ITERATIONS, ACCURACY = 60, 1e-13  # of a line search: Newton steps, and share of the first slope
SWAPS, ENOUGH = 8, 0.1  # of a visit: steps, and share of its gap that is left alone


@nb.njit(cache=True, nogil=True)
def example_scores(first, last, data, indices, indptr, W, S, kernelised, out):
    """Scores of the rows first..last: x W, or read off S where inputs are kernel values."""
    q = out.shape[1]
    for row in range(first, last):
        t = row - first
        if kernelised:
            for k in range(q):
                out[t, k] = S[row, k]
            continue
        for k in range(q):
            out[t, k] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            x, feature = data[at], indices[at]
            for k in range(q):
                out[t, k] += x * W[feature, k]


@nb.njit(cache=True, nogil=True)
def move(first, last, data, indices, indptr, K, W, S, kernelised, step, direction):
    """W += step x' direction for the rows first..last, or the scores of all rows with it."""
    q = direction.shape[1]
    for row in range(first, last):
        t = row - first
        if kernelised:
            for i in range(S.shape[0]):
                k_i = step * K[row, i]
                for k in range(q):
                    S[i, k] += k_i * direction[t, k]
            continue
        for at in range(indptr[row], indptr[row + 1]):
            x, feature = step * data[at], indices[at]
            for k in range(q):
                W[feature, k] += x * direction[t, k]


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


@nb.njit(cache=True, nogil=True)
def _same(a, m, first, offset, number, directions, constants, loss, atoms):
    """Whether slot a of example m already holds a new atom."""
    points, point_constants, point_losses = atoms
    if point_losses[a, m] != loss:
        return False
    for e in range(constants.shape[1]):
        if point_constants[a, m, e] != constants[number, e]:
            return False
    for t in range(offset[number + 1] - offset[number]):
        for k in range(directions.shape[1]):
            if points[a, first + t, k] != directions[offset[number] + t, k]:
                return False
    return True


@nb.njit(cache=True, nogil=True)
def _give_up(a, m, first, last, portions, atoms):
    """Add slot a to the mixture in slot 0."""
    points, point_constants, point_losses = atoms
    part, rest = portions[a, m], portions[0, m]
    if part == 0.0:
        return
    share = part / (part + rest)
    points[0, first:last] += share * (points[a, first:last] - points[0, first:last])
    point_constants[0, m] += share * (point_constants[a, m] - point_constants[0, m])
    point_losses[0, m] += share * (point_losses[a, m] - point_losses[0, m])
    portions[0, m], portions[a, m] = part + rest, 0.0


@nb.njit(cache=True, nogil=True)
def remember(
    examples, clock, starts, offset, directions, constants, losses, portions, stamps, atoms
):
    """Keep new atoms; those without a portion go first, then those unused for longest."""
    points, point_constants, point_losses = atoms
    for number in range(examples.shape[0]):
        m = examples[number]
        first, last = starts[m], starts[m + 1]
        place, known = 1, False
        for a in range(1, stamps.shape[0]):
            if stamps[a, m] >= 0 and _same(
                a, m, first, offset, number, directions, constants, losses[number], atoms
            ):
                place, known = a, True
                break
            held, held_there = portions[a, m] > 0.0, portions[place, m] > 0.0
            if (held, stamps[a, m]) < (held_there, stamps[place, m]):
                place = a
        stamps[place, m] = clock
        if known:
            continue
        _give_up(place, m, first, last, portions, atoms)
        points[place, first:last] = directions[offset[number] : offset[number + 1]]
        point_constants[place, m] = constants[number]
        point_losses[place, m] = losses[number]


@nb.njit(cache=True, nogil=True)
def _extremes(m, first, T, scores, w, portions, stamps, atoms):
    """Best slot, worst slot that has a portion, and the gap of the example."""
    points, point_constants, point_losses = atoms
    best, worst, mean, top, bottom = 0, 0, 0.0, -np.inf, np.inf
    for a in range(stamps.shape[0]):
        if stamps[a, m] < 0:
            continue
        value = point_losses[a, m]
        for t in range(T):
            for k in range(scores.shape[1]):
                value += scores[t, k] * points[a, first + t, k]
        for e in range(w.shape[0]):
            value += w[e] * point_constants[a, m, e]
        mean += portions[a, m] * value
        if value > top:
            best, top = a, value
        if portions[a, m] > 0.0 and value < bottom:
            worst, bottom = a, value
    return best, worst, top - mean


@nb.njit(cache=True, nogil=True)
def _swap(
    m, first, T, best, worst, scores, gram, share, lam, l1, shift, z, w,
    towards, moved, constants, portions, atoms,
):  # fmt: skip
    """Shift portion from the worst atom to the best, as far as the dual climbs."""
    points, point_constants, point_losses = atoms
    q, r = scores.shape[1], w.shape[0]
    rise, norm = point_losses[best, m] - point_losses[worst, m], 0.0
    for t in range(T):
        for k in range(q):
            towards[t, k] = points[best, first + t, k] - points[worst, first + t, k]
            rise += scores[t, k] * towards[t, k]
    for t in range(T):
        for s in range(T):
            inner = 0.0
            for k in range(q):
                inner += towards[t, k] * towards[s, k]
            norm += inner * gram[t * T + s]
    for e in range(r):
        constants[e] = point_constants[best, m, e] - point_constants[worst, m, e]
    portion = portions[worst, m]
    step = best_step(
        portion, share * rise, share**2 * norm / lam, constants, z, shift, l1, share, lam
    )
    if step <= 0.0:
        return False
    portions[best, m] += step
    portions[worst, m] = 0.0 if step >= portion else portion - step
    for t in range(T):
        for k in range(q):
            moved[t, k] += step * towards[t, k]
            for s in range(T):
                scores[s, k] -= step * share / lam * gram[s * T + t] * towards[t, k]
    for e in range(r):
        if constants[e] != 0.0:
            z[e] -= step * share * constants[e]
            w[e] = soft(z[e] + shift[e], l1[e]) / lam
    return True


@nb.njit(cache=True, nogil=True)
def visit(
    order, clock, starts, data, indices, indptr, K, kernelised, gram, gram_starts,
    share, lam, l1, shift, W, S, z, w, portions, stamps, atoms,
):  # fmt: skip
    """Exact steps between the known atoms of every example in `order`.

    Returns the sum of the gaps that were met, each with the weights of its turn.
    """
    q, r, longest, total = atoms[0].shape[2], w.shape[0], 0, 0.0
    for m in order:
        longest = max(longest, starts[m + 1] - starts[m])
    scores, towards, moved = np.empty((3, longest, q))
    constants = np.empty(r)
    for m in order:
        first, last = starts[m], starts[m + 1]
        T, inner = last - first, gram[gram_starts[m] : gram_starts[m + 1]]
        example_scores(first, last, data, indices, indptr, W, S, kernelised, scores)
        moved[:] = 0.0
        met = 0.0
        for swap in range(SWAPS):
            best, worst, gap = _extremes(m, first, T, scores, w, portions, stamps, atoms)
            if swap == 0:
                met = gap
                total += share[m] * max(0.0, gap)
            if gap <= 0.0 or (swap > 0 and gap <= ENOUGH * met):
                break
            stamps[best, m] = clock
            if not _swap(
                m, first, T, best, worst, scores, inner, share[m], lam, l1, shift, z, w,
                towards, moved, constants, portions, atoms,
            ):  # fmt: skip
                break
        if met > 0.0:
            scale = -share[m] / lam
            move(first, last, data, indices, indptr, K, W, S, kernelised, scale, moved[:T])
    return total
