# SPDX-License-Identifier: BSD-3-Clause
"""The objective of structured ridge regression, from moments of the space alone, and its minimum
by Newton's method with conjugate gradients.

For a row with correct outputs a = 1..n, centred embeddings psi_a and score vector f,

    l(f) = n/2 f'Sf - sum_a psi_a f + (1/2 - n/|Y|) sum_a (psi_a f)^2 + (sum_a psi_a f)^2 / |Y|,

which is, up to a constant, half the sum of (1 - f(y) + f(z))^2 over correct outputs y and all
others z, divided by |Y|. The objective is lam |f|^2 + sum of weight * l.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import ticker
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.saving import savable
from skstruct.spaces.common.covariances import Covariance


@dataclass(frozen=True)
class CountingExamples:
    r"""Examples of a counting learner, scaled so that every row counts S once.

    With :math:`\omega_i = w_i n_i`, scores are :math:`\tilde f_i = \sqrt{\omega_i} f_i`, and the
    objective is

    .. math:: \lambda \|f\|^2 + \sum_i \tfrac12 \tilde f_i' S \tilde f_i
              + \tfrac12 v' N v - b' v, \qquad v_a = \langle u_a, \tilde f_{i(a)} \rangle
    """

    U: np.ndarray  # centred embeddings divided by sqrt(n), shape: (M, d)
    row: np.ndarray  # the example of each, sorted, shape: (M,)
    counts: np.ndarray  # correct outputs of each example, shape: (m,)
    weight: np.ndarray  # of each example, positive, shape: (m,)
    share: np.ndarray  # n / |Y|, shape: (m,)
    covariance: Covariance

    @classmethod
    def of(
        cls,
        psi: np.ndarray,
        mean: np.ndarray,
        row: np.ndarray,
        weight: np.ndarray,
        covariance: Any,
        size: int,
    ) -> CountingExamples:
        """From embeddings (M, d) of all correct outputs and the example of each."""
        counts = np.bincount(row, minlength=len(weight))
        U = np.subtract(psi, mean, order="C")
        U /= np.sqrt(counts[row])[:, None]
        share = np.array([n / size for n in counts.tolist()])  # integers of any size
        return cls(U, row, counts, weight, share, covariance)

    def subset(self, rows: np.ndarray) -> CountingExamples:
        """Some of the examples; ``rows`` increase."""
        new = np.full(len(self.counts), -1)
        new[rows] = np.arange(len(rows))
        kept = new[self.row] >= 0
        return self._part(kept, new[self.row[kept]], rows)

    def batch(self, start: int, stop: int) -> CountingExamples:
        """Examples that follow each other, without a copy."""
        kept = slice(*np.searchsorted(self.row, [start, stop]))
        return self._part(kept, self.row[kept] - start, slice(start, stop))

    def _part(self, kept: Any, row: np.ndarray, rows: Any) -> CountingExamples:
        """Outputs ``kept``, which belong to ``row`` of the examples ``rows``."""
        return CountingExamples(
            self.U[kept], row, self.counts[rows], self.weight[rows], self.share[rows],
            self.covariance,
        )  # fmt: skip

    @property
    def root(self) -> Any:
        """Square roots of omega; shape (m,)."""
        return np.sqrt(self.weight * self.counts)

    @property
    def b(self) -> Any:
        return np.sqrt(self.weight)[self.row]

    @property
    def is_convex(self) -> bool:
        """Whether N is positive definite: one output, or less than half of all, is correct."""
        return bool((self._blocks[0] > 0).all())

    @property
    def _blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """p and q of the blocks p I + q 11' of N, (1 - 2 n/|Y|) and 2/|Y|; one output has N = 1."""
        alone = self.counts == 1
        plain = np.where(alone, 1.0, 1.0 - 2.0 * self.share)
        return plain, np.where(alone, 0.0, 2.0 * self.share / self.counts)

    def times_N(self, v: np.ndarray) -> Any:
        """N v; shape (M,)."""
        plain, mixed = self._blocks
        sums = np.bincount(self.row, v, minlength=len(self.counts))
        return plain[self.row] * v + (mixed * sums)[self.row]

    def solve_N(self, v: np.ndarray) -> Any:
        """N^-1 v: blocks (I - q 11') / p, as p + n q is one."""
        plain, mixed = self._blocks
        sums = np.bincount(self.row, v, minlength=len(self.counts))
        return (v - (mixed * sums)[self.row]) / plain[self.row]

    def dense_N(self, inverse: bool = False) -> np.ndarray:
        """N itself, or its inverse; shape (M, M)."""
        plain, mixed = self._blocks
        if inverse:
            mixed, plain = -mixed / plain, 1.0 / plain
        matrix = np.where(self.row[:, None] == self.row, mixed[self.row], 0.0)
        matrix[np.diag_indices_from(matrix)] += plain[self.row]
        return matrix

    def margins(self, f: np.ndarray) -> Any:
        """v from scaled scores (m, d); shape (M,)."""
        f = f if len(self.row) == len(self.counts) else f[self.row]
        return np.einsum("ad,ad->a", self.U, f)

    def gathered(self, beta: np.ndarray) -> Any:
        """sum of beta_a u_a over the outputs of each example; shape (m, d)."""
        weighted = self.U * beta[:, None]
        if len(self.row) == len(self.counts):
            return weighted
        starts = np.flatnonzero(np.diff(self.row, prepend=-1))
        return np.add.reduceat(weighted, starts, axis=0)

    # ------------------------------------------------------------------ the objective
    def value(self, f: np.ndarray, square_norm: float, lam: float) -> float:
        """The objective at scaled scores (m, d) of a function of this squared norm."""
        v = self.margins(f)
        quadratic = np.einsum("id,id->", f, self.covariance.apply(f)) + v @ self.times_N(v)
        return float(lam * square_norm + 0.5 * quadratic - self.b @ v)

    def curvature(self, f: np.ndarray) -> np.ndarray:
        """Second derivative of the losses, applied to scaled scores; shape (m, d)."""
        bent = self.covariance.apply(f)
        bent += self.gathered(self.times_N(self.margins(f)))
        return bent

    def slope(self) -> Any:
        """First derivative of the losses at zero; shape (m, d)."""
        return -self.gathered(self.b)


