# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import cross_val_predict

from skstruct import config_context
from skstruct.kernels import RBF, Laplacian, resolve_kernel
from skstruct.smoothing.local_averages import NadarayaWatson
from skstruct.testing.smoothers import check_smoother

KERNELS = {
    "rbf": lambda a, b, gamma: np.exp(-gamma * ((a - b) ** 2).sum()),
    "laplacian": lambda a, b, gamma: np.exp(-gamma * np.abs(a - b).sum()),
    "triangle": lambda a, b, gamma: max(0.0, 1.0 - gamma * np.abs(a - b).max()),
}


def triangle(gamma):
    """A callable of bounded support: zero for most pairs when gamma is large."""
    return lambda A, B: np.maximum(0.0, 1.0 - gamma * np.abs(A[:, None] - B).max(axis=2))


def slow_weights(x, X, sample_weight, kernel, gamma, allowed):
    values = [KERNELS[kernel](x, x_i, gamma) for x_i in X]
    weights = np.where(allowed, np.multiply(values, sample_weight), 0.0)
    if not weights.any():
        weights = np.where(allowed, sample_weight, 0.0)
    return weights / weights.sum()


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p = draw(st.integers(2, 20)), draw(st.integers(1, 4))
    weight = rng.integers(0, 3, n) + rng.random(n) * draw(st.booleans())
    weight[:2] += 1.0
    groups = rng.integers(0, draw(st.integers(1, n)), n)
    groups[:2] = 0, 1
    gamma = draw(st.sampled_from([0.1, 1.0, 3.0]))
    return rng.standard_normal((n, p)), weight, groups, gamma, draw(st.sampled_from([*KERNELS]))


