# SPDX-License-Identifier: BSD-3-Clause
"""Compiled access to the rows of examples: their scores, and weights moved along them.

``rows`` is a tuple: how they are known, data, indices and index pointers of sparse rows, and
dense rows or kernel values.
"""

from __future__ import annotations

import numba as nb

SPARSE, DENSE, KERNEL = 0, 1, 2  # how rows are known
SUMS = {"reassoc", "contract"}  # sums in any order: the compiler makes vector instructions of them


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def example_scores(first, last, rows, W, S, out):
    """Scores of the rows first..last: x W, or read off S where inputs are kernel values.

    W is (q, p) for dense rows X and (p, q) for sparse ones: long loops are innermost.
    """
    kind, data, indices, indptr, X = rows
    q = out.shape[1]
    for row in range(first, last):
        t = row - first
        if kind == KERNEL:
            for k in range(q):
                out[t, k] = S[row, k]
        elif kind == DENSE:
            for k in range(q):
                total = 0.0
                for j in range(X.shape[1]):
                    total += X[row, j] * W[k, j]
                out[t, k] = total
        else:
            for k in range(q):
                out[t, k] = 0.0
            for at in range(indptr[row], indptr[row + 1]):
                x, feature = data[at], indices[at]
                for k in range(q):
                    out[t, k] += x * W[feature, k]


@nb.njit(cache=True, nogil=True)
def move(first, last, rows, W, S, step, direction):
    """W += step x' direction for the rows first..last, or the scores of all rows with it."""
    kind, data, indices, indptr, X = rows
    q = direction.shape[1]
    for row in range(first, last):
        t = row - first
        if kind == KERNEL:
            for i in range(S.shape[0]):
                k_i = step * X[row, i]
                for k in range(q):
                    S[i, k] += k_i * direction[t, k]
        elif kind == DENSE:
            for k in range(q):
                by = step * direction[t, k]
                if by != 0.0:
                    for j in range(X.shape[1]):
                        W[k, j] += by * X[row, j]
        else:
            for at in range(indptr[row], indptr[row + 1]):
                x, feature = step * data[at], indices[at]
                for k in range(q):
                    W[feature, k] += x * direction[t, k]
