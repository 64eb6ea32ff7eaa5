# SPDX-License-Identifier: BSD-3-Clause
"""One row after another: what is counted, and how weights follow.

Weights W (n_features, n_items) change in place. U collects every change times the number of rows
seen before it: after t rows the mean of all weights so far is W - U / t.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.learners.label_ranking._numba import add_row, fit_row, row_scores

PERCEPTRON, PRIMAL_DUAL, PASSIVE_AGGRESSIVE = 0, 1, 2


@nb.njit(cache=True, nogil=True)
def look(scores, margin, better, worse, cuts, worst, wrong):
    """The pair of largest hinge of every subgraph, and whether the subgraph is wrong.

    It is, if one of its pairs is not in the right order. Returns how many are.
    """
    n_wrong = 0
    for s in range(len(cuts) - 1):
        largest = -np.inf
        wrong[s] = False
        for e in range(cuts[s], cuts[s + 1]):
            ahead = scores[better[e]] - scores[worse[e]]
            wrong[s] |= ahead <= 0.0
            if margin[e] - ahead > largest:
                largest, worst[s] = margin[e] - ahead, e
        n_wrong += wrong[s]
    return n_wrong


@nb.njit(cache=True, nogil=True)
def additive_pass(
    data, indices, indptr, squares, heads, ends, better, worse, margin, order, weight, rule, C,
    W, U, n_seen, n_sweeps, tol,
):  # fmt: skip
    """Predict, count, update; rows with a mistake, and the sum of their shares of wrong subgraphs.

    The subgraphs of row i are those from ``heads[i]`` to ``heads[i + 1]``.
    """
    d, n_mistakes, loss = W.shape[1], 0, 0.0
    most = np.diff(heads).max() if len(heads) > 1 else 0
    worst, wrong = np.empty(most, np.int64), np.empty(most, np.bool_)
    scores, change, curvature = np.empty(d), np.empty(d), np.empty(d)
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
        change[:] = 0.0
        if rule == PERCEPTRON:
            for s in range(share):
                if wrong[s]:
                    change[better[worst[s]]] += weight[i]
                    change[worse[worst[s]]] -= weight[i]
        elif squares[i] > 0.0 and rule == PRIMAL_DUAL:
            one_step(
                scores, margin, better, worse, worst, wrong[:share], n_wrong > 0,
                C * weight[i] / share, squares[i], change,
            )  # fmt: skip
        elif squares[i] > 0.0:
            here = slice(cuts[0], cuts[-1])
            curvature[:] = squares[i]
            fit_row(
                scores, curvature, margin[here], better[here], worse[here], cuts,
                C * weight[i] / share, np.zeros(cuts[-1] - cuts[0]), change, n_sweeps, tol,
            )  # fmt: skip
        add_row(x, columns, change, 1.0, W)
        add_row(x, columns, change, n_seen - 1.0, U)
    return n_mistakes, loss


@nb.njit(cache=True, nogil=True)
def one_step(scores, margin, better, worse, worst, wrong, some_wrong, cap, square, change):
    """The best step for which the worst pairs of all wrong subgraphs have the same alpha.

    Where no subgraph is wrong, those that lack margin have it.
    """
    total = 0.0
    for s in range(len(wrong)):
        p, q = better[worst[s]], worse[worst[s]]
        gap = margin[worst[s]] - scores[p] + scores[q]
        if wrong[s] or (gap > 0.0 and not some_wrong):
            total += gap
            change[p] += 1.0
            change[q] -= 1.0
    bend = square * (change**2).sum()
    if bend > 0.0:  # preferences have no cycle: something moves
        change *= min(cap, total / bend)
