# SPDX-License-Identifier: BSD-3-Clause
"""Left-out means of any regressor or classifier, by folds."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skstruct._arrays.checks import is_count
from skstruct._arrays.rows import dense
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, group_numbers
from skstruct.smoothing.classifiers import as_smoother
from skstruct.smoothing.facets import Gaps, LeavingOut, LeavingSomeOut, Weighing, WeighingOfFits
from skstruct.smoothing.folds import folds_of_rows, rank_by_content


@savable
class CrossFitted(SparseRegressor):
    r"""Any estimator of scikit-learn as a smoother whose rows can be left out.

    .. math:: \hat f^{-i}(x_i) = \hat f_{\setminus F}(x_i), \quad i \in F

    A row is predicted by a copy that was fitted to the other folds. Rows of one group are in one
    fold. A classifier gives means by its probabilities,
    :class:`~skstruct.smoothing.ClassifierMeans`. The training rows are kept, so that other targets
    can be learned.

    Parameters
    ----------
    estimator : regressor or classifier
    cv : int, default=5
        Number of folds.

    Attributes
    ----------
    estimator_ : the estimator, fitted to all rows

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(10.0)[:, None]
    >>> CrossFitted(LinearRegression()).fit(X, 2 * X).loo().ravel().round(6)
    array([ 0.,  2.,  4.,  6.,  8., 10., 12., 14., 16., 18.])
    """

    def __init__(self, estimator: Any, cv: int = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        if not is_count(self.cv) or self.cv < 2:
            raise ValueError(f"cv is a number of folds from 2; got {self.cv!r}.")
        X, y = self._read(X, y)
        self.X_fit_, self.targets_ = X, np.asarray(y, dtype=np.float64)
        self.sample_weight_ = check_sample_weight(sample_weight, X)
        self._weighted = sample_weight is not None
        self.estimator_ = self._fitted(np.arange(len(y)))
        return self

    def _fitted(self, rows: np.ndarray) -> Any:
        """A copy of the estimator that has seen these rows alone."""
        estimator, weight = as_smoother(clone(self.estimator)), {}
        if self._weighted:
            if not has_fit_parameter(estimator, "sample_weight"):
                raise ValueError(f"{type(self.estimator).__name__} takes no sample_weight.")
            weight = {"sample_weight": self.sample_weight_[rows]}
        return estimator.fit(self.X_fit_[rows], self.targets_[rows], **weight)

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        return self._means(self.estimator_, self._checked(X))

    def _means(self, estimator: Any, X: Any) -> np.ndarray:
        means = np.asarray(estimator.predict(X), dtype=np.float64)
        return means.reshape(X.shape[0], *self.targets_.shape[1:])

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Predictions for the training rows, each by the folds that it is not in.

        Parameters
        ----------
        rows : array of row numbers, default=None
            Those of some rows, by as few fits as leave no more than a fold out at a time. Groups
            are in it as a whole, or not at all.
        """
        check_is_fitted(self)
        n = len(self.targets_)
        rows = np.arange(n) if rows is None else rows
        number = group_numbers(groups, n, self.sample_weight_)
        key = rank_by_content(self.X_fit_, self.targets_)
        fold = folds_of_rows(rows, number, self.cv, key)
        left = np.empty((len(rows), *self.targets_.shape[1:]))
        for k in np.unique(fold):
            others = np.ones(n, dtype=bool)
            others[rows[fold == k]] = False
            fitted = self._fitted(np.flatnonzero(others))
            left[fold == k] = self._means(fitted, self.X_fit_[rows[fold == k]])
        return left

    def with_targets(self, targets: Any) -> Self:
        """The same estimator, fitted to other targets."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        other.estimator_ = other._fitted(np.arange(len(other.targets_)))
        return other


Gaps.at(CrossFitted, "skstruct.smoothing.gaps:GapsInFolds")
LeavingOut.at(CrossFitted, LeavingSomeOut)
Weighing.at(CrossFitted, WeighingOfFits)
