# SPDX-License-Identifier: BSD-3-Clause
"""Projections onto a polytope by semismooth Newton steps on the dual, row after row.

For prices p of the constraints (those of inequalities at least zero) the best point is
z(p) = clip(t - A'p / (2a), low, high), and the slope of the concave dual is A z(p) - b.
Its second derivative is -A diag(1 / (2a) where z is strictly inside its limits, else 0) A'.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from skstruct.decoding._compiled_factors import Pattern, factorize, solve

MOST_STEPS = 300
ENOUGH = 1e-13  # residual relative to the size of the point at which Newton steps end
SHIFT = 1e-13  # added to the second derivative, relative to its largest diagonal


class System(NamedTuple):
    """A matrix of constraints, prepared."""

    column_start: np.ndarray  # A by columns
    column_row: np.ndarray
    column_value: np.ndarray
    row_start: np.ndarray  # A by rows
    row_column: np.ndarray
    row_value: np.ndarray
    pair_start: np.ndarray  # products of two entries of a column, ...
    pair_at: np.ndarray  # ... their place in A A' (below its diagonal, then on it), ...
    pair_value: np.ndarray  # ... and value
    bounded: np.ndarray  # whether the price of a row must be at least zero
    pattern: Pattern  # of L in A A' = L D L'


class Problem(NamedTuple):
    """One row: minimize sum (z - target)^2 / (2 half) with A z = right, low <= z <= high."""

    target: np.ndarray
    half: np.ndarray
    right: np.ndarray
    low: np.ndarray
    high: np.ndarray


class State(NamedTuple):
    """Where the steps are; what is known of the last row serves the next one."""

    prices: np.ndarray  # shape: (m,)
    free: np.ndarray  # shape: (d,); strictly within limits
    off: np.ndarray  # shape: (m,); inequalities that do not bind
    factorized: np.ndarray  # shape: (1,); whether lower and pivots are for free and off
    below: np.ndarray  # second derivative below its diagonal
    diagonal: np.ndarray  # shape: (m,)
    lower: np.ndarray  # its factors
    pivots: np.ndarray  # shape: (m,)
    core: np.ndarray
    slope: np.ndarray  # shape: (m,); A z - b
    step: np.ndarray  # shape: (m,)
    ascent: np.ndarray  # shape: (d,); A' step
    priced: np.ndarray  # shape: (d,); A' prices


@nb.njit(cache=True, nogil=True)
def weigh_columns(system, prices, out):
    """out = A' prices."""
    start, row, value = system.column_start, system.column_row, system.column_value
    for j in range(len(out)):
        total = 0.0
        for e in range(start[j], start[j + 1]):
            total += value[e] * prices[row[e]]
        out[j] = total


@nb.njit(cache=True, nogil=True)
def find_slope(system, right, point, state):
    """Slope A z - b and which inequalities do not bind; returns the largest residual."""
    slope, off, prices, bounded = state.slope, state.off, state.prices, system.bounded
    start, row, value = system.column_start, system.column_row, system.column_value
    for k in range(len(slope)):
        slope[k] = -right[k]
    for j in range(len(point)):
        if point[j] != 0.0:
            for e in range(start[j], start[j + 1]):
                slope[row[e]] += value[e] * point[j]
    worst = 0.0
    for k in range(len(slope)):
        skip = bounded[k] and prices[k] <= 0.0 and slope[k] <= 0.0
        if skip != off[k]:
            off[k] = skip
            state.factorized[0] = False
        if not skip:
            worst = max(worst, abs(slope[k]))
    return worst


@nb.njit(cache=True, nogil=True)
def find_point(problem, state, point):
    """The best point under the prices; returns the largest number it was clipped from."""
    target, half, low, high = problem.target, problem.half, problem.low, problem.high
    priced, free, reach, changed = state.priced, state.free, 0.0, False
    for j in range(len(point)):
        move = half[j] * priced[j]
        v = target[j] - move
        reach = max(reach, abs(target[j]) + abs(move))
        inside = low[j] < v < high[j]
        point[j] = min(max(v, low[j]), high[j])
        changed |= inside != free[j]
        free[j] = inside
    if changed:
        state.factorized[0] = False
    return reach


@nb.njit(cache=True, nogil=True)
def newton_step(system, half, state):
    """step = (A diag(half where free) A' + a small shift)^-1 slope, among what binds."""
    if not state.factorized[0]:
        below, diagonal, n_below = state.below, state.diagonal, len(state.below)
        start, place, value = system.pair_start, system.pair_at, system.pair_value
        free = state.free
        below[:] = 0.0
        diagonal[:] = 0.0
        for j in range(len(half)):
            if free[j]:
                for e in range(start[j], start[j + 1]):
                    at = place[e]
                    if at < n_below:
                        below[at] += half[j] * value[e]
                    else:
                        diagonal[at - n_below] += half[j] * value[e]
        largest = diagonal.max()
        diagonal += SHIFT * (largest if largest > 0.0 else half.max())
        factorize(system.pattern, below, diagonal, state.off, state.lower, state.pivots, state.core)
        state.factorized[0] = True
    step, slope, off = state.step, state.slope, state.off
    for k in range(len(step)):
        step[k] = 0.0 if off[k] else slope[k]
    solve(system.pattern, state.lower, state.pivots, state.core, step)


@nb.njit(cache=True, nogil=True)
def slope_along(way, problem, state, across):
    """Slope of the dual along the step, after ``way`` of it; across = step @ right."""
    target, half, low, high = problem.target, problem.half, problem.low, problem.high
    ascent, priced, total = state.ascent, state.priced, -across
    for j in range(len(target)):
        rise = ascent[j]
        v = target[j] - half[j] * (priced[j] + way * rise)
        total += rise * min(max(v, low[j]), high[j])
    return total


