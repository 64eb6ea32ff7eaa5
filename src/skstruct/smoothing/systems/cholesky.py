# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B by one Cholesky factorization, in place."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, lapack, solve_triangular
from sklearn.base import BaseEstimator


class CholeskySystem(BaseEstimator):
    r"""Solves :math:`(K + c I) A = B`, or the bordered system of a model with intercept.

    With a border u the solution is the upper block of

    .. math:: \begin{pmatrix} K + cI & u \\ u' & 0 \end{pmatrix}^{-1}
              \begin{pmatrix} B \\ 0 \end{pmatrix}
              = M^{-1} B - M^{-1} u \frac{u' M^{-1} B}{u' M^{-1} u}, \quad M = K + cI.

    The factor lies where K was: memory for one matrix, not two.
    """

    def fit(self, K, shift, border=None):
        """Factor; ``K`` (n, n), symmetric, is overwritten."""
        n = len(K)
        self.shift_, self.border_ = float(shift), border
        K.flat[:: n + 1] += shift
        # K is symmetric, so its transpose is the Fortran-ordered matrix LAPACK wants.
        self.factor_, info = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise LinAlgError(
                f"K + alpha I is not positive definite at row {info - 1} for alpha = {shift:.3g}: "
                "the kernel is singular or indefinite. Use a larger alpha."
            )
        self.__dict__.pop("_lifted", None)
        return self

    @cached_property
    def _lifted(self):
        """M^-1 u."""
        return self._plain(self.border_[:, None])[:, 0]

    def _plain(self, B):
        return lapack.dpotrs(self.factor_, B, lower=1)[0]

    def solve(self, B):
        """A of shape (n, q)."""
        if self.border_ is None:
            return self._plain(B)
        if "_lifted" in self.__dict__:
            A = self._plain(B)
        else:  # one pass over the factor for both
            A = self._plain(np.column_stack([B, self.border_]))
            A, self._lifted = A[:, :-1], A[:, -1]
        A -= np.outer(self._lifted, (self.border_ @ A) / (self.border_ @ self._lifted))
        return A

    def residual_block(self, rows):
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        unit = np.zeros((len(self.factor_), len(rows)))
        unit[rows, np.arange(len(rows))] = 1.0
        half = solve_triangular(self.factor_, unit, lower=True, check_finite=False)
        block = half.T @ half
        if self.border_ is not None:
            lifted = self._lifted[rows]
            block -= np.outer(lifted, lifted) / (self.border_ @ self._lifted)
        return self.shift_ * block

    def residual_shares(self):
        """Diagonal of shift * inverse; shape (n,)."""
        n, step = len(self.factor_), 256
        parts = [
            self.residual_block(np.arange(start, min(start + step, n))).diagonal()
            for start in range(0, n, step)
        ]
        return np.concatenate(parts)

    def leverages(self):
        """How much each row decides its own fit: one minus its residual share; (n,)."""
        return 1.0 - self.residual_shares()
