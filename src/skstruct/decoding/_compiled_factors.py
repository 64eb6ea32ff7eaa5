# SPDX-License-Identifier: BSD-3-Clause
"""L D L' of many symmetric matrices with one pattern: the pattern once, numbers many times.

Row by row from the top (Davis, Direct Methods for Sparse Linear Systems, 2006, section 4.8).
L has a unit diagonal that is not stored; what is below it is stored by rows for the pattern
and by columns for the numbers. The last columns, which elimination has filled up, are a
dense matrix with a Cholesky factor of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

BLOCK = 48  # rows of the dense part that are eliminated together
WIDE = 48  # rows that the elimination updates at a time
SMALLEST = 1e-11  # pivots are at least this share of the diagonal: singular systems are usual


class Pattern(NamedTuple):
    """Where L has entries below its diagonal."""

    row_start: np.ndarray  # shape: (m + 1,)
    row_column: np.ndarray  # columns i < k of every row k, ascending
    column_start: np.ndarray  # shape: (m + 1,)
    column_row: np.ndarray  # rows k > i of every column i, ascending
    dense: int  # columns from here on are treated as full


def find_pattern(start: np.ndarray, column: np.ndarray) -> Pattern:
    """The pattern of L from that of a matrix, given by rows (CSR; what is above is ignored)."""
    m = len(start) - 1
    start, column = start.astype(np.int64), column.astype(np.int64)
    row_start, _ = row_patterns(start, column, np.empty(0, np.int64))
    row_start, row_column = row_patterns(start, column, np.empty(row_start[m], np.int64))
    column_start, column_row = column_patterns(row_start, row_column)
    # Full enough when most of the triangle is there; for a few columns always.
    left = np.arange(m, 0, -1)
    entries = np.diff(column_start)[::-1].cumsum()[::-1]
    full = (left <= BLOCK // 2) | (entries >= 0.45 * left * (left - 1))
    dense = int(full.argmax()) if m else 0
    return Pattern(row_start, row_column, column_start, column_row, dense)


@nb.njit(cache=True, nogil=True)
def row_patterns(start, column, found):
    """Where the rows of L start, and, if there is room in ``found``, their columns."""
    m = len(start) - 1
    parent, seen = np.full(m, -1), np.full(m, -1)
    row_start = np.zeros(m + 1, np.int64)
    n = 0
    for k in range(m):
        seen[k] = k
        for at in range(start[k], start[k + 1]):
            i = column[at]
            while i < k and seen[i] != k:  # climb the elimination tree
                if parent[i] < 0:
                    parent[i] = k
                if n < len(found):
                    found[n] = i
                n += 1
                seen[i] = k
                i = parent[i]
        row_start[k + 1] = n
        if n <= len(found):
            found[row_start[k] : n].sort()
    return row_start, found


@nb.njit(cache=True, nogil=True)
def column_patterns(row_start, row_column):
    """The same pattern by columns."""
    m = len(row_start) - 1
    start = np.zeros(m + 1, np.int64)
    for i in row_column:
        start[i + 1] += 1
    start = np.cumsum(start)
    upto, rows = start[:-1].copy(), np.empty(len(row_column), np.int64)
    for k in range(m):
        for e in range(row_start[k], row_start[k + 1]):
            i = row_column[e]
            rows[upto[i]] = k
            upto[i] += 1
    return start, rows


@nb.njit(cache=True, nogil=True)
def factorize(pattern, below, diagonal, off, lower, pivots, core):
    """Fill lower (by columns), pivots and core from diagonal and below (by rows).

    Rows that are ``off`` count as rows of the identity. Pivots are kept positive.
    """
    m, dense = len(diagonal), pattern.dense
    start, rows = pattern.column_start, pattern.column_row
    row_start, columns = pattern.row_start, pattern.row_column  # taken out of loops: 2x faster
    upto, work = start[:m].copy(), np.zeros(m)
    for k in range(m):
        begin, end = row_start[k], row_start[k + 1]
        for e in range(begin, end):
            i = columns[e]
            work[i] = 0.0 if off[i] or off[k] else below[e]
        pivot = 1.0 if off[k] else diagonal[k]
        for e in range(begin, end):
            i = columns[e]
            if i >= dense:
                break
            value, last = work[i], upto[i]
            share = 0.0
            if value != 0.0:
                for p in range(start[i], last):
                    work[rows[p]] -= lower[p] * value
                share = value / pivots[i]
                pivot -= share * value
            work[i] = 0.0
            lower[last] = share
            upto[i] = last + 1
        if k < dense:
            pivots[k] = max(pivot, SMALLEST * diagonal[k])
        else:
            for i in range(dense, k):
                core[i - dense, k - dense] = work[i]
                work[i] = 0.0
            core[k - dense, k - dense] = pivot
    factorize_dense(core, diagonal[dense:])


@nb.njit(cache=True, nogil=True)
def factorize_dense(U, scale):
    """Replace the upper triangle of U by its Cholesky factor, a block of rows at a time."""
    n = len(U)
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for j in range(first, last):
            for k in range(first, j):
                value = U[k, j]
                if value != 0.0:
                    for i in range(j, n):
                        U[j, i] -= value * U[k, i]
            root = np.sqrt(max(U[j, j], SMALLEST * scale[j]))
            U[j, j] = root
            inverse = 1.0 / root
            for i in range(j + 1, n):
                U[j, i] *= inverse
        for row in range(last, n, WIDE):  # what is below the diagonal is left as it is
            until = min(row + WIDE, n)
            left = np.ascontiguousarray(U[first:last, row:until].T)
            U[row:until, row:] -= np.dot(left, np.ascontiguousarray(U[first:last, row:]))


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def solve(pattern, lower, pivots, core, x):
    """Replace x by the solution of L D L' s = x."""
    m, dense = len(x), pattern.dense
    start, rows = pattern.column_start, pattern.column_row
    for i in range(dense):
        value = x[i]
        if value != 0.0:
            for p in range(start[i], start[i + 1]):
                x[rows[p]] -= lower[p] * value
    end = x[dense:]
    for i in range(m - dense):
        end[i] /= core[i, i]
        value = end[i]
        for k in range(i + 1, m - dense):
            end[k] -= core[i, k] * value
    for i in range(m - dense - 1, -1, -1):
        value = end[i]
        for k in range(i + 1, m - dense):
            value -= core[i, k] * end[k]
        end[i] = value / core[i, i]
    for i in range(dense - 1, -1, -1):
        value = x[i] / pivots[i]
        for p in range(start[i], start[i + 1]):
            value -= lower[p] * x[rows[p]]
        x[i] = value
