# SPDX-License-Identifier: BSD-3-Clause
"""Least squares between two kernels with a bounded coefficient matrix."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator

from skstruct._arrays.memory import row_blocks
from skstruct.kernels.grams import REPAIR
from skstruct.saving import savable
from skstruct.tolerances import GRAM_DEFINITENESS, GRAM_EIGENVALUE_ZERO, ROOT_ACCURACY


@savable
class CompressionSystem(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""The matrix A of bounded size that maps kernel values of inputs to outputs [1]_.

    .. math:: \min_A \frac{1}{m} \mathrm{tr}\, (I - A K_X)' K_Y (I - A K_X)
              \quad \text{subject to} \quad \sum_{ij} A_{ij}^2 \le R^2

    With :math:`K_X = V \mathrm{diag}(k) V'`, :math:`K_Y = U \mathrm{diag}(e) U'` and
    :math:`M = U'V` the solution is :math:`A = U \gamma V'`,

    .. math:: \gamma_{ij} = e_i k_j M_{ij} / (e_i k_j^2 + m \beta),

    where :math:`\beta` is zero if that obeys the bound, and else the one root of
    :math:`\sum \gamma_{ij}^2 = R^2`. Equal outputs share a row of :math:`K_Y`, so that U has
    as many columns as there are distinct outputs.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013, Theorem
       6; its (13) prints the sum of the entries in place of the sum of their squares.
    """

    def fit(self, K_inputs: np.ndarray, K_distinct: np.ndarray, number: np.ndarray) -> Self:
        """Decompose both; ``K_inputs`` (m, m) is overwritten.

        Parameters
        ----------
        K_distinct : array of shape (u, u)
            Output kernel between the distinct outputs.
        number : int array of shape (m,)
            Which of them each row has.
        """
        k, V = eigh(K_inputs, overwrite_a=True, check_finite=False, driver="evr")
        count = np.bincount(number, minlength=len(K_distinct)).astype(np.float64)
        root = np.sqrt(count)
        e, Q = eigh(root[:, None] * K_distinct * root, check_finite=False)
        k, e = (_settled(values, name) for values, name in ((k, "input"), (e, "output")))
        V, k = V[:, k > 0], k[k > 0]
        Q, e = Q[:, e > 0], e[e > 0]
        scaled = Q / np.where(root > 0, root, 1.0)[:, None]
        self.U_, self.V_, self.e_, self.k_ = scaled[number], V, e, k
        self.M_ = self.U_.T @ V
        return self

    @property
    def _m(self) -> int:
        return len(self.U_)

    def gamma(self, beta: float) -> Any:
        """Coefficients for one multiplier; shape (rank of K_Y, rank of K_X)."""
        e, k = self.e_[:, None], self.k_
        return e * k * self.M_ / (e * k**2 + self._m * beta)

    def square_norm(self, beta: float) -> tuple[float, float]:
        """Sum of squares of A, and its derivative with respect to beta."""
        total = slope = 0.0
        for rows in row_blocks(len(self.e_), 40 * max(1, len(self.k_)), "50MB"):
            e = self.e_[rows, None]
            curvature = e * self.k_**2 + self._m * beta
            squares = (e * self.k_ * self.M_[rows] / curvature) ** 2
            total += float(squares.sum())
            slope -= 2.0 * self._m * float((squares / curvature).sum())
        return total, slope

    def beta(self, radius: float) -> float:
        """The multiplier of a radius: Newton's method on 1 / norm(A) - 1 / R, from zero.

        1 / norm(A) is concave and increasing in beta, so that the steps never go too far.
        """
        if radius == 0 or not len(self.e_) or not len(self.k_):
            return np.inf
        beta = 0.0
        for _ in range(100):
            total, slope = self.square_norm(beta)
            gap = total**-0.5 - 1.0 / radius if total > 0 else 0.0
            if gap >= -ROOT_ACCURACY / radius:
                break
            step = gap / (-0.5 * total**-1.5 * slope)
            if beta - step == beta:
                break
            beta -= step
        return beta

    def coefficients(self, beta: float, targets: np.ndarray | None = None) -> Any:
        """A' T of shape (m, q): what kernel values of new inputs are multiplied with.

        Without targets, A itself, of shape (m, m).
        """
        gamma = np.zeros_like(self.M_) if np.isinf(beta) else self.gamma(beta)
        if targets is None:
            return (self.U_ @ gamma) @ self.V_.T
        return self.V_ @ (gamma.T @ (self.U_.T @ targets))


def _settled(values: np.ndarray, name: str) -> np.ndarray:
    """Eigenvalues with those that are zero but for rounding set to zero."""
    top = np.abs(values).max(initial=0.0)
    if values.min(initial=0.0) < -GRAM_DEFINITENESS * top:
        raise ValueError(
            f"The {name} kernel is not positive semidefinite: its matrix has the eigenvalue "
            f"{values.min():.3g} (the largest is {values.max():.3g}); {REPAIR}."
        )
    return np.where(values > GRAM_EIGENVALUE_ZERO * top, values, 0.0)
