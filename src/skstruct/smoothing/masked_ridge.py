# SPDX-License-Identifier: BSD-3-Clause
"""Kernel ridge regression of targets of which some are not known."""

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import reported, working
from skstruct._arrays.rows import dense
from skstruct._arrays.weights import check_sample_weight
from skstruct.kernels import resolve_kernel
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, group_numbers
from skstruct.smoothing.bracketing import Bracketing, Trials
from skstruct.smoothing.facets import (
    Gaps,
    GapsTaken,
    Learning,
    LearningByKernel,
    LeavingOut,
    LeavingSomeOut,
    Penalties,
    PenaltiesOfRidges,
    Weighing,
    WeighingByTarget,
)
from skstruct.smoothing.folds import folds_of_rows, rank_by_content
from skstruct.smoothing.kernel_ridge import check_alpha
from skstruct.smoothing.nystroem.landmarks import most_landmarks
from skstruct.smoothing.penalties import alpha_grid, smoother_alphas, squared_error
from skstruct.smoothing.planning import LINEAR_FEATURES
from skstruct.smoothing.systems.masked import MaskedSolution, MaskedSystem, RotatedFeatures

EXACT = 1000  # rows up to which all of them are landmarks
FEW_PATTERNS = 3  # so many patterns of what is known are solved in closed form
COMPARED = 30  # targets by which penalties are compared
CHOOSING_FOLDS = 3  # that penalties are compared by
CHOOSING, LEFT_OUT = 1e-3, 1e-4  # residuals of solutions that penalties, and rows, are judged by


