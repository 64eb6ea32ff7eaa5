# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B for many shifts, from one eigendecomposition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh
from sklearn.base import BaseEstimator

from skstruct._arrays.blocks import row_blocks
from skstruct.kernels.grams import GramBlocks, mirror
from skstruct.smoothing.systems.cholesky import weighted


class SpectralSystem(BaseEstimator):
    r"""Solves :math:`(K + c I) A = B` for any c by :math:`K = Q \mathrm{diag}(k) Q'`.

    With a border u (see :class:`CholeskySystem`) the solution lives in the complement of
    u, so K is projected there and u's direction dropped: no cancellation for small c.
    A shift may differ per column of B; an infinite one leaves nothing but the mean.

    One decomposition costs many Cholesky factorizations, and pays once several shifts are
    tried.
    """

    def fit(self, K, shift=None, border=None):
        """Decompose; ``K`` (n, n), symmetric, is overwritten."""
        self.shift_ = shift
        noise = 1e-14 * len(K) * np.abs(K.diagonal()).max(initial=0.0)
        if border is not None:
            _deflate(K, border / np.linalg.norm(border))
        values, vectors = eigh(K.T, overwrite_a=True, check_finite=False, driver="evr")
        if border is not None:
            values, vectors = values[:-1], vectors[:, :-1]  # the border's own direction is last
        # Rounding leaves the zero eigenvalues of a singular kernel slightly off zero.
        rounding = np.maximum(
            noise, np.where(values < 0, 1e-10 * np.abs(values).max(initial=0.0), 0.0)
        )
        self.values_ = np.where(np.abs(values) <= rounding, 0.0, values)
        self.lowest_ = float(self.values_.min(initial=0.0))
        self.vectors_ = vectors
        return self

    def fit_rows(self, kernel, X, root, shift=None, border=None):
        """Decompose D K D, with K the kernel matrix of the rows ``X`` and D of ``root``."""
        K, sums = GramBlocks(kernel, X).half(weighted(root))
        self.column_mean_ = sums / (root @ root)
        return self.fit(mirror(K), shift, border)

    def _shares(self, shift) -> np.ndarray:
        """c / (k + c) for one shift (m,) or one per column (m, q)."""
        shift = np.asarray(self.shift_ if shift is None else shift, dtype=np.float64)
        if (self.lowest_ + shift <= 0).any():
            raise LinAlgError(
                f"K + alpha I is not positive definite for alpha = {shift.min():.3g}: the kernel "
                f"has the eigenvalue {self.lowest_:.3g}. Use a larger alpha."
            )
        values = self.values_[:, None] if shift.ndim else self.values_
        return 1.0 / (1.0 + values / shift)

    def rotate(self, B):
        """Q' B: what every shift starts from; (m, q)."""
        return self.vectors_.T @ B

    def residuals(self, rotated, shift=None):
        """shift * A, which is B minus its fit (minus the mean with a border); (n, q)."""
        share = self._shares(shift)
        return self.vectors_ @ (rotated * (share if share.ndim == 2 else share[:, None]))

    def solve(self, B, shift=None):
        """A of shape (n, q)."""
        shift = np.asarray(self.shift_ if shift is None else shift, dtype=np.float64)
        return self.residuals(self.rotate(B), shift) / shift

    def residual_block(self, rows, shift=None):
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        part = self.vectors_[rows]
        return (part * self._shares(shift)) @ part.T

    def residual_shares(self, shift=None):
        """Diagonal of shift * inverse; shape (n,), or (n, q) for a shift per column."""
        share = self._shares(shift)
        diagonal = np.empty((len(self.vectors_), *share.shape[1:]))
        for rows in row_blocks(len(self.vectors_), 8 * len(self.vectors_), "50MB"):
            diagonal[rows] = self.vectors_[rows] ** 2 @ share
        return diagonal

    def leverages(self, shift=None):
        """How much each row decides its own fit: one minus its residual share."""
        return 1.0 - self.residual_shares(shift)


def _deflate(K, u):
    """K <- P K P + t u u' with P = I - u u' and t above all eigenvalues, in place."""
    Ku = K @ u
    top = 2.0 * max(np.abs(row).sum() for row in K)  # eigenvalues are below the row sums
    top = top if top > 0 else 1.0
    # P K P = K - u (Ku)' - (Ku) u' + (u'Ku) u u'
    left = Ku - 0.5 * (u @ Ku + top) * u
    for rows in row_blocks(len(K), 8 * len(K), "2MB"):
        K[rows] -= np.outer(u[rows], left) + np.outer(left[rows], u)
