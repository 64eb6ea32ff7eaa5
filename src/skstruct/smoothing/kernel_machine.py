# SPDX-License-Identifier: BSD-3-Clause
"""What regressions in a kernel's space have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.sparse_rows import narrow_indices
from skstruct.kernels.inputs import InputKernel


class KernelMachine(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Predictions k(x, x_i) @ dual_coef_, in blocks of rows.

    A child has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``memory`` and, if it
    can compute elsewhere, ``device``, and keeps ``kernel_``, ``X_fit_``, ``targets_`` and
    ``dual_coef_`` (n_fitted, n_targets).
    """

    intercept_: np.ndarray | float = 0.0
    device = None
    system_: Any

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _read(self, X, y):
        """Inputs and targets as arrays."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, y_numeric=True, dtype=np.float64
        )
        return narrow_indices(X), y

    def _settle_kernel(self, X, sample_weight=None):
        """The kernel with its parameters settled on the training rows."""
        self.kernel_ = InputKernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        ).fit(X, sample_weight)
        self.X_fit_ = None if self._precomputed else X

    def penalty_range(self) -> tuple[float, float]:
        """The largest penalty worth trying, near the mean, and what all of them are above.

        An indefinite kernel allows only penalties that outweigh its lowest eigenvalue.
        """
        trace = float(self.system_.values_.clip(min=0).sum())
        return trace, -2.0 * self.system_.lowest_

    def _checked(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return narrow_indices(X)

    def predict(self, X):
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        X = self._checked(X)
        out = self._multiplied(X)
        out += self.intercept_
        return out if self.targets_.ndim == 2 else out[:, 0]

    def _multiplied(self, X):
        """k(x, x_i) @ dual_coef_; shape (n, n_targets)."""
        if self.device is not None and not self._precomputed:
            from skstruct.kernels.on_device import kernel_product

            return kernel_product(
                self.kernel_, X, self.X_fit_, self.dual_coef_, self.device, self.memory
            )
        out = np.empty((X.shape[0], self.dual_coef_.shape[1]))
        for rows in row_blocks(X.shape[0], 8 * len(self.dual_coef_), self.memory):
            out[rows] = self.kernel_(X[rows], self.X_fit_) @ self.dual_coef_
        return out
