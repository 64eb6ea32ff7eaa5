# SPDX-License-Identifier: BSD-3-Clause
"""Primal simplex for a separable, convex, piecewise linear cost: min sum_j f_j(y_j), A y = b.

A step walks past corners of the cost as long as it falls, so one pivot may pass many of them.
A column outside the basis may stand anywhere, not at corners alone: that lets the next row,
with other corners, start from the last answer (Fourer, 1985, Math. Programming 33).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding.polytopes._compiled_basis import (
    exchange,
    invert,
    reprice,
    set_prices,
    settle,
    stand,
    worth,
)

PIVOT = 1e-9  # entries of the entering column that count as zero
REFRESH = 60  # pivots after which the inverse of the basis is computed anew
STALLED = 40  # pivots without a step after which Bland's rule takes over


@nb.njit(cache=True, nogil=True)
def entering(columns, curve, basis, eps, bland):
    """The column whose move lowers the cost fastest: (column or -1, upwards, gain)."""
    best, column, upwards = eps, -1, True
    for j in range(len(basis.y)):
        if basis.where[j] >= 0:
            continue
        price = worth(columns, basis, j)
        up = price - curve.slopes[j, basis.above[j]]
        down = curve.slopes[j, basis.below[j]] - price
        if up > best:
            best, column, upwards = up, j, True
        if down > best:
            best, column, upwards = down, j, False
        if bland and column >= 0:
            break
    return column, upwards, best


@nb.njit(cache=True, nogil=True)
def set_rates(columns, basis, column, sign, rate):
    """Change of the columns of the basis per unit by which another one moves."""
    rate[:] = 0.0
    for i in range(columns.starts[column], columns.starts[column + 1]):
        k, entry = columns.rows[i], sign * columns.entries[i]
        for r in range(len(rate)):
            rate[r] -= entry * basis.inverse[r, k]


@nb.njit(cache=True, nogil=True)
def next_corner(curve, j, cell, upwards):
    """The corner at the end of a cell, infinite if there is none."""
    if upwards:
        return curve.points[j, cell] if cell < curve.size[j] else np.inf
    return curve.points[j, cell - 1] if cell > 0 else -np.inf


@nb.njit(cache=True, nogil=True)
def kink(curve, j, cell, upwards):
    """How much the slope grows at that corner, seen along the walk."""
    if upwards:
        return curve.slopes[j, cell + 1] - curve.slopes[j, cell]
    return curve.slopes[j, cell] - curve.slopes[j, cell - 1]


@nb.njit(cache=True, nogil=True)
def walk(curve, basis, column, upwards, gain, rate, eps, tie, bland, active, until):
    """Move the entering column until the cost falls no longer.

    ``rate[r]`` is the change of the basis column of row r per unit of the move. Returns the row
    whose column stops the walk (-1: the entering one does, -2: nothing does) and the length.
    """
    sign = 1.0 if upwards else -1.0
    cell = basis.above[column] if upwards else basis.below[column]
    n, m = 0, len(rate)
    for r in range(m):
        if abs(rate[r]) > PIVOT:
            j = basis.columns[r]
            active[n] = r
            until[n] = (next_corner(curve, j, basis.below[j], rate[r] > 0) - basis.y[j]) / rate[r]
            n += 1
    own = sign * (next_corner(curve, column, cell, upwards) - basis.y[column])
    slope, length = -gain, 0.0
    while True:
        step, who, size = own, -1, 1.0
        for i in range(n):
            if until[i] < step - tie or (
                until[i] <= step + tie and not bland and abs(rate[active[i]]) > size
            ):
                step, who, size = min(until[i], step), i, abs(rate[active[i]])
        if step == np.inf:
            return -2, length
        length = max(length, step)
        j = column if who < 0 else basis.columns[active[who]]
        rising = upwards if who < 0 else rate[active[who]] > 0
        at = cell if who < 0 else basis.below[j]
        slope += size * kink(curve, j, at, rising)
        if slope >= -eps:
            break
        following = at + 1 if rising else at - 1
        if who < 0:
            cell = following
            own = sign * (next_corner(curve, j, cell, upwards) - basis.y[j])
        else:
            basis.below[j] = basis.above[j] = following
            reprice(basis, active[who], curve.slopes[j, following] - curve.slopes[j, at])
            until[who] = (next_corner(curve, j, following, rising) - basis.y[j]) / rate[active[who]]
    corner = next_corner(curve, j, at, rising)
    for i in range(n):
        basis.y[basis.columns[active[i]]] += rate[active[i]] * length
    basis.y[column] += sign * length
    basis.y[j] = corner
    if who >= 0:
        basis.below[column] = basis.above[column] = cell
        return active[who], length
    return -1, length


@nb.njit(cache=True, nogil=True)
def descend(columns, curve, basis, b, eps, tie, max_pivots):
    """Pivot until no move lowers the cost; returns whether that point was reached.

    Needs the cells of :func:`locate`.
    """
    m = len(basis.columns)
    rate, until, rest = np.empty(m), np.empty(m), np.empty(m)
    active = np.empty(m, np.int64)
    set_prices(curve, basis)
    stalled, drifted = 0, False  # drifted: prices carry the rounding of updates
    for _ in range(max_pivots):
        bland = stalled > STALLED
        column, upwards, gain = entering(columns, curve, basis, eps, bland)
        if column < 0:
            if not drifted:
                return True
            set_prices(curve, basis)
            drifted = False
            continue
        drifted = True
        sign = 1.0 if upwards else -1.0
        set_rates(columns, basis, column, sign, rate)
        row, length = walk(
            curve, basis, column, upwards, gain, rate, eps, tie, bland, active, until
        )
        if row == -2:
            return False
        stalled = stalled + 1 if length <= tie else 0
        if row == -1:
            stand(curve, basis, column)
            continue
        left = basis.columns[row]
        reduced = curve.slopes[column, basis.below[column]] - worth(columns, basis, column)
        exchange(basis, row, column, rate, sign)
        reprice(basis, row, reduced)
        stand(curve, basis, left)
        if basis.age[0] >= max(REFRESH, m):
            if not invert(columns, basis):
                return False
            settle(columns, basis, b, rest)
            set_prices(curve, basis)
    return False
