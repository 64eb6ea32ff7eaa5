# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of the training rows, as a factor for direct solutions and as a product for others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

ZERO = 1e-13  # eigenvalues and singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Factor:
    """A kernel matrix K = Q diag(k) Q', with as many columns as it has rank."""

    Q: np.ndarray  # orthonormal columns, shape: (m, q)
    k: np.ndarray  # positive, shape: (q,)
    right: np.ndarray | None = None  # X'Q where K = XX', shape: (p, q)


@dataclass(frozen=True)
class GramMatrix:
    """A kernel matrix of the training rows in memory."""

    K: np.ndarray  # scaled by root, row and column, shape: (m, m)
    root: np.ndarray  # shape: (m,)

    @classmethod
    def of(cls, K: np.ndarray, root: np.ndarray) -> GramMatrix:
        """From a kernel matrix, which is scaled in place."""
        K *= root[:, None]
        K *= root
        return cls(K, root)

    @property
    def trace(self) -> float:
        return float(np.trace(self.K))

    def times(self, A: np.ndarray) -> np.ndarray:
        """K A; shape (m, d)."""
        return self.K @ A

    def factor(self) -> Factor:
        k, Q = eigh(self.K, check_finite=False, driver="evd")
        if k[0] < -1e-8 * max(abs(k[0]), k[-1]):
            raise ValueError(
                f"The kernel is not positive semidefinite: it has the eigenvalue {k[0]:.3g}."
            )
        kept = k > ZERO * max(k[-1], 0.0)
        return Factor(Q[:, kept], k[kept])

    def subset(self, rows) -> GramMatrix:
        return GramMatrix(self.K[np.ix_(rows, rows)], self.root[rows])

    def coefficients(self, A: np.ndarray) -> np.ndarray:
        """Coefficients of the kernel functions of unscaled rows; shape (m, d)."""
        return A * self.root[:, None]

    def scores(self, rows, others, weights: np.ndarray) -> np.ndarray:
        """Unscaled scores of some rows from coefficients of others; shape (r, d)."""
        across = self.K[np.ix_(rows, others)]
        return across @ (weights / self.root[others, None]) / self.root[rows, None]


@dataclass(frozen=True)
class FeatureGram:
    """The kernel of rows of features, which is never written out."""

    features: np.ndarray  # scaled by root, shape: (m, p)
    root: np.ndarray  # shape: (m,)

    @classmethod
    def of(cls, features: np.ndarray, root: np.ndarray) -> FeatureGram:
        """From features, which stay as they are."""
        return cls(features * root[:, None], root)

    @property
    def trace(self) -> float:
        return float(np.vdot(self.features, self.features))

    def times(self, A):
        return self.features @ (self.features.T @ A)

    def factor(self) -> Factor:
        """From singular values: products of features would square differences of scale."""
        Q, s, Vt = svd(self.features, full_matrices=False, check_finite=False)
        kept = s > ZERO * s.max(initial=0.0)
        return Factor(Q[:, kept], s[kept] ** 2, (s[kept, None] * Vt[kept]).T)

    def subset(self, rows) -> FeatureGram:
        return FeatureGram(self.features[rows], self.root[rows])

    def coefficients(self, A):
        """Weights of the features; shape (p, d)."""
        return self.features.T @ A

    def scores(self, rows, others, weights):
        """Unscaled scores of some rows from weights of the features; shape (r, d)."""
        return self.features[rows] @ weights / self.root[rows, None]
