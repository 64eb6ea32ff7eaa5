# SPDX-License-Identifier: BSD-3-Clause
"""Linear ridge regression of many targets on many, mostly empty, features."""

import copy
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.foreign import on_host
from skstruct._arrays.rows import dense, known_rows, narrow_indices
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, group_numbers, group_rows
from skstruct.smoothing.facets import (
    Gaps,
    Learning,
    Penalties,
    PenaltiesBySomeRows,
    Weighing,
    WeighingOfRows,
)
from skstruct.smoothing.kernel_ridge import check_alpha
from skstruct.smoothing.systems.normal_equations import COLUMNS_AT_ONCE, NormalEquations
from skstruct.tolerances import SMALLEST_ALPHA

FOLDS = 5  # of rows, that are left out together along a path of penalties
JUDGED, FEWEST = 10_000, 1_000  # rows at most, and at least, of a single fold that is left out
LOOSE, PATH_DTYPE = 0.03, np.float32  # along a path: decisions do not see more


@savable
class LinearRidge(SparseRegressor):
    r"""Ridge regression on sparse features, all targets at once.

    .. math:: \min_{W, b} \sum_i s_i \|x_i W + b - t_i\|^2 + \alpha \|W\|^2

    For the hundred thousands of features that words have: the normal equations are solved by
    conjugate gradients, one product with X and one with its transpose per step, scaled by the
    diagonal, each target with step lengths of its own. The products serve all targets, which
    costs a small part of solving for one target after the other. It is
    :class:`~skstruct.smoothing.KernelRidge` with ``kernel="linear"`` for any number of rows.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty, as in :class:`sklearn.linear_model.Ridge`; infinity leaves the means.
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
    left_out_rows_ : array or None
        Rows that ``loo_path`` leaves out together, a fifth of them or 10,000; None for all rows,
        in five folds.

    Notes
    -----
    The training rows are kept, by reference, for other targets and for their weights; a model
    file keeps them where they are few.

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
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        dtype: Any = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs

    X_fit_: Any = None  # these, of a model loaded from a file
    targets_: Any = None
    sample_weight_: Any = None
    left_out_rows_: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LinearRidge":
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        check_alpha(self.alpha)
        X, y = on_host(X), on_host(y)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, y_numeric=True, dtype=self.dtype
        )
        weight = check_sample_weight(sample_weight, X, dtype=X.dtype)
        if not weight.any():
            raise ValueError("All sample weights are zero.")
        self.X_fit_, self.sample_weight_ = narrow_indices(X), weight
        self.left_out_rows_ = _held_out(weight)
        return self._solve(y)

    def _solve(self, targets: np.ndarray) -> Self:
        self.targets_ = np.asarray(targets)
        T = self.targets_.reshape(len(targets), -1)
        equations, shift = self._equations()
        solved = equations.solve(
            equations.right_sides(T), float(self.alpha), self.tol, self.max_iter
        )
        W, self.n_iter_ = solved.W, solved.steps
        if not solved.ended:
            warnings.warn(
                f"LinearRidge: not within tol={self.tol:g} after {self.max_iter} steps.",
                ConvergenceWarning,
                stacklevel=3,
            )
        b = equations.mean_targets(T) - (equations.means + shift) @ W
        b = b.astype(W.dtype)
        self.coef_, self.intercept_ = (W[:, 0], b[0]) if targets.ndim == 1 else (W.T, b)
        return self

    def _equations(
        self, rows: Any = slice(None), dtype: Any = None, scale: float = 1.0
    ) -> tuple[NormalEquations, np.ndarray]:
        """The normal equations of some training rows, and what is taken off X beforehand."""
        X, weight = self._kept_rows()[rows], self.sample_weight_[rows]
        shift = np.zeros(X.shape[1], X.dtype)
        if self.fit_intercept and not sparse.issparse(X):  # large offsets would eat digits
            shift = np.average(X, axis=0, weights=weight).astype(X.dtype)
            X = X - shift
        if dtype is not None:
            X, weight = (X / scale).astype(dtype), weight.astype(dtype)
        return NormalEquations(X, weight, self.fit_intercept, self.n_jobs), shift

    def _kept_rows(self) -> Any:
        check_is_fitted(self)
        if self.X_fit_ is None:
            raise ValueError(
                "The training rows of LinearRidge are not kept in a model file where they are "
                "many: fit again for other targets, or for weights of rows."
            )
        return self.X_fit_

    def _not_saved(self) -> tuple[str, ...]:
        rows = ("X_fit_", "targets_", "sample_weight_", "left_out_rows_")
        return () if self._has_few_rows() else rows

    def _has_few_rows(self) -> bool:
        """Whether training rows and targets are no more numbers than the coefficients."""
        if self.X_fit_ is None:
            return False
        size = self.X_fit_.nnz if sparse.issparse(self.X_fit_) else self.X_fit_.size
        return size + self.targets_.size <= 2 * self.coef_.size

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        check_is_fitted(self)
        return self._checked(X) @ self.coef_.T + self.intercept_

    def _checked(self, X: Any) -> Any:
        return known_rows(self, X, accept_sparse="csr", dtype=self.dtype)

    # ------------------------------------------------------------------ a linear smoother
    def with_targets(self, targets: np.ndarray) -> "LinearRidge":
        """The same smoother for other targets."""
        self._kept_rows()
        return copy.copy(self)._solve(dense(targets))

    def with_alpha(self, alpha: float) -> "LinearRidge":
        """The same smoother with another alpha."""
        other = copy.copy(self)
        other.alpha = alpha
        return other._solve(self.targets_)

    def weights(self, X: Any) -> np.ndarray:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        equations, shift = self._equations()
        X = self._checked(X)
        weight, W = equations.weight[:, 0], np.empty((X.shape[0], len(equations.weight)))
        for start in range(0, X.shape[0], COLUMNS_AT_ONCE):
            rows = slice(start, start + COLUMNS_AT_ONCE)
            W[rows] = self._influence(equations, X[rows], shift).T * weight
        return W

    def _influence(
        self, equations: NormalEquations, X: Any, shift: np.ndarray, rows: Any = slice(None)
    ) -> Any:
        """How much a training row, for its weight, moves the mean at rows of X; (n_fitted, n)."""
        B = (X.toarray() if sparse.issparse(X) else X).T - (equations.means + shift)[:, None]
        solved = equations.solve(B, float(self.alpha), self.tol, self.max_iter)
        share = equations.centred_product(equations.X[rows], solved.W)
        return share + 1.0 / equations.total if self.fit_intercept else share

    def loo(self, groups: Any = None) -> np.ndarray:
        r"""Predictions for the training rows, each (or its whole group) left out.

        With H the weights of training rows for each other, the means of a group without it are
        :math:`(I - H_{gg})^{-1} (c_g - H_{gg} t_g)`. It takes as many solutions as there are
        rows: for few of them.
        """
        (equations, shift), X = self._equations(), self._kept_rows()
        T = self.targets_.reshape(X.shape[0], -1)
        left = np.array(self.predict(X), dtype=np.float64).reshape(T.shape)
        for rows in group_rows(groups, len(T)):
            H = self._influence(equations, X[rows], shift, rows).T * equations.weight[rows, 0]
            left[rows] = np.linalg.solve(np.eye(len(rows)) - H, left[rows] - H @ T[rows])
        return left if self.targets_.ndim == 2 else left[:, 0]

    def penalty_range(self) -> tuple[float, float]:
        """The largest penalty worth trying, near the mean, and what all of them are above."""
        equations = self._equations()[0]
        trace = float(equations.spread.sum())
        # Ten times the largest eigenvalue, often far below the trace, leaves little but the mean.
        return min(trace, 10.0 * equations.largest()), SMALLEST_ALPHA * trace

    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[Any]:
        """Left-out predictions for each alpha in turn, each begun from the last; a generator.

        Of the rows ``left_out_rows_``: they are left out together, with the others of their
        groups, and are predicted from the rest; where that is less than half of all rows, or where
        all rows are judged, five folds are left out in turn. Solved to a loose tolerance.
        """
        self._kept_rows()
        return self._path(map(float, alphas), self._folds(groups))

    def _folds(self, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from, and positions among the judged rows to predict, of every fold."""
        n = len(self.targets_)
        judged = np.arange(n) if self.left_out_rows_ is None else self.left_out_rows_
        group = group_numbers(groups, n, self.sample_weight_)
        rest = np.flatnonzero(~np.isin(group, group[judged]))
        if 2 * len(rest) >= n:
            return [(rest, np.arange(len(judged)))]
        fold = (np.random.default_rng(0).permutation(group.max() + 1) % FOLDS)[group]
        return [
            (np.flatnonzero(fold != k), np.flatnonzero(fold[judged] == k)) for k in np.unique(fold)
        ]

    def _path(
        self, alphas: Iterable[float], folds: list[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[np.ndarray]:
        """In single precision, which is a third of the time; so X is scaled to unit size."""
        T = self.targets_.reshape(len(self.targets_), -1)
        judged = np.arange(len(T)) if self.left_out_rows_ is None else self.left_out_rows_
        size = np.sqrt(float(self._equations()[0].spread.sum()) / self.sample_weight_.sum())
        scale = size if size > 0 else 1.0
        known = [self._equations(rows, PATH_DTYPE, scale) for rows, _ in folds]
        sides = [one.right_sides(T[rows]) for (one, _), (rows, _) in zip(known, folds)]
        found: list[Any] = [None] * len(folds)
        tol = max(self.tol, LOOSE)
        for alpha in alphas:
            left = np.empty((len(judged), T.shape[1]))
            for k, ((equations, shift), (rows, here)) in enumerate(zip(known, folds)):
                at = (alpha / scale**2, tol, self.max_iter, found[k])
                found[k] = equations.solve(sides[k], *at)
                W = found[k].W / scale
                base = equations.mean_targets(T[rows]) - (scale * equations.means + shift) @ W
                left[here] = self.X_fit_[judged[here]] @ W + base
            yield left


class PenaltiesOfLinearRidge(PenaltiesBySomeRows):
    """Ridge regression on features, where small penalties take many steps."""

    __slots__ = ()
    are_costly = True

    def bounds(self) -> tuple[float, float]:
        return self.smoother.penalty_range()


class LearningOfLinearRidge(Learning):
    """Ridge regression whose kernel is the linear one."""

    __slots__ = ()
    kernel = "linear"


Gaps.at(LinearRidge, "skstruct.smoothing.gaps:RidgeOfKnown")
Learning.at(LinearRidge, LearningOfLinearRidge)
Penalties.at(LinearRidge, PenaltiesOfLinearRidge)
Weighing.at(LinearRidge, WeighingOfRows)


def _held_out(weight: np.ndarray) -> np.ndarray | None:
    """Rows that are left out together, at random; None where they would be few."""
    rows = np.flatnonzero(weight > 0)
    n_out = min(len(rows) // FOLDS, JUDGED)
    if n_out < FEWEST:
        return None
    return np.sort(np.random.default_rng(0).choice(rows, size=n_out, replace=False))
