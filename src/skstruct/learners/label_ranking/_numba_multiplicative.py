# SPDX-License-Identifier: BSD-3-Clause
"""Weights that are multiplied: steps in the relative entropy, row after row.

Weights of either sign are radius * sinh(E) / sum of cosh(E), with exponents E (n_features,
n_items): the difference of two parts radius * e^(+-E) / (sum of e^E + e^-E), which together are
probabilities times the radius. A step adds x c' to E, and c (d,) is found by its dual.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.learners.label_ranking._numba import fit_row, row_scores
from skstruct.learners.label_ranking._numba_online import look

MOST_HALVINGS = 30  # of a step that does not raise the dual enough
ENOUGH = 0.1  # of what the slope promises


@nb.njit(cache=True, nogil=True)
def weigh(E, radius, W, U, n_seen):
    """Weights of the exponents, and in U their change times the number of rows before."""
    top, total, new = np.abs(E).max(), 0.0, np.empty_like(E)
    for k in range(E.shape[0]):
        for p in range(E.shape[1]):
            up, down = np.exp(E[k, p] - top), np.exp(-E[k, p] - top)
            new[k, p] = up - down
            total += up + down
    new *= radius / total
    U += n_seen * (new - W)
    W[:] = new


@nb.njit(cache=True, nogil=True)
def tilt(x, columns, E, top, rest, c, radius, scores, curvature):
    """Logarithm of the sum of all e^(+-(E + x c')), and what scores and curvatures it gives.

    ``rest`` is the sum over features that are not in x, times e^-top.
    """
    d, highest = len(c), top
    for k in range(len(x)):
        for p in range(d):
            highest = max(highest, abs(E[columns[k], p] + c[p] * x[k]))
    total = rest * np.exp(top - highest)
    scores[:] = 0.0
    curvature[:] = 0.0
    for k in range(len(x)):
        for p in range(d):
            at = E[columns[k], p] + c[p] * x[k]
            up, down = np.exp(at - highest), np.exp(-at - highest)
            total += up + down
            scores[p] += x[k] * (up - down)
            curvature[p] += x[k] * x[k] * (up + down)
    scores *= radius / total
    curvature *= radius / total  # the variance is less by scores^2 / radius
    return highest + np.log(total)


@nb.njit(cache=True, nogil=True)
def rest_of(columns, E, seen):
    """The largest absolute exponent, and the sum over other features; ``seen`` is all False."""
    top, rest = np.abs(E).max(), 0.0
    seen[columns] = True
    for k in range(E.shape[0]):
        if not seen[k]:
            for p in range(E.shape[1]):
                rest += np.exp(E[k, p] - top) + np.exp(-E[k, p] - top)
    seen[columns] = False
    return top, rest


@nb.njit(cache=True, nogil=True)
def entropy_step(
    x, columns, E, seen, margin, better, worse, cuts, cap, radius, c, n_rounds, n_sweeps, tol
):  # fmt: skip
    """What each item gains in multiples of x, in ``c``: the most of

        sum of alpha margin - radius (log sum of e^(+-(E + x c')) - log sum of e^(+-E))

    By Newton's rule: curvatures of the scores, which are not below those of the dual, make a
    problem of squares; its solution is the direction of a step. Stops where the duality gap says
    that it is solved.
    """
    d, m = len(c), len(margin)
    scores, curvature, model, ahead = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    alpha, gaps, new = np.zeros(m), np.empty(m), np.empty(m)
    top, rest = rest_of(columns, E, seen)
    begin = tilt(x, columns, E, top, rest, c, radius, scores, curvature)
    value, n_graphs = 0.0, len(cuts) - 1
    for _ in range(n_rounds):
        for e in range(m):
            gaps[e] = margin[e] - scores[better[e]] + scores[worse[e]]
        missing = -(alpha @ gaps)
        for s in range(n_graphs):
            missing += cap * max(gaps[cuts[s] - cuts[0] : cuts[s + 1] - cuts[0]].max(), 0.0)
        if missing <= tol * cap * n_graphs:
            break
        new[:] = alpha
        model[:] = scores
        ahead[:] = 0.0
        fit_row(
            model, curvature, margin, better, worse, cuts, cap, new, ahead, n_sweeps, tol
        )  # fmt: skip
        slope, length, found = (new - alpha) @ gaps, 1.0, False
        for _ in range(MOST_HALVINGS):
            log = tilt(x, columns, E, top, rest, c + length * ahead, radius, scores, curvature)
            reached = (alpha + length * (new - alpha)) @ margin - radius * (log - begin)
            if reached >= value + ENOUGH * length * slope:
                found = True
                break
            length /= 2
        if not found or reached <= value:
            break  # rounding
        value = reached
        alpha += length * (new - alpha)
        c += length * ahead


@nb.njit(cache=True, nogil=True)
def multiplicative_pass(
    data, indices, indptr, squares, heads, ends, better, worse, margin, order, weight, C,
    W, U, E, radius, n_seen, n_rounds, n_sweeps, tol,
):  # fmt: skip
    """Predict, count, update; rows with a mistake, and the sum of their shares of wrong subgraphs.

    The subgraphs of row i are those from ``heads[i]`` to ``heads[i + 1]``.
    """
    d, n_mistakes, loss = W.shape[1], 0, 0.0
    most = np.diff(heads).max() if len(heads) > 1 else 0
    worst, wrong = np.empty(most, np.int64), np.empty(most, np.bool_)
    scores, c, seen = np.empty(d), np.empty(d), np.zeros(len(W), np.bool_)
    for i in order:
        x, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        cuts = ends[heads[i] : heads[i + 1] + 1]
        n_seen += 1.0
        if len(cuts) < 2:
            continue
        row_scores(x, columns, W, scores)
        n_wrong, share = look(scores, margin, better, worse, cuts, worst, wrong), len(cuts) - 1
        n_mistakes += n_wrong > 0
        loss += n_wrong / share
        here, lacks = slice(cuts[0], cuts[-1]), False
        for e in worst[:share]:
            lacks |= margin[e] > scores[better[e]] - scores[worse[e]]
        if not lacks or squares[i] <= 0.0:
            continue
        c[:] = 0.0
        entropy_step(
            x, columns, E, seen, margin[here], better[here], worse[here], cuts,
            C * weight[i] / share, radius, c, n_rounds, n_sweeps, tol,
        )  # fmt: skip
        for k in range(len(x)):
            for p in range(d):
                E[columns[k], p] += x[k] * c[p]
        weigh(E, radius, W, U, n_seen - 1.0)
    return n_mistakes, loss
