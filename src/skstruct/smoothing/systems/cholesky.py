# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B by one Cholesky factorization, in place."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack, solve_triangular
from sklearn.base import BaseEstimator

from skstruct.kernels.grams import GramBlocks
from skstruct.smoothing.systems.large import LARGE, factor_rows


class CholeskySystem(BaseEstimator):
    r"""Solves :math:`(K + c I) A = B`, or the bordered system of a model with intercept.

    With a border u the solution is the upper block of

    .. math:: \begin{pmatrix} K + cI & u \\ u' & 0 \end{pmatrix}^{-1}
              \begin{pmatrix} B \\ 0 \end{pmatrix}
              = M^{-1} B - M^{-1} u \frac{u' M^{-1} B}{u' M^{-1} u}, \quad M = K + cI.

    The factor lies where K was: memory for one matrix, not two.

    Attributes
    ----------
    column_mean_ : array of shape (n,)
        Weighted means of the columns of the kernel matrix, when fitted to rows.
    """

    def fit(self, K, shift, border=None):
        """Factor; ``K`` (n, n), symmetric, is overwritten."""
        self._settle(shift, border)
        self._factor(K)
        return self

    def fit_rows(self, kernel, X, root, shift, border=None, *, dtype=np.float64):
        """Factor D K D + shift I, with K the kernel matrix of the rows ``X`` and D of ``root``.

        Parameters
        ----------
        kernel : InputKernel
            Fitted.
        root : array of shape (n,)
            Roots of the weights of rows.
        dtype : float64 or float32
            Precision of the factor; values of the kernel are rounded to it once.
        """
        self._settle(shift, border)
        K, sums = self._build(GramBlocks(kernel, X), weighted(root), dtype)
        self.column_mean_ = sums / (root @ root)
        self._factor(K)
        return self

    def _settle(self, shift, border):
        self.shift_, self.border_ = float(shift), border
        self.__dict__.pop("_lifted", None)

    # ------------------------------------------------------------------ one way to keep a matrix
    def _build(self, blocks, root, dtype):
        return blocks.half(root, dtype)

    def _factor(self, K):
        with np.errstate(over="ignore"):
            K.flat[:: len(K) + 1] += K.dtype.type(self.shift_)
        if len(K) > LARGE:
            self.factor_, info = K.T, factor_rows(K)
        else:  # K is symmetric, so its transpose is the Fortran-ordered matrix LAPACK wants.
            self.factor_, info = routine("potrf", K)(K.T, lower=1, overwrite_a=1, clean=0)
        check_definite(info, self.shift_)

    @property
    def _n(self) -> int:
        return len(self.factor_)

    def _plain(self, B):
        """M^-1 B in place: ``B`` (n, q) has its columns together, and the type of the factor."""
        return routine("potrs", self.factor_)(self.factor_, B, lower=1, overwrite_b=1)[0]

    def _half(self, B):
        """L^-1 B with M = L L'; overwrites ``B``."""
        return solve_triangular(self.factor_, B, lower=True, check_finite=False, overwrite_b=True)

    # ------------------------------------------------------------------ what follows
    @cached_property
    def _lifted(self):
        """M^-1 u."""
        return self._plain(self.border_[:, None].copy(order="F"))[:, 0]

    def solve(self, B):
        """A of shape (n, q)."""
        if self.border_ is None:
            return self._plain(_columns(B))
        if "_lifted" in self.__dict__:
            A = self._plain(_columns(B))
        else:  # one pass over the factor for both
            A = np.empty((len(B), B.shape[1] + 1), order="F")
            A[:, :-1], A[:, -1] = B, self.border_
            A = self._plain(A)
            A, self._lifted = A[:, :-1], A[:, -1].copy()
        if A.shape[1]:
            share = (self.border_ @ A) / (self.border_ @ self._lifted)
            A = blas.dger(-1.0, self._lifted, share, a=A, overwrite_a=1)
        return A

    def residual_block(self, rows):
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        half = self._half(unit_columns(self._n, rows))
        block = half.T @ half
        if self.border_ is not None:
            lifted = self._lifted[rows]
            block -= np.outer(lifted, lifted) / (self.border_ @ self._lifted)
        return self.shift_ * block

    _columns_at_once = 256

    def residual_shares(self):
        """Diagonal of shift * inverse; shape (n,)."""
        n, step = self._n, self._columns_at_once
        parts = [
            self.residual_block(np.arange(start, min(start + step, n))).diagonal()
            for start in range(0, n, step)
        ]
        return np.concatenate(parts)

    def leverages(self):
        """How much each row decides its own fit: one minus its residual share; (n,)."""
        return 1.0 - self.residual_shares()


def routine(name: str, A):
    """The LAPACK routine for the precision of an array."""
    return getattr(lapack, ("s" if A.dtype == np.float32 else "d") + name)


def check_definite(info: int, shift: float) -> None:
    """Raise ``LinAlgError`` if a factorization stopped at a row."""
    if info != 0:
        raise LinAlgError(
            f"K + alpha I is not positive definite at row {info - 1} for alpha = {shift:.3g}: "
            "the kernel is singular or indefinite. Use a larger alpha."
        )


def weighted(root):
    """Roots of weights, or None where all are one and nothing needs scaling."""
    return None if (root == 1.0).all() else root


def _columns(B) -> np.ndarray:
    """A copy with columns together, which LAPACK may overwrite."""
    return np.array(B, dtype=np.float64, order="F")


def unit_columns(n: int, rows) -> np.ndarray:
    """Columns of the identity for some rows; shape (n, len(rows)), columns together."""
    unit = np.zeros((n, len(rows)), order="F")
    unit[rows, np.arange(len(rows))] = 1.0
    return unit