@savable
class MaskedRidge(SparseRegressor):
    r"""Ridge regression in the space of a kernel, each target from the rows that know it.

    .. math:: \min_{f_j, b_j} \sum_{i :\, t_{ij} \text{ known}} s_i (f_j(x_i) + b_j - t_{ij})^2
              + \alpha \|f_j\|^2

    Targets that are not known are NaN. The minimum is also the fixed point of filling gaps with
    the means that are predicted for them. Up to 1,000 rows it is exact; of more, features of
    landmarks stand for the kernel. One eigendecomposition serves all targets and penalties:
    ``"patterns"`` factors a matrix for each set of rows that some targets are known in;
    ``"fixed_point"`` goes to the same minimum by preconditioned conjugate gradients
    (:class:`~skstruct.smoothing.systems.masked.MaskedSystem`).

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
    alpha : float, several, or "auto", default="auto"
        The penalty; of several that of least left-out squared error of known targets.
    fit_intercept : bool, default=True
    n_landmarks : int or "auto", default="auto"
        All rows up to 1,000 of them, 1,000 or 2 sqrt(n) of more.
    method : "auto", "patterns" or "fixed_point", default="auto"
        Patterns where there are at most three of them.
    cv : int, default=5
        Folds of rows that are left out together.
    tol : float, default=1e-8
        Relative residual of the fixed point.
    max_iter : int, default=500
    random_state : int, RandomState or None, default=None
        Of landmarks.

    Attributes
    ----------
    alpha_ : float, the penalty
    residuals_ : list of float
        The largest relative residual after each iteration: how the fixed point was reached.
    coef_, intercept_ : arrays of shapes (m, n_targets) and (n_targets,)
    residual_ : float
        Share of the kernel's trace that landmarks leave.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data via
       the EM algorithm", 1977: filling by means, for normal errors.

    Examples
    --------
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> T = np.hstack([np.sin(X), np.cos(X)])
    >>> T[::2, 0] = np.nan
    >>> model = MaskedRidge(alpha=1e-3).fit(X, T)
    >>> model.predict([[1.5]]).round(2)
    array([[1.  , 0.07]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: Any = "auto",
        *,
        fit_intercept: bool = True,
        n_landmarks: int | str = "auto",
        method: str = "auto",
        cv: int = 5,
        tol: float = 1e-8,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.n_landmarks = n_landmarks
        self.method = method
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    @reported
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,), NaN where they are not known.

        ``groups`` of rows are left out together when alpha is chosen.
        """
        if self.method not in ("auto", "patterns", "fixed_point"):
            raise ValueError(f'method is "auto", "patterns" or "fixed_point"; got {self.method!r}.')
        X, y = self._read(X, y)
        self.X_fit_, self.targets_ = X, np.asarray(y, dtype=np.float64)
        self.sample_weight_ = check_sample_weight(sample_weight, X)
        self.kernel_ = resolve_kernel(self.kernel).fit(X, self.sample_weight_)
        with working(f"decomposing the features of {X.shape[0]:,} rows"):
            self._decompose(X)
        self.alpha_ = self._chosen_alpha(groups)
        return self._solve()

    def _decompose(self, X: Any) -> None:
        self.map_ = self._feature_map(X)
        Z = np.empty((X.shape[0], self.map_.width))
        for rows in row_blocks(X.shape[0], 24 * self.map_.width, "128MB"):
            Z[rows] = self.map_.features(X[rows])
        self.system_ = MaskedSystem(Z, self.sample_weight_, self.fit_intercept)
        self.residual_ = float(np.nan_to_num(self.map_.residual))

    def _feature_map(self, X: Any) -> Any:
        from skstruct.smoothing.nystroem.feature_maps import LinearMap, NystroemMap

        n = X.shape[0]
        name = getattr(self.kernel_, "name", None)
        if name == "precomputed":
            raise ValueError(
                "A precomputed kernel has no features, which targets with gaps need: give the "
                "kernel itself, or leave out rows with gaps."
            )
        if name == "linear" and X.shape[1] <= min(n, LINEAR_FEATURES):
            return LinearMap.of_sample(self.kernel_, X, self.fit_intercept, "float64", None)
        automatic = isinstance(self.n_landmarks, str)
        if n <= (EXACT if automatic else int(self.n_landmarks)):
            return NystroemMap(self.kernel_, X)
        most = most_landmarks(self.n_landmarks, n)
        wanted = "auto" if automatic else most
        seed = 0 if self.random_state is None else self.random_state
        return NystroemMap.of_sample(self.kernel_, X, wanted, most, seed, "float64", None)

    @property
    def _known(self) -> np.ndarray:
        return ~np.isnan(self._matrix())

    def _matrix(self) -> np.ndarray:
        return self.targets_ if self.targets_.ndim == 2 else self.targets_[:, None]

    def _solve(self) -> Self:
        targets, known = self._matrix(), self._known
        few = len(np.unique(known.T, axis=0)) <= FEW_PATTERNS
        if self.method == "patterns" or (self.method == "auto" and few):
            found = self.system_.solve_by_patterns(targets, known, self.system_.finite(self.alpha_))
        else:
            found = self._fixed_point(targets, known, self.alpha_, self.tol)
        self._take(found, self.system_, "max_iter or alpha")
        return self

    def _take(self, found: MaskedSolution, features: RotatedFeatures, remedy: str) -> None:
        """Keep a solution, with a warning where it is none yet."""
        self.coef_, self.intercept_ = features.readout(found)
        self.residuals_ = found.residuals
        if found.residuals and found.residuals[-1] > self.tol:
            warn_caller(
                f"{type(self).__name__}: after {self.max_iter} iterations the relative residual is "
                f"{found.residuals[-1]:.1e}, above tol={self.tol:g}; give a larger {remedy}.",
                ConvergenceWarning,
            )

    def _fixed_point(
        self, targets: np.ndarray, known: np.ndarray, alpha: float, tol: float
    ) -> MaskedSolution:
        return self.system_.solve(
            targets, known, self.system_.finite(alpha), tol=tol, max_iter=self.max_iter
        )

    # ------------------------------------------------------------------ the penalty
    def _chosen_alpha(self, groups: Any) -> float:
        if not isinstance(self.alpha, str) and np.ndim(self.alpha) == 0:
            return float(check_alpha(self.alpha))
        alphas = alpha_grid(self.alpha, partial(smoother_alphas, self))
        targets = self._matrix()
        step = -(-targets.shape[1] // COMPARED)
        targets = targets[:, ::step]
        tried: Any = Bracketing(alphas) if isinstance(self.alpha, str) else Trials(alphas)
        folds = self._folds(np.arange(len(targets)), groups, min(self.cv, CHOOSING_FOLDS))
        for alpha in tried:
            left = self._left_out(targets, float(alpha), folds, CHOOSING)
            tried.record(squared_error(left, targets, self.sample_weight_))
        return float(tried.best)

    def with_alpha(self, alpha: float) -> Self:
        """The same smoother with another alpha."""
        other = copy.copy(self)
        other.alpha = other.alpha_ = float(alpha)
        return other._solve()

    def with_targets(self, targets: Any) -> Self:
        """The same smoother for other targets, NaN where they are not known."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        return other._solve()

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        X = self._checked(X)
        readout = self.map_.readout(self.coef_)
        out = np.empty((X.shape[0], self.coef_.shape[1]))
        for rows in row_blocks(X.shape[0], 16 * self.map_.width, "64MB"):
            out[rows] = self.map_.backend.to_host(self.map_.values(X[rows]) @ readout)
        out += self.intercept_
        return out if self.targets_.ndim == 2 else out[:, 0]

    def weights(self, X: Any) -> np.ndarray:
        """Weights of the training rows for targets that all of them know; (n, n_fitted)."""
        X, n = self._checked(X), len(self.targets_)
        found = np.empty((X.shape[0], n))
        for rows in row_blocks(n, 16 * n, "64MB"):
            units = np.zeros((n, rows.stop - rows.start))
            units[rows] = np.eye(rows.stop - rows.start)
            found[:, rows] = self.with_targets(units).predict(X)
        return found

    # ------------------------------------------------------------------ leaving out
    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Means of the training rows, each with its fold left out; exactly those of a refit.

        Groups are in ``rows`` as a whole, or not at all.
        """
        check_is_fitted(self)
        rows = np.arange(len(self.targets_)) if rows is None else rows
        folds = self._folds(rows, groups)
        left: np.ndarray = self._left_out(self._matrix(), self.alpha_, folds, LEFT_OUT)[rows]
        return left if self.targets_.ndim == 2 else left[:, 0]

    def loo_path(self, alphas: Iterable[float], groups: Any = None) -> Iterator[np.ndarray]:
        """``loo`` for each alpha in turn; a generator."""
        folds = self._folds(np.arange(len(self.targets_)), groups)
        for alpha in alphas:
            left = self._left_out(self._matrix(), float(alpha), folds, LEFT_OUT)
            yield left if self.targets_.ndim == 2 else left[:, 0]

    def _folds(self, rows: np.ndarray, groups: Any, n_folds: int | None = None) -> np.ndarray:
        """The fold of each row, -1 for rows that are never left out; shape (n,)."""
        n = len(self.targets_)
        number = group_numbers(groups, n, self.sample_weight_)
        key = rank_by_content(self.X_fit_, np.zeros((n, 1)))
        fold = np.full(n, -1)
        fold[rows] = folds_of_rows(rows, number, self.cv if n_folds is None else n_folds, key)
        return fold

    def _left_out(
        self, targets: np.ndarray, alpha: float, folds: np.ndarray, tol: float
    ) -> np.ndarray:
        """Means of rows, each fold without itself; NaN of rows in no fold; shape (n, q)."""
        known = ~np.isnan(targets)
        targets = np.where(known, targets, 0.0)
        left = np.full(targets.shape, np.nan)
        for k in range(folds.max() + 1):
            inside = folds == k
            others = known & ~inside[:, None]
            found = self._fixed_point(targets, others, alpha, tol)
            left[inside] = self.system_.means(found, inside)
        return left

    # ------------------------------------------------------------- model files
    def _not_saved(self) -> tuple[str, ...]:
        return ("system_",)  # made anew where it is needed

    def __getattr__(self, name: str) -> Any:
        if name != "system_" or "coef_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._decompose(self.X_fit_)
        return self.__dict__["system_"]


class LeavingOutOfMaskedRidge(LeavingSomeOut):
    """Ridge regression of targets with gaps."""

    __slots__ = ()

    def light(self) -> Any:
        other = copy.copy(self.smoother)
        other.__dict__.pop("system_", None)
        return other


class PenaltiesOfMaskedRidge(PenaltiesOfRidges):
    """Ridge regression of targets with gaps, which chooses its penalty itself."""

    __slots__ = ()

    @property
    def fitted(self) -> Any:
        return self.smoother.alpha_


class LearningOfMaskedRidge(LearningByKernel):
    """Features of landmarks, or of all rows."""

    __slots__ = ()

    @property
    def n_landmarks(self) -> int:
        return int(self.smoother.map_.width)

    @property
    def residual(self) -> float:
        return self.smoother.residual_


Gaps.at(MaskedRidge, GapsTaken)
Learning.at(MaskedRidge, LearningOfMaskedRidge)
LeavingOut.at(MaskedRidge, LeavingOutOfMaskedRidge)
Penalties.at(MaskedRidge, PenaltiesOfMaskedRidge)
Weighing.at(MaskedRidge, WeighingByTarget)
