# SPDX-License-Identifier: BSD-3-Clause
"""Primal simplex for a separable, convex, piecewise linear cost: min sum_j f_j(y_j), A y = b.

Column j has corners ``points[j, :size[j]]`` and slopes ``slopes[j, :size[j] + 1]``: cell s lies
between corners s - 1 and s, cell 0 below all of them, the last one above. Slopes -inf and
+inf in the outer cells make the corners bounds; -1, 0, 1 make the cost the infeasibility.
"""

from typing import NamedTuple

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign
from skstruct.tolerances import SINGULAR_PIVOT, ZERO_PIVOT


class Columns(NamedTuple):
    """The matrix A by columns (compressed), the last ones the identity."""

    starts: np.ndarray  # (n + 1,)
    rows: np.ndarray
    entries: np.ndarray


class Curve(NamedTuple):
    """The cost of every column."""

    points: np.ndarray  # (n, k)
    slopes: np.ndarray  # (n, k + 1)
    size: np.ndarray  # (n,)


class Basis(NamedTuple):
    """Where the simplex stands."""

    y: np.ndarray  # (n,)
    where: np.ndarray  # (n,): row of a column of the basis, else -1
    columns: np.ndarray  # (m,): column of each row
    inverse: np.ndarray  # (m, m): of A[:, columns]
    duals: np.ndarray  # (m,)
    below: np.ndarray  # (n,): cell to the left; the only cell, for columns of the basis
    above: np.ndarray  # (n,): cell to the right
    age: np.ndarray  # (1,): pivots since the inverse was computed


@nb.njit(cache=True, nogil=True)
def invert(columns, basis):
    """Compute the inverse of the basis anew (Gauss-Jordan); False if it is singular."""
    inverse = basis.inverse
    m = len(inverse)
    matrix = np.zeros((m, m))
    for r in range(m):
        j = basis.columns[r]
        for i in range(columns.starts[j], columns.starts[j + 1]):
            matrix[columns.rows[i], r] = columns.entries[i]
    inverse[:] = 0.0
    for k in range(m):
        inverse[k, k] = 1.0
    for c in range(m):
        best = c
        for k in range(c + 1, m):
            if abs(matrix[k, c]) > abs(matrix[best, c]):
                best = k
        pivot = matrix[best, c]
        if abs(pivot) < SINGULAR_PIVOT:
            return False
        for i in range(m):
            matrix[c, i], matrix[best, i] = matrix[best, i], matrix[c, i]
            inverse[c, i], inverse[best, i] = inverse[best, i], inverse[c, i]
            matrix[c, i] /= pivot
            inverse[c, i] /= pivot
        for k in range(m):
            factor = matrix[k, c]
            if k != c and factor != 0.0:
                for i in range(m):
                    matrix[k, i] -= factor * matrix[c, i]
                    inverse[k, i] -= factor * inverse[c, i]
    basis.age[0] = 0
    return True


@nb.njit(cache=True, nogil=True)
def settle(columns, basis, b, rest):
    """Columns of the basis from all others: y_B = inverse (b - sum of the others)."""
    m = len(basis.columns)
    assign(rest, b)
    for j in range(len(basis.y)):
        if basis.where[j] < 0 and basis.y[j] != 0.0:
            for i in range(columns.starts[j], columns.starts[j + 1]):
                rest[columns.rows[i]] -= columns.entries[i] * basis.y[j]
    for r in range(m):
        total = 0.0
        for k in range(m):
            total += basis.inverse[r, k] * rest[k]
        basis.y[basis.columns[r]] = total


@nb.njit(cache=True, nogil=True)
def locate(curve, basis, tol):
    """Find the cells of every column; returns whether one of the basis is out of bounds."""
    outside = False
    for j in range(len(basis.y)):
        y, size, points = basis.y[j], curve.size[j], curve.points[j]
        low, high = 0, size  # first corner >= y
        while low < high:
            middle = (low + high) // 2
            if points[middle] < y:
                low = middle + 1
            else:
                high = middle
        cell = low
        if basis.where[j] < 0:
            basis.below[j] = cell
            while cell < size and points[cell] <= y:
                cell += 1
            basis.above[j] = cell
        else:
            if cell == 0 and y >= points[0] - tol:
                cell = 1
            if cell == size and y <= points[size - 1] + tol:
                cell = size - 1
            outside = outside or cell == 0 or cell == size
            basis.below[j] = basis.above[j] = cell
    return outside


