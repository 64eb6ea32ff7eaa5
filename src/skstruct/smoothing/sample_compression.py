# SPDX-License-Identifier: BSD-3-Clause
"""Regression in an output kernel's space with a bounded coefficient matrix, as a smoother."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.rows import dense
from skstruct.saving import savable
from skstruct.smoothing.facets import Weighing
from skstruct.smoothing.kernel_ridge import KernelMachine
from skstruct.smoothing.systems.compression import CompressionSystem


@savable
class SampleCompression(KernelMachine):
    r"""Weights :math:`b(x) = A v(x)` with :math:`\sum A_{ij}^2 \le R^2`.

    See :class:`~skstruct.smoothing.systems.CompressionSystem` for A, which depends on the
    kernel between the outputs. The prediction is :math:`\sum_i b_i(x) t_i` for any targets.

    Parameters
    ----------
    kernel : str, kernel or callable
        Kernel between inputs, as in :class:`KernelRidge`.
    radius : float, default=1.0
        R. Zero predicts zero; a large one does not bind.

    Attributes
    ----------
    beta_ : float
        Lagrange multiplier of the bound; zero where it does not bind.

    Examples
    --------
    >>> import numpy as np
    >>> X, T = np.array([[0.0], [1.0], [3.0]]), np.eye(3)
    >>> model = SampleCompression(radius=2.0).fit(X, T, output_gram=np.eye(3))
    >>> bool(abs((model.coef_**2).sum() - 4.0) < 1e-9)
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        radius: float | str = 1.0,
    ) -> None:
        self.kernel = kernel
        self.radius = radius

    def fit(
        self,
        X: Any,
        y: Any,
        output_gram: np.ndarray | None = None,
        number: np.ndarray | None = None,
    ) -> "SampleCompression":
        """Fit to targets ``y`` of shape (n, n_targets).

        Parameters
        ----------
        output_gram : array of shape (u, u), default=None
            Kernel between the distinct outputs; the inner products of the targets when None.
        number : int array of shape (n,), default=None
            Which of these each row has; its own when None.
        """
        X, targets = self._read(X, y)
        self._check_radius(self.radius)
        T = targets.reshape(len(targets), -1)
        gram = T @ T.T if output_gram is None else np.asarray(output_gram, dtype=np.float64)
        number = np.arange(len(T)) if number is None else np.asarray(number)
        self._settle_kernel(X)
        self.system_ = CompressionSystem().fit(self.kernel_.gram(X), gram, number)
        self.targets_ = targets
        return self._solve()

    @staticmethod
    def _check_radius(radius: float | str) -> None:
        if not isinstance(radius, (int, float, np.number)) or not radius >= 0:
            raise ValueError(f"radius is a number of at least 0; got {radius!r}.")

    def _solve(self) -> Self:
        self.beta_ = self.system_.beta(float(self.radius))
        T = self.targets_.reshape(len(self.targets_), -1)
        self.dual_coef_ = self.system_.coefficients(self.beta_, T)
        return self

    def with_radius(self, radius: float) -> "SampleCompression":
        """The same smoother with another radius: nothing is decomposed again."""
        check_is_fitted(self)
        self._check_radius(radius)
        other = copy.copy(self)
        other.radius = radius
        return other._solve()

    def with_targets(self, targets: np.ndarray) -> "SampleCompression":
        """The same weights, applied to other targets."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        return other._solve()

    @property
    def coef_(self) -> np.ndarray:
        """A of shape (n_fitted, n_fitted)."""
        check_is_fitted(self, "system_")
        return self.system_.coefficients(self.beta_)

    def weights(self, X: Any) -> np.ndarray:
        """Weights b(x) of the training rows for each row of ``X``; shape (n, n_fitted)."""
        X = self._checked(X)
        return self.kernel_(X, self.X_fit_) @ self.coef_.T


class WeighingOfCompression(Weighing):
    """Weights of all training rows, which all count alike."""

    __slots__ = ()

    @property
    def weighing_part(self) -> Any:
        return self.smoother

    @property
    def rows(self) -> Any:
        return self.smoother.X_fit_


Weighing.at(SampleCompression, WeighingOfCompression)
