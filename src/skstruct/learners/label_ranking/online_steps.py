# SPDX-License-Identifier: BSD-3-Clause
"""Weights that follow one row after another, by four rules, and penalties that are compared."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skstruct.learners.label_ranking.base import best_wrong_pairs, wrong_pairs
from skstruct.learners.penalty_path import mean_square
from skstruct.tolerances import PASSIVE_AGGRESSIVE_ACCURACY

METHODS = ("perceptron", "primal-dual", "passive-aggressive", "multiplicative")
FAR_ABOVE = 100.0  # times the mean square of inputs: the strongest penalty
MOST_SWEEPS = 1000  # of a step, over the pairs of its row
MOST_ROUNDS = 200  # of a multiplicative step


@dataclass
class OnlineWeights:
    """Weights (p, d), and what was counted on the way.

    Parameters
    ----------
    method : one of METHODS
    alpha : float, or None for a perceptron
    radius : float, the sum of absolute weights that is not reached by a multiplicative step
    moments : array of shape (p, d)
        Every change times the number of rows before it.
    exponents : array of shape (p, d), or None where nothing is multiplied
    """

    method: str
    alpha: float | None
    radius: float
    weights: np.ndarray
    moments: np.ndarray
    exponents: np.ndarray | None = None
    n_seen: int = 0
    n_mistakes: int = 0
    loss: float = 0.0

    @classmethod
    def zeros(cls, method: str, alpha: float | None, radius: float, shape: tuple[int, int]) -> Self:
        multiplied = np.zeros(shape) if method == "multiplicative" else None
        return cls(method, alpha, radius, np.zeros(shape), np.zeros(shape), multiplied)

    def visit(self, preferences: Any, order: np.ndarray, weight: np.ndarray) -> None:
        """Rows in an order: predict, count, update."""
        X = sparse.csr_array(preferences.X)
        rows = X.data, X.indices, X.indptr, row_norms(X, squared=True)
        graphs = preferences.first_subgraphs, preferences.ends
        pairs = preferences.better, preferences.worse, preferences.margin
        reach = 1.0 if self.alpha is None else 1.0 / self.alpha
        step = self._add if self.exponents is None else self._multiply
        n_mistakes, loss = step((*rows, *graphs, *pairs, order, weight), reach)
        self.n_mistakes += n_mistakes
        self.loss += loss
        self.n_seen += len(order)

    def _add(self, rows: tuple[Any, ...], reach: float) -> Any:
        from skstruct.learners.label_ranking import _numba_online as compiled

        rule = {
            "perceptron": compiled.PERCEPTRON,
            "primal-dual": compiled.PRIMAL_DUAL,
            "passive-aggressive": compiled.PASSIVE_AGGRESSIVE,
        }[self.method]
        return compiled.additive_pass(
            *rows, rule, reach, self.weights, self.moments, float(self.n_seen), MOST_SWEEPS,
            PASSIVE_AGGRESSIVE_ACCURACY,
        )  # fmt: skip

    def _multiply(self, rows: tuple[Any, ...], reach: float) -> Any:
        from skstruct.learners.label_ranking._numba_multiplicative import multiplicative_pass

        return multiplicative_pass(
            *rows, reach, self.weights, self.moments, self.exponents, float(self.radius),
            float(self.n_seen), MOST_ROUNDS, MOST_SWEEPS, PASSIVE_AGGRESSIVE_ACCURACY,
        )  # fmt: skip

    def mean(self) -> np.ndarray:
        """Of the weights after every row so far."""
        return self.weights - self.moments / self.n_seen


def entropy_scale(method: str, radius: float, shape: tuple[int, int]) -> float:
    """What a penalty of squares is times, for steps from zero as long in the entropy.

    Near zero the entropy of weights w is d p |w|^2 / (2 radius).
    """
    return radius / (shape[0] * shape[1]) if method == "multiplicative" else 1.0


class OnlinePath:
    """How rows are learned one at a time, for each of several penalties anew.

    What was learned with one penalty is no beginning for the next: the order of the rows is a part
    of it.

    Parameters
    ----------
    learner : OnlineLabelRanker
    reduced : Subgraphs, of all rows
    outputs : array of shape (n, d)
    weight : array of shape (n,)
    """

    def __init__(self, learner: Any, reduced: Any, outputs: np.ndarray, weight: np.ndarray) -> None:
        self.learner, self.X, self.outputs, self.weight = learner, reduced.X, outputs, weight
        self.shape = self.X.shape[1], outputs.shape[1]

    def scale(self) -> tuple[float, float]:
        """A hundred times the mean square of inputs, and their spread.

        At the mean square itself a step may change the scores of its row by one.
        """
        square, spread = mean_square(self.X, self.weight)
        learner = self.learner
        return (
            FAR_ABOVE * square * entropy_scale(learner.method, learner.radius, self.shape),
            spread,
        )

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """Weights (p, d) learned from these rows, in their order; their pairs are listed once."""
        learner, rows = self.learner, np.sort(rows)
        if start is None:
            start = learner.reduction_.apply(self.X[rows], self.outputs[rows])
        rng, n = np.random.default_rng(len(rows)), len(rows)
        learned = OnlineWeights.zeros(learner.method, alpha, learner.radius, self.shape)
        for _ in range(learner.max_iter):
            order = rng.permutation(n) if learner.shuffle else np.arange(n)
            learned.visit(start, order, self.weight[rows])
        return learned.mean() if learner.average else learned.weights, start

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> np.ndarray:
        """Shares of pairs in the wrong order."""
        scores = safe_sparse_dot(self.X[rows], fitted, dense_output=True)
        return wrong_pairs(self.learner._inverted(scores), self.outputs[rows])

    def constant_risk(self) -> float | None:
        """Of the order that is best for all rows."""
        return best_wrong_pairs(self.learner.space_, self.outputs, self.weight)
