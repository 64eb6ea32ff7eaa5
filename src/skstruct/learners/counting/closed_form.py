# SPDX-License-Identifier: BSD-3-Clause
r"""The minimum of the structured ridge objective in closed form.

With K = Q diag(k) Q' and S = sum of g_p Pi_p, the part of the objective that all examples share
is diagonal, and what single outputs add has one number per correct output:

    G_ab = sum_p (u_a Pi_p u_b) [Q diag(k / (2 lam + g_p k)) Q']_{i(a) i(b)},
    (N^-1 + G) beta = N^-1 b,
    A = sum_p Q diag(1 / (2 lam + g_p k)) Q' (sum_a beta_a u_a) Pi_p.

G is formed where S has few distinct eigenvalues; otherwise its products are all that conjugate
gradients need, and these take no more than the embeddings do.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.learners.counting.examples import CountingExamples
from skstruct.learners.counting.factors import Factor

TOLERANCE = 1e-12  # of conjugate gradients, relative to the right-hand side
EXPECTED_STEPS = 60  # of conjugate gradients, where both ways are weighed


class ClosedForm:
    """The solution for one penalty.

    Parameters
    ----------
    examples : CountingExamples
    factor : Factor
        Of the scaled kernel.
    lam : float
    """

    def __init__(self, examples: CountingExamples, factor: Factor, lam: float):
        self.examples, self.factor, self.lam = examples, factor, lam
        self.values = examples.covariance.eigenvalues

    @cached_property
    def shrink(self) -> np.ndarray:
        """1 / (2 lam + g_p k_q); shape (q, r)."""
        return 1.0 / (2.0 * self.lam + np.multiply.outer(self.factor.k, self.values))

    @cached_property
    def filters(self) -> np.ndarray:
        """k_q / (2 lam + g_p k_q); shape (q, r)."""
        return self.factor.k[:, None] * self.shrink

    # ------------------------------------------------------------------ G
    def times_G(self, beta: np.ndarray) -> np.ndarray:
        """G beta; shape (M,)."""
        examples, Q = self.examples, self.factor.Q
        rotated = Q.T @ examples.gathered(beta)  # (q, d)
        return examples.margins(Q @ examples.covariance.filter(rotated, self.filters))

    def smoothing(self, p: int) -> np.ndarray:
        """Q diag(k / (2 lam + g_p k)) Q'; shape (m, m)."""
        Q = self.factor.Q
        return (Q * self.filters[:, p]) @ Q.T

    @cached_property
    def G(self) -> np.ndarray:
        """G, term by term; shape (M, M)."""
        examples, row = self.examples, self.examples.row
        total = np.zeros((len(row), len(row)))
        for p, part in enumerate(examples.covariance.parts(examples.U)):
            smooth = self.smoothing(p)
            smooth = smooth if len(row) == len(smooth) else smooth[np.ix_(row, row)]
            products = part @ examples.U.T
            products *= smooth
            total += products
        return total

    @property
    def is_direct(self) -> bool:
        """Whether forming G takes less work than its products."""
        (m, q), (M, d) = self.factor.Q.shape, self.examples.U.shape
        direct = len(self.values) * M * (M * d + m * q) + M**3 / 3
        return not self.examples.is_convex or direct <= EXPECTED_STEPS * 2 * m * q * d

    # ------------------------------------------------------------------ the solution
    @cached_property
    def system(self):
        """Cholesky factor of N^-1 + G."""
        if (self.examples.counts > 1).any():
            matrix = self.G + self.examples.dense_N(inverse=True)
        else:
            matrix = self.G.copy()
            matrix[np.diag_indices_from(matrix)] += 1.0
        return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    @cached_property
    def beta(self) -> np.ndarray:
        """What each correct output still lacks of a margin of one; shape (M,)."""
        examples, b = self.examples, self.examples.b
        if not examples.is_convex:  # N is indefinite, the whole is not
            N = examples.dense_N()
            return np.linalg.solve(np.eye(len(b)) + N @ self.G, b)
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

    @cached_property
    def coefficients(self) -> np.ndarray:
        """A, with scaled scores K A; shape (m, d)."""
        rotated = self.factor.Q.T @ self.examples.gathered(self.beta)
        return self.factor.Q @ self.examples.covariance.filter(rotated, self.shrink)

    @cached_property
    def total(self) -> np.ndarray:
        """Coefficients of the total weight, at the largest eigenvalue of S; shape (m,)."""
        top = int(self.values.argmax())
        counts, row = self.examples.counts, self.examples.row
        lacking = np.bincount(row, self.beta, minlength=len(counts)) / np.sqrt(counts)
        rotated = self.factor.Q.T @ lacking
        return self.factor.Q @ (self.values[top] * self.shrink[:, top] * rotated)
