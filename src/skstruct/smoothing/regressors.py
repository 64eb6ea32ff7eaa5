# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means of targets by any regressor, which is shown those that vary."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skstruct.saving import savable


@savable
class RegressorMeans(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Means of targets by a regressor; those that are constant in training keep their value.

    A column of ones, by which ridge regressions learn the total of their weights, says nothing to
    others, and some refuse it.

    Parameters
    ----------
    regressor : regressor of scikit-learn, of several targets

    Attributes
    ----------
    regressor_ : the fitted regressor; None where no target varies
    varying_ : array of the numbers of columns that are learned
    constants_ : array of shape (n_targets,)
        What the other columns are.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X, T = [[0.0], [1.0], [2.0]], [[0, 3, 1], [1, 2, 1], [2, 1, 1]]
    >>> RegressorMeans(LinearRegression()).fit(X, T).predict([[3.0]]).round(6)
    array([[3., 0., 1.]])
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets)."""
        name, weight = type(self.regressor).__name__, {}
        if sample_weight is not None:
            if not has_fit_parameter(self.regressor, "sample_weight"):
                raise ValueError(f"{name} takes no sample_weight.")
            weight = {"sample_weight": sample_weight}
        T = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.constants_ = T[0].copy()
        self.varying_ = np.flatnonzero((T[0] != T).any(axis=0))
        T = T[:, self.varying_]
        if T.shape[1] == 1 and _takes_one(self.regressor):
            T = T[:, 0]
        self.regressor_ = None
        if len(self.varying_):
            self.regressor_ = _fitted(clone(self.regressor), X, T, name, weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets)."""
        check_is_fitted(self)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        means = np.tile(self.constants_, (n, 1))
        if self.regressor_ is not None:
            found = np.asarray(self.regressor_.predict(X), dtype=np.float64)
            means[:, self.varying_] = found.reshape(n, -1)
        return means


def _fitted(regressor: Any, X: Any, T: np.ndarray, name: str, weight: dict[str, Any]) -> Any:
    try:
        return regressor.fit(X, T, **weight)
    except ValueError as error:
        if "1d array" not in str(error):  # scikit-learn's words for a single target
            raise
        raise ValueError(
            f"{name} predicts one target, and there are several: give "
            f"smoother=MultiOutputRegressor({name}(...)) of sklearn.multioutput."
        ) from error


def _takes_one(regressor: Any) -> bool:
    """Whether a regressor takes targets (n,)."""
    try:
        return bool(get_tags(regressor).target_tags.single_output)
    except (AttributeError, TypeError):  # no estimator of scikit-learn: several, as always
        return False
