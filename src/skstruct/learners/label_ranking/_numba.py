# SPDX-License-Identifier: BSD-3-Clause
"""Margins between items: dual steps on the pairs of one row, for batch and online learners.

Preferences of row i are ``better[e], worse[e]`` for e from ``starts[i]`` to ``starts[i + 1]``.
All of them share one input x, so that a step on any of them changes the weights by a
multiple of x: it is done on the d scores of the row, and the weights follow once.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def fit_row(scores, square, better, worse, upper, alpha, change, n_sweeps, tol):
    """Dual coordinate ascent for sum of hinges 1 - (score of better - score of worse).

    Each alpha stays in [0, upper] and moves by (1 - margin) / (2 |x|^2). ``scores`` are
    kept up to date and ``change`` collects what each item gains in multiples of x. Stops
    when no margin moves by more than ``tol``.
    """
    for _ in range(n_sweeps):
        largest = 0.0
        for e in range(len(better)):
            p, q = better[e], worse[e]
            wanted = alpha[e] + (1.0 - scores[p] + scores[q]) / (2.0 * square)
            step = min(max(wanted, 0.0), upper) - alpha[e]
            if step != 0.0:
                alpha[e] += step
                change[p] += step
                change[q] -= step
                scores[p] += step * square
                scores[q] -= step * square
                largest = max(largest, 2.0 * abs(step) * square)
        if largest <= tol:
            break


@nb.njit(cache=True, nogil=True)
def row_scores(data, indices, W, scores):
    """W' x for a sparse row; W has shape (n_features, n_items)."""
    scores[:] = 0.0
    for k in range(len(data)):
        for p in range(len(scores)):
            scores[p] += data[k] * W[indices[k], p]


@nb.njit(cache=True, nogil=True)
def add_row(data, indices, change, factor, W):
    """W += factor * x change'."""
    for k in range(len(data)):
        for p in range(len(change)):
            W[indices[k], p] += factor * data[k] * change[p]


@nb.njit(cache=True, nogil=True)
def linear_epoch(
    data, indices, indptr, squares, starts, better, worse, upper, order, alpha, W, n_sweeps, tol
):
    """Visit the rows once in the given order; alpha and W (n_features, n_items) change."""
    scores, change = np.empty(W.shape[1]), np.empty(W.shape[1])
    for i in order:
        x, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        here = slice(starts[i], starts[i + 1])
        if squares[i] <= 0.0:  # no weights reach this row: its hinges are 1 for ever
            alpha[here] = upper[i]
            continue
        row_scores(x, columns, W, scores)
        change[:] = 0.0
        fit_row(
            scores, squares[i], better[here], worse[here], upper[i], alpha[here], change,
            n_sweeps, tol,
        )  # fmt: skip
        add_row(x, columns, change, 1.0, W)


@nb.njit(cache=True, nogil=True)
def kernel_epoch(K, starts, better, worse, upper, order, alpha, V, n_sweeps, tol):
    """The same with inputs known by their Gram matrix; V (n, n_items) multiplies its rows."""
    n, d = V.shape
    scores, change = np.empty(d), np.empty(d)
    for i in order:
        here = slice(starts[i], starts[i + 1])
        if K[i, i] <= 0.0:
            alpha[here] = upper[i]
            continue
        scores[:] = 0.0
        for j in range(n):
            for p in range(d):
                scores[p] += K[i, j] * V[j, p]
        change[:] = 0.0
        fit_row(
            scores, K[i, i], better[here], worse[here], upper[i], alpha[here], change,
            n_sweeps, tol,
        )  # fmt: skip
        V[i] += change


@nb.njit(cache=True, nogil=True)
def online_pass(
    data, indices, indptr, squares, starts, better, worse, order, weight, aggressive, C, W, U,
    n_seen, n_sweeps, tol,
):  # fmt: skip
    """Predict, count, update, row after row; returns the number of rows with a mistake.

    U collects every change times the number of rows seen before it: after t rows the mean
    of all weights so far is W - U / t.
    """
    d, n_mistakes = W.shape[1], 0
    scores, change = np.empty(d), np.empty(d)
    for i in order:
        x, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        first, last = starts[i], starts[i + 1]
        row_scores(x, columns, W, scores)
        change[:] = 0.0
        wrong = 0
        for e in range(first, last):
            if scores[better[e]] <= scores[worse[e]]:
                wrong += 1
                if not aggressive:
                    change[better[e]] += weight[i]
                    change[worse[e]] -= weight[i]
        n_mistakes += wrong > 0
        if aggressive and squares[i] > 0.0 and last > first:
            upper, alpha = C * weight[i] / (last - first), np.zeros(last - first)
            fit_row(
                scores, squares[i], better[first:last], worse[first:last], upper, alpha, change,
                n_sweeps, tol,
            )  # fmt: skip
        add_row(x, columns, change, 1.0, W)
        add_row(x, columns, change, n_seen, U)
        n_seen += 1.0
    return n_mistakes
