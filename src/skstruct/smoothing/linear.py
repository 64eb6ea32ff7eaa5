# SPDX-License-Identifier: BSD-3-Clause
"""Linear ridge regression of many targets on many, mostly empty, features."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

TARGETS_AT_ONCE = 48  # a row of coefficients is then a few cache lines


class LinearRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Ridge regression on sparse features, all targets at once.

    .. math:: \min_{W, b} \sum_i s_i \|x_i W + b - t_i\|^2 + \alpha \|W\|^2

    For the hundred thousands of features that words have: the normal equations are solved by
    conjugate gradients, one product with X and one with its transpose per step, scaled by the
    diagonal, each target with step lengths of its own. The products serve all targets, which
    costs a small part of solving for one target after the other.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty, as in :class:`sklearn.linear_model.Ridge`.
    fit_intercept : bool, default=True
    tol : float, default=1e-4
        Ends when the norm of the scaled residual of the normal equations has fallen by this
        factor, for all targets together. For decisions 0.03 may do, reached in a few steps.
    max_iter : int, default=1000
    dtype : numpy dtype, default=numpy.float64
        ``numpy.float32`` halves time and memory, and is precise enough for decisions where
        features are of one size. Columns of a sparse X that are far from zero throughout
        cost digits in either: scale them first.
    n_jobs : int, default=None
        Threads, each with a block of targets.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features), or (n_features,)
    intercept_ : array of shape (n_targets,), or float
    n_iter_ : int
        Steps, of the block of targets that took most.

    Notes
    -----
    It has no weights of training rows, and leaves no rows out in closed form: choose alpha by
    cross-validation. :class:`~skstruct.smoothing.KernelRidge` with ``kernel="linear"`` does
    both, for some ten thousand rows.

    References
    ----------
    M. R. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems",
    1952.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.csr_array([[1.0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> T = np.array([[1.0, 0], [0, 1], [0, 1], [1, 0]])
    >>> LinearRidge(alpha=0.1).fit(X, T).predict(X).round(2)
    array([[0.98, 0.02],
           [0.02, 0.98],
           [0.02, 0.98],
           [0.98, 0.02]])
    """

    def __init__(
        self, alpha=1.0, *, fit_intercept=True, tol=1e-4, max_iter=1000, dtype=np.float64,
        n_jobs=None,
    ):  # fmt: skip
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(f"alpha must be positive and finite; {self.alpha!r} came.")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, y_numeric=True, dtype=self.dtype
        )
        weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        if not weight.any():
            raise ValueError("All sample weights are zero.")
        T, shift = y.reshape(X.shape[0], -1), 0.0
        if self.fit_intercept and not sparse.issparse(X):  # large offsets would eat digits
            shift = np.average(X, axis=0, weights=weight)
            X = X - shift.astype(X.dtype)
        equations = _NormalEquations(X, weight, self.alpha, self.fit_intercept)
        blocks = [T[:, i : i + TARGETS_AT_ONCE] for i in range(0, T.shape[1], TARGETS_AT_ONCE)]
        solved = Parallel(self.n_jobs, prefer="threads")(
            delayed(equations.solve)(block, self.tol, self.max_iter) for block in blocks
        )
        coefficients, intercepts, steps, ended = zip(*solved)
        if not all(ended):
            warnings.warn(
                f"LinearRidge: not within tol={self.tol:g} after {self.max_iter} steps.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.n_iter_ = max(steps)
        W, b = np.hstack(coefficients), np.concatenate(intercepts)
        b -= np.broadcast_to(shift, len(W)).astype(W.dtype) @ W
        self.coef_, self.intercept_ = (W[:, 0], b[0]) if y.ndim == 1 else (W.T, b)
        return self

    def predict(self, X):
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=self.dtype, reset=False)
        return X @ self.coef_.T + self.intercept_


class _NormalEquations:
    """(X'SX + alpha I) W = X'ST, with X and T centered by their weighted means."""

    def __init__(self, X, weight, alpha, centered):
        self.X, self.XT, self.alpha = X, X.T, alpha
        self.weight = weight[:, None]  # S; shape (n, 1)
        self.total = weight.sum()
        self.means = weight @ X / self.total if centered else np.zeros(X.shape[1], X.dtype)
        squares = weight @ (X.multiply(X) if hasattr(X, "multiply") else X * X)
        spread = squares - self.total * self.means**2  # not below zero but for rounding
        self.diagonal = (np.maximum(spread, 0) + alpha).astype(X.dtype)[:, None]
        self.centered = centered

    def product(self, W):
        V = self.X @ W
        V -= self.means @ W
        V *= self.weight  # columns of V now sum to zero: X' need not be centered
        return self.XT @ V + self.alpha * W

    def solve(self, T, tol, max_iter):
        """Coefficients (p, q), intercepts (q,), number of steps, and whether tol was reached."""
        T = np.ascontiguousarray(T, dtype=self.X.dtype)
        middle = (
            (self.weight * T).sum(axis=0) / self.total if self.centered else np.zeros_like(T[0])
        )
        R = self.XT @ (self.weight * (T - middle))  # residuals; shape (p, q)
        W = np.zeros_like(R)
        scaled = R / self.diagonal
        direction, size = scaled.copy(), _dots(R, scaled)
        goal = tol**2 * size.sum()
        steps = 0
        while size.sum() > goal and steps < max_iter:
            image = self.product(direction)
            # A target that is solved has neither residual nor direction.
            length = _ratio(size, _dots(direction, image))
            W += length * direction
            R -= length * image
            np.divide(R, self.diagonal, out=scaled)
            before, size = size, _dots(R, scaled)
            direction *= _ratio(size, before)
            direction += scaled
            steps += 1
        return W, middle - self.means @ W, steps, size.sum() <= goal


def _dots(A, B):
    """Inner product of each column of A with that of B."""
    return np.einsum("ij,ij->j", A, B)


def _ratio(a, b):
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
