# SPDX-License-Identifier: BSD-3-Clause
"""From inputs to scores: linear, through a kernel, or through features that stand for one."""

from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.rows import dense
from skstruct.learners.features import KernelSettings
from skstruct.learners.penalty_path import mean_square
from skstruct.saving import check_floats, savable

NOTHING = np.zeros((0, 0))


class LinearRows:
    """Rows of features; example m owns the rows starts[m]:starts[m + 1].

    Parameters
    ----------
    X : array or CSR of shape (N, p)
    starts : int array of shape (M + 1,)
    """

    kernelised = False

    @property
    def kind(self) -> int:
        """How compiled steps read the rows: 0 from CSR, 1 from a dense array, 2 as a kernel."""
        return 0 if sparse.issparse(self.X) else 1

    def __init__(self, X: Any, starts: np.ndarray) -> None:
        self.X, self.starts = X, np.asarray(starts, dtype=np.int64)

    @property
    def n_examples(self) -> int:
        return len(self.starts) - 1

    @property
    def n_rows(self) -> Any:
        return self.X.shape[0]

    @cached_property
    def longest(self) -> int:
        """The most rows of an example."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of rows of every example; shape (M,)."""
        return np.diff(self.starts)

    @cached_property
    def single(self) -> bool:
        """Whether every example is one row."""
        return self.n_rows == self.n_examples and bool((self.lengths == 1).all())

    def of(self, examples: np.ndarray) -> Any:
        """Row numbers of some examples, one after the other."""
        if self.single:
            return np.asarray(examples)
        lengths = self.lengths[examples]
        ends = np.cumsum(lengths)
        offset = np.repeat(self.starts[:-1][examples] - (ends - lengths), lengths)
        return np.arange(lengths.sum()) + offset

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """What compiled steps know of the rows: see `_numba`."""
        if not sparse.issparse(self.X):
            X = np.ascontiguousarray(self.X, dtype=np.float64)
            return (self.kind, X), None
        X = sparse.csr_array(self.X)
        indices = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return (self.kind, NOTHING), (X.data.astype(np.float64), *indices)

    def turned(self, weights: np.ndarray) -> np.ndarray:
        """Weights (p, q) as compiled steps write to them: (q, p) where rows are dense."""
        return weights.T if self.kind == 1 else weights

    @cached_property
    def gram(self) -> tuple[np.ndarray, np.ndarray]:
        """<x_t, x_s> within every example, example after example, and where each begins."""
        if self.single:
            squares = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X**2
            return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel(), self.starts
        blocks = [self._inner(a, b) for a, b in zip(self.starts[:-1], self.starts[1:])]
        starts = np.concatenate([[0], np.cumsum(self.lengths**2)]).astype(np.int64)
        return np.concatenate([*blocks, np.zeros(0)]), starts

    def _inner(self, first: int, last: int) -> np.ndarray:
        X = self.X[first:last]
        inner = X @ X.T
        return dense(inner).ravel()

    def scores(self, W: np.ndarray, S: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Scores of some rows; shape (len(rows), q)."""
        return np.asarray(self.X[rows] @ W)

    def starts_of(self, examples: np.ndarray) -> np.ndarray:
        """Where each of some examples begins, one after the other."""
        return np.concatenate([[0], np.cumsum(self.lengths[examples])])

    def subset(self, examples: np.ndarray) -> "LinearRows":
        """Some of the examples, as rows of their own."""
        return LinearRows(self.X[self.of(examples)], self.starts_of(examples))

    def left_out_scores(self, dual: Any, learned: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """Scores of some examples by a dual of ``subset(learned)``; shape (R, q)."""
        return np.asarray(self.X[self.of(examples)] @ dual.weights)

    def mean_square(self, share: np.ndarray) -> tuple[float, float]:
        """Mean square of the rows, and the share of it that varies; examples have weights."""
        return mean_square(self.X, np.repeat(share, self.lengths))

    def weights(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W = X' A for coefficients A (N, q), and no scores kept."""
        weights = self.X.T @ coefficients
        return np.require(weights, requirements="F" if self.kind == 1 else "C"), NOTHING


class KernelRows(LinearRows):
    """Training rows known by their kernel matrix alone.

    Parameters
    ----------
    K : array of shape (N, N)
    starts : int array of shape (M + 1,)
    """

    kernelised, kind = True, 2

    def __init__(self, K: np.ndarray, starts: np.ndarray) -> None:
        super().__init__(K, starts)

    @cached_property
    def gram(self) -> tuple[np.ndarray, np.ndarray]:
        if self.single:
            return self.X.diagonal().copy(), self.starts
        return super().gram

    def _inner(self, first: int, last: int) -> Any:
        return self.X[first:last, first:last].ravel()

    def scores(self, W: np.ndarray, S: np.ndarray, rows: np.ndarray) -> Any:
        return S[rows]

    def weights(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """No weights, but the scores K A of all rows."""
        return NOTHING, self.X @ coefficients

    def subset(self, examples: np.ndarray) -> "KernelRows":
        rows = self.of(examples)
        return KernelRows(self.X[np.ix_(rows, rows)], self.starts_of(examples))

    def left_out_scores(self, dual: Any, learned: np.ndarray, examples: np.ndarray) -> Any:
        return self.X[np.ix_(self.of(examples), self.of(learned))] @ dual.coefficients

    def mean_square(self, share: np.ndarray) -> tuple[float, float]:
        weight = np.repeat(share, self.lengths)
        weight = weight / weight.sum()
        total = float(weight @ self.X.diagonal())
        return total, 1.0 - float(weight @ self.X @ weight) / total if total > 0 else 1.0


@savable
class Scores(KernelSettings):
    """Scores that are linear in features of the inputs.

    Attributes
    ----------
    weights_ : array (p, q), or (N, q) of the training rows where there is a kernel
    constants_ : array (r,), scores that depend on no input
    """

    def _check_saved(self) -> None:
        if hasattr(self, "weights_"):
            check_floats(self, ["weights_"], 2)

    def fit_rows(self, X: Any, starts: np.ndarray, weight: np.ndarray | None = None) -> LinearRows:
        """What the optimiser needs to know of the training rows, of weights (N,)."""
        self.features_ = self.X_ = None
        if self.is_linear:
            return LinearRows(self._with_one(X), starts)
        self.kernel_ = self._fitted_kernel(X, weight)
        if self.n_landmarks:
            self.features_ = self._nystroem(self.kernel_, X)
            return LinearRows(self._with_one(self.features_.transform(X)), starts)
        # New rows of a precomputed kernel bring their values: there is nothing to keep.
        self.X_ = X[:0] if self.kernel == "precomputed" else X
        K = self.kernel_.gram(X)
        K += bool(self.fit_intercept)
        return KernelRows(K, starts)

    def take(self, dual: Any) -> Self:
        """Keep what the optimiser found."""
        self.weights_ = dual.coefficients if dual.rows.kernelised else dual.weights.copy()
        self.constants_ = dual.constants.copy()
        return self

    def features_of(self, X: Any) -> Any:
        """What scores are linear in, without the constant: inputs, or features of a kernel."""
        return X if self.features_ is None else self.features_.transform(X)

    def predict(self, X: Any) -> Any:
        """Scores of the coordinates that see inputs; shape (n, q)."""
        if self.X_ is not None:
            K = self.kernel_(X, self.X_)
            return K @ self.weights_ + bool(self.fit_intercept) * self.weights_.sum(axis=0)
        X = self.features_of(X)
        if not self.fit_intercept:
            return np.asarray(X @ self.weights_)
        return np.asarray(X @ self.weights_[:-1]) + self.weights_[-1]
