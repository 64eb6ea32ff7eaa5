# SPDX-License-Identifier: BSD-3-Clause
"""From inputs to scores: linear, through a kernel, or through features that stand for one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstruct.kernels.inputs import InputKernel
from skstruct.learners.feature_maps import NystroemFeatures
from skstruct.learners.margins.rows import KernelRows, LinearRows


class Scores(BaseEstimator):
    """Scores that are linear in features of the inputs.

    Parameters
    ----------
    kernel, gamma, degree, coef0 : see :class:`~skstruct.kernels.inputs.InputKernel`
    n_components : int, default=None
        Stand in for the kernel by so many Nyström features; None for the kernel itself.
    fit_intercept : bool, default=True
        A constant feature, penalised like all others.
    random_state : int or RandomState, default=None
        Of the rows that Nyström features are made of.

    Attributes
    ----------
    weights_ : array (p, q), or (N, q) of the training rows where there is a kernel
    constants_ : array (r,), scores that depend on no input
    """

    def __init__(
        self,
        kernel="linear",
        *,
        gamma=None,
        degree=3,
        coef0=1,
        n_components=None,
        fit_intercept=True,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def is_linear(self) -> bool:
        """Whether weights are of the features as they came."""
        return isinstance(self.kernel, str) and self.kernel == "linear" and not self.n_components

    def fit_rows(self, X, starts, weight=None) -> LinearRows:
        """What the optimiser needs to know of the training rows, of weights (N,)."""
        self.features_ = self.X_ = None
        if self.is_linear:
            return LinearRows(self._with_one(X), starts)
        shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        self.kernel_ = InputKernel(self.kernel, **shared).fit(X, weight)
        if self.n_components:
            self.features_ = NystroemFeatures.of_rows(
                self.kernel_, X, self.n_components, self.random_state
            )
            return LinearRows(self._with_one(self.features_.transform(X)), starts)
        # New rows of a precomputed kernel bring their values: there is nothing to keep.
        self.X_ = X[:0] if self.kernel == "precomputed" else X
        K = self.kernel_.gram(X)
        K += bool(self.fit_intercept)
        return KernelRows(K, starts)

    def _with_one(self, X):
        if not self.fit_intercept:
            return X
        one = np.ones((X.shape[0], 1))
        return sparse.hstack([X, one], format="csr") if sparse.issparse(X) else np.hstack([X, one])

    def take(self, dual):
        """Keep what the optimiser found."""
        self.weights_ = dual.coefficients if dual.rows.kernelised else dual.weights.copy()
        self.constants_ = dual.constants.copy()
        return self

    def predict(self, X) -> np.ndarray:
        """Scores of the coordinates that see inputs; shape (n, q)."""
        if self.X_ is not None:
            K = self.kernel_(X, self.X_)
            return K @ self.weights_ + bool(self.fit_intercept) * self.weights_.sum(axis=0)
        X = X if self.features_ is None else self.features_.transform(X)
        if not self.fit_intercept:
            return np.asarray(X @ self.weights_)
        return np.asarray(X @ self.weights_[:-1]) + self.weights_[-1]
