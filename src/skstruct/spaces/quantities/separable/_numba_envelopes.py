# SPDX-License-Identifier: BSD-3-Clause
"""Compiled convex envelopes: hulls of the curves, their optimum, a dual bound, local steps."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, assign_rows
from skstruct.spaces.quantities.separable._numba_simplex import (
    Basis,
    Curve,
    descend,
    locate,
    settle,
)
from skstruct.spaces.solvers.curves._numba import lower_hull
from skstruct.tolerances import DIFFERENCE_ROUNDING, FEASIBLE, ZERO_SLOPE


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


# Row after row: hulls of the curves, their optimum, a bound from its dual variables, local steps.


MAX_PIVOTS = 20000
LOCAL_STEPS = 20
SLACK_END = 1e300  # upper end of the slack of an inequality


@nb.njit(cache=True, nogil=True)
def enter(columns, curve, bounds, basis, b, rest, unit):
    """Move the basis to a point within all bounds; False if there is none, or it was missed."""
    for j in range(len(basis.y)):
        low, high = curve.points[j, 0], curve.points[j, curve.size[j] - 1]
        bounds.points[j, 0], bounds.points[j, 1] = low, high
        if basis.where[j] < 0:
            basis.y[j] = min(max(basis.y[j], low), high)
    settle(columns, basis, b, rest)
    tol = FEASIBLE * unit
    if locate(bounds, basis, tol):
        if not descend(columns, bounds, basis, b, FEASIBLE, DIFFERENCE_ROUNDING * unit, MAX_PIVOTS):
            return False
        settle(columns, basis, b, rest)
        return not locate(bounds, basis, tol)
    return True


@nb.njit(cache=True, nogil=True)
def optimum(columns, curve, bounds, basis, b, rest, scale, unit):
    """Move the basis to the optimum of one row; False if that failed."""
    if not enter(columns, curve, bounds, basis, b, rest, unit):
        return False
    n, tol = len(basis.y), FEASIBLE * unit
    locate(curve, basis, tol)
    done = descend(
        columns, curve, basis, b, ZERO_SLOPE * scale, DIFFERENCE_ROUNDING * unit, MAX_PIVOTS
    )
    settle(columns, basis, b, rest)
    for j in range(n):
        low, high = curve.points[j, 0], curve.points[j, curve.size[j] - 1]
        if basis.y[j] < low - tol or basis.y[j] > high + tol:
            return False
    return done


@nb.njit(cache=True, nogil=True)
def dual_bound(columns, points, values, b, equal, duals):
    """Weak duality: p'b + sum_j min_k (values_jk - (A'p)_j points_jk), p <= 0 where A y <= b."""
    total = 0.0
    for i in range(len(b)):
        if not equal[i]:
            duals[i] = min(duals[i], 0.0)
        total += duals[i] * b[i]
    for j in range(len(points)):
        worth = 0.0
        for i in range(columns.starts[j], columns.starts[j + 1]):
            worth += duals[columns.rows[i]] * columns.entries[i]
        least = np.inf
        for k in range(points.shape[1]):
            least = min(least, values[j, k] - worth * points[j, k])
        total += least
    return total


@nb.njit(cache=True, nogil=True)
def new_basis(n, m):
    """Start from the identity, the last m of n columns: every row has its own slack."""
    basis = Basis(
        np.zeros(n),
        np.full(n, -1),
        np.arange(n - m, n),
        np.zeros((m, m)),
        np.zeros(m),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
    )
    restart(basis)
    return basis


@nb.njit(cache=True, nogil=True)
def new_curves(d, k, equal):
    """Room for curves of d variables through k samples and of slacks, and for their limits."""
    m = len(equal)
    n = d + m
    curve = Curve(np.zeros((n, k + 2)), np.zeros((n, k + 3)), np.empty(n, np.int64))
    box = Curve(np.zeros((n, 2)), np.zeros((n, 3)), np.full(n, 2))
    box.slopes[:, 0] = -1.0
    box.slopes[:, 2] = 1.0
    for i in range(m):
        curve.points[d + i, 1] = 0.0 if equal[i] else SLACK_END
        close(curve, d + i, 2)
    return curve, box


@nb.njit(cache=True, nogil=True)
def restart(basis):
    """Forget the basis, and where its columns stand."""
    n, m = len(basis.y), len(basis.columns)
    basis.y[:] = 0.0
    basis.where[:] = -1
    basis.inverse[:] = 0.0
    for r in range(m):
        basis.columns[r] = n - m + r
        basis.where[n - m + r] = r
        basis.inverse[r, r] = 1.0
    basis.age[0] = 0


@nb.njit(cache=True, nogil=True)
def copy_basis(source, target):
    """Stand where another basis stands."""
    assign(target.y, source.y)
    assign(target.where, source.where)
    assign(target.columns, source.columns)
    assign_rows(target.inverse, source.inverse)
    assign(target.age, source.age)


@nb.njit(cache=True, nogil=True)
def same_question(points, b, old_points, old_b):
    """Whether two rows have the same bounds and the same right-hand side."""
    for i in range(len(b)):
        if b[i] != old_b[i]:
            return False
    for j in range(len(points)):
        if points[j, 0] != old_points[j, 0] or points[j, -1] != old_points[j, -1]:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def begin(columns, curve, bounds, basis, start, b, rest, unit, known):
    """Stand at the point where every row of this question starts.

    It depends on bounds and right-hand side alone, never on the rows before: of several best
    points a row would else find another one in another batch. ``known`` says that ``start`` is it.
    """
    if not known:
        restart(start)
        enter(columns, curve, bounds, start, b, rest, unit)
    copy_basis(start, basis)


@nb.njit(cache=True, nogil=True)
def largest_size(points, b):
    """The unit in which lengths are called large or small."""
    unit = 1e-300
    for i in range(len(b)):
        unit = max(unit, abs(b[i]))
    for j in range(len(points)):
        unit = max(unit, abs(points[j, 0]), abs(points[j, -1]))
    return unit


@nb.njit(cache=True, nogil=True)
def minimize_rows(columns, equal, b, points, values, outputs, duals, bounds):
    """Fill outputs (B, d), duals (B, m), bounds (B,); returns which rows succeeded.

    The cost is piecewise linear through the samples: points (B, d, k) or (1, d, k), values
    (B, d, k). Right-hand sides b (B, m) or (1, m); the rows of ``equal`` are equations, the
    others inequalities. Rows of the same question start from the same basis.
    """
    rows, d, k = values.shape
    m = len(equal)
    n = d + m
    curve, box = new_curves(d, k, equal)
    basis, start = new_basis(n, m), new_basis(n, m)
    rest, corners = np.empty(m), np.empty(k, np.int64)
    succeeded = np.zeros(rows, np.bool_)
    for r in range(rows):
        t, v = points[r if len(points) > 1 else 0], values[r]
        rhs = b[r if len(b) > 1 else 0]
        scale = hull_curve(t, v, curve, corners)
        unit = largest_size(t, rhs)
        before, old = points[r - 1 if len(points) > 1 else 0], b[r - 1 if len(b) > 1 else 0]
        known = r > 0 and same_question(t, rhs, before, old)
        begin(columns, curve, box, basis, start, rhs, rest, unit, known)
        fine = optimum(columns, curve, box, basis, rhs, rest, scale, unit)
        if not fine:
            restart(basis)
            fine = optimum(columns, curve, box, basis, rhs, rest, scale, unit)
        if not fine:
            continue
        succeeded[r] = True
        assign(outputs[r], basis.y)
        assign(duals[r], basis.duals)
        bounds[r] = dual_bound(columns, t, v, rhs, equal, duals[r])
        best = chord_cost(t, v, outputs[r])
        small = ZERO_SLOPE * (abs(best) + scale * unit)
        for _ in range(LOCAL_STEPS):
            if best - bounds[r] <= small:
                break
            local_curve(t, v, basis.y, curve)
            if not optimum(columns, curve, box, basis, rhs, rest, scale, unit):
                break
            cost = chord_cost(t, v, basis.y)
            if cost >= best - small:
                break
            best = cost
            assign(outputs[r], basis.y)
    return succeeded
