# SPDX-License-Identifier: BSD-3-Clause
"""The minimum of the structured ridge objective in closed form.

With K the kernel and S = sum of g_p Pi_p, the part of the objective that all examples share
splits into eigenspaces, and what single outputs add has one number per correct output:

    M_p = K (2 lam I + g_p K)^-1,
    G_ab = sum_p (u_a Pi_p u_b) M_p[i(a), i(b)],
    (N^-1 + G) beta = N^-1 b,
    A = sum_p (2 lam I + g_p K)^-1 (sum_a beta_a u_a) Pi_p.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.sparse.linalg import LinearOperator, cg

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.kernels.grams import REPAIR
from skstruct.learners.counting_ridge.objective import CountingExamples, Minimum
from skstruct.learners.counting_ridge.score_functions import Factor, GramMatrix
from skstruct.tolerances import SMALL_PENALTY, SYSTEM_RESIDUAL


class Solution(ABC):
    """The solution for one penalty; a child knows the kernel.

    Parameters
    ----------
    examples : CountingExamples
    lam : float
    """

    is_direct = True  # whether G is formed; its products serve otherwise

    def __init__(self, examples: CountingExamples, lam: float) -> None:
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
    def system(self) -> Any:
        """Lower Cholesky factor of N^-1 + G."""
        if (self.examples.counts > 1).any():
            matrix = self.G + self.examples.dense_N(inverse=True)
        else:
            matrix = self.G
            matrix[np.diag_indices_from(matrix)] += 1.0
            del self.G  # no second matrix of that size
        return cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    @property
    def _whole_G(self) -> Any:
        return np.triu(self.G) + np.triu(self.G, 1).T

    @cached_property
    def beta(self) -> Any:
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
        beta, failed = cg(
            operator, examples.solve_N(b), rtol=SYSTEM_RESIDUAL, atol=0.0, maxiter=10_000
        )
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
    def total(self) -> Any:
        """Coefficients of the total weight, at the largest eigenvalue of S; shape (m,)."""
        top, counts = int(self.values.argmax()), self.examples.counts
        lacking = np.bincount(self.examples.row, self.beta, minlength=len(counts))
        return self.values[top] * self.spread_in(lacking / np.sqrt(counts), top)


# Closed-form solutions from a factor of the kernel, or from Cholesky factors.


MOST_FACTORS = (
    6  # distinct eigenvalues of S up to which one Cholesky factor for each is the fastest
)
EXPECTED_STEPS = 60  # of conjugate gradients, where both ways are weighed
LARGE = 1e4  # penalties beyond this multiple of the kernel: a difference would lose digits


class SpectralForm(Solution):
    """From K = Q diag(k) Q', where Q may be thin: serves any number of penalties.

    G is formed where S has few distinct eigenvalues and the kernel no low rank; otherwise its
    products are all that conjugate gradients need, and these take no more than the embeddings do.
    """

    def __init__(self, examples: CountingExamples, factor: Factor, lam: float) -> None:
        super().__init__(examples, lam)
        self.factor = factor

    @cached_property
    def shrink(self) -> Any:
        """1 / (2 lam + g_p k_q); shape (q, r)."""
        return 1.0 / (2.0 * self.lam + np.multiply.outer(self.factor.k, self.values))

    @cached_property
    def filters(self) -> Any:
        """k_q / (2 lam + g_p k_q); shape (q, r)."""
        return self.factor.k[:, None] * self.shrink

    @property
    def is_direct(self) -> bool:  # type: ignore[override]
        """Whether forming G takes less work than its products."""
        (m, q), (M, d) = self.factor.Q.shape, self.examples.U.shape
        direct = M * (M * d + len(self.values) * m * q) + M**3 / 3
        return not self.examples.is_convex or direct <= EXPECTED_STEPS * 2 * m * q * d

    def smoothing(self, p: int) -> Any:
        return (self.factor.Q * self.filters[:, p]) @ self.factor.Q.T

    @cached_property
    def _rows(self) -> np.ndarray:
        """Q, a row for each correct output; shape (M, q)."""
        Q, row = self.factor.Q, self.examples.row
        return Q if len(row) == len(Q) else Q[row]

    def times_G(self, beta: np.ndarray) -> Any:
        U, Q = self.examples.U, self._rows
        rotated = (Q * beta[:, None]).T @ U  # (q, d)
        smooth = self.examples.covariance.filter(rotated, self.filters)
        return np.einsum("aq,aq->a", Q, U @ smooth.T)

    def spread(self, gathered: np.ndarray) -> Any:
        return self.factor.Q @ self._rotated(gathered)

    def spread_in(self, column: np.ndarray, p: int) -> Any:
        return self.factor.Q @ (self.shrink[:, p] * (self.factor.Q.T @ column))

    def _rotated(self, gathered: np.ndarray) -> np.ndarray:
        """Q'A; shape (q, d)."""
        return self.examples.covariance.filter(self.factor.Q.T @ gathered, self.shrink)

    def feature_weights(self) -> Any:
        """X'A where K = XX', without the rounding of A; shape (p, d)."""
        return self.factor.right @ self._rotated(self.examples.gathered(self.beta))


