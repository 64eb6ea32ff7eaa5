# SPDX-License-Identifier: BSD-3-Clause
"""Fitting: kernel ridge regression against bare LAPACK and scikit-learn; choosing alpha; memory."""

from __future__ import annotations

import json
import sys

import numpy as np
from harness import Table, at_most, compare, in_fresh_process, median, peak_bytes, ratio
from scipy import sparse
from scipy.linalg import lapack
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF, Laplacian
from skstruct.smoothing import KernelRidge

ALPHA, ALPHAS = 1.0, np.logspace(-2, 2, 13)
FLOOR = "floor: one Gram matrix, bare LAPACK"
OURS = "KernelRidge"
RISK = "ConditionalRiskMinimizer, one alpha"
PEER = "scikit-learn KernelRidge"
SEARCH = "ConditionalRiskMinimizer, 13 alphas"
GRID = "GridSearchCV(KernelRidge), 13 alphas, 5 folds"
PRODUCT, SPARSE, SPARSE_PEER = "floor: product of the rows", "Laplacian", "scikit-learn"


def smooth_targets(n, n_features=20, n_targets=14):
    """Inputs, noisy smooth targets, and label sets that hold where a target is positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_features))
    directions = rng.standard_normal((n_features, n_targets)) * np.sqrt(20 / n_features)
    T = np.sin(X @ directions) + 0.1 * rng.standard_normal((n, n_targets))
    return X, T, (T > 0).astype(np.int8)


def bare_fit(X, T, gamma):
    """Nothing but the arithmetic; of the matrix only one copy."""
    squares = np.einsum("ij,ij->i", X, X)
    K = X @ X.T
    K *= 2.0
    K -= squares[:, None]
    K -= squares
    np.minimum(K, 0.0, out=K)
    K *= gamma
    np.exp(K, out=K)
    K.flat[:: len(K) + 1] += ALPHA
    factor, _ = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
    return lapack.dpotrs(factor, T, lower=1)[0]


def fits(X, T, Y):
    gamma = 1.0 / X.shape[1]
    return {
        FLOOR: lambda: bare_fit(X, T, gamma),
        OURS: lambda: KernelRidge(RBF(gamma), alpha=ALPHA, solver="cholesky").fit(X, T),
        RISK: lambda: ConditionalRiskMinimizer(alpha=ALPHA, kernel=RBF(gamma)).fit(X, Y),
        PEER: lambda: SklearnKernelRidge(alpha=ALPHA, kernel="rbf", gamma=gamma).fit(X, T),
    }


def searches(X, Y):
    gamma = 1.0 / X.shape[1]
    peer = SklearnKernelRidge(kernel="rbf", gamma=gamma)
    return {
        SEARCH: lambda: ConditionalRiskMinimizer(alpha=ALPHAS, kernel=RBF(gamma)).fit(X, Y),
        GRID: lambda: GridSearchCV(peer, {"alpha": ALPHAS}, cv=5).fit(X, Y),
    }


def sparse_kernels(n, n_features, filled):
    """The Laplacian kernel of sparse rows; the floor is their product, which shares its loops."""
    A = sparse.random_array((n, n_features), density=filled, format="csr", rng=0)
    ours, B = Laplacian(gamma=0.1).fit(A), A.T.tocsc()
    return {
        PRODUCT: lambda: (A @ B).toarray(),
        SPARSE: lambda: ours(A, A),
        SPARSE_PEER: lambda: laplacian_kernel(A, A, gamma=0.1),
    }


def memory(name, n):
    """Growth of the peak by one fit, in matrices of n x n doubles."""
    X, T, Y = smooth_targets(int(n))
    fits(X[:50], T[:50], Y[:50])[name]()  # what is loaded and compiled once does not count
    before = peak_bytes()
    fits(X, T, Y)[name]()
    return (peak_bytes() - before) / (8 * len(X) ** 2)


def main():
    table = Table("Fitting, CPU time on one thread", "as named")
    for n, rounds in ((2000, 5), (4000, 3)):
        times = compare(fits(*smooth_targets(n)), rounds=rounds)
        for name in times:
            table.add(f"n = {n}: {name}", median(times, name))
        for name in (OURS, RISK):
            table.add(f"  {name} / floor", None, ratio(times, name, FLOOR), at_most(1.3))
            table.add(f"  {name} / scikit-learn", None, ratio(times, name, PEER), at_most(0.75))
    X, _, Y = smooth_targets(1500, n_features=103)
    times = compare(searches(X, Y), rounds=2, budget=5.0)
    for name in times:
        table.add(f"n = 1500: {name}", median(times, name))
    table.add("  13 alphas / GridSearchCV", None, ratio(times, SEARCH, GRID), at_most(0.3))
    table = Table("Laplacian kernel of 1,000 sparse rows, CPU time on one thread", "as named")
    for p, filled in ((30_000, 0.003), (5_000, 0.02), (300, 0.3)):
        times = compare(sparse_kernels(1000, p, filled), rounds=3)
        for name in times:
            table.add(f"{p:,} features, {filled:.1%} not zero: {name}", median(times, name))
        table.add("  Laplacian / floor", None, ratio(times, SPARSE, PRODUCT), at_most(2.0))
        table.add("  Laplacian / scikit-learn", None, ratio(times, SPARSE, SPARSE_PEER),
                  at_most(0.5))  # fmt: skip
    table = Table("Peak memory of a fit, n = 4000", "growth of the peak / n x n doubles")
    for name in (FLOOR, OURS, RISK, PEER):
        table.add(name, None, in_fresh_process(__file__, name, 4000))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(memory(*sys.argv[1:])))
    else:
        main()
