# SPDX-License-Identifier: BSD-3-Clause
"""Where a simplex on piecewise linear costs stands: its basis, the inverse, the prices.

Column j has corners ``points[j, :size[j]]`` and slopes ``slopes[j, :size[j] + 1]``: cell s lies
between corners s - 1 and s, cell 0 below all of them, the last one above. Slopes -inf and
+inf in the outer cells make the corners bounds; -1, 0, 1 make the cost the infeasibility.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

SINGULAR = 1e-10  # pivots of the basis that count as zero


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
    prices: np.ndarray  # (m,)
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
        if abs(pivot) < SINGULAR:
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
    rest[:] = b
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
def set_prices(curve, basis):
    """The prices at which the columns of the basis have reduced slope zero."""
    basis.prices[:] = 0.0
    for r in range(len(basis.columns)):
        j = basis.columns[r]
        slope = curve.slopes[j, basis.below[j]]
        if slope != 0.0:
            for k in range(len(basis.prices)):
                basis.prices[k] += slope * basis.inverse[r, k]


@nb.njit(cache=True, nogil=True)
def reprice(basis, row, change):
    """The prices after the slope of the basis column of a row has changed."""
    for k in range(len(basis.prices)):
        basis.prices[k] += change * basis.inverse[row, k]


@nb.njit(cache=True, nogil=True)
def worth(columns, basis, j):
    """What a unit of column j is worth at the present prices: (A'p)_j."""
    total = 0.0
    for i in range(columns.starts[j], columns.starts[j + 1]):
        total += basis.prices[columns.rows[i]] * columns.entries[i]
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
    inverse[row] /= pivot
    for k in range(m):
        factor = -sign * rate[k]
        if k != row and factor != 0.0:
            for i in range(m):
                inverse[k, i] -= factor * inverse[row, i]
    basis.age[0] += 1
