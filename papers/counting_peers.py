# SPDX-License-Identifier: BSD-3-Clause
"""Machines that structured ridge regression was compared with.

The multi-label machine of Elisseeff and Weston, "A kernel method for multi-labelled
classification", NIPS 2001: scores with a margin between every label of a row and every label
that the row does not have, and a threshold that is a linear function of the scores; and
policies learned by margins with the decoder of the thesis, the best of some random cycles.
"""

from __future__ import annotations

import numpy as np

from skstruct.learners import LabelRankingSVM
from skstruct.spaces import Cycles
from skstruct.spaces.contracts import Decoded, Guarantee

GRAM = "precomputed"


class MultilabelMachine:
    """Labels whose score is above a threshold; inputs are rows of a Gram matrix.

    The scores are those of LabelRankingSVM with the labels of a row tied before all others:
    its pairs are those of Elisseeff and Weston, and so is its objective,
    |w|^2 / 2 + C sum_i 1 / (|Y_i| |not Y_i|) sum of hinges.
    """

    def __init__(self, C=1.0, *, tol=1e-2, max_iter=300):
        self.C, self.tol, self.max_iter = C, tol, max_iter

    def fit(self, K, Y):
        ranks = 2 - np.asarray(Y, dtype=np.int64)  # 1: has it, 2: has it not
        self.ranker_ = LabelRankingSVM(
            alpha=1 / (self.C * len(ranks)),
            kernel=GRAM,
            fit_intercept=True,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
        ).fit(K, ranks)
        scores = self.decision_function(K)
        design = np.column_stack([scores, np.ones(len(scores))])
        self.threshold_ = np.linalg.lstsq(design, best_thresholds(scores, Y), rcond=None)[0]
        return self

    def decision_function(self, K):
        return self.ranker_.decision_function(K)

    def predict(self, K):
        scores = self.decision_function(K)
        thresholds = scores @ self.threshold_[:-1] + self.threshold_[-1]
        return (scores > thresholds[:, None]).astype(np.int8)


def best_thresholds(scores, Y):
    """For every row the threshold with fewest labels on the wrong side; shape (n,).

    Where an interval is best, its middle; half a unit outside where it has one end only.

    >>> scores = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    >>> best_thresholds(scores, np.array([[1, 0, 0], [1, 1, 1]]))
    array([2.5, 0.5])
    """
    order = np.argsort(-scores, axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    has = np.take_along_axis(np.asarray(Y), order, axis=1)
    # After the k best: labels missed below, and others let in above; shape (n, d + 1).
    let_in = np.pad(np.cumsum(1 - has, axis=1), ((0, 0), (1, 0)))
    missed = has.sum(axis=1, keepdims=True) - np.pad(np.cumsum(has, axis=1), ((0, 0), (1, 0)))
    k = np.argmin(let_in + missed, axis=1)
    edges = np.pad(sorted_scores, ((0, 0), (1, 1)))
    edges[:, 0], edges[:, -1] = sorted_scores[:, 0] + 1.0, sorted_scores[:, -1] - 1.0
    rows = np.arange(len(scores))
    return (edges[rows, k] + edges[rows, k + 1]) / 2


def ranking_loss(scores, Y):
    """Share of pairs (has, has not) in the wrong order, ties half, averaged over the rows.

    Rows with all labels or none order nothing and are passed over.

    >>> ranking_loss(np.array([[3.0, 1.0, 2.0]]), np.array([[0, 1, 0]]))
    1.0
    """
    Y = np.asarray(Y, dtype=bool)
    gap = scores[:, :, None] - scores[:, None, :]  # shape: (n, has, has not)
    pairs = Y[:, :, None] & ~Y[:, None, :]
    wrong = ((gap < 0) + 0.5 * (gap == 0)) * pairs
    n_pairs = pairs.sum(axis=(1, 2))
    kept = n_pairs > 0
    return float((wrong.sum(axis=(1, 2))[kept] / n_pairs[kept]).mean())


class LuckyCycles(Cycles):
    """Cycles of which the best one is taken for the best of some that are drawn at random."""

    n_draws = 25

    @property
    def guarantee(self):
        return Guarantee("bound only")

    def argmin(self, costs):
        rng = self.__dict__.setdefault("_rng", np.random.default_rng(0))
        n = len(costs)
        drawn = self.sample(n * self.n_draws, rng)
        psi = self.embed(drawn).reshape(n, self.n_draws, -1)
        values = np.einsum("nkd,nd->nk", psi, costs)
        best = values.argmin(axis=1)
        outputs = drawn.reshape(n, self.n_draws, -1)[np.arange(n), best]
        # No coordinate of psi is larger than one.
        return Decoded(outputs, values.min(axis=1), -np.abs(costs).sum(axis=1))
