# SPDX-License-Identifier: BSD-3-Clause
"""What regressions in a kernel's space have in common."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.progress import working
from skstruct._arrays.rows import dense
from skstruct._arrays.weights import check_sample_weight
from skstruct.backends import device_of
from skstruct.config import Configured, config_context
from skstruct.kernels import resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, group_rows
from skstruct.smoothing.facets import (
    Gaps,
    Learning,
    LearningByKernel,
    LeavingOut,
    LeavingSomeOut,
    Penalties,
    PenaltiesOfRidges,
    Weighing,
    WeighingOfRows,
)
from skstruct.smoothing.planning import (
    PATH_ROWS,
    check_fits,
    check_precision,
    check_solver,
    plan,
)
from skstruct.smoothing.systems import CholeskySystem, SpectralSystem

COLUMNS = 256  # of an inverse that are computed at a time


class KernelMachine(Configured, SparseRegressor):
    """Predictions k(x, x_i) @ dual_coef_, in blocks of rows.

    A child has the parameter ``kernel``, and keeps ``kernel_``, ``X_fit_``, ``targets_``,
    ``dual_coef_`` (n_fitted, n_targets) and, if it computes elsewhere, ``device_``.
    """

    intercept_: np.ndarray | float = 0.0
    device_: Any = None
    system_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return kernel_name(self.kernel) == "precomputed"

    def _settle_kernel(self, X: Any, sample_weight: Any = None) -> None:
        """The kernel with its parameters settled on the training rows."""
        self.kernel_ = resolve_kernel(self.kernel).fit(X, sample_weight)
        self.X_fit_ = None if self._precomputed else X

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        X = self._checked(X)
        out = self._multiplied(X)
        out += self.intercept_
        return out if self.targets_.ndim == 2 else out[:, 0]

    def _multiplied(self, X: Any) -> np.ndarray:
        """k(x, x_i) @ dual_coef_; shape (n, n_targets)."""
        if self.device_ is not None and not self._precomputed:
            from skstruct.kernels.on_device import kernel_product

            return kernel_product(
                self.kernel_, X, self.X_fit_, self.dual_coef_, self.device_, self.memory
            )
        out = np.empty((X.shape[0], self.dual_coef_.shape[1]))
        for rows in row_blocks(X.shape[0], 8 * len(self.dual_coef_), self.memory):
            out[rows] = self.kernel_(X[rows], self.X_fit_) @ self.dual_coef_
        return out


# Kernel ridge regression as a smoother: signed weights, closed-form leave-out.


__all__ = ["KernelRidge", "check_alpha", "check_solver"]


@savable
class KernelRidge(KernelMachine):
    r"""Ridge regression in the space of a kernel, for any number of targets at once.

    .. math:: \min_{f, b} \sum_i s_i (f(x_i) + b - t_i)^2 + \alpha \|f\|^2

    The prediction is :math:`\sum_i w_i(x) t_i`. With an intercept the weights sum to one,
    :math:`w(x) = M^{-1} v + M^{-1} 1 (1 - 1' M^{-1} v) / (1' M^{-1} 1)` with
    :math:`M = K + \alpha I`; about half of them are negative.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        A kernel of :mod:`skstruct.kernels`, or the name that stands for it: ``"rbf"`` is
        :class:`RBF() <skstruct.kernels.RBF>`; a callable (A, B) -> matrix; or ``"precomputed"``.
    alpha : float or array of shape (n_targets,), default=1.0
        Ridge penalty on scikit-learn's scale, K + alpha I.
    fit_intercept : bool, default=True
    solver : "auto", "cholesky", "packed" or "spectral"
        Cholesky factors the kernel matrix where it lies, 8 n² bytes. Packed keeps half of it,
        4 n² bytes, for up to 23,000 rows, at about the same speed. Spectral costs more once,
        and then serves any alpha. Auto is Cholesky, or spectral when alpha differs between
        targets. Whether it fits into memory is checked before anything is allocated.

    Notes
    -----
    Of the settings of :func:`skstruct.set_config`, ``memory`` is the budget of one block of kernel
    rows at prediction. ``precision="mixed"`` factors in single precision, with half of the memory,
    and refines the solution to that of double precision (see
    :class:`~skstruct.smoothing.systems.MixedSystem`). It falls back to double, with a warning,
    where alpha is too small for it; it is worth it for few targets, and leaving out is much faster
    in double precision. On a ``device``, an eigendecomposition, the spectral solver, is computed
    by numpy in double precision in any case.

    Attributes
    ----------
    dual_coef_ : array of shape (n_fitted, n_targets)
    intercept_ : array of shape (n_targets,)

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.kernels import RBF
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = KernelRidge(RBF(1.0), alpha=0.01).fit(X, np.sin(X))
    >>> bool(abs(model.predict([[1.5]])[0, 0] - np.sin(1.5)) < 1e-2)
    True
    >>> model.weights([[1.5]]).sum().round(12)
    np.float64(1.0)

    Half of the memory, and the same answer:

    >>> packed = KernelRidge(RBF(1.0), alpha=0.01, solver="packed").fit(X, np.sin(X))
    >>> bool(abs(packed.predict(X) - model.predict(X)).max() < 1e-10)
    True
    """

    _saved_together = ("dual_coef_", "intercept_")

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        solver: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        self.device_ = device_of(self.device, X)
        X, targets = self._read(X, y)
        weight = check_sample_weight(sample_weight, X)
        self.sample_weight_ = weight
        self._settle_kernel(X, weight)
        self.root_ = np.sqrt(weight)  # rows are scaled by it: (D K D + alpha I) (A / D) = D T
        with config_context(device=self.device_):
            self._fit_system(X, 1 if targets.ndim == 1 else targets.shape[1])
        return self._solve(np.asarray(targets, dtype=np.float64))

    def _fit_system(self, X: Any, n_targets: int) -> None:
        shift, system = check_alpha(self.alpha), self._new_system(X, n_targets)
        border = self.root_ if self.fit_intercept else None
        name = "spectral" if isinstance(system, SpectralSystem) else "cholesky"
        sizes = X.shape[0], 0 if self._precomputed else X.shape[1], n_targets
        what = f"decomposing the kernel matrix of {X.shape[0]:,} rows"
        with working(what, expected=lambda: plan(*sizes, solver=name).seconds):
            self.system_ = system.fit_rows(self.kernel_, X, self.root_, shift, border)
        self.column_mean_ = system.column_mean_

    def _new_system(self, X: Any, n_targets: int) -> Any:
        """The system that was asked for, if there is memory for it."""
        name = self._system_name()
        sizes = (X.shape[0], 0 if self._precomputed else X.shape[1], n_targets)
        if name == "spectral":
            check_fits(plan(*sizes, solver=name))
            return SpectralSystem()
        name = "cholesky" if name == "auto" else name
        shared = {"precision": self.precision, "device": self.device}
        check_fits(plan(*sizes, solver=name, **shared))
        packed = name == "packed"
        if self.device is not None:
            from skstruct.smoothing.systems.on_device import DeviceSystem

            return DeviceSystem(self.device)
        if self.precision == "mixed":
            from skstruct.smoothing.systems.mixed_precision import MixedSystem

            return MixedSystem(packed=packed)
        if packed:
            from skstruct.smoothing.systems.direct import PackedCholeskySystem

            return PackedCholeskySystem()
        return CholeskySystem()

    def _system_name(self) -> str:
        """The name of a system, after a look at what goes together."""
        check_solver(self.solver)
        check_precision(self.precision)
        if self.solver in ("nystroem", "fourier"):
            raise ValueError(
                f'KernelRidge is exact; solver="{self.solver}" is NystroemRidge(features='
                f'"{self.solver}").'
            )
        if np.ndim(self.alpha) > 0 or self.solver == "spectral":
            return "spectral"
        if self.solver == "auto" and self.alpha == np.inf:
            return "spectral"  # alpha is chosen later, of several
        if self.device is not None and (self.solver == "packed" or self.precision == "mixed"):
            raise ValueError(
                'On a device the whole matrix is factored in double precision: solver="cholesky" '
                f'and precision="double"; got solver="{self.solver}" and '
                f'precision="{self.precision}".'
            )
        return self.solver

    def _solve(self, targets: np.ndarray) -> Self:
        self.targets_ = targets
        T = self._matrix_targets()
        if (self.root_ == 1.0).all():  # no copies of large targets
            coef = self.system_.solve(T)
        else:
            coef = self.system_.solve(self.root_[:, None] * T)
            coef *= self.root_[:, None]
        self._store(coef, T)
        return self

    def _store(self, coef: np.ndarray, T: np.ndarray) -> None:
        self.dual_coef_ = coef
        self.intercept_ = np.zeros(T.shape[1])
        if self.fit_intercept:
            self.intercept_ = (
                self.sample_weight_ @ T / self.sample_weight_.sum() - self.column_mean_ @ coef
            )

    def __getattr__(self, name: str) -> Any:
        if name != "system_" or "dual_coef_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        system = self._new_system(self.X_fit_, self.dual_coef_.shape[1])
        border = self.root_ if self.fit_intercept else None
        shift = check_alpha(self.alpha)
        self.system_ = system.fit_rows(self.kernel_, self.X_fit_, self.root_, shift, border)
        return self.system_

    def with_targets(self, targets: np.ndarray) -> "KernelRidge":
        """The same smoother for other targets: one solve, nothing factored again."""
        return copy.copy(self)._solve(dense(targets, np.float64))

    def with_alpha(self, alpha: float) -> Any:
        """The same smoother with another alpha; for the spectral system."""
        self._check_spectral()
        other = copy.copy(self)
        other.alpha = alpha
        other.system_ = copy.copy(self.system_)
        other.system_.shift_ = check_alpha(alpha)
        return other._solve(self.targets_)

    def _check_spectral(self) -> None:
        check_is_fitted(self)
        if not isinstance(self.system_, SpectralSystem):
            raise ValueError('Another alpha without a new factorization needs solver="spectral".')

    # ------------------------------------------------------------------ predicting
    def weights(self, X: Any) -> np.ndarray:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        X = self._checked(X)
        V = self.kernel_(X, self.X_fit_)
        if self.fit_intercept:
            V = V - self.column_mean_
        W = (self.root_[:, None] * self.system_.solve(self.root_[:, None] * V.T)).T
        if self.fit_intercept:
            W += self.sample_weight_ / self.sample_weight_.sum()
        return W

    # ------------------------------------------------------------------ leaving out
    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Predictions for the training rows, each (or its whole group) left out.

        With R = alpha (K + alpha I)^-1, bordered for an intercept, the residuals of a
        group G without G are R_GG^-1 (R T)_G: exactly what refitting would give. It takes less
        for few ``rows``.
        """
        check_is_fitted(self)
        residuals = check_alpha(self.alpha) * self.dual_coef_ / self._divisor()
        members = None if groups is None else group_rows(groups, len(self.root_))
        if rows is None:
            return self._left_out(residuals, members)
        if members is None:
            members = [rows[k : k + 1] for k in range(len(rows))]
        else:
            inside = np.zeros(len(self.root_), dtype=bool)
            inside[rows] = True
            members = [group for group in members if inside[group].any()]
        return self._left_out(residuals, members)[rows]

    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[np.ndarray]:
        """``loo`` for each alpha in turn, from one eigendecomposition; a generator."""
        self._check_spectral()
        rotated = self.system_.rotate(self.root_[:, None] * self._matrix_targets())
        members = None if groups is None else group_rows(groups, len(self.root_))
        for alpha in alphas:
            yield self._left_out(self.system_.residuals(rotated, alpha), members, alpha)

    def _matrix_targets(self) -> np.ndarray:
        return self.targets_ if self.targets_.ndim == 2 else self.targets_[:, None]

    def _divisor(self) -> np.ndarray:
        """What rows were scaled by, and one for rows of weight zero; shape (n, 1)."""
        return np.where(self.root_ > 0, self.root_, 1.0)[:, None]

    def _left_out(
        self, residuals: np.ndarray, members: list[np.ndarray] | None, *shift: Any
    ) -> Any:
        """Predictions without each row, or each group of ``members``, from fitted residuals.

        Rows of weight zero were never in, so they are as fitted. Overwrites ``residuals``.
        """
        if members is None:
            share = self.system_.residual_shares(*shift)
            residuals /= share if share.ndim == 2 else share[:, None]
        else:
            single = [rows for rows in members if len(rows) == 1]
            alone = np.concatenate([np.empty(0, np.int64), *single]).astype(np.int64)
            if len(alone):
                share = self._residual_shares(alone, *shift)
                residuals[alone] /= share if share.ndim == 2 else share[:, None]
            for rows in members:
                if len(rows) > 1:
                    block = self.system_.residual_block(rows, *shift)
                    residuals[rows] = np.linalg.solve(block, residuals[rows])
        left = self._matrix_targets() - residuals / self._divisor()
        absent = self.root_ == 0
        if absent.any():
            X = self.X_fit_
            if X is None:
                raise ValueError("Rows of weight zero cannot be left out of a precomputed kernel.")
            left[absent] = self.predict(X[absent]).reshape(absent.sum(), -1)
        return left if self.targets_.ndim == 2 else left[:, 0]

    def _residual_shares(self, rows: np.ndarray, *shift: Any) -> Any:
        """Those of some rows; by columns of their own where they are few."""
        several = np.ndim(shift[0] if shift else self.alpha) > 0
        if several or 4 * len(rows) > len(self.root_):
            return self.system_.residual_shares(*shift)[rows]
        blocks = (rows[k : k + COLUMNS] for k in range(0, len(rows), COLUMNS))
        shares = [self.system_.residual_block(block, *shift).diagonal() for block in blocks]
        return np.concatenate(shares)


