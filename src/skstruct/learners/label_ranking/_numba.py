# SPDX-License-Identifier: BSD-3-Clause
"""Margins between items: dual steps on the pairs of one row, for batch and online learners.

All preferences ``better[e], worse[e]`` of a row share one input x, so that a step on any of them
changes the weights by a multiple of x: it is done on the d scores of the row, and the weights
follow once. They are cut into subgraphs, of which the largest hinge counts.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def fit_row(scores, curvature, margin, better, worse, ends, cap, alpha, change, n_sweeps, tol):
    """Dual ascent for the sum over subgraphs of their largest hinge.

    The hinge of a pair is margin - (score of better - score of worse); the pairs of subgraph s
    are those from ``ends[s]`` to ``ends[s + 1]``, counted from ``ends[0]``. Their alphas are not
    negative and sum to ``cap`` at most. ``curvature`` (d,) is what a unit of change adds to the
    score of each item. ``scores`` are kept up to date and ``change`` collects what each item gains
    in multiples of x. Stops when no hinge is off by more than ``tol``.
    """
    for _ in range(n_sweeps):
        largest = 0.0
        for s in range(len(ends) - 1):
            first, last = ends[s] - ends[0], ends[s + 1] - ends[0]
            if last > first + 1:
                missing = fit_subgraph(
                    scores, curvature, margin, better, worse, first, last, cap, alpha, change, tol
                )
            else:
                p, q = better[first], worse[first]
                gap, bend = margin[first] - scores[p] + scores[q], curvature[p] + curvature[q]
                wanted = alpha[first] + gap / bend if bend > 0.0 else (cap if gap > 0.0 else 0.0)
                step = min(max(wanted, 0.0), cap) - alpha[first]
                missing = abs(step) * bend
                if step != 0.0:
                    move(first, step, curvature, better, worse, alpha, scores, change)
            largest = max(largest, missing)
        if largest <= tol:
            break


@nb.njit(cache=True, nogil=True)
def move(e, step, curvature, better, worse, alpha, scores, change):
    """The alpha of pair e grows by ``step``."""
    p, q = better[e], worse[e]
    alpha[e] += step
    change[p] += step
    change[q] -= step
    scores[p] += step * curvature[p]
    scores[q] -= step * curvature[q]


@nb.njit(cache=True, nogil=True)
def fit_subgraph(
    scores, curvature, margin, better, worse, first, last, cap, alpha, change, tol
):  # fmt: skip
    """Exchanges within a subgraph: what the least hinge has goes to the largest.

    What is left of the cap is a pair with a hinge of zero. Returns how far they were apart.
    """
    slack, apart = max(cap - alpha[first:last].sum(), 0.0), 0.0
    for _ in range(last - first):
        up, down, above, below = -1, -1, 0.0, 0.0 if slack > 0.0 else np.inf
        for e in range(first, last):
            gap = margin[e] - scores[better[e]] + scores[worse[e]]
            if gap > above:
                up, above = e, gap
            if alpha[e] > 0.0 and gap < below:
                down, below = e, gap
        apart = max(apart, above - below)
        if above - below <= tol:
            break
        bend = bend_of(up, down, curvature, better, worse)
        step = slack if down < 0 else alpha[down]
        if bend > 0.0:
            step = min(step, (above - below) / bend)
        if up < 0:
            slack += step
        else:
            move(up, step, curvature, better, worse, alpha, scores, change)
        if down < 0:
            slack -= step
        else:
            move(down, -step, curvature, better, worse, alpha, scores, change)
    return apart


@nb.njit(cache=True, nogil=True)
def bend_of(up, down, curvature, better, worse):
    """Curvature of the dual where pair ``up`` grows and ``down`` shrinks, -1 being neither."""
    if up < 0 or down < 0:
        e = max(up, down)
        return curvature[better[e]] + curvature[worse[e]]
    p, q, r, s = better[up], worse[up], better[down], worse[down]
    bend = curvature[p] * (1.0 - (p == r) + (p == s)) ** 2
    bend += curvature[q] * (1.0 + (q == r) - (q == s)) ** 2
    if r not in (p, q):
        bend += curvature[r]
    if s not in (p, q):
        bend += curvature[s]
    return bend


@nb.njit(cache=True, nogil=True)
def put_on_widest(margin, ends, cap, alpha):
    """The best alphas where no weights reach a row: hinges are its margins for ever."""
    alpha[:] = 0.0
    for s in range(len(ends) - 1):
        first, last = ends[s] - ends[0], ends[s + 1] - ends[0]
        alpha[first + margin[first:last].argmax()] = cap


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
    data, indices, indptr, squares, heads, ends, better, worse, margin, upper, order, alpha, W,
    n_sweeps, tol,
):  # fmt: skip
    """Visit the rows once in the given order; alpha and W (n_features, n_items) change.

    The subgraphs of row i are those from ``heads[i]`` to ``heads[i + 1]``.
    """
    d = W.shape[1]
    scores, change, curvature = np.empty(d), np.empty(d), np.empty(d)
    for i in order:
        x, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        cuts = ends[heads[i] : heads[i + 1] + 1]
        here = slice(cuts[0], cuts[-1])
        if squares[i] <= 0.0:
            put_on_widest(margin[here], cuts, upper[i], alpha[here])
            continue
        row_scores(x, columns, W, scores)
        change[:] = 0.0
        curvature[:] = squares[i]
        fit_row(
            scores, curvature, margin[here], better[here], worse[here], cuts, upper[i],
            alpha[here], change, n_sweeps, tol,
        )  # fmt: skip
        add_row(x, columns, change, 1.0, W)


@nb.njit(cache=True, nogil=True)
def kernel_epoch(
    K, heads, ends, better, worse, margin, upper, order, alpha, V, n_sweeps, tol
):  # fmt: skip
    """The same with inputs known by their Gram matrix; V (n, n_items) multiplies its rows."""
    n, d = V.shape
    scores, change, curvature = np.empty(d), np.empty(d), np.empty(d)
    for i in order:
        cuts = ends[heads[i] : heads[i + 1] + 1]
        here = slice(cuts[0], cuts[-1])
        if K[i, i] <= 0.0:
            put_on_widest(margin[here], cuts, upper[i], alpha[here])
            continue
        scores[:] = 0.0
        for j in range(n):
            for p in range(d):
                scores[p] += K[i, j] * V[j, p]
        change[:] = 0.0
        curvature[:] = K[i, i]
        fit_row(
            scores, curvature, margin[here], better[here], worse[here], cuts, upper[i],
            alpha[here], change, n_sweeps, tol,
        )  # fmt: skip
        V[i] += change
