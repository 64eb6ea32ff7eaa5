# SPDX-License-Identifier: BSD-3-Clause
"""Models by landmarks and exact ones, what it means that they decide alike, and their risk."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from learners.stream_cases import N, inputs
from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF

X, X_NEW = inputs(), inputs(15, seed=1)


def minimizer(space=None, loss=None, **options):
    return ConditionalRiskMinimizer(space, loss, **{"kernel": RBF(0.3), "alpha": 0.1, **options})


def by_landmarks(space=None, loss=None, **options):
    return minimizer(space, loss, **{"solver": "nystroem", "n_landmarks": N, **options})


def blocks(X, y, size=9, weight=None):
    for i in range(0, X.shape[0] if hasattr(X, "shape") else len(X), size):
        part = slice(i, i + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


def assert_same_decisions(ours, theirs, X_new=X_NEW, atol=1e-6):
    ours, theirs = ours.decode(X_new), theirs.decode(X_new)
    np.testing.assert_allclose(ours.values, theirs.values, atol=atol)
    np.testing.assert_allclose(ours.bounds, theirs.bounds, atol=atol)
    if getattr(np.asarray(theirs.outputs), "dtype", None) == np.float64:
        np.testing.assert_allclose(ours.outputs, theirs.outputs, atol=atol)
    else:
        assert [str(z) for z in ours.outputs] == [str(z) for z in theirs.outputs]


def assert_same_bits(ours, theirs, X_new=X_NEW):
    for name in ("dual_coef_", "intercept_"):
        bits = [getattr(model.smoother_, name).tobytes() for model in (ours, theirs)]
        assert bits[0] == bits[1]
    assert ours.decode(X_new).values.tobytes() == theirs.decode(X_new).values.tobytes()


def brute_risk(model, X, y, alpha, weight=None):
    """Mean loss where every row is decided by a fit without it, on the same landmarks."""
    problem, L = model.problem_, model.smoother_.landmarks_
    outputs = model.space_.validate(y)
    T, gamma = problem.targets_of(outputs), model.gamma_
    values, vectors = np.linalg.eigh(rbf_kernel(L, L, gamma=gamma))
    Z = rbf_kernel(X, L, gamma=gamma) @ (vectors / np.sqrt(values))
    s, losses = np.ones(len(X)) if weight is None else weight, []
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        sk, Zk, Tk = s[kept], Z[kept], T[kept]
        z, t = sk @ Zk / sk.sum(), sk @ Tk / sk.sum()
        A = (sk * (Zk - z).T) @ (Zk - z) + alpha * np.eye(len(L))
        means = (Z[[i]] - z) @ np.linalg.solve(A, (sk * (Zk - z).T) @ (Tk - t)) + t
        losses.append(problem.loss(problem.decide(means), outputs[[i]])[0])
    return np.average(losses, weights=s)
