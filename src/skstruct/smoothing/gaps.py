# SPDX-License-Identifier: BSD-3-Clause
"""Smoothers of targets of which some are not known, made of those that need them all."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, column_means, group_numbers
from skstruct.smoothing.facets import (
    Gaps,
    GapsTaken,
    Learning,
    LeavingOut,
    LeavingSomeOut,
    Penalties,
    Weighing,
    WeighingByTarget,
    WeighingOfFits,
)
from skstruct.smoothing.folds import folds_of_rows, rank_by_content
from skstruct.smoothing.masked_ridge import MaskedRidge
from skstruct.smoothing.penalties import fit_and_leave_out
from skstruct.smoothing.scaled import Scaled

FILLING = 200  # landmarks of the ridge regression that fills targets for trees to grow by
FEW_PATTERNS = 2  # that a smoother is fitted for one by one; a column of ones is one of them
LITTLE = 1e-3  # weight of rows that know a target, below which all rows are asked


class AveragesOfKnown(Gaps):
    """Of means: averages over the rows that know a target."""

    __slots__ = ()

    def taking(self, targets: np.ndarray | None = None) -> Any:
        few = _has_few_patterns(targets)
        return ByPattern(self.smoother) if few else MaskedAverage(self.smoother)


class RidgeOfKnown(Gaps):
    """Of ridge regressions: one that takes each target from the rows that know it."""

    __slots__ = ()

    def taking(self, targets: np.ndarray | None = None) -> Any:
        if _has_few_patterns(targets):
            return ByPattern(self.smoother)
        given = self.smoother.get_params(deep=False)
        names = ("alpha", "fit_intercept", "n_landmarks", "random_state")
        shared = {name: given[name] for name in names if name in given}
        return MaskedRidge(given.get("kernel", "linear"), **shared)


def _has_few_patterns(targets: np.ndarray | None) -> bool:
    """Whether the targets are known in few sets of rows."""
    if targets is None:
        return False
    return len(np.unique(~np.isnan(targets.T), axis=0)) <= FEW_PATTERNS


class _Matrix(SparseRegressor):
    """Targets as a matrix (n, q), whatever they came as."""

    targets_: np.ndarray
    _groups: Any = None  # of rows that are left out together

    def _keep(self, X: Any, y: Any, sample_weight: Any) -> None:
        self.X_fit_, y = self._read(X, y)
        self.targets_ = np.asarray(y, dtype=np.float64)
        self._weighted = sample_weight is not None
        self.sample_weight_ = check_sample_weight(sample_weight, self.X_fit_)

    def _matrix(self) -> np.ndarray:
        return self.targets_ if self.targets_.ndim == 2 else self.targets_[:, None]

    def _shaped(self, means: np.ndarray) -> np.ndarray:
        return means if self.targets_.ndim == 2 else means[:, 0]


@savable
class ByPattern(_Matrix):
    r"""Any regressor, fitted for each target to the rows that know it.

    Targets that are known in the same rows are fitted together: one copy for each pattern.

    Parameters
    ----------
    estimator : regressor, or smoother of this library
    cv : int, default=5
        Folds of rows that are left out together, where the estimator has no other way.

    Attributes
    ----------
    columns_ : list of int arrays
        The targets of each pattern.
    parts_ : list of fitted estimators

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(6.0)[:, None]
    >>> T = np.hstack([X, 2 * X])
    >>> T[1::2, 1] = np.nan
    >>> ByPattern(LinearRegression()).fit(X, T).predict([[10.0]])
    array([[10., 20.]])
    """

    def __init__(self, estimator: Any, cv: int = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,), NaN where they are not known.

        ``groups`` of rows are left out together where the estimator chooses a penalty.
        """
        self._keep(X, y, sample_weight)
        self._groups = groups
        return self._fit_parts()

    def _fit_parts(self) -> Self:
        known = ~np.isnan(self._matrix())
        patterns, of_target = np.unique(known.T, axis=0, return_inverse=True)
        of_target = of_target.reshape(-1)
        self.columns_ = [np.flatnonzero(of_target == k) for k in range(len(patterns))]
        rows = np.arange(len(known))
        self.parts_ = [self._fitted(k, rows) for k in range(len(patterns))]
        return self

    def _fitted(self, k: int, among: np.ndarray) -> Any:
        """The estimator of a pattern, from some rows; the mean where none knows its targets."""
        from skstruct.smoothing.classifiers import as_smoother

        columns, T = self.columns_[k], self._matrix()
        rows = among[~np.isnan(T[among, columns[0]])]
        targets = T[np.ix_(rows, columns)]
        if len(rows) < 2 or (targets == targets[:1]).all():
            return _Constant(targets.mean(axis=0) if len(rows) else np.zeros(len(columns)))
        estimator, weight = as_smoother(self._with_kernel(clone(self.estimator))), {}
        if self._weighted:
            if not has_fit_parameter(estimator, "sample_weight"):
                raise ValueError(f"{type(self.estimator).__name__} takes no sample_weight.")
            weight = {"sample_weight": self.sample_weight_[rows]}
        if isinstance(Penalties.of(estimator).given, str):
            groups = None if self._groups is None else np.asarray(self._groups)[rows]
            given = self.X_fit_[rows], targets, weight.get("sample_weight"), groups
            return fit_and_leave_out(estimator, *given)[0]
        if not LeavingOut.of(estimator).known:
            targets = targets if len(columns) > 1 else targets[:, 0]
        return estimator.fit(self.X_fit_[rows], targets, **weight)

    def _with_kernel(self, estimator: Any) -> Any:
        """With the width of its kernel settled by all rows, those without targets included."""
        kernel = Learning.of(estimator).kernel
        if kernel is None:
            return estimator
        from skstruct.kernels import resolve_kernel

        settled = resolve_kernel(kernel).fit(self.X_fit_, self.sample_weight_)
        gamma = getattr(settled, "gamma_", None)
        if gamma is None:
            return estimator
        return estimator.set_params(kernel=resolve_kernel(kernel).with_gamma(gamma))

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        X = self._checked(X)
        return self._shaped(self._means(self.parts_, X))

    def _means(self, parts: list[Any], X: Any) -> np.ndarray:
        found = np.empty((X.shape[0], self._matrix().shape[1]))
        for columns, part in zip(self.columns_, parts):
            found[:, columns] = np.asarray(part.predict(X)).reshape(X.shape[0], -1)
        return found

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Means of the training rows, each by the folds that it is not in; or of some rows.

        Groups are in ``rows`` as a whole, or not at all. In closed form for linear smoothers, by
        folds for others.
        """
        rows = np.arange(len(self.targets_)) if rows is None else rows
        number = group_numbers(groups, len(self.targets_), self.sample_weight_)
        left, by_folds = np.empty((len(rows), self._matrix().shape[1])), []
        for k, part in enumerate(self.parts_):
            if Weighing.of(part).is_linear:
                left[:, self.columns_[k]] = self._in_closed_form(k, number)[rows]
            else:
                by_folds.append(k)
        if by_folds:
            self._leave_folds_out(by_folds, rows, number, left)
        return self._shaped(left)

    def _in_closed_form(self, k: int, number: np.ndarray) -> np.ndarray:
        r"""Left-out means of a linear part; shape (n, columns).

        A row of group G that does not know the target is predicted without G by
        :math:`f(x) - \sum_{i \in G} w_i(x) (t_i - f^{-G}(x_i))`: a fit without rows is that to all
        of them with their left-out means for targets.
        """
        part, columns, T = self.parts_[k], self.columns_[k], self._matrix()
        known = ~np.isnan(T[:, columns[0]])
        left = np.empty((len(T), len(columns)))
        left[known] = np.asarray(part.loo(number[known])).reshape(-1, len(columns))
        if known.all():
            return left
        wrong = T[np.ix_(known, columns)] - left[known]
        others = np.flatnonzero(~known)
        for block in row_blocks(len(others), 24 * int(known.sum()), "64MB"):
            here = others[block]
            own = dense(part.weights(self.X_fit_[here])) * (number[here, None] == number[known])
            means = np.asarray(part.predict(self.X_fit_[here])).reshape(len(here), -1)
            left[here] = means - own @ wrong
        return left

    def _leave_folds_out(
        self, parts: list[int], rows: np.ndarray, number: np.ndarray, left: np.ndarray
    ) -> None:
        """Set the columns of some parts of ``left`` (k, q) by fits to other folds."""
        n = len(self.targets_)
        key = rank_by_content(self.X_fit_, np.zeros((n, 1)))
        fold = folds_of_rows(rows, number, self.cv, key)
        for f in np.unique(fold):
            others = np.ones(n, bool)
            others[rows[fold == f]] = False
            inside = self.X_fit_[rows[fold == f]]
            for k in parts:
                means = self._fitted(k, np.flatnonzero(others)).predict(inside)
                shape = inside.shape[0], len(self.columns_[k])
                left[np.ix_(fold == f, self.columns_[k])] = np.asarray(means).reshape(shape)

    def with_targets(self, targets: Any) -> Self:
        """The same estimators, fitted to other targets."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        return other._fit_parts()


