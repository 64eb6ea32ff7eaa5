# SPDX-License-Identifier: BSD-3-Clause
"""Sample compression against a general constrained optimizer, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from skstruct.kernels import RBF
from skstruct.smoothing import SampleCompression
from skstruct.smoothing.systems import CompressionSystem


def kernels(seed, m, rank_x, rank_y):
    rng = np.random.default_rng(seed)
    F, G = rng.standard_normal((m, rank_x)), rng.standard_normal((m, rank_y))
    return F @ F.T, G @ G.T


def objective(A, K_x, K_y):
    R = np.eye(len(K_x)) - A @ K_x
    return np.trace(R.T @ K_y @ R) / len(K_x)


def by_slsqp(K_x, K_y, radius):
    """The same problem without knowing its solution."""
    m = len(K_x)

    def value(a):
        A = a.reshape(m, m)
        gradient = -2.0 / m * K_y @ (np.eye(m) - A @ K_x) @ K_x
        return objective(A, K_x, K_y), gradient.ravel()

    inside = {"type": "ineq", "fun": lambda a: radius**2 - a @ a, "jac": lambda a: -2.0 * a}
    start = np.full(m * m, 0.5 * radius / m)
    found = minimize(value, start, jac=True, method="SLSQP", constraints=[inside],
                     options={"maxiter": 500, "ftol": 1e-14})  # fmt: skip
    return found.fun


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 5), st.integers(1, 5),
       st.floats(0.05, 3.0))  # fmt: skip
def test_no_constrained_optimizer_does_better(seed, m, rank_x, rank_y, radius):
    K_x, K_y = kernels(seed, m, rank_x, rank_y)
    system = CompressionSystem().fit(K_x.copy(), K_y, np.arange(m))
    A = system.coefficients(system.beta(radius))
    assert (A**2).sum() <= radius**2 * (1 + 1e-9)
    scale = np.trace(K_y) / m
    ours, theirs = objective(A, K_x, K_y), by_slsqp(K_x, K_y, radius)
    assert ours <= theirs + 1e-6 * scale
    assert theirs <= ours + 1e-3 * scale  # the optimizer itself came close


@given(st.integers(0, 10**6), st.floats(0.01, 2.0))
def test_the_bound_is_met_with_equality_where_it_binds(seed, share):
    K_x, K_y = kernels(seed, 6, 6, 6)
    system = CompressionSystem().fit(K_x, K_y, np.arange(6))
    free = np.sqrt(system.square_norm(0.0)[0])
    radius = share * free
    beta = system.beta(radius)
    norm = np.sqrt(system.square_norm(beta)[0])
    assert_allclose(norm, min(radius, free), rtol=1e-9)
    assert (beta == 0) == (share >= 1)


def test_equal_outputs_share_their_rows():
    K_x, K = kernels(3, 7, 7, 3)[0], kernels(4, 3, 3, 3)[1]
    number = np.array([0, 1, 2, 1, 0, 0, 2])
    whole = CompressionSystem().fit(K_x.copy(), K[np.ix_(number, number)], np.arange(7))
    shared = CompressionSystem().fit(K_x.copy(), K, number)
    assert_allclose(
        shared.coefficients(shared.beta(0.3)), whole.coefficients(whole.beta(0.3)), atol=1e-10
    )


def test_predictions_are_weights_times_targets():
    rng = np.random.default_rng(0)
    X, T, new = (
        rng.standard_normal((9, 3)),
        rng.standard_normal((9, 2)),
        rng.standard_normal((4, 3)),
    )
    model = SampleCompression(RBF(0.3), radius=1.5).fit(X, T)
    assert_allclose(model.weights(new) @ T, model.predict(new), atol=1e-12)
    other = rng.standard_normal((9, 4))
    assert_allclose(model.with_targets(other).predict(new), model.weights(new) @ other, atol=1e-12)
    assert_allclose(model.with_radius(0.2).coef_, SampleCompression(RBF(0.3), radius=0.2).fit(
        X, T).coef_, atol=1e-12)  # fmt: skip


def test_radius_zero_predicts_zero_and_a_large_one_interpolates():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    assert_allclose(SampleCompression(radius=0).fit(X, T).predict(X), 0.0)
    assert_allclose(SampleCompression(RBF(2.0), radius=1e9).fit(X, T).predict(X), T, atol=1e-6)


def test_a_free_solution_is_least_squares():
    """With more rows than features, no bound and a linear kernel."""
    rng = np.random.default_rng(1)
    X, T, new = (
        rng.standard_normal((30, 2)),
        rng.standard_normal((30, 1)),
        rng.standard_normal((5, 2)),
    )
    free = SampleCompression("linear", radius=1e12).fit(X, T)
    expected = Ridge(alpha=1e-12, fit_intercept=False).fit(X, T)
    assert_allclose(free.predict(new).ravel(), expected.predict(new).ravel(), atol=1e-8)


@pytest.mark.parametrize("radius", [-1.0, float("nan"), "large"])
def test_a_radius_is_a_number_from_zero_on(radius):
    with pytest.raises(ValueError, match="radius is a number of at least 0"):
        SampleCompression(radius=radius).fit([[0.0], [1.0]], [[1.0], [2.0]])


def test_an_indefinite_kernel_is_named_with_its_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"output kernel is not positive semidefinite.*-1"):
        SampleCompression().fit([[0.0], [1.0]], np.eye(2), output_gram=K)
    with pytest.raises(ValueError, match=r"input kernel is not positive semidefinite.*-1"):
        SampleCompression("precomputed").fit(K, np.eye(2))