class CholeskyForm(Solution):
    """From a Cholesky factor of 2 lam I + g K for every distinct eigenvalue g of S.

    G is formed unless there is one factor only and embeddings are short: solving with it some
    dozens of times then takes less.
    """

    def __init__(self, examples: CountingExamples, gram: GramMatrix, lam: float) -> None:
        super().__init__(examples, lam)
        self.gram = gram
        self._last: tuple[float, np.ndarray] | None = None  # the factor that was solved with last

    def _factor(self, g: float) -> Any:
        """Lower Cholesky factor of 2 lam I + g K, in Fortran order; shape (m, m)."""
        A = np.multiply(self.gram.K, g).T
        A[np.diag_indices_from(A)] += 2.0 * self.lam
        factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
        if failed:
            raise ValueError(
                "The kernel is not positive semidefinite: use a larger alpha, or another kernel; "
                f"{REPAIR}."
            )
        return factor

    def smoothing(self, p: int) -> Any:
        """M_p = (I - 2 lam (2 lam I + g K)^-1) / g, or K / (2 lam) where g is zero."""
        g, K = self.values[p], self.gram.K
        if g == 0:
            return K / (2.0 * self.lam)
        factor, alone = self._factor(g), np.count_nonzero(self.values) == 1
        if alone:  # it is solved with next
            self._last = g, factor
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=not alone)
        inverse = inverse.T  # in C order, like all it meets
        if 2.0 * self.lam > LARGE * g * K.diagonal().max():
            return K @ (np.triu(inverse) + np.triu(inverse, 1).T)
        inverse *= -2.0 * self.lam / g
        inverse[np.diag_indices_from(inverse)] += 1.0 / g
        return inverse

    @property
    def is_direct(self) -> bool:  # type: ignore[override]
        """Whether forming and factoring G takes less work than solving with one factor."""
        m, (M, d) = len(self.gram.K), self.examples.U.shape
        several = bool(np.count_nonzero(self.values) > 1)
        direct = 2 * m**3 / 3 + M**3 / 3 + M * M * d
        products = EXPECTED_STEPS * 4 * m * m * d
        return not self.examples.is_convex or several or direct <= products

    def times_G(self, beta: np.ndarray) -> Any:
        return self.examples.margins(self.gram.K @ self.spread(self.examples.gathered(beta)))

    def spread(self, gathered: np.ndarray) -> np.ndarray:
        total = np.zeros_like(gathered)
        for p, part in enumerate(self.examples.covariance.parts(gathered)):
            total += self._solve(part, p)
        return total

    def spread_in(self, column: np.ndarray, p: int) -> Any:
        return self._solve(column[:, None], p)[:, 0]

    def _solve(self, B: np.ndarray, p: int) -> Any:
        g = self.values[p]
        if g == 0:
            return B / (2.0 * self.lam)
        if self._last is None or self._last[0] != g:
            self._last = None  # one factor at a time
            self._last = g, self._factor(g)
        return lapack.dpotrs(self._last[1], B, lower=1)[0]


class ClosedForms:
    """Solutions for any penalty: what they share is computed once.

    Parameters
    ----------
    examples : CountingExamples
    gram : GramMatrix or FeatureGram
    """

    def __init__(self, examples: CountingExamples, gram: Any) -> None:
        self.examples, self.gram = examples, gram

    @cached_property
    def factor(self) -> Any:
        return self.gram.factor()

    def at(self, lam: float) -> Solution:
        values = self.examples.covariance.eigenvalues
        few = np.count_nonzero(values) <= MOST_FACTORS and isinstance(self.gram, GramMatrix)
        if few and lam > SMALL_PENALTY * values.max() * self.gram.trace:
            return CholeskyForm(self.examples, self.gram, lam)
        return SpectralForm(self.examples, self.factor, lam)

    def minimum(self, lam: float, with_scores: bool = False) -> Minimum:
        """What is found for one penalty, perhaps with scores of the training rows."""
        solution = self.at(lam)
        scores = self.gram.times(solution.coefficients) if with_scores else None
        found = self.weights(solution), scores, solution.objective
        return Minimum(*found, None, self.total(solution))

    def weights(self, solution: Solution) -> Any:
        """Coefficients of unscaled rows, or weights of features; shape (m, d) or (p, d)."""
        if isinstance(solution, SpectralForm) and solution.factor.right is not None:
            return solution.feature_weights()
        return self.gram.coefficients(solution.coefficients)

    def total(self, solution: Solution) -> Any:
        """The same of the total weight; shape (m,) or (p,)."""
        if isinstance(solution, SpectralForm) and solution.factor.right is not None:
            return solution.factor.right @ (solution.factor.Q.T @ solution.total)
        return self.gram.coefficients(solution.total[:, None])[:, 0]