@savable
class _Constant:
    """Predicts the same for all rows."""

    _saved_arguments = ("value",)

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def predict(self, X: Any) -> np.ndarray:
        return np.tile(self.value, (X.shape[0], 1))


@savable
class MaskedAverage(_Matrix):
    r"""A smoother that averages, over the rows that know a target.

    .. math:: \hat f_j(x) = \frac{\sum_i w_i(x) m_{ij} t_{ij}}{\sum_i w_i(x) m_{ij}}

    with :math:`m_{ij} = 1` where target j of row i is known. What grows by its targets, a forest,
    grows by those filled with the means of a ridge regression of what is known.

    Parameters
    ----------
    smoother : linear smoother with weights that are not negative
        :class:`Forest`, :class:`Neighbors`, :class:`NadarayaWatson`.

    Examples
    --------
    >>> from skstruct.smoothing import Neighbors
    >>> T = np.array([[0.0, np.nan], [2.0, 4.0], [9.0, 8.0]])
    >>> MaskedAverage(Neighbors(2)).fit([[0.0], [1.0], [5.0]], T).predict([[0.4]])
    array([[1., 4.]])
    """

    def __init__(self, smoother: Any) -> None:
        self.smoother = smoother

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,), NaN where they are not known."""
        self._keep(X, y, sample_weight)
        given = {} if sample_weight is None else {"sample_weight": self.sample_weight_}
        smoother = clone(self.smoother)
        if groups is not None and has_fit_parameter(smoother, "groups"):
            given["groups"] = groups
        self.smoother_ = smoother.fit(self.X_fit_, self._filled(groups), **given)
        return self._with_known()

    def _filled(self, groups: Any) -> np.ndarray:
        T = self._matrix()
        ridge = Scaled(MaskedRidge(tol=1e-4, n_landmarks=FILLING))
        means = ridge.fit(self.X_fit_, T, self.sample_weight_, groups).predict(self.X_fit_)
        return np.where(np.isnan(T), means, T)

    def _with_known(self) -> Self:
        """The smoother of sums over rows that know a target, and of how many these are."""
        T = self._matrix()
        known = ~np.isnan(T)
        self.centre_ = column_means(T, self.sample_weight_)
        self.patterns_, self.of_target_ = np.unique(known.T, axis=0, return_inverse=True)
        self.of_target_ = self.of_target_.reshape(-1)
        sums = np.where(known, T, 0.0)
        self.sums_ = self.smoother_.with_targets(np.hstack([sums, self.patterns_.T]))
        return self

    def _ratio(self, sums: np.ndarray) -> np.ndarray:
        q = len(self.of_target_)
        total, mass = sums[:, :q], sums[:, q:][:, self.of_target_]
        enough = mass > LITTLE
        found = np.where(enough, total / np.where(enough, mass, 1.0), self.centre_)
        return self._shaped(found)

    def weights(self, X: Any) -> Any:
        """Weights of the training rows for targets that all of them know; (n, n_fitted)."""
        return self.smoother_.weights(self._checked(X))

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        return self._ratio(self.sums_.predict(self._checked(X)))

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Means of the training rows, or of some, each (or its whole group) left out."""
        return self._ratio(LeavingOut.of(self.sums_).means(groups, rows))

    def with_targets(self, targets: Any) -> Self:
        """The same weights, for other targets."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        return other._with_known()


class LeavingOutOfAverages(LeavingSomeOut):
    """Averages over the rows that know a target."""

    __slots__ = ()

    def light(self) -> Any:
        other = copy.copy(self.smoother)
        other.sums_ = LeavingOut.of(other.sums_).light()
        return other


class GapsInFolds(Gaps):
    """Of what is fitted in folds: its estimator, for each set of rows that know some targets."""

    __slots__ = ()

    def taking(self, targets: np.ndarray | None = None) -> Any:
        return ByPattern(self.smoother.estimator, self.smoother.cv)


Gaps.at(_Matrix, GapsTaken)
LeavingOut.at(ByPattern, LeavingSomeOut)
LeavingOut.at(MaskedAverage, LeavingOutOfAverages)
Weighing.at(ByPattern, WeighingOfFits)
Weighing.at(MaskedAverage, WeighingByTarget)
