# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means by an estimator that was fitted before: which of its columns is which."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from skstruct.saving import savable
from skstruct.smoothing.facets import Gaps, GapsTaken

COMPARED = 2000  # rows on which the order of columns is looked at
CLEAR = 3.0  # standard errors by which another order must be nearer to the targets


def is_frozen(estimator: Any) -> bool:
    """Whether fitting changes nothing: ``FrozenEstimator``, or a pipeline that ends in one."""
    if clone(estimator) is estimator:
        return True
    steps = getattr(estimator, "steps", None)
    return steps is not None and is_frozen(steps[-1][1])


@savable
class FrozenMeans(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Means of targets by an estimator that knows them already.

    Its columns are told apart by ``classes_``, where these are names. Else they are taken in the
    order of the targets, unless the rows of ``fit`` are clearly nearer to another order: that is
    found on half of them, and is clear if on the other half its squared errors are smaller by three
    standard errors of their mean difference.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, or regressor, which ``fit`` leaves as it is
        ``FrozenEstimator`` of scikit-learn, or a pipeline that ends in one.
    names : sequence
        Of the first targets; the others are constant.

    Attributes
    ----------
    estimator_ : the estimator
    columns_ : int array
        The column of the estimator for each of the first targets.
    constants_ : array
        What the other targets are.

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["cat", "cat", "dog", "dog"]
    >>> known = FrozenEstimator(LogisticRegression().fit(X, y))
    >>> T = [[0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 1]]  # dog, cat, and a one
    >>> FrozenMeans(known, ["dog", "cat"]).fit(X, T).predict([[1.0], [1.5]]).round(2)
    array([[0.38, 0.62, 1.  ],
           [0.5 , 0.5 , 1.  ]])
    """

    def __init__(self, estimator: Any, names: Any) -> None:
        self.estimator = estimator
        self.names = names

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the columns of targets ``y`` (n, n_targets), which may be NaN."""
        T = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.estimator_ = clone(self.estimator).fit(X, T)
        some = np.unique(np.linspace(0, len(T) - 1, min(len(T), COMPARED)).astype(np.int64))
        X = X.iloc[some] if hasattr(X, "iloc") else X[some] if hasattr(X, "shape") else X
        P = self._means(X)
        if self.names is None:
            raise ValueError(
                f"{self._name()} was fitted before, to {P.shape[1]} labels, and the loss needs "
                f"means of {T.shape[1] - 1} other targets: take one that is decided from "
                "probabilities of labels, such as 'hamming', 'hierarchical' or 'f1'."
            )
        q = len(self.names)
        self.constants_ = T[0, q:].copy()
        known = self._known_columns()
        if known is None:
            self._check_order(P, T[some, :q])
        else:
            self._check_classes(P, T[some, :q])
        self.columns_ = np.arange(q) if known is None else known
        return self

    def _known_columns(self) -> np.ndarray | None:
        """The column of each name, by ``classes_``; None where these are no such names."""
        known = getattr(self.estimator_, "classes_", None)
        if not isinstance(known, np.ndarray) or known.ndim != 1:
            return None
        column = {name: j for j, name in enumerate(known.tolist())}
        names = self.names
        if not any(name in column for name in names):
            return None
        if set(names) != set(column):
            raise ValueError(
                f"{self._name()} was fitted before, to the classes {_few(column)}, and the space "
                f"has {_few(names)}: give the space with labels={_few(column)}."
            )
        return np.array([column[name] for name in names])

    def _check_classes(self, P: np.ndarray, T: np.ndarray) -> None:
        """Raise where P (n, m) are of one class a row, and targets T (n, q) of several, or none.

        Levels that are reached, and labels with those above them, have the names of classes, too.
        """
        total, whole = np.nansum(T, axis=1), ~np.isnan(T).any(axis=1)
        others = np.flatnonzero((total > 1.0) | (whole & (total != 1.0)))
        if len(others) and np.allclose(P.sum(axis=1), 1.0):
            there = [name for name, bit in zip(self.names, T[others[0]]) if bit == 1.0]
            raise ValueError(
                f"{self._name()} was fitted before, to one class a row, and the loss needs the "
                f"probability of each target, of which a row of fit has {_few(there)}: give one "
                "that was fitted to these, label by label, or Classes as the space."
            )

    def _check_order(self, P: np.ndarray, T: np.ndarray) -> None:
        """Raise where columns P (n, m) are not those of targets T (n, q), one by one."""
        names = self.names
        if P.shape[1] != len(names):
            raise ValueError(
                f"{self._name()} was fitted before, to {P.shape[1]} labels, and the space has "
                f"{len(names)}: {_few(names)}."
            )
        order = _nearest_order(P[::2], T[::2])
        more = _squared(P, T) - _squared(P[:, order], T)
        more = more[1::2]
        error = more.std() / np.sqrt(max(1, len(more)))
        if len(more) and more.mean() > CLEAR * error:
            raise ValueError(
                f"{self._name()} was fitted before to labels in another order: the space has "
                f"{_few(names)}, and by the rows of fit its columns are "
                f"{_few([names[j] for j in np.argsort(order)])}. Give the space labels in the "
                "order in which it was fitted."
            )

    def _name(self) -> str:
        return type(getattr(self.estimator, "estimator", self.estimator)).__name__

    def _means(self, X: Any) -> np.ndarray:
        """Probabilities of the labels or classes, or means of a regressor; (n, m)."""
        if not hasattr(self.estimator_, "predict_proba"):
            found = np.asarray(self.estimator_.predict(X), dtype=np.float64)
            return found.reshape(len(found), -1)
        answers = self.estimator_.predict_proba(X)
        if not isinstance(answers, list):
            return np.asarray(answers, dtype=np.float64)
        ones = [np.asarray(classes) == 1 for classes in self.estimator_.classes_]
        return np.column_stack([P[:, one].sum(axis=1) for P, one in zip(answers, ones)])

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets)."""
        check_is_fitted(self)
        P = self._means(X)[:, self.columns_]
        return np.hstack([P, np.tile(self.constants_, (len(P), 1))])


Gaps.at(FrozenMeans, GapsTaken)  # nothing is learned from targets


def _squared(P: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Squared errors of every row over what is known of it; shape (n,)."""
    return np.asarray(np.where(np.isnan(T), 0.0, (P - T) ** 2).sum(axis=1))


def _nearest_order(P: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The column of P (n, d) for each target of T (n, d), by least squares one to one."""
    known = ~np.isnan(T)
    T = np.where(known, T, 0.0)
    errors = (P**2).T @ known - 2.0 * P.T @ T  # [column, target], but for what no order changes
    from scipy.optimize import linear_sum_assignment

    column, target = linear_sum_assignment(errors)
    return np.asarray(column[np.argsort(target)])


def _few(names: Any) -> str:
    names = list(names)
    return repr(names) if len(names) <= 20 else f"{names[:20]!r} and {len(names) - 20} more"
