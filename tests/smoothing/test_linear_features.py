# SPDX-License-Identifier: BSD-3-Clause
"""Inputs themselves as features: the linear kernel from sums, with nothing left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skstruct import config_context
from skstruct.smoothing import KernelRidge, NystroemRidge
from skstruct.streaming import ArraySource
from skstruct.testing import check_smoother


def case(seed, dense, n=30, p=7):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.3, rng=rng, format="csr")
    return X.toarray() + 4.0 if dense else X, rng.standard_normal((n, 3)), rng.random(n) + 0.1


def linear(alpha=0.4, **options):
    return NystroemRidge("linear", alpha, features="linear", **options)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
def test_is_kernel_ridge_regression(seed, dense, intercept, weighted):
    X, T, weight = case(seed, dense)
    weight = weight if weighted else None
    groups = np.random.default_rng(seed).integers(0, 5, size=len(T))
    ours = linear(fit_intercept=intercept).fit(X, T, weight)
    exact = KernelRidge("linear", 0.4, fit_intercept=intercept).fit(X, T, weight)
    for result in (
        lambda m: m.predict(X), lambda m: m.loo(), lambda m: m.loo(groups), lambda m: m.weights(X),
        lambda m: m.with_targets(T[:, :1]).predict(X),
    ):  # fmt: skip
        np.testing.assert_allclose(result(ours), result(exact), atol=1e-8)
    assert ours.residual_ == 0.0
    assert ours.n_landmarks_ == X.shape[1]


@pytest.mark.parametrize("dense", [False, True])
def test_keeps_what_a_linear_smoother_promises(dense):
    X, T, _ = case(1, dense)
    check_smoother(linear(), X, T)


def test_parts_and_streams_are_the_whole():
    X, T, weight = case(2, True)
    whole = linear().fit(X, T, weight)
    late = linear().partial_fit(X[:10], T[:10], weight[:10])
    late.partial_fit(X[10:], T[10:], weight[10:])
    streamed = linear().fit_source(ArraySource(X, T, weight))
    for model in (late, streamed):
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-9)


def test_rows_far_from_zero_keep_their_digits():
    X, T, _ = case(3, True)
    for options, close in (({}, 1e-7), ({"dtype": "float32"}, 1e-3)):
        near, far = (linear(**options).fit(X + s, T).predict(X + s) for s in (0.0, 1e6))
        np.testing.assert_allclose(far, near, atol=close)


def test_on_a_device():
    torch = pytest.importorskip("torch")
    X, T, _ = case(4, True)
    expected = linear().fit(X, T).predict(X)
    with config_context(device="cpu"):
        model = linear().fit(X, T)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-10)
    tensors = linear().fit(torch.as_tensor(X), torch.as_tensor(T)).predict(torch.as_tensor(X))
    np.testing.assert_allclose(tensors, expected, atol=1e-10)


def test_other_kernels_are_refused():
    X, T, _ = case(5, True)
    with pytest.raises(
        ValueError, match=r'features="linear" are those of kernel="linear"; got \'r'
    ):
        NystroemRidge("rbf", features="linear").fit(X, T)


def test_what_does_not_fit_is_refused(monkeypatch):
    from skstruct._arrays import memory

    monkeypatch.setattr(memory, "available_memory", lambda: 100)
    X, T, _ = case(6, True)
    with pytest.raises(MemoryError, match=r"7 features need .* LinearRidge"):
        linear().fit(X, T)
