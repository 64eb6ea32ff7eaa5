# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to ridge regression with many rows: bare LAPACK, conjugate gradients like Falkon's."""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import blas, lapack

JITTER = 1e-12  # times the number of landmarks: what rounding may take from the least eigenvalue


def rbf(X, C, gamma):
    """exp(-gamma |x - c|^2) for all rows of X and C: one product, the rest in place."""
    K = X @ (2.0 * C.T)
    K -= np.einsum("ij,ij->i", X, X)[:, None]
    K -= np.einsum("ij,ij->i", C, C)
    np.minimum(K, 0.0, out=K)
    K *= gamma
    return np.exp(K, out=K)


class BareExact:
    """Nothing but one Gram matrix, its factor in its place, and one solve.

    After ``fit``, ``lapack_wall_`` and ``lapack_cpu_`` are the seconds of the factor and the solve.
    """

    def __init__(self, gamma, alpha):
        self.gamma, self.alpha = gamma, alpha

    def fit(self, X, T):
        K = rbf(X, X, self.gamma)
        K.flat[:: len(K) + 1] += self.alpha
        wall, cpu = time.perf_counter(), time.process_time()
        factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
        self.coef_, _ = lapack.dpotrs(factor, T, lower=1)
        self.lapack_wall_ = time.perf_counter() - wall
        self.lapack_cpu_ = time.process_time() - cpu
        if failed:
            raise np.linalg.LinAlgError(f"Not positive definite in row {failed}.")
        self.X_ = X
        return self

    def predict(self, X):
        return rbf(X, self.X_, self.gamma) @ self.coef_


class FalkonStyle:
    r"""Ridge regression on landmarks by preconditioned conjugate gradients, blocks recomputed.

    With uniform landmarks, K_nm against the rows and K_mm among themselves, it minimizes
    ``|K_nm a - T|^2 + alpha a' K_mm a`` for all columns of T at once [1]_. The variable is
    ``b = A U a`` with ``U' U = K_mm`` and ``A' A = U U' / m + alpha / n I``, in which the system
    is close to the identity. Each step computes all of K_nm anew, n m (2 p + 4 d) operations.

    Falkon itself is not built for every machine; this is its method in doubles with BLAS, without
    its single precision.

    References
    ----------
    .. [1] A. Rudi, L. Carratino, L. Rosasco, "FALKON: an optimal large scale kernel method", 2017.
    """

    def __init__(self, gamma, alpha, n_landmarks, *, iterations=20, block=4096, random_state=0):
        self.gamma, self.alpha, self.n_landmarks = gamma, alpha, n_landmarks
        self.iterations, self.block, self.random_state = iterations, block, random_state

    def fit(self, X, T):
        n, m = len(X), self.n_landmarks
        rng = np.random.default_rng(self.random_state)
        self.landmarks_ = X[np.sort(rng.choice(n, m, replace=False))]
        self._precondition(n)
        right = np.zeros((m, T.shape[1]))
        for rows, K in self._blocks(X):
            right += K.T @ T[rows].astype(np.float64)
        b = self._descend(X, self._up(self.A_, self._up(self.U_, right / n)))
        self.coef_ = self._down(self.U_, self._down(self.A_, b))
        return self

    def _precondition(self, n):
        m = self.n_landmarks
        K = rbf(self.landmarks_, self.landmarks_, self.gamma)
        K.flat[:: m + 1] += JITTER * m
        self.U_ = _upper_factor(K)
        A = self.U_ @ self.U_.T
        A /= m
        self.share_ = self.alpha / n
        A.flat[:: m + 1] += self.share_
        self.A_ = _upper_factor(A)

    def _descend(self, X, right):
        """Conjugate gradients, one step size for each column; shape (m, d)."""
        b, residual = np.zeros_like(right), right.copy()
        direction, size = residual.copy(), (residual**2).sum(axis=0)
        enough = np.finfo(float).eps ** 2 * size
        self.n_iter_ = 0
        while self.n_iter_ < self.iterations:
            self.n_iter_ += 1
            image = self._apply(X, direction)
            step = _divided(size, (direction * image).sum(axis=0))
            b += step * direction
            residual -= step * image
            smaller = (residual**2).sum(axis=0)
            if (smaller <= enough).all():
                break
            direction *= _divided(smaller, size)
            direction += residual
            size = smaller
        return b

    def _apply(self, X, b):
        """The preconditioned system: A'^-1 (U'^-1 K_mn K_nm U^-1 / n + alpha / n I) A^-1 b."""
        v = self._down(self.A_, b)
        a, image = self._down(self.U_, v), np.zeros_like(b)
        for _, K in self._blocks(X):
            image += K.T @ (K @ a)
        image = self._up(self.U_, image / len(X))
        return self._up(self.A_, image + self.share_ * v)

    def _blocks(self, X):
        for start in range(0, len(X), self.block):
            rows = slice(start, start + self.block)
            yield rows, rbf(X[rows], self.landmarks_, self.gamma)

    @staticmethod
    def _down(U, B):
        return blas.dtrsm(1.0, U, B)  # U^-1 B

    @staticmethod
    def _up(U, B):
        return blas.dtrsm(1.0, U, B, trans_a=1)  # U'^-1 B

    def predict(self, X):
        return np.vstack([K @ self.coef_ for _, K in self._blocks(X)])


def _upper_factor(K):
    """U with U' U = K, in place of K, which is symmetric and lies by rows."""
    U, failed = lapack.dpotrf(K.T, lower=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(f"Not positive definite in row {failed}.")
    return U


def _divided(a, b):
    """a / b, and zero for columns that are done."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
