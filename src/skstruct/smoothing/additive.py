# SPDX-License-Identifier: BSD-3-Clause
"""Kernel ridge regression whose targets know of each other."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from skstruct.kernels import label_kernel_matrix
from skstruct.kernels.labels import check_semidefinite
from skstruct.saving import savable
from skstruct.smoothing.facets import Learning
from skstruct.smoothing.kernel_ridge import KernelRidge, LearningOfKernelMachine, check_alpha
from skstruct.spaces import Description
from skstruct.tolerances import EIGENVALUE_ZERO


@savable
class AdditiveKernelRidge(KernelRidge):
    r"""Ridge regression of q targets with the joint kernel :math:`k(x, x') S_{jk}`.

    The additive model of conditional risk [1]_: labels that the label kernel S holds
    similar borrow strength from each other. With :math:`S = V \mathrm{diag}(s) V'` the
    targets :math:`T V` separate, each a kernel ridge regression of its own with penalty
    :math:`\alpha / s_j`, so two eigendecompositions solve it, for every alpha, with
    leave-one-out in closed form. ``S = I`` is :class:`KernelRidge`.

    Parameters
    ----------
    label_kernel : array of shape (q, q), "adjacency", "laplacian" or "diffusion"
        Symmetric and positive semidefinite; a name is that of a kernel between the labels of a
        hierarchy, which the learner knows. Targets of several times q columns are taken
        in blocks of q, each rotated alike.
    kernel, alpha, fit_intercept
        As in :class:`KernelRidge`; alpha is a single number, or ``"auto"`` for a learner that
        chooses it.

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", section 5. The label part of the kernel printed there is not
       positive semidefinite; S must be.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.arange(6.0)[:, None], np.eye(2)[[0, 0, 0, 1, 1, 1]]
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> AdditiveKernelRidge(S).fit(X, Y).predict(X).shape
    (6, 2)
    """

    def __init__(
        self,
        label_kernel: Any,
        *,
        kernel: Any = "rbf",
        alpha: Any = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        super().__init__(
            kernel,
            alpha,
            fit_intercept=fit_intercept,
            solver="spectral",
        )
        self.label_kernel = label_kernel

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*super()._get_param_names(), "kernel", "alpha"} - {"solver"})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to targets ``y`` of shape (n, blocks * q)."""
        S = check_semidefinite(np.asarray(self.label_kernel, dtype=np.float64))
        values, self.label_vectors_ = np.linalg.eigh(S)
        top = max(values.max(initial=0.0), np.finfo(float).tiny)
        self.label_values_ = np.where(values > EIGENVALUE_ZERO * top, values, 0.0)
        return super().fit(X, y, sample_weight)

    def _blocks(self, T: np.ndarray) -> np.ndarray:
        q = len(self.label_values_)
        if T.ndim != 2 or T.shape[1] % q:
            raise ValueError(
                f"The label kernel is for {q} targets; got targets of shape {T.shape}."
            )
        return T.reshape(len(T), -1, q)

    def _rotate(self, T: np.ndarray) -> Any:
        return (self._blocks(T) @ self.label_vectors_).reshape(T.shape)

    def _rotate_back(self, T: np.ndarray) -> Any:
        return (self._blocks(T) @ self.label_vectors_.T).reshape(T.shape)

    def _shifts(self, alpha: float, n_targets: int) -> np.ndarray:
        """One penalty per rotated target: alpha / s_j, infinite where s_j is zero."""
        s = self.label_values_
        shift = np.divide(check_alpha(alpha), s, out=np.full(len(s), np.inf), where=s > 0)
        return np.tile(shift, n_targets // len(s))

    def _solve(self, targets: np.ndarray) -> Self:
        self.targets_ = targets
        T = self._rotate(targets)
        shift = self._shifts(self.alpha, T.shape[1])
        coef = self.root_[:, None] * self.system_.solve(self.root_[:, None] * T, shift)
        self._store(coef, T)
        # Predictions are linear in coefficients and intercept: rotate those back once.
        self.dual_coef_ = self._rotate_back(self.dual_coef_)
        self.intercept_ = self._rotate_back(np.asarray(self.intercept_)[None])[0]
        return self

    def weights(self, X: Any) -> np.ndarray:
        raise ValueError(
            "With a label kernel every label has weights of its own; there is no single set."
        )

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Predictions for the training rows, or for some, each (or its whole group) left out."""
        left = next(self.loo_path([self.alpha], groups))
        return left if rows is None else left[rows]

    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[np.ndarray]:
        """``loo`` for each alpha in turn; a generator."""
        rotated = copy.copy(self)
        rotated.targets_ = self._rotate(self.targets_)
        for alpha in alphas:
            shifts = self._shifts(alpha, self.targets_.shape[1])
            if groups is None:
                yield self._rotate_back(next(KernelRidge.loo_path(rotated, [shifts])))
            else:
                yield self._rotate_back(self._group_loo(rotated, shifts, groups))

    def _group_loo(
        self, rotated: "AdditiveKernelRidge", shifts: np.ndarray, groups: Any
    ) -> np.ndarray:
        """Column by column: each rotated target has a penalty, hence a matrix, of its own."""
        left = np.empty_like(rotated.targets_)
        for shift in np.unique(shifts):
            columns = shifts == shift
            alone = copy.copy(rotated)
            alone.targets_ = rotated.targets_[:, columns]
            left[:, columns] = next(KernelRidge.loo_path(alone, [shift], groups))
        return left


class LearningOfLabels(LearningOfKernelMachine):
    """Targets that know of each other."""

    __slots__ = ()
    joins_labels = True

    def for_space(self, space: Any) -> Any:
        """The same with the matrix of a label kernel that was named."""
        smoother = self.smoother
        if not isinstance(smoother.label_kernel, str):
            return smoother
        matrix = label_kernel_matrix(smoother.label_kernel, Description.of(space).output_dag())
        return smoother.set_params(label_kernel=matrix)


Learning.at(AdditiveKernelRidge, LearningOfLabels)
