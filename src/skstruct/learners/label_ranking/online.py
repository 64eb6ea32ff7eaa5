# SPDX-License-Identifier: BSD-3-Clause
"""Linear label ranking, one row after another: perceptron and passive-aggressive."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, track
from skstruct.learners.label_ranking.base import LinearLabelRanker, wrong_pairs
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.penalty_path import (
    check_alpha,
    choose_alpha,
    is_given,
    mean_square,
    split_rows,
    strongest,
)
from skstruct.saving import check_floats, require, savable
from skstruct.tolerances import PASSIVE_AGGRESSIVE_ACCURACY

FAR_ABOVE = 100.0  # times the mean square of inputs: the strongest penalty
MOST_SWEEPS = 1000  # of a passive-aggressive step


@savable
class OnlineLabelRanker(LinearLabelRanker):
    r"""Linear scores learned one row at a time, also from data that comes in pieces.

    "perceptron": every pair in the wrong order moves its two items,
    :math:`w_p \leftarrow w_p + x,\ w_q \leftarrow w_q - x` [1]_. "passive-aggressive": the
    nearest weights with all margins of the row,

    .. math:: \min_w \tfrac\alpha2 \|w - w_t\|^2 + \frac{1}{|E|} \sum_{(p, q) \in E}
              \max(0, 1 - \langle w_p - w_q, x \rangle)

    over all pairs E that the row orders at once (PA-I [2]_), found by coordinate ascent in
    the d scores of the row. With :math:`\alpha \to 0` every margin of the row then holds.

    A row of weight s makes steps s times as long, or moves as far as alpha / s allows, and is one
    visit: rows of weight zero are not visited. Between two items a passive-aggressive row of
    weight two is that row twice in a row.

    Parameters
    ----------
    space : Rankings, default=None
        For ``partial_fit`` it names the items, unless all are in the first ``y``.
    method : "perceptron" or "passive-aggressive", default="passive-aggressive"
    alpha : float, several, or "auto", default="auto"
        Reluctance to move: a passive-aggressive step goes no further than its inverse allows.
        Several are compared by the share of pairs in the wrong order of left-out rows (Kendall's
        loss): five folds, or a fifth of more than a thousand rows once, from strong to weak, until
        the loss rises. "auto" tries half decades over five decades, from a hundred times the mean
        square of the inputs. It is that mean square itself for ``partial_fit``, by the rows of
        the first call, and where fewer than five rows leave nothing to compare by. A perceptron
        has no penalty.
    max_iter : int, default=20
        Passes of ``fit`` over the rows; ``partial_fit`` makes one.
    average : bool, default=True
        Predict with the mean of the weights after all rows so far, not with the last.
    fit_intercept : bool, default=True
        A constant feature.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in random order.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    alpha_ : float, the penalty; None for a perceptron
    search_ : LeaveOutSearch or None, the penalties tried with their left-out losses
    coef_, intercept_ : arrays of shape (d, p) and (d,)
    n_mistakes_ : int
        Rows, counted as often as they were visited, that had a pair in the wrong order
        when they came.
    n_seen_ : int, rows visited
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`;
        the outputs are those of the last call

    References
    ----------
    .. [1] K. Crammer, Y. Singer, "A family of additive online algorithms for category
       ranking", JMLR 3, 2003.
    .. [2] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online
       passive-aggressive algorithms", JMLR 7, 2006.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> OnlineLabelRanker(random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    alpha_: float | None
    search_: LeaveOutSearch | None

    def __init__(
        self,
        space: Any = None,
        *,
        method: str = "passive-aggressive",
        alpha: Any = "auto",
        max_iter: int = 20,
        average: bool = True,
        fit_intercept: bool = True,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.method = method
        self.alpha = alpha
        self.max_iter = max_iter
        self.average = average
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.method not in ("perceptron", "passive-aggressive"):
            raise ValueError(
                f'method is "perceptron" or "passive-aggressive"; got {self.method!r}.'
            )
        check_alpha(self.alpha)
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")

    def _check_saved(self) -> None:
        if hasattr(self, "weights_"):
            check_floats(self, ["weights_", "moments_"], 2)
            same = self.weights_.shape == self.moments_.shape
            fits = len(self.space_.items_) in self.weights_.shape
            require(same and fits, "weights of a ranker that do not fit its items")

    def _begin(self, X: Any, y: Any) -> Any:
        self._check_parameters()
        X = super()._begin(X, y)
        shape = X.shape[1] + bool(self.fit_intercept), self.outputs_.shape[1]
        self.weights_, self.moments_ = np.zeros(shape), np.zeros(shape)
        self.n_seen_ = self.n_mistakes_ = 0
        self.alpha_ = self.search_ = None
        return X

    def _reduced(self, X: Any, outputs: np.ndarray) -> Any:
        return super()._reduced(X, outputs), outputs

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        reduced, outputs = reduced
        if self.method == "passive-aggressive":
            self.alpha_, self.search_ = self._chosen(reduced, outputs, weight)
        n, rng = reduced.X.shape[0], check_random_state(self.random_state)
        for _ in track(range(self.max_iter), "epochs", self.verbose):
            self._visit(reduced, rng.permutation(n) if self.shuffle else np.arange(n), weight)

    def _chosen(
        self, reduced: Any, outputs: np.ndarray, weight: np.ndarray
    ) -> tuple[float, LeaveOutSearch | None]:
        path = OnlinePath(self, reduced, outputs, weight)
        return choose_alpha(
            self.alpha,
            path,
            lambda: split_rows(outputs, weight, self.random_state, reduced.X),
            weight,
            self.verbose,
        )

    def _fixed_alpha(self, X: Any, weight: np.ndarray) -> float:
        """The penalty of rows that come in pieces: one that is given, or the mean square of X."""
        if is_given(self.alpha):
            return float(self.alpha)
        if not isinstance(self.alpha, str):
            raise ValueError(
                f'partial_fit leaves no rows out: alpha is a number, or "auto"; got {self.alpha!r}.'
            )
        return strongest(mean_square(X, weight)[0] if weight.sum() > 0 else 1.0)

    @reported
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Visit the rows of ``X`` (n, p) and ``y`` once, in their order.

        The first call learns the items, from ``space`` or from ``y``. Weights are those of ``fit``.
        """
        if not hasattr(self, "n_seen_"):
            X = self._begin(X, y)
            self._check_accepted(self.outputs_)
        else:
            self._check_parameters()
            X, y = self._read(X, y, reset=False)
            self.outputs_ = self.space_.validate(y)
        rows, weight = self._weighed(sample_weight, X.shape[0])
        X = self._inputs(X)[rows]
        if self.method == "perceptron":
            self.alpha_ = None
        elif self.alpha_ is None or is_given(self.alpha):
            self.alpha_ = self._fixed_alpha(X, weight)
        reduced = self.reduction_.apply(X, self.outputs_[rows])
        self._visit(reduced, np.arange(len(rows)), weight)
        return self

    def _visit(self, preferences: Any, order: np.ndarray, weight: np.ndarray) -> None:
        learned = self.weights_, self.moments_, self.n_seen_
        self.n_mistakes_ += one_pass(preferences, order, weight, self.alpha_, *learned)
        self.n_seen_ += len(order)
        mean = self.weights_ - self.moments_ / self.n_seen_ if self.average else self.weights_
        self._keep(np.array(mean.T, order="C"))


def one_pass(
    preferences: Any,
    order: np.ndarray,
    weight: np.ndarray,
    alpha: float | None,
    weights: np.ndarray,
    moments: np.ndarray,
    n_seen: int,
) -> Any:
    """Visit rows in an order, and change weights (p, d) and moments; the rows with a mistake.

    Steps are those of a perceptron where alpha is None.
    """
    from skstruct.learners.label_ranking._numba import online_pass

    X = sparse.csr_array(preferences.X)
    rows = X.data, X.indices, X.indptr, row_norms(X, squared=True)
    pairs = preferences.starts, preferences.better, preferences.worse
    aggressive, reach = alpha is not None, 1.0 if alpha is None else 1.0 / alpha
    return online_pass(
        *rows, *pairs, order, weight, aggressive, reach, weights, moments, float(n_seen),
        MOST_SWEEPS, PASSIVE_AGGRESSIVE_ACCURACY,
    )  # fmt: skip


class OnlinePath:
    """How rows are learned one at a time, for each of several penalties anew.

    What was learned with one penalty is no beginning for the next: the order of the rows is a part
    of it.

    Parameters
    ----------
    learner : OnlineLabelRanker
    reduced : Preferences, of all rows
    outputs : array of shape (n, d)
    weight : array of shape (n,)
    """

    def __init__(
        self, learner: OnlineLabelRanker, reduced: Any, outputs: np.ndarray, weight: np.ndarray
    ) -> None:
        self.learner, self.X, self.outputs, self.weight = learner, reduced.X, outputs, weight

    def scale(self) -> tuple[float, float]:
        """A hundred times the mean square of inputs, and their spread.

        At the mean square itself a step may change the scores of its row by one.
        """
        square, spread = mean_square(self.X, self.weight)
        return FAR_ABOVE * square, spread

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """Weights (p, d) learned from these rows, whose pairs are listed once."""
        learner = self.learner
        if start is None:
            start = learner.reduction_.apply(self.X[rows], self.outputs[rows])
        rng, n = np.random.default_rng(len(rows)), len(rows)
        weights = np.zeros((self.X.shape[1], self.outputs.shape[1]))
        moments = np.zeros_like(weights)
        for epoch in range(learner.max_iter):
            order = rng.permutation(n) if learner.shuffle else np.arange(n)
            one_pass(start, order, self.weight[rows], alpha, weights, moments, epoch * n)
        if learner.average:
            weights = weights - moments / (n * learner.max_iter)
        return weights, start

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> np.ndarray:
        """Shares of pairs in the wrong order."""
        scores = safe_sparse_dot(self.X[rows], fitted, dense_output=True)
        return wrong_pairs(self.learner._inverted(scores), self.outputs[rows])