@dataclass(frozen=True)
class Minimum:
    """What a solver has found."""

    weights: np.ndarray  # of features, or coefficients of rows
    scores: np.ndarray | None  # scaled ones of the training rows, (m, d), where they were needed
    objective: float
    n_iter: int | None
    total: np.ndarray | None = None  # coefficients of the total weight, where these are known


# The minimum of the structured ridge objective by Newton's method with conjugate gradients.
#
# The objective is quadratic, so that one Newton step from zero is the minimum, and conjugate
# gradients find it in the geometry of the kernel, <A, B> = tr(A' K B). It knows nothing of
# eigenvalues: a check on the closed form, and the way to go where d is very large.


@savable
class NewtonCG(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Structured ridge regression by conjugate gradients, for :class:`~skstruct.CountingRidge`.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the norm of the gradient is at most this share of the first.
    max_iter : int, default=1000
        Iterations at most.

    Examples
    --------
    >>> from skstruct import CountingRidge
    >>> model = CountingRidge(alpha=1.0, solver=NewtonCG(max_iter=50))
    >>> model = model.fit([[0.0], [1.0]], ["a", "b"])
    >>> model.n_iter_ <= 50
    True
    """

    is_ridge = True  # whether the objective is that of ridge regression

    def __init__(self, tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def minimum(
        self,
        space: Any,
        examples: CountingExamples,
        solutions: Any,
        lam: float,
        *,
        memory: Any,
        verbose: int = 0,
        level: Any = NOWHERE,
    ) -> Minimum:
        """Weights of least objective; of ``solutions``, the closed forms, the kernel is used."""
        gram = solutions.gram
        A, n_iter = newton_cg(
            examples, gram, lam, tol=self.tol, max_iter=self.max_iter, verbose=verbose, level=level
        )
        scores = gram.times(A)
        value = examples.value(scores, float(np.vdot(A, scores)), lam)
        return Minimum(gram.coefficients(A), scores, value, n_iter)


def newton_cg(
    examples: CountingExamples,
    gram: Any,
    lam: float,
    *,
    tol: float,
    max_iter: int,
    verbose: int = 0,
    level: Any = NOWHERE,
) -> tuple[np.ndarray, int]:
    """Coefficients A (m, d) with scaled scores K A, and the number of iterations.

    Parameters
    ----------
    gram : with ``times(A)`` = K A
    tol : float
        Stop when the norm of the gradient is at most this share of that at zero.
    level : Level
        Where a fit that is saved goes on.
    """
    residual = -examples.slope()
    A = np.zeros_like(residual)
    K_residual = gram.times(residual)
    direction, K_direction = residual.copy(), K_residual.copy()
    size = first = np.vdot(residual, K_residual)
    vectors, done = (A, residual, K_residual, direction, K_direction), 0
    if stopped := level.found:
        for mine, theirs in zip(vectors, stopped["vectors"]):
            np.copyto(mine, theirs)
        size, done = np.float64(stopped["size"]), stopped["done"]
    with ticker(max_iter, "newton-cg", verbose) as tick:
        for step in range(done + 1, max_iter + 1):
            if size <= tol**2 * first:
                return A, step - 1
            bent = examples.curvature(K_direction)
            bent += 2.0 * lam * direction
            length = size / np.vdot(bent, K_direction)
            A += length * direction
            bent *= length
            residual -= bent
            K_residual -= gram.times(bent)
            size, last = np.vdot(residual, K_residual), size
            for gradient, way in ((residual, direction), (K_residual, K_direction)):
                way *= size / last
                way += gradient
            tick()
            level.reached(vectors=vectors, size=float(size), done=step)
    warnings.warn(
        f"newton-cg stopped after {max_iter} iterations with a gradient of "
        f"{np.sqrt(max(size, 0.0) / first):.1e} of the first one; raise max_iter or alpha.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return A, max_iter
