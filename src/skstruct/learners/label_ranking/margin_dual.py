# SPDX-License-Identifier: BSD-3-Clause
"""The dual of margins between items, and how it is solved along a path of penalties."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skstruct.learners.label_ranking.base import best_wrong_pairs, wrong_pairs
from skstruct.learners.penalty_path import LOOSER, mean_square

MOST_PASSES = 50  # of one training along a path of penalties
SWEEPS = 1  # over the pairs of a row per visit: more gained nothing on real data


class DualProblem:
    """The variables of the dual, one per preference, and the value of both problems.

    Parameters
    ----------
    preferences : Subgraphs
    weight : array of shape (n,)
    K : array of shape (n, n), default=None
        Gram matrix of the rows, where there is a kernel.
    """

    n_iter, objective, gap = 0, np.inf, np.inf
    weights: np.ndarray  # shape: (p, d), or (n, d) of a kernel

    def __init__(self, preferences: Any, weight: np.ndarray, K: np.ndarray | None = None) -> None:
        self.preferences, self.K = preferences, K
        self.share = weight / weight.sum()
        self.heads, self.ends = preferences.first_subgraphs, preferences.ends
        self.dual = np.zeros(len(preferences.rows))
        steps = _linear_steps if K is None else _kernel_steps
        self._epoch, self._evaluate = steps(self)

    def solve(self, alpha: float, tol: float, passes: Any, rng: Any) -> bool:
        """Passes over the rows, in random order, until the gap is small; whether it is.

        Variables that are feasible for a stronger penalty are so for a weaker one, with the same
        weights: another call goes on from where the last one has ended.
        """
        self.alpha = alpha
        self.upper = self.share / (alpha * np.maximum(np.diff(self.heads), 1))  # shape: (n,)
        visited = np.flatnonzero(self.share)
        for _ in passes:
            self.n_iter += 1
            self._epoch(rng.permutation(visited))
            scores, square = self._evaluate()
            self.objective, value = self.values(scores, square)
            self.gap = max(0.0, self.objective - value)  # below zero by rounding only
            if self.gap <= tol * self.objective:
                return True
        return False

    def values(self, scores: np.ndarray, square: float) -> tuple[float, float]:
        """Primal and dual objective from scores (n, d) and the squared norm of w."""
        graphs, alpha = self.preferences, self.alpha
        loss = float(self.upper[graphs.rows[graphs.begins]] @ graphs.hinges(scores))
        reached = float(self.dual @ graphs.margin)
        return alpha * (square / 2 + loss), alpha * (reached - square / 2)

    @property
    def pairs(self) -> tuple[np.ndarray, ...]:
        graphs = self.preferences
        return self.heads, self.ends, graphs.better, graphs.worse, graphs.margin, self.upper


def _linear_steps(dual: DualProblem) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from skstruct.learners.label_ranking._numba import linear_epoch

    X = sparse.csr_array(dual.preferences.X)
    squares = row_norms(X, squared=True)
    dual.weights = np.zeros((X.shape[1], dual.preferences.n_items))

    def epoch(order: np.ndarray) -> None:
        rows = X.data, X.indices, X.indptr, squares
        linear_epoch(*rows, *dual.pairs, order, dual.dual, dual.weights, SWEEPS, 0.0)

    return epoch, lambda: (dual.preferences.X @ dual.weights, float((dual.weights**2).sum()))


def _kernel_steps(dual: DualProblem) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from skstruct.learners.label_ranking._numba import kernel_epoch

    K: Any = dual.K
    dual.weights = np.zeros((len(K), dual.preferences.n_items))

    def epoch(order: np.ndarray) -> None:
        kernel_epoch(K, *dual.pairs, order, dual.dual, dual.weights, SWEEPS, 0.0)

    def evaluate() -> tuple[np.ndarray, float]:
        scores = K @ dual.weights
        return scores, float((dual.weights * scores).sum())

    return epoch, evaluate


class RankingPath:
    """How the machine is trained along a path of penalties.

    Parameters
    ----------
    learner : LabelRankingSVM
    reduced : Subgraphs, of all rows
    K : array of shape (n, n), or None
    weight : array of shape (n,)
    """

    def __init__(
        self, learner: Any, reduced: Any, K: np.ndarray | None, weight: np.ndarray
    ) -> None:
        self.learner, self.X, self.K, self.weight = learner, reduced.X, K, weight

    def scale(self) -> tuple[float, float]:
        """Twice the mean square of inputs, as a pair of items has two weights, and their spread."""
        if self.K is None:
            square, spread = mean_square(self.X, self.weight)
            return 2.0 * square, spread
        share = self.weight / self.weight.sum()
        square = float(share @ self.K.diagonal())
        spread = 1.0 - float(share @ self.K @ share) / square if square > 0 else 1.0
        return 2.0 * square, spread

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """A dual of these rows, solved: the next weaker penalty goes on from it."""
        learner = self.learner
        if start is None:
            reduced = learner.reduction_.apply(self.X[rows], learner.outputs_[rows])
            K = None if self.K is None else self.K[np.ix_(rows, rows)]
            start = DualProblem(reduced, self.weight[rows], K), np.random.RandomState(len(rows))
        dual, rng = start
        passes = range(min(learner.max_iter, MOST_PASSES))
        dual.solve(alpha, LOOSER * learner.tol, passes, rng)
        return (dual.weights, rows), start

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> np.ndarray:
        """Shares of pairs in the wrong order."""
        weights, learned = fitted
        if self.K is None:
            scores = safe_sparse_dot(self.X[rows], weights, dense_output=True)
        else:
            scores = self.K[np.ix_(rows, learned)] @ weights
        return wrong_pairs(self.learner._inverted(scores), self.learner.outputs_[rows])

    def constant_risk(self) -> float | None:
        """Of the order that is best for all rows."""
        return best_wrong_pairs(self.learner.space_, self.learner.outputs_, self.weight)
