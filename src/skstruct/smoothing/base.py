# SPDX-License-Identifier: BSD-3-Clause
"""What a smoother promises."""

from __future__ import annotations

import copy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

Array = Any


@runtime_checkable
class LinearSmoother(Protocol):
    """A scikit-learn regressor whose prediction is ``weights(X) @ targets``.

    The weights do not depend on the targets, or only through how the smoother was
    grown, so other targets can be put in without fitting again.
    """

    def weights(self, X: Array) -> Array: ...  # shape: (n_samples, n_fitted), dense or CSR
    def with_targets(self, targets: Array) -> Self: ...  # the same weights, other targets
    def loo(self, groups: Array | None = None) -> Array: ...  # shape: (n_fitted, n_targets)


class RidgeSystem(Protocol):
    """Solves (K + shift I) A = B. One class per way to make that scale."""

    def fit(self, K: Array, shift: Any) -> Self: ...  # K may be overwritten
    def solve(self, B: Array) -> Array: ...  # shape: (n, d)
    def leverages(self) -> Array: ...  # diagonal of K (K + shift I)^-1, shape: (n,)


class WeightedMean(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Smoothers that average training targets with weights they can write down.

    A child brings ``_learn(X, targets, sample_weight)``, ``weights(X)`` and
    ``left_out_weights(groups)``; targets are dense arrays of shape (n, q) or (n,).
    """

    def fit(self, X, targets, sample_weight=None):
        X, targets = validate_data(
            self, X, targets, accept_sparse="csr", multi_output=True, y_numeric=True
        )
        self.targets_ = np.asarray(targets, dtype=np.float64)
        self._learn(X, self.targets_, sample_weight)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.weights(X) @ self.targets_

    def loo(self, groups=None):
        """Predictions for the training rows, each (or its whole group) left out."""
        return self.left_out_weights(groups) @ self.targets_

    def with_targets(self, targets):
        """The same weights, applied to other targets."""
        other = copy.copy(self)
        other.targets_ = np.asarray(targets, dtype=np.float64)
        return other