@nb.njit(cache=True, nogil=True)
def best_way(end, first, last, problem, state, across):
    """A way in (0, end] on which the dual rises to about its maximum along the step.

    first > 0 and last < 0 are its slopes at both ends. The slope is piecewise linear and
    falls: regula falsi (Illinois), with cuts by 100 as long as no rising way is known,
    since steps out of nearly singular systems are far too long.
    """
    below, above, up, down = 0.0, end, first, last
    side = 0
    for count in range(100):
        if below == 0.0 and count % 2 == 1:
            way = above / 100.0
        else:
            way = below + (above - below) * up / (up - down)
        slope = slope_along(way, problem, state, across)
        if abs(slope) <= 0.05 * first:
            return way
        if slope > 0.0:
            below, up = way, slope
            down = down / 2 if side == 1 else down
            side = 1
        else:
            above, down = way, slope
            up = up / 2 if side == -1 else up
            side = -1
        if above - below <= 1e-12 * above:
            break
    return below if below > 0.0 else above


@nb.njit(cache=True, nogil=True)
def climb(system, problem, point, state):
    """Move prices along the step, bending where the price of an inequality reaches zero.

    Returns whether anything moved.
    """
    prices, step, ascent, priced = state.prices, state.step, state.ascent, state.priced
    bounded, right, slope = system.bounded, problem.right, state.slope
    weigh_columns(system, step, ascent)
    left, moved, first = 1.0, False, 0.0
    for k in range(len(step)):
        first += step[k] * slope[k]
    for _ in range(len(prices) + 1):
        across = 0.0
        for k in range(len(step)):
            across += step[k] * right[k]
        if moved or left < 1.0:
            first = slope_along(0.0, problem, state, across)
        if first <= 0.0:
            break
        hit, way = -1, left
        for k in range(len(step)):
            if bounded[k] and step[k] < 0.0 and prices[k] < -step[k] * way:
                hit, way = k, prices[k] / -step[k]
        if way > 0.0:
            noise = 0.0
            for j in range(len(ascent)):
                noise += abs(ascent[j] * point[j])
            last = slope_along(way, problem, state, across)
            if last < -1e-14 * noise:
                hit, way = -1, best_way(way, first, last, problem, state, across)
            for k in range(len(step)):
                prices[k] += way * step[k]
            for j in range(len(ascent)):
                priced[j] += way * ascent[j]
            moved = True
        if hit < 0:
            break
        prices[hit] = 0.0
        column, value = system.row_column, system.row_value
        for e in range(system.row_start[hit], system.row_start[hit + 1]):
            ascent[column[e]] -= value[e] * step[hit]
        step[hit] = 0.0
        left -= way
    for k in range(len(prices)):
        if bounded[k] and prices[k] < 0.0:
            prices[k] = 0.0
    return moved


@nb.njit(cache=True, nogil=True)
def project_row(system, problem, point, state):
    """Steps until A z = b; returns how many there were, or -1 where they lead nowhere."""
    largest = np.abs(problem.right).max() if len(problem.right) else 0.0
    for count in range(MOST_STEPS):
        weigh_columns(system, state.prices, state.priced)
        reach = find_point(problem, state, point)
        worst = find_slope(system, problem.right, point, state)
        size = largest
        for j in range(len(point)):
            size = max(size, abs(point[j]))
        if worst <= ENOUGH * size + 1e-16 * reach:
            return count
        newton_step(system, problem.half, state)
        if not climb(system, problem, point, state):
            return count if worst <= 1e-11 * size + 1e-15 * reach else -1
    return -1


@nb.njit(cache=True, nogil=True)
def polish_row(system, problem, point, state):
    """Take the last rounding errors out of A z = b by moving the free coordinates."""
    half, low, high = problem.half, problem.low, problem.high
    free, ascent = state.free, state.ascent
    for _ in range(2):
        worst = find_slope(system, problem.right, point, state)
        if worst <= 1e-14 * np.abs(point).max():
            return
        newton_step(system, problem.half, state)
        weigh_columns(system, state.step, ascent)
        for j in range(len(point)):
            if free[j]:
                point[j] = min(max(point[j] - half[j] * ascent[j], low[j]), high[j])


@nb.njit(cache=True, nogil=True)
def project_rows(system, targets, halves, rights, lows, highs, points, prices, steps):
    """Fill points, prices and numbers of steps, each row from the prices of the last.

    halves, rights, lows and highs have a row each, or one for all.
    """
    m, d, n_below = len(system.bounded), targets.shape[1], len(system.pattern.row_column)
    n_dense = m - system.pattern.dense
    state = State(
        np.zeros(m), np.zeros(d, np.bool_), np.zeros(m, np.bool_), np.zeros(1, np.bool_),
        np.zeros(n_below), np.zeros(m), np.zeros(n_below), np.zeros(m),
        np.zeros((n_dense, n_dense)), np.zeros(m), np.zeros(m), np.zeros(d), np.zeros(d),
    )  # fmt: skip
    for i in range(len(targets)):
        problem = Problem(
            targets[i],
            halves[i if len(halves) > 1 else 0],
            rights[i if len(rights) > 1 else 0],
            lows[i if len(lows) > 1 else 0],
            highs[i if len(highs) > 1 else 0],
        )
        if len(halves) > 1:
            state.factorized[0] = False
        steps[i] = project_row(system, problem, points[i], state)
        if steps[i] < 0:  # the prices of the row before may have led astray
            state.prices[:] = 0.0
            steps[i] = project_row(system, problem, points[i], state)
        polish_row(system, problem, points[i], state)
        prices[i] = state.prices
        if steps[i] < 0:
            state.prices[:] = 0.0
