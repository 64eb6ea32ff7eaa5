# SPDX-License-Identifier: BSD-3-Clause
"""What all label rankers share: rankings in, a reduction, rankings out."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skstruct._arrays.foreign import on_host
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported
from skstruct.fitted import Fitted, FittedScores
from skstruct.learners.inputs import InputReader, given_outputs, read_inputs, row_weights
from skstruct.learners.label_ranking.preferences import CalibratedPreferences
from skstruct.learners.label_ranking.reductions import PreferenceReduction, with_constant
from skstruct.losses import Kendall, pair
from skstruct.spaces import Rankings
from skstruct.spaces.solvers.linear_ordering import pair_blocks, pair_signs


class LabelRanker(CalibratedPreferences, InputReader, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Rank the items for every input, by way of a simpler problem.

    A child has a parameter ``space`` and brings ``_learn(reduced, weight)``, which learns from
    what its reduction made of the rows that have weight, and ``_scores(X)``, one number per
    item, larger is better. Where it knows more than scores, ``_answers(X)`` is what its
    reduction turns into ranks.

    Attributes
    ----------
    space_ : Rankings, fitted
    outputs_ : array of shape (n, d), the training outputs in canonical form
    reduction_ : Reduction
    """

    space: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    @property
    def observation_space_(self) -> Any:
        """The space that ``y`` is from: that of predictions."""
        return self.space_

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from inputs ``X`` (n, p) and rankings ``y`` in any format the space reads.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
            How much each row counts; rows of weight zero do not.
        """
        X = self._begin(X, y)
        rows, weight = self._weighed(sample_weight, X.shape[0])
        X, outputs = self._inputs(X), self.outputs_
        if len(rows) < len(outputs):
            X, outputs = X[rows], outputs[rows]
        self._check_accepted(outputs)
        self._announce()
        self._learn(self._reduced(X, outputs), weight)
        return self

    def _announce(self) -> None:
        """What will be done, where work is shown."""
        n, d = self.outputs_.shape
        announce(f"{type(self).__name__} on {n:,} rankings of {d:,} items")

    def _reduced(self, X: Any, outputs: np.ndarray) -> Any:
        return self.reduction_.apply(X, outputs)

    def _weighed(self, sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows that are learned from, and their weights."""
        weight = row_weights(sample_weight, n)
        kept = np.flatnonzero(weight)
        return kept, weight[kept]

    def _inputs(self, X: Any) -> Any:
        """What is learned from instead of X."""
        return X

    def _begin(self, X: Any, y: Any) -> Any:
        """Checked inputs; the space, the outputs in canonical form and the reduction are set."""
        X, y = self._read(X, y, reset=True)
        self.__dict__.pop("temperature_", None)  # of other scores
        space = Rankings() if self.space is None else self.space
        if not isinstance(space, Rankings):
            raise ValueError(f"{type(self).__name__} predicts Rankings; the space is {space!r}.")
        self.space_ = clone(space)
        self.outputs_ = self.space_.fit_validate(y)
        self.reduction_ = self._reduction(self.space_)
        return X

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        y = given_outputs(y, type(self).__name__)
        X = self._read_first(X) if reset else read_inputs(self, X)
        if self.tokens_ is not None:
            raise ValueError(f"{type(self).__name__} takes one row per ranking, not one per token.")
        check_consistent_length(X, y)
        return X, y

    def _check_accepted(self, outputs: np.ndarray) -> None:
        if not self.reduction_.accepts(outputs):
            raise ValueError(
                f"{type(self).__name__} learns from pairs of items that y orders; no row of y "
                "orders any."
            )

    def _reduction(self, space: Rankings) -> Any:
        return PreferenceReduction(space)

    @abstractmethod
    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        """Learn from what the reduction made of the training rows, of weights (n,)."""

    # ------------------------------------------------------------------ predicting
    def _checked(self, X: Any) -> tuple[Any, None]:
        check_is_fitted(self)
        index = X.index if is_pandas(X, "DataFrame") else None
        return read_inputs(self, X), index

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """One number per item, larger is better; shape (n, d)."""

    def _answers(self, X: Any) -> np.ndarray:
        return self._scores(X)

    def _ranks(self, X: Any, restrict: dict[str, Any] | None = None) -> Any:
        return self._inverted(self._answers(X), restrict)

    def _inverted(self, answers: np.ndarray, restrict: dict[str, Any] | None = None) -> Any:
        """Ranks from answers, within the constraints of ``restrict``."""
        if not restrict:
            return self.reduction_.invert(answers)
        known = list(signature(self.space_.restrict).parameters)
        if not isinstance(restrict, Mapping) or not set(restrict) <= set(known):
            raise ValueError(
                f"restrict is a dictionary with some of {', '.join(known)}; got {restrict!r}."
            )
        return replace(self.reduction_, space=self.space_.restrict(**restrict)).invert(answers)

    def decision_function(self, X: Any) -> np.ndarray:
        """A score of every item, larger is better; shape (n, d)."""
        X, _ = self._checked(X)
        return self._scores(X)

    def predict(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Any:
        """Rankings in the format in which ``y`` was given.

        Parameters
        ----------
        restrict : dict, default=None
            Arguments of :meth:`skstruct.spaces.Rankings.restrict`, such as ``{"top": 3}``.
        """
        X, index = self._checked(X)
        return self.space_.restore(self._ranks(X, restrict), index)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean Kendall tau of the predictions, over the pairs that ``y`` orders."""
        X, _ = self._checked(X)
        check_consistent_length(X, y, sample_weight)
        return mean_tau(self._ranks(X), self.space_.validate(y), sample_weight)


class LinearLabelRanker(LabelRanker):
    r"""A label ranker with scores :math:`\langle w_j, x \rangle + b_j`.

    Attributes
    ----------
    coef_ : array of shape (d, p)
    intercept_ : array of shape (d,)
    """

    fit_intercept: bool

    def _inputs(self, X: Any) -> Any:
        return with_constant(X) if self.fit_intercept else X

    def _keep(self, weights: np.ndarray) -> None:
        """Take over weights (d, p), or (d, p + 1) with the intercepts last."""
        p = weights.shape[1] - bool(self.fit_intercept)
        self.coef_ = weights[:, :p]
        self.intercept_ = weights[:, p] if self.fit_intercept else np.zeros(len(weights))

    def _scores(self, X: Any) -> Any:
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_


def weight_argument(estimator: Any, weight: np.ndarray) -> dict[Any, Any]:
    """``sample_weight`` for the fit of an estimator, where rows do not all weigh one."""
    if (weight == 1.0).all():
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__} takes no sample_weight.")
    return {"sample_weight": weight}


def mean_tau(Z_pred: np.ndarray, Z_true: np.ndarray, sample_weight: Any = None) -> float:
    """Mean over rows of (pairs in the right order - pairs in the wrong one) / pairs ordered.

    Only pairs that the true row orders count; rows that order none are passed over.

    >>> tau = mean_tau(np.array([[1.0, 2, 3], [1, 2, 3]]), np.array([[2.0, 1, 3], [1, 1, 1]]))
    >>> round(tau, 6)
    0.333333
    """
    wrong = wrong_pairs(Z_pred, Z_true)
    ordered = ~np.isnan(wrong)
    if not ordered.any():
        raise ValueError("Kendall's tau needs a pair of items that y orders; no row has one.")
    weights = None if sample_weight is None else np.asarray(on_host(sample_weight))[ordered]
    return float(np.average(1.0 - 2.0 * wrong[ordered], weights=weights))


def wrong_pairs(Z_pred: np.ndarray, Z_true: np.ndarray) -> np.ndarray:
    """Share of the pairs that a true row orders which are in the wrong order, ties by half.

    NaN for a row that orders none; shape (n,).

    >>> wrong_pairs(np.array([[1.0, 2, 3], [1, 2, 3]]), np.array([[2.0, 1, 3], [1, 1, 1]]))
    array([0.33333333,        nan])
    """
    agreement, n_ordered = np.empty(len(Z_true)), np.empty(len(Z_true))
    for rows in pair_blocks(*Z_true.shape):
        true = pair_signs(Z_true[rows])
        agreement[rows] = (pair_signs(Z_pred[rows]) * true).sum(axis=1)
        n_ordered[rows] = np.abs(true).sum(axis=1)
    n_ordered[n_ordered == 0] = np.nan
    return (1.0 - agreement / n_ordered) / 2.0


def best_wrong_pairs(space: Any, outputs: np.ndarray, weight: np.ndarray) -> float | None:
    """Mean of ``wrong_pairs`` of the best order that is the same for all rows.

    None where no row orders a pair.
    """
    view, loss = pair(Kendall(), space, outputs)
    d, total = outputs.shape[1], 0.0
    g, told = np.zeros(d * (d - 1) // 2), np.zeros(len(outputs), bool)
    for rows in pair_blocks(*outputs.shape):
        signs = pair_signs(outputs[rows])
        n_ordered = np.count_nonzero(signs, axis=1)
        told[rows] = (n_ordered > 0) & (weight[rows] > 0)
        share = np.where(told[rows], weight[rows] / np.maximum(n_ordered, 1), 0.0)
        g, total = g + share @ signs, total + share.sum()
    if not told.any():
        return None
    best = view.argmin(loss.cost(g[None], np.full((1, 1), total))).outputs
    wrong = wrong_pairs(np.broadcast_to(best, outputs[told].shape), outputs[told])
    return float(np.average(wrong, weights=weight[told]))


Fitted.at(LabelRanker, FittedScores)