@given(cases())
def test_weights_from_the_definition(case):
    X, weight, groups, gamma, kernel = case
    model = NadarayaWatson(
        resolve_kernel(triangle(gamma) if kernel == "triangle" else kernel, gamma=gamma)
    )
    model.fit(X, np.arange(len(X)), weight)
    queries, everyone = np.vstack([X, X + 0.3]), np.full(len(X), True)
    slow = [slow_weights(x, X, weight, kernel, gamma, everyone) for x in queries]
    assert_allclose(model.weights(queries), slow, rtol=1e-9, atol=1e-12)
    for left_out in (None, groups):
        own = np.arange(len(X)) if left_out is None else left_out
        slow = [slow_weights(x, X, weight, kernel, gamma, own != g) for x, g in zip(X, own)]
        assert_allclose(model.left_out_weights(left_out), slow, rtol=1e-9, atol=1e-12)
        assert_allclose(model.loo(left_out), slow @ np.arange(len(X)), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", triangle(0.7), "chi2"])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 1000.0])
def test_smoother(kernel, gamma):
    X = np.random.default_rng(0).random((30, 4)) * 2
    check_smoother(NadarayaWatson(resolve_kernel(kernel, gamma=gamma)), X)


@pytest.mark.slow
def test_smoother_on_other_inputs():
    X = np.random.default_rng(0).poisson(0.5, (30, 8)) * 1.0
    check_smoother(NadarayaWatson(RBF(0.3)), sparse.csr_array(X))
    check_smoother(NadarayaWatson(Laplacian(0.3)), sparse.csr_array(X))
    check_smoother(NadarayaWatson("cosine"), sparse.csr_array(X + 0.1))
    for K in (rbf_kernel(X, gamma=0.3), sparse.csr_array(np.maximum(rbf_kernel(X) - 0.5, 0))):
        check_smoother(NadarayaWatson("precomputed"), K)


@given(cases())
def test_whole_weights_are_repetitions(case):
    X, weight, _, _, _ = case
    T, times = np.arange(len(X)), np.ceil(weight).astype(int)
    weighted = NadarayaWatson().fit(X, T, times)
    repeated = NadarayaWatson().fit(np.repeat(X, times, axis=0), np.repeat(T, times))
    assert_allclose(weighted.predict(X + 0.1), repeated.predict(X + 0.1))


def test_default_gamma_is_one_over_the_sum_of_the_variances_of_the_features():
    X = np.random.default_rng(0).standard_normal((20, 3)) * [1, 5, 0] + [0, 100, 7]
    T = np.arange(20)
    explicit = NadarayaWatson(RBF(1 / X.var(axis=0).sum())).fit(X, T)
    for data in (X, sparse.csr_array(X)):
        assert_allclose(NadarayaWatson().fit(data, T).predict(data), explicit.predict(X))


def test_far_away_the_nearest_row_decides():
    X, T = np.array([[0.0], [1.0], [5.0]]), np.eye(3)
    model = NadarayaWatson(RBF(10.0)).fit(X, T, [1.0, 100.0, 1.0])
    assert_allclose(model.predict([[1e4], [-1e4]]), [[0, 0, 1], [1, 0, 0]], atol=1e-12)
    assert_allclose(model.loo()[2], [0, 1, 0], atol=1e-12)
    assert_allclose(model.loo([0, 1, 1])[2], [1, 0, 0], atol=1e-12)


def test_where_a_kernel_vanishes_the_mean_decides():
    X, T = np.array([[0.0], [1.0], [5.0]]), np.eye(3)
    model = NadarayaWatson(Laplacian(1.0)).fit(X, T, [1.0, 2.0, 1.0])
    assert_allclose(model.predict([[1e4]]), [[0.25, 0.5, 0.25]])
    far = NadarayaWatson(triangle(0.5)).fit(X, T, [1.0, 2.0, 1.0])
    assert_allclose(far.loo()[2], [1 / 3, 2 / 3, 0])


def test_a_common_shift_changes_nothing():
    rng = np.random.default_rng(0)
    X, T = rng.integers(-8, 8, (30, 5)) / 4, rng.standard_normal((30, 2))
    near, far = NadarayaWatson(RBF(0.5)).fit(X, T), NadarayaWatson(RBF(0.5)).fit(X + 2.0**20, T)
    assert_allclose(far.predict(X + 2.0**20), near.predict(X), rtol=1e-10)
    assert_allclose(far.loo(), near.loo(), rtol=1e-10)


def test_blocks_join_to_the_whole():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((50, 3)), rng.standard_normal(50)
    model = NadarayaWatson().fit(X, T)
    whole, of_groups = model.predict(X), model.loo(np.arange(50) % 3)
    alone = model.left_out_weights() @ T
    with config_context(memory=5000):  # three rows of weights
        assert_allclose(model.predict(X), whole)
        assert_allclose(model.loo(), alone)
        assert_allclose(model.loo(np.arange(50) % 3), of_groups)


def test_precomputed_kernels_are_split_in_both_directions():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    split = cross_val_predict(NadarayaWatson("precomputed"), laplacian_kernel(X, gamma=0.4), T)
    assert_allclose(split, cross_val_predict(NadarayaWatson(Laplacian(0.4)), X, T))


def test_single_and_constant_rows():
    model = NadarayaWatson().fit([[1.0]], [2.0])
    assert_allclose(model.predict([[5.0], [1.0]]), [2, 2])
    with pytest.raises(ValueError, match="leaves nothing"):
        model.loo()
    constant = NadarayaWatson().fit(np.ones((3, 2)), [0.0, 1.0, 5.0])
    assert_allclose(constant.predict(np.ones((1, 2))), [2])
    assert_allclose(constant.loo(), [3, 2.5, 0.5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": RBF(0.0)}, r"gamma must be positive; got 0\.0"),
        ({"kernel": Laplacian(-1.0)}, "gamma must be positive"),
        ({"kernel": "gauss"}, "Unknown kernel 'gauss'"),
        ({"kernel": "precomputed"}, r"square; got shape \(3, 1\)"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        NadarayaWatson(**parameters).fit([[0.0], [1.0], [2.0]], [0, 1, 2])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("linear", "'linear' is -2 at training row 1"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "is nan at training row 0"),
        (lambda A, B: np.ones((len(A), 7)), r"per training row, 3; it gave shape \(2, 7\)"),
    ],
)
def test_wrong_kernel_values(kernel, message):
    model = NadarayaWatson(kernel).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match=message):
        model.predict([[0.0], [-2.0]])


def test_wrong_groups():
    model = NadarayaWatson().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\).* 3 rows"):
        model.loo([0, 1])
