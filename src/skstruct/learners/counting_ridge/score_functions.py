# SPDX-License-Identifier: BSD-3-Clause
"""Score functions of the inputs, expansions in a kernel or linear in features, and the kernel
of the training rows as a factor or a product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, svd

from skstruct._arrays.rows import dense
from skstruct.kernels.grams import REPAIR
from skstruct.kernels.inputs import kernel_name
from skstruct.learners.features import KernelSettings
from skstruct.saving import check_floats, savable
from skstruct.tolerances import GRAM_DEFINITENESS, SINGULAR_VALUE_ZERO


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

    def times(self, A: np.ndarray) -> Any:
        """K A; shape (m, d)."""
        return self.K @ A

    def factor(self) -> Factor:
        k, Q = eigh(self.K, check_finite=False, driver="evd")
        if k[0] < -GRAM_DEFINITENESS * max(abs(k[0]), k[-1]):
            raise ValueError(
                "The kernel is not positive semidefinite: it has the eigenvalue "
                f"{k[0]:.3g}; {REPAIR}."
            )
        kept = k > SINGULAR_VALUE_ZERO * max(k[-1], 0.0)
        return Factor(Q[:, kept], k[kept])

    def subset(self, rows: np.ndarray) -> GramMatrix:
        return GramMatrix(self.K[np.ix_(rows, rows)], self.root[rows])

    def coefficients(self, A: np.ndarray) -> Any:
        """Coefficients of the kernel functions of unscaled rows; shape (m, d)."""
        return A * self.root[:, None]

    def scores(self, rows: np.ndarray, others: np.ndarray, weights: np.ndarray) -> Any:
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

    def times(self, A: np.ndarray) -> Any:
        return self.features @ (self.features.T @ A)

    def factor(self) -> Factor:
        """From singular values: products of features would square differences of scale."""
        Q, s, Vt = svd(self.features, full_matrices=False, check_finite=False)
        kept = s > SINGULAR_VALUE_ZERO * s.max(initial=0.0)
        return Factor(Q[:, kept], s[kept] ** 2, (s[kept, None] * Vt[kept]).T)

    def subset(self, rows: np.ndarray) -> FeatureGram:
        return FeatureGram(self.features[rows], self.root[rows])

    def coefficients(self, A: np.ndarray) -> Any:
        """Weights of the features; shape (p, d)."""
        return self.features.T @ A

    def scores(self, rows: np.ndarray, others: np.ndarray, weights: np.ndarray) -> Any:
        """Unscaled scores of some rows from weights of the features; shape (r, d)."""
        return self.features[rows] @ weights / self.root[rows, None]


# Score functions of the inputs: expansions in a kernel, or linear in features.


FEATURES = ("nystroem", "fourier")


@savable
class ScoreFunction(KernelSettings):
    """Scores (n, d) of inputs; linear in features, or a sum of kernel functions of rows.

    Parameters
    ----------
    kernel, **settings : as of :class:`~skstruct.learners.features.KernelSettings`
    features : "nystroem" or "fourier"
        What stands for the kernel where ``n_landmarks`` is given.

    Attributes
    ----------
    weights_ : array (p, d) of features, or (m, d) of rows
    total_ : array (p,) or (m,) of the total weight, or None
    """

    map_: Any
    X_: Any
    weights_: np.ndarray
    total_: np.ndarray | None

    def _check_saved(self) -> None:
        if hasattr(self, "weights_"):
            check_floats(self, ["weights_"], 2)

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Settle kernel and features on the rows of X."""
        self.map_ = self.X_ = self.total_ = None
        wide = sparse.issparse(X) and X.shape[1] > X.shape[0]  # better left sparse
        linear = kernel_name(self.kernel) == "linear" and not wide
        self.by_features_ = linear or self.n_landmarks is not None
        self.kernel_ = self._fitted_kernel(X, sample_weight)
        if self.n_landmarks is not None:
            self.map_ = self._nystroem(self.kernel_, X)
        return self

    def featured(self, X: Any) -> Any:
        """Features of rows, with the constant; shape (n, p)."""
        return self._with_one(dense(X if self.map_ is None else self.map_.transform(X)))

    def gram(self, X: Any, root: np.ndarray) -> GramMatrix | FeatureGram:
        """The kernel of the training rows, scaled by ``root``."""
        if self.by_features_:
            return FeatureGram.of(self.featured(X), root)
        K = self.kernel_.gram(X)
        K += bool(self.fit_intercept)
        return GramMatrix.of(K, root)

    def between(self, A: Any, B: Any) -> np.ndarray:
        """Kernel between rows; shape (n_a, n_b)."""
        if not B.shape[0] and self.kernel_.name != "precomputed":
            return np.zeros((A.shape[0], 0))
        return self.kernel_(A, B) + bool(self.fit_intercept)

    def take(self, X: Any, weights: np.ndarray, total: np.ndarray | None = None) -> Self:
        """Keep a solution; rows of a precomputed kernel bring their own values."""
        precomputed = self.kernel_.name == "precomputed"
        self.X_ = None if self.by_features_ else X[:0] if precomputed else X
        self.weights_, self.total_ = weights, total
        return self

    def widen(self, X: Any, kept: np.ndarray) -> None:
        """Weights of zero for the rows of X that did not count."""
        if self.by_features_:
            return
        weights = np.zeros((X.shape[0], self.weights_.shape[1]))
        weights[kept] = self.weights_
        total = None if self.total_ is None else np.zeros(X.shape[0])
        if total is not None:
            total[kept] = self.total_
        self.take(X, weights, total)

    def like_kept_rows(self, X: Any) -> Any:
        """X dense or sparse, as the rows that are kept are."""
        if self.X_ is None or sparse.issparse(X) == sparse.issparse(self.X_):
            return X
        return X.toarray() if sparse.issparse(X) else sparse.csr_array(X)

    @property
    def all_weights(self) -> np.ndarray:
        """Weights with that of the total as the last column."""
        if self.total_ is None:
            raise ValueError(
                "Means of the embedding come with solver='closed-form' only: fit with it, or "
                "predict without a loss."
            )
        return np.column_stack([self.weights_, self.total_])

    def basis(self, X: Any) -> np.ndarray:
        """What weights are multiplied with: features, or kernel values against the kept rows."""
        return self.featured(X) if self.by_features_ else self.between(X, self.X_)

    def predict(self, X: Any, with_total: bool = False) -> Any:
        """Scores of the coordinates; shape (n, d), or (n, d + 1)."""
        return self.basis(X) @ (self.all_weights if with_total else self.weights_)
