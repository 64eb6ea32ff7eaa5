# SPDX-License-Identifier: BSD-3-Clause
"""The ridge system of features, for one penalty or a whole path of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError


class FeatureSystem:
    r"""Solves :math:`(\bar G + \alpha I) B = \bar C` from sums over rows.

    With an intercept, :math:`\bar G = \sum_i s_i (z_i - \bar z)(z_i - \bar z)'` and
    :math:`\bar C = \sum_i s_i (z_i - \bar z)(t_i - \bar t)'`; the mean needs no penalty. One
    penalty takes a Cholesky factorization; a path takes one eigendecomposition.

    Parameters
    ----------
    stats : Stats
    fit_intercept : bool
    backend : Backend
    """

    lowest_ = 0.0  # no eigenvalue is below zero

    def __init__(self, stats, fit_intercept: bool, backend):
        if not stats.weight > 0:
            raise ValueError("All sample weights are zero.")
        self.stats, self.fit_intercept, self.backend = stats, fit_intercept, backend

    @property
    def mean_features(self):
        """z-bar, or zero without an intercept; shape (m,)."""
        stats = self.stats
        return stats.z / stats.weight if self.fit_intercept else stats.z * 0.0

    @property
    def mean_targets(self):
        """t-bar, or zero; shape (q,)."""
        stats = self.stats
        return stats.t / stats.weight if self.fit_intercept else stats.t * 0.0

    def _centred_square(self):
        G = self.backend.copied(self.stats.G)
        if self.fit_intercept:
            mean = self.mean_features
            for start in range(0, len(G), 1024):  # no second matrix of that size
                columns = slice(start, start + 1024)
                G[:, columns] -= self.stats.z[:, None] * mean[columns]
        return G

    @cached_property
    def _centred_products(self):
        C = self.backend.copied(self.stats.C)
        if self.fit_intercept:
            C -= self.stats.z[:, None] * self.mean_targets
        return C

    def coefficients(self, alpha: float, *, strict=True):
        """B of shape (m, q), on the backend.

        It is found the same way whether or not a path was asked for before, so that its bits do
        not depend on that. Unless ``strict``, penalties below rounding are taken as well.
        """
        C = self._centred_products
        if np.isinf(alpha):
            return C * 0.0
        A = self.backend.add_diagonal(self._centred_square(), alpha)
        factor, failed = self.backend.cholesky(A)
        if not failed:
            half = self.backend.solve_lower(factor, self.backend.copied(C))
            return self.backend.solve_lower(factor, half, transposed=True)
        if strict:
            raise LinAlgError(
                f"The features' squares plus alpha are not positive definite at {failed - 1} for "
                f"alpha = {alpha:.3g}. Use a larger alpha, or dtype='float64'."
            )
        values, vectors = self._decomposed
        return vectors @ (self._rotated_products / (values[:, None] + alpha))

    # ------------------------------------------------------------------ a path
    @cached_property
    def _decomposed(self):
        values, vectors = self.backend.eigh(self._centred_square())
        values[values < 0] = 0.0  # rounding
        return values, vectors

    @cached_property
    def _rotated_products(self):
        return self._decomposed[1].T @ self._centred_products

    @property
    def values_(self) -> np.ndarray:
        """Eigenvalues of the centred squares, on the host; shape (m,)."""
        return self.backend.to_host(self._decomposed[0])

    def rotated(self, Z):
        """Features in the eigenbasis, centred; shape (n, m)."""
        return (Z - self.mean_features) @ self._decomposed[1]

    def fitted(self, rotated, alpha: float):
        """Means at rows whose features were rotated; shape (n, q), on the backend."""
        if np.isinf(alpha):
            return rotated[:, :1] * 0.0 + self.mean_targets
        shares = 1.0 / (self._decomposed[0] + alpha)
        return (rotated * shares) @ self._rotated_products + self.mean_targets

    def products(self, rotated, other, alpha: float):
        """z' (G + alpha I)^-1 z of rows whose features were rotated; (n, k), on the backend."""
        if np.isinf(alpha):
            return rotated @ other.T * 0.0
        return (rotated / (self._decomposed[0] + alpha)) @ other.T

    def leverages(self, rotated, weight, alpha: float) -> np.ndarray:
        """How much each row decides its own fit; shape (n,), on the host."""
        share = np.zeros(len(rotated))
        if not np.isinf(alpha):
            share = self.backend.to_host(
                (rotated * rotated) @ (1.0 / (self._decomposed[0] + alpha))
            )
        if self.fit_intercept:
            share = share + 1.0 / self.stats.weight
        return weight * share

    def left_out(self, rotated, T, weight, alpha: float, groups) -> np.ndarray:
        r"""Means at training rows without them, :math:`(c_i - h_i t_i) / (1 - h_i)`; (n, q).

        Rows of a group are left out together, :math:`(I - H_g)^{-1} (c_g - H_g t_g)`, where all
        rows of a group are among these.

        Parameters
        ----------
        rotated : array of shape (n, m)
        T, weight : arrays of shapes (n, q) and (n,), on the host
        groups : array of shape (n,)
        """
        means = self.backend.to_host(self.fitted(rotated, alpha))
        h = self.leverages(rotated, weight, alpha)[:, None]
        left = (means - h * T) / np.maximum(1.0 - h, np.finfo(np.float64).eps)
        for rows in together(groups):
            H = self.backend.to_host(self.products(rotated[rows], rotated[rows], alpha))
            H = (H + (1.0 / self.stats.weight if self.fit_intercept else 0.0)) * weight[rows]
            left[rows] = np.linalg.solve(np.eye(len(rows)) - H, means[rows] - H @ T[rows])
        return left


def together(groups) -> list[np.ndarray]:
    """Numbers of the rows of every group that has more than one."""
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    if not len(sizes) or sizes.max() == 1:
        return []
    return [rows for rows in np.split(order, np.cumsum(sizes)[:-1]) if len(rows) > 1]
