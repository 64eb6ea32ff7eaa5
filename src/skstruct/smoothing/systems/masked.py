# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regressions of targets of which each is known in some rows, from one decomposition."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skstruct._arrays.memory import row_blocks

ROWS = "64MB"  # of products at a time


@dataclass
class MaskedSolution:
    """Coefficients of rotated features and intercepts, and how they were come by."""

    coef: np.ndarray  # shape: (m, q)
    intercept: np.ndarray  # shape: (q,)
    residuals: list[float]  # the largest relative residual of a target after each iteration

    @classmethod
    def of(cls, x: np.ndarray, history: list[float], fit_intercept: bool) -> "MaskedSolution":
        """From a solution whose last row, with intercepts, is these."""
        if fit_intercept:
            return cls(x[:-1], x[-1], history)
        return cls(x, np.zeros(x.shape[1]), history)


def preconditioner(
    values: np.ndarray, mass: np.ndarray, total: float, alpha: float, fit_intercept: bool
) -> np.ndarray:
    """One over the diagonal that stands for the matrix of each target; shape (m or m + 1, q).

    Parameters
    ----------
    values : array of shape (m,)
        Eigenvalues of the sum of all rows.
    mass : array of shape (q,)
        Weight of the rows that know each target.
    total : float
        Weight of all rows.
    """
    scale = 1.0 / (values[:, None] * (mass / total) + alpha)
    if not fit_intercept:
        return scale
    return np.vstack([scale, 1.0 / np.where(mass > 0, mass, 1.0)])


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    scale: np.ndarray,
    tol: float,
    max_iter: int,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, list[float]]:
    """Solve one system for each column together, and tell the largest residual of each step.

    Parameters
    ----------
    product : callable
        The matrix of every column times that column; shape as given.
    right : array of shape (m, q)
    scale : array of shape (m, q)
        A diagonal, near the inverse of each matrix.
    tol : float
        Relative size of the residual, in the norm of that diagonal, to stop at.
    max_iter : int
    start : array of shape (m, q), default=None
        The first guess, which is overwritten; the diagonal times the right side when None.
    """
    size = np.sqrt((right * scale * right).sum(axis=0))
    size = np.where(size > 0, size, 1.0)
    x = scale * right if start is None else start
    residual = right - product(x)
    step = scale * residual
    direction, now = step.copy(), (residual * step).sum(axis=0)
    history = [float((np.sqrt(now) / size).max(initial=0.0))]
    while history[-1] > tol and len(history) <= max_iter:
        image = product(direction)
        curvature = (direction * image).sum(axis=0)
        length = np.where(curvature > 0, now / np.where(curvature > 0, curvature, 1.0), 0.0)
        x += length * direction
        residual -= length * image
        step = scale * residual
        after = (residual * step).sum(axis=0)
        share = np.where(now > 0, after / np.where(now > 0, now, 1.0), 0.0)
        direction = step + share * direction
        now = after
        history.append(float((np.sqrt(now) / size).max(initial=0.0)))
    return x, history


