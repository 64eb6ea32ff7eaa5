# SPDX-License-Identifier: BSD-3-Clause
"""Rows, targets and kernels for ridge regression on landmarks, and its definition."""

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from skstruct.kernels import RBF, resolve_kernel
from skstruct.smoothing import NystroemRidge

RNG = np.random.default_rng(0)
X, T, X_NEW = (
    RNG.standard_normal((25, 3)),
    RNG.standard_normal((25, 4)),
    RNG.standard_normal((7, 3)),
)
KERNELS = ["rbf", "laplacian", "poly", "linear", "cosine", "rbf+linear", "callable"]


def named(kernel, gamma):
    if kernel != "callable":
        return resolve_kernel(kernel, gamma=gamma)
    return lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5)


def brute_force(L, X, T, alpha, *, weight=None, fit_intercept=True, kernel=rbf_kernel):
    """A function that predicts: ridge regression on z(x) = K_LL^-1/2 k(L, x), by dense algebra."""
    values, vectors = np.linalg.eigh(kernel(L, L))
    root = vectors / np.sqrt(values)
    weight = np.ones(len(X)) if weight is None else weight
    Z = kernel(X, L) @ root
    z_mean, t_mean = ((weight @ A / weight.sum()) if fit_intercept else 0.0 * A[0] for A in (Z, T))
    A = (weight * (Z - z_mean).T) @ (Z - z_mean) + alpha * np.eye(len(L))
    B = np.linalg.solve(A, (weight * (Z - z_mean).T) @ (T - t_mean))
    return lambda X_new: (kernel(X_new, L) @ root - z_mean) @ B + t_mean


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.7)


def some_landmarks(**options):
    return NystroemRidge(**{"kernel": RBF(0.7), "n_landmarks": 6, "alpha": 0.3, **options})