class LeavingOutOfKernelRidge(LeavingSomeOut):
    """Kernel ridge regression."""

    __slots__ = ()

    def light(self) -> Any:
        """The same predictions without the factors; these are made anew where they are needed.

        What predicts keeps n q coefficients, and not n^2 numbers beside them.
        """
        other = copy.copy(self.smoother)
        if other.X_fit_ is not None:  # of a precomputed kernel, nothing could be made anew
            other.__dict__.pop("system_", None)
        return other


class PenaltiesOfKernelRidge(PenaltiesOfRidges):
    """Kernel ridge regression."""

    __slots__ = ()
    most_rows = PATH_ROWS

    def bounds(self) -> tuple[float, float]:
        """An indefinite kernel allows only penalties that outweigh its lowest eigenvalue."""
        system = self.smoother.system_
        return float(system.values_.clip(min=0).sum()), -2.0 * system.lowest_


class LearningOfKernelMachine(LearningByKernel):
    """Predictions k(x, x_i) @ dual_coef_."""

    __slots__ = ()

    def on_device(self, backend: Any, memory: Any) -> tuple[Callable[..., Any], int] | None:
        from skstruct.kernels.on_device import KernelExpansion

        smoother = self.smoother
        kernel, rows = smoother.kernel_, smoother.X_fit_
        if rows is None or sparse.issparse(rows) or kernel.name in ("function", "precomputed"):
            return None  # a callable is for arrays of numpy
        expansion = KernelExpansion(kernel, rows, smoother.dual_coef_, backend, memory=memory)
        shift = backend.asarray(np.atleast_1d(smoother.intercept_), "float64")
        return lambda X: expansion(X).add_(shift), len(smoother.dual_coef_)


Learning.at(KernelMachine, LearningOfKernelMachine)
Gaps.at(KernelRidge, "skstruct.smoothing.gaps:RidgeOfKnown")
LeavingOut.at(KernelRidge, LeavingOutOfKernelRidge)
Penalties.at(KernelRidge, PenaltiesOfKernelRidge)
Weighing.at(KernelRidge, WeighingOfRows)


def check_alpha(alpha: float) -> Any:
    """A positive penalty, or an array of them; infinity leaves nothing but the mean."""
    values = np.asarray(alpha, dtype=np.float64)
    if np.isnan(values).any() or (values <= 0).any():
        raise ValueError(f"alpha must be positive; got {alpha!r}.")
    return float(values) if values.ndim == 0 else values