class RotatedFeatures:
    """Features that are centred, and rotated so that their sum of squares is diagonal.

    A child sets ``centre``, (m,), and ``fit_intercept``, and calls ``_decompose``.
    """

    centre: np.ndarray
    fit_intercept: bool

    def _decompose(self, gram: np.ndarray) -> None:
        """Eigenvalues and the rotation, from the sum of squares of centred features (m, m)."""
        values, self.rotation = np.linalg.eigh(gram)
        self.values = values.clip(min=0.0)

    @property
    def trace(self) -> float:
        return float(self.values.sum())

    def finite(self, alpha: float) -> float:
        """A penalty that leaves nothing but the mean, in place of an infinite one."""
        return float(min(alpha, 1e12 * max(1.0, self.trace)))

    def readout(self, solution: MaskedSolution) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (m, q) of features that are not rotated, and intercepts (q,)."""
        coef = self.rotation @ solution.coef
        return coef, solution.intercept - self.centre @ coef


class MaskedSystem(RotatedFeatures):
    r"""Solves :math:`\min \sum_{i \in O_j} s_i (z_i' b_j + c_j - t_{ij})^2 + \alpha |b_j|^2`.

    for every target j, known in the rows :math:`O_j`. The minimum is also the fixed point of
    filling: regress all rows, put the means that result in place of what is not known, regress
    again. That fixed point is the solution of the linear system

    .. math:: (Z' S M_j Z + \alpha I) b_j = Z' S M_j t_j,

    :math:`M_j` the rows that know j. If these are a share :math:`\rho_j` of all, drawn at random,
    the matrix is nearly :math:`\rho_j Z' S Z + \alpha I`, which one eigendecomposition of
    :math:`Z' S Z` inverts for all targets and penalties. Conjugate gradients, preconditioned by it,
    solve all targets together in some ten products with Z.

    Parameters
    ----------
    Z : array of shape (n, m)
        Features; overwritten by rotated ones.
    weight : array of shape (n,)
    fit_intercept : bool
    """

    def __init__(self, Z: np.ndarray, weight: np.ndarray, fit_intercept: bool) -> None:
        self.weight, self.fit_intercept = weight, fit_intercept
        share = weight / weight.sum()
        self.centre = share @ Z if fit_intercept else np.zeros(Z.shape[1])
        Z -= self.centre
        self._decompose(Z.T @ (weight[:, None] * Z))
        for rows in row_blocks(len(Z), 16 * Z.shape[1], ROWS):
            Z[rows] = Z[rows] @ self.rotation
        self.Z = Z

    def solve(
        self,
        targets: np.ndarray,
        known: np.ndarray,
        alpha: float,
        *,
        tol: float,
        max_iter: int,
    ) -> MaskedSolution:
        """By conjugate gradients.

        Parameters
        ----------
        targets : array of shape (n, q), any finite number where it is not known
        known : bool array of shape (n, q)
        tol : float
            Relative size of the residual, in the norm of the preconditioner, to stop at. The first
            guess comes from the known targets alone: rows that are left out leave no trace in a
            solution, however early it stops.
        """
        mask = self.weight[:, None] * known
        right = self._transposed(mask * np.where(known, targets, 0.0))
        scale = preconditioner(
            self.values, mask.sum(axis=0), self.weight.sum(), alpha, self.fit_intercept
        )

        def product(x: np.ndarray) -> np.ndarray:
            return self._product(x, mask, alpha)

        return self._solution(*conjugate_gradients(product, right, scale, tol, max_iter))

    def solve_by_patterns(
        self, targets: np.ndarray, known: np.ndarray, alpha: float
    ) -> MaskedSolution:
        """The same in closed form: one factorization for all targets known in the same rows."""
        m, q = self.Z.shape[1], targets.shape[1]
        x = np.zeros((m + self.fit_intercept, q))
        patterns, of_target = np.unique(known.T, axis=0, return_inverse=True)
        for k, rows in enumerate(patterns):
            columns = np.flatnonzero(of_target.reshape(-1) == k)
            Z, s = self.Z[rows], self.weight[rows]
            if self.fit_intercept:
                Z = np.hstack([Z, np.ones((len(Z), 1))])
            A = Z.T @ (s[:, None] * Z)
            A[np.arange(m), np.arange(m)] += alpha
            if self.fit_intercept and not s.any():
                A[m, m] = 1.0
            right = Z.T @ (s[:, None] * targets[np.ix_(rows, columns)])
            x[:, columns] = cho_solve(cho_factor(A), right)
        return self._solution(x, [])

    def means(self, solution: MaskedSolution, rows: Any = slice(None)) -> np.ndarray:
        """Fitted means of some rows; shape (k, q)."""
        return self.Z[rows] @ solution.coef + solution.intercept

    def _solution(self, x: np.ndarray, history: list[float]) -> MaskedSolution:
        return MaskedSolution.of(x, history, self.fit_intercept)

    def _transposed(self, F: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.Z.T @ F
        return np.vstack([found, F.sum(axis=0)]) if self.fit_intercept else found

    def _product(self, x: np.ndarray, mask: np.ndarray, alpha: float) -> np.ndarray:
        """The matrix of every target times its column of x; shape of x."""
        m = self.Z.shape[1]
        total = np.zeros(x.shape)
        for rows in row_blocks(len(self.Z), 16 * x.shape[1], ROWS):
            Z = self.Z[rows]
            F = Z @ x[:m]
            if self.fit_intercept:
                F += x[m]
            F *= mask[rows]
            total[:m] += Z.T @ F
            if self.fit_intercept:
                total[m] += F.sum(axis=0)
        total[:m] += alpha * x[:m]
        return total