@nb.njit(cache=True, nogil=True)
def stand(curve, basis, j):
    """Find the cells left and right of a column that stands at a corner."""
    size, y, points = curve.size[j], basis.y[j], curve.points[j]
    cell = min(basis.below[j], size - 1)
    while cell > 0 and points[cell - 1] >= y:
        cell -= 1
    while cell < size and points[cell] < y:
        cell += 1
    basis.below[j] = cell
    while cell < size and points[cell] <= y:
        cell += 1
    basis.above[j] = cell


@nb.njit(cache=True, nogil=True)
def set_duals(curve, basis):
    """The dual variables at which the columns of the basis have reduced slope zero."""
    basis.duals[:] = 0.0
    for r in range(len(basis.columns)):
        j = basis.columns[r]
        slope = curve.slopes[j, basis.below[j]]
        if slope != 0.0:
            for k in range(len(basis.duals)):
                basis.duals[k] += slope * basis.inverse[r, k]


@nb.njit(cache=True, nogil=True)
def update_duals(basis, row, change):
    """The dual variables after the slope of the basis column of a row has changed."""
    for k in range(len(basis.duals)):
        basis.duals[k] += change * basis.inverse[row, k]


@nb.njit(cache=True, nogil=True)
def worth(columns, basis, j):
    """What a unit of column j is worth at the present dual variables: (A'p)_j."""
    total = 0.0
    for i in range(columns.starts[j], columns.starts[j + 1]):
        total += basis.duals[columns.rows[i]] * columns.entries[i]
    return total


@nb.njit(cache=True, nogil=True)
def exchange(basis, row, column, rate, sign):
    """Put a column into the basis at a row: one step of Gauss-Jordan on the inverse."""
    m = len(rate)
    inverse = basis.inverse
    basis.where[basis.columns[row]] = -1
    basis.columns[row] = column
    basis.where[column] = row
    pivot = -sign * rate[row]
    for i in range(m):
        inverse[row, i] /= pivot
    for k in range(m):
        factor = -sign * rate[k]
        if k != row and factor != 0.0:
            for i in range(m):
                inverse[k, i] -= factor * inverse[row, i]
    basis.age[0] += 1


# Primal simplex for a separable, convex, piecewise linear cost: min sum_j f_j(y_j), A y = b.
#
# A step walks past corners of the cost as long as it falls, so one pivot may pass many of them.
# A column outside the basis may stand anywhere, not at corners alone: that lets the next row,
# with other corners, start from the last answer (Fourer, 1985, Math. Programming 33).


REFRESH = 60  # pivots after which the inverse of the basis is computed anew
STALLED = 40  # pivots without a step after which Bland's rule takes over


@nb.njit(cache=True, nogil=True)
def entering(columns, curve, basis, eps, bland):
    """The column whose move lowers the cost fastest: (column or -1, upwards, gain)."""
    best, column, upwards = eps, -1, True
    for j in range(len(basis.y)):
        if basis.where[j] >= 0:
            continue
        each = worth(columns, basis, j)
        up = each - curve.slopes[j, basis.above[j]]
        down = curve.slopes[j, basis.below[j]] - each
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
        if abs(rate[r]) > ZERO_PIVOT:
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
            update_duals(basis, active[who], curve.slopes[j, following] - curve.slopes[j, at])
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
    set_duals(curve, basis)
    stalled, drifted = 0, False  # drifted: duals carry the rounding of updates
    for _ in range(max_pivots):
        bland = stalled > STALLED
        column, upwards, gain = entering(columns, curve, basis, eps, bland)
        if column < 0:
            if not drifted:
                return True
            set_duals(curve, basis)
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
        update_duals(basis, row, reduced)
        stand(curve, basis, left)
        if basis.age[0] >= max(REFRESH, m):
            if not invert(columns, basis):
                return False
            settle(columns, basis, b, rest)
            set_duals(curve, basis)
    return False
