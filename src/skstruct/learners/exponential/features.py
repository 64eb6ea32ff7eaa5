# SPDX-License-Identifier: BSD-3-Clause
"""Features of the inputs: these themselves, or features that stand for a kernel."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstruct._arrays.memory import check_square_fits
from skstruct.kernels.inputs import InputKernel
from skstruct.learners.feature_maps import NystroemFeatures


class InputFeatures(BaseEstimator):
    """Rows of features, sparse where inputs are sparse and the kernel is linear.

    Parameters
    ----------
    kernel, gamma, degree, coef0 : see :class:`~skstruct.kernels.inputs.InputKernel`
    n_components : int or None
        Nyström features that stand for the kernel; None for as many as there are rows, whose
        inner products are the kernel itself.
    fit_intercept : bool
        A constant feature, the last one.
    random_state : int or RandomState
    """

    def __init__(self, kernel, *, gamma, degree, coef0, n_components, fit_intercept, random_state):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def is_linear(self) -> bool:
        """Whether features are the inputs as they came."""
        return isinstance(self.kernel, str) and self.kernel == "linear" and not self.n_components

    def fit(self, X, sample_weight=None):
        self.map_ = None
        if self.is_linear:
            return self
        shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        kernel = InputKernel(self.kernel, **shared).fit(X, sample_weight)
        if self.n_components:
            self.map_ = NystroemFeatures.of_rows(kernel, X, self.n_components, self.random_state)
            return self
        check_square_fits(X.shape[0], "The kernel of the training rows", "Give n_components.")
        self.map_ = NystroemFeatures(kernel, X)
        if kernel.kernel == "precomputed":  # new rows bring their values
            self.map_.landmarks = X[:0]
        return self

    def transform(self, X):
        """Features of rows, with the constant; array or CSR of shape (n, p)."""
        X = X if self.map_ is None else self.map_.transform(X)
        if not self.fit_intercept:
            return X
        one = np.ones((X.shape[0], 1))
        return sparse.hstack([X, one], format="csr") if sparse.issparse(X) else np.hstack([X, one])
