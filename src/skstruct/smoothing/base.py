# SPDX-License-Identifier: BSD-3-Clause
"""What a smoother promises."""

import copy
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import (
    check_array,
    check_is_fitted,
    validate_data,
)

from skstruct._arrays.foreign import on_host
from skstruct._arrays.progress import reported
from skstruct._arrays.rows import known_rows, narrow_indices
from skstruct._arrays.weights import check_sample_weight
from skstruct.smoothing.facets import Gaps, LeavingOut, Weighing, WeighingOfRows

Array = Any


def has_gaps(targets: Any) -> bool:
    """Whether some targets are not known: NaN."""
    if sparse.issparse(targets):
        return False
    numbers = np.asarray(on_host(targets))
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).any())


def column_means(targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted means of what is known of each target; zero where nothing is; shape (q,)."""
    known = ~np.isnan(targets)
    total = weight @ np.where(known, targets, 0.0)
    mass = weight @ known.astype(np.float64)
    return np.asarray(np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), 0.0))


class RidgeSystem(Protocol):
    """Solves (K + shift I) A = B. One class per way to make that scale."""

    def fit(self, K: Array, shift: Any, border: Any = None) -> Self: ...  # K is overwritten
    def solve(self, B: Array) -> Array: ...  # shape: (n, d)
    def residual_block(self, rows: Array) -> Array: ...  # of shift (K + shift I)^-1
    def residual_shares(self) -> Array: ...  # its diagonal, shape: (n,)
    def leverages(self) -> Array: ...  # one minus that, shape: (n,)


class SparseRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Reads dense or sparse rows of inputs, and any number of targets."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Inputs and targets as arrays."""
        X, y = on_host(X), on_host(y)
        if Gaps.of(self).taken and has_gaps(y):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
            check_consistent_length(X, y)
            return narrow_indices(X), np.asarray(y, dtype=np.float64)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, y_numeric=True, dtype=np.float64
        )
        return narrow_indices(X), y

    def _checked(self, X: Any) -> Any:
        """Inputs to predict for, of a fitted model."""
        check_is_fitted(self)
        X = known_rows(self, X, accept_sparse="csr", dtype=np.float64)
        return narrow_indices(X)


class WeightedMean(SparseRegressor):
    """Smoothers that average training targets with weights they can write down.

    A child brings ``_learn(X, targets, sample_weight)``, which keeps ``X_fit_``, and
    ``_weigh(X, own=None, groups=None)``: weights of the training rows for the rows of X,
    each row of which sums to one. With ``own`` (n_samples,) and ``groups`` (n_fitted,) a
    training row of the same group has no weight. Targets are dense, (n, q) or (n,).
    """

    X_fit_: Any

    @reported
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        X, y = self._read(X, y)
        self.sample_weight_ = check_sample_weight(sample_weight, X)
        if not self.sample_weight_.any():
            raise ValueError("All sample weights are zero.")
        self.targets_ = _dense(y)
        self._learn(X, self.targets_, self.sample_weight_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        return self._average(self._checked(X))

    def weights(self, X: Any) -> Any:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        return self._weigh(self._checked(X))

    def left_out_weights(self, groups: Any = None) -> Any:
        """Weights for the training rows, none on a row's own group; (n_fitted, n_fitted)."""
        groups = self._group_numbers(groups)
        return self._weigh(self.X_fit_, groups, groups)

    def loo(self, groups: Any = None) -> np.ndarray:
        """Predictions for the training rows, each (or its whole group) left out."""
        groups = self._group_numbers(groups)
        return self._average(self.X_fit_, groups, groups)

    def with_targets(self, targets: Any) -> Any:
        """The same weights, applied to other targets."""
        check_is_fitted(self)
        targets = check_array(
            on_host(targets), accept_sparse="csr", ensure_2d=False, dtype=np.float64
        )
        if targets.shape[0] != len(self.targets_):
            raise ValueError(
                f"{type(self).__name__} was fitted to {len(self.targets_)} rows; got "
                f"{targets.shape[0]} targets."
            )
        other = copy.copy(self)
        other.targets_ = _dense(targets)
        return other

    def _average(self, X: Any, own: np.ndarray | None = None, groups: Any = None) -> Any:
        return self._weigh(X, own, groups) @ self.targets_

    def _group_numbers(self, groups: Any) -> np.ndarray:
        """A number for the group of each training row; None makes each row a group."""
        check_is_fitted(self)
        n = len(self.targets_)
        return group_numbers(groups, n, self.sample_weight_)


class LeavingOutOfMeans(LeavingOut):
    """Means with weights that are written down."""

    __slots__ = ()

    def weights(self, groups: np.ndarray) -> Any:
        return self.smoother.left_out_weights(groups)


Gaps.at(WeightedMean, "skstruct.smoothing.gaps:AveragesOfKnown")
Weighing.at(WeightedMean, WeighingOfRows)
LeavingOut.at(WeightedMean, LeavingOutOfMeans)


def _numbered(groups: Any, n: int) -> np.ndarray:
    """A number from 0 for the group of each row, given one label per row; None: each its own."""
    if groups is None:
        return np.arange(n)
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}; one entry for each of {n} rows expected."
        )
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


def group_numbers(groups: Any, n: int, weight: np.ndarray | None = None) -> np.ndarray:
    """A number from 0 for the group of each row; at least two groups have weight."""
    number = _numbered(groups, n)
    if np.count_nonzero(np.bincount(number, weight)) < 2:
        raise ValueError("All rows are in one group: leaving it out leaves nothing.")
    return number


def group_rows(groups: Any, n: int) -> list[np.ndarray]:
    """The rows of each group, given one group label per row, or None."""
    number = _numbered(groups, n)
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _dense(targets: Any) -> np.ndarray:
    targets = targets.toarray() if sparse.issparse(targets) else targets
    return np.asarray(targets, dtype=np.float64)
