# SPDX-License-Identifier: BSD-3-Clause
"""The normal equations of ridge regression in the primal, by conjugate gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

COLUMNS_AT_ONCE = 48  # a row of coefficients is then a few cache lines


@dataclass(frozen=True)
class Solution:
    """What conjugate gradients came to."""

    W: np.ndarray  # shape: (p, q)
    residual: np.ndarray | None  # B - (X_c' S X_c + alpha I) W; None for alpha = inf
    alpha: float
    steps: int
    ended: bool  # whether the goal was reached


class NormalEquations:
    r"""Solves :math:`(X_c' S X_c + \alpha I) W = B`, where X is centred by its weighted means.

    X stays as it is, sparse or dense: the means are taken off the products. One product with X
    and one with its transpose per step serve all columns of B, scaled by the diagonal, each with
    step lengths of its own.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
    weight : array of shape (n,)
        The diagonal of S, not all zero.
    centred : bool
        Whether there is an intercept; the means are zero without.
    n_jobs : int or None
        Threads, each with a block of columns.
    """

    def __init__(
        self, X: Any, weight: np.ndarray, centred: bool, n_jobs: int | None = None
    ) -> None:
        self.X, self.XT, self.n_jobs = X, X.T, n_jobs
        self.weight, self.total = weight[:, None], weight.sum()
        self.centred = centred
        self.means = weight @ X / self.total if centred else np.zeros(X.shape[1], X.dtype)
        squares = weight @ (X.multiply(X) if sparse.issparse(X) else X * X)
        # Not below zero but for rounding.
        self.spread = np.maximum(squares - self.total * self.means**2, 0).astype(X.dtype)

    def mean_targets(self, T: np.ndarray) -> Any:
        """What the intercept is at the means of X; shape (q,)."""
        if not self.centred:
            return np.zeros(T.shape[1], T.dtype)
        return (self.weight * T).sum(axis=0) / self.total

    def right_sides(self, T: np.ndarray) -> Any:
        """X_c' S T; shape (p, q)."""
        T = np.ascontiguousarray(T, dtype=self.X.dtype)
        return self.XT @ (self.weight * (T - self.mean_targets(T)))

    def centred_product(self, X: Any, V: np.ndarray) -> Any:
        """(x - means) V for rows of X; shape (n, q)."""
        image = X @ V
        image -= self.means @ V
        return image

    def largest(self, n_steps: int = 20) -> float:
        """The largest eigenvalue of X_c' S X_c, a little from below, by power iteration."""
        v = np.sqrt(self.spread)[:, None]
        size = 0.0
        for _ in range(n_steps):
            norm = np.linalg.norm(v)
            if not norm > 0:
                break
            v = self._product(v / norm, 0.0)
            size = float(np.linalg.norm(v))
        return size

    def solve(
        self, B: np.ndarray, alpha: float, tol: float, max_iter: int, start: Solution | None = None
    ) -> Solution:
        """W with (X_c' S X_c + alpha I) W = B.

        Parameters
        ----------
        B : array of shape (p, q)
        tol : float
            By which factor the norm of the scaled residual is below that of B in the end.
        start : Solution, default=None
            Of another alpha, where to begin; zero when None.

        Returns
        -------
        Solution
        """
        if np.isinf(alpha):
            return Solution(np.zeros_like(B), None, alpha, 0, True)
        if start is not None and start.residual is None:
            start = None
        parts = [slice(i, i + COLUMNS_AT_ONCE) for i in range(0, B.shape[1], COLUMNS_AT_ONCE)]
        solved = Parallel(self.n_jobs, prefer="threads")(
            delayed(self._solve)(B[:, part], alpha, tol, max_iter, *_begun(start, part, alpha))
            for part in parts
        )
        W, R, steps, ended = zip(*solved)
        return Solution(np.hstack(W), np.hstack(R), alpha, max(steps), all(ended))

    def _product(self, W: np.ndarray, alpha: float) -> Any:
        V = self.centred_product(self.X, W)
        V *= self.weight  # columns of V now sum to zero: X' need not be centred
        return self.XT @ V + alpha * W

    def _solve(
        self,
        B: np.ndarray,
        alpha: float,
        tol: float,
        max_iter: int,
        W: Any,  # array of shape (p, q) or None
        R: Any,
    ) -> tuple[np.ndarray, np.ndarray, int, Any]:
        B = np.ascontiguousarray(B)
        diagonal = (self.spread + self.spread.dtype.type(alpha))[:, None]
        goal = tol**2 * _dots(B, B / diagonal).sum()
        W, R = (np.zeros_like(B), B.copy()) if W is None else (W, R)
        scaled = R / diagonal
        direction, size = scaled.copy(), _dots(R, scaled)
        steps = 0
        while size.sum() > goal and steps < max_iter:
            image = self._product(direction, alpha)
            # A column that is solved has neither residual nor direction.
            length = _ratio(size, _dots(direction, image))
            W += length * direction
            R -= length * image
            np.divide(R, diagonal, out=scaled)
            before, size = size, _dots(R, scaled)
            direction *= _ratio(size, before)
            direction += scaled
            steps += 1
        return W, R, steps, size.sum() <= goal


def _begun(
    start: Solution | None, part: slice, alpha: float
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Solution and residual to begin with: another alpha changes the residual by a multiple."""
    if start is None:
        return None, None
    W, residual = np.ascontiguousarray(start.W[:, part]), np.asarray(start.residual)
    return W, residual[:, part] + (start.alpha - alpha) * W


def _dots(A: np.ndarray, B: np.ndarray) -> Any:
    """Inner product of each column of A with that of B."""
    return np.einsum("ij,ij->j", A, B)


def _ratio(a: np.ndarray, b: np.ndarray) -> Any:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
