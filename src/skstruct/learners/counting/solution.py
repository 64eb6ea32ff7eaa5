# SPDX-License-Identifier: BSD-3-Clause
r"""The minimum of the structured ridge objective in closed form.

With K the kernel and S = sum of g_p Pi_p, the part of the objective that all examples share
splits into eigenspaces, and what single outputs add has one number per correct output:

    M_p = K (2 lam I + g_p K)^-1,
    G_ab = sum_p (u_a Pi_p u_b) M_p[i(a), i(b)],
    (N^-1 + G) beta = N^-1 b,
    A = sum_p (2 lam I + g_p K)^-1 (sum_a beta_a u_a) Pi_p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.learners.counting.examples import CountingExamples

TOLERANCE = 1e-12  # of conjugate gradients, relative to the right-hand side


class Solution(ABC):
    """The solution for one penalty; a child knows the kernel.

    Parameters
    ----------
    examples : CountingExamples
    lam : float
    """

    is_direct = True  # whether G is formed; its products serve otherwise

    def __init__(self, examples: CountingExamples, lam: float):
        self.examples, self.lam = examples, lam
        self.values = examples.covariance.eigenvalues

    @abstractmethod
    def smoothing(self, p: int) -> np.ndarray:
        """M_p, on and above the diagonal at least; shape (m, m)."""

    @abstractmethod
    def times_G(self, beta: np.ndarray) -> np.ndarray:
        """G beta; shape (M,)."""

    @abstractmethod
    def spread(self, gathered: np.ndarray) -> np.ndarray:
        """A from sums of beta_a u_a for every example; shape (m, d)."""

    @abstractmethod
    def spread_in(self, column: np.ndarray, p: int) -> np.ndarray:
        """(2 lam I + g_p K)^-1 times a column; shape (m,)."""

    @cached_property
    def G(self) -> np.ndarray:
        """G on and above the diagonal, term by term; shape (M, M)."""
        examples, row = self.examples, self.examples.row
        total = None
        for p, products in enumerate(examples.covariance.grams(examples.U)):
            if not products.any():  # no output differs from the mean in this eigenspace
                continue
            smooth = self.smoothing(p)
            products *= smooth if len(row) == len(smooth) else smooth[np.ix_(row, row)]
            total = products if total is None else np.add(total, products, out=total)
        return np.zeros((len(row), len(row))) if total is None else total

    @cached_property
    def system(self):
        """Lower Cholesky factor of N^-1 + G."""
        if (self.examples.counts > 1).any():
            matrix = self.G + self.examples.dense_N(inverse=True)
        else:
            matrix = self.G
            matrix[np.diag_indices_from(matrix)] += 1.0
            del self.G  # no second matrix of that size
        return cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    @property
    def _whole_G(self) -> np.ndarray:
        return np.triu(self.G) + np.triu(self.G, 1).T

    @cached_property
    def beta(self) -> np.ndarray:
        """What each correct output still lacks of a margin of one; shape (M,)."""
        examples, b = self.examples, self.examples.b
        if not examples.is_convex:  # N is indefinite, the whole is not
            N_G = examples.dense_N() @ self._whole_G
            return np.linalg.solve(np.eye(len(b)) + N_G, b)
        if self.is_direct:
            return cho_solve(self.system, examples.solve_N(b), check_finite=False)
        shape = (len(b), len(b))
        operator = LinearOperator(
            shape, matvec=lambda v: examples.solve_N(v) + self.times_G(v), dtype=np.float64
        )
        beta, failed = cg(operator, examples.solve_N(b), rtol=TOLERANCE, atol=0.0, maxiter=10_000)
        if failed:
            raise UnverifiedAnswerError(
                f"Conjugate gradients did not converge at alpha = {self.lam:.3g}; use a larger "
                "alpha."
            )
        return beta

    @property
    def objective(self) -> float:
        """The objective at the solution, -b'v/2 as of any quadratic."""
        examples, b = self.examples, self.examples.b
        if examples.is_convex:
            v = examples.solve_N(b - self.beta)
        else:
            v = self._whole_G @ self.beta
        return float(-0.5 * b @ v)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """A, with scaled scores K A; shape (m, d)."""
        return self.spread(self.examples.gathered(self.beta))

    @cached_property
    def total(self) -> np.ndarray:
        """Coefficients of the total weight, at the largest eigenvalue of S; shape (m,)."""
        top, counts = int(self.values.argmax()), self.examples.counts
        lacking = np.bincount(self.examples.row, self.beta, minlength=len(counts))
        return self.values[top] * self.spread_in(lacking / np.sqrt(counts), top)
