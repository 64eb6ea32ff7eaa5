# SPDX-License-Identifier: BSD-3-Clause
"""Indefinite similarities made into kernels, against eigendecompositions written out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer, CountingRidge, OutputKernelRegressor, StructuredSVM
from skstruct.kernels import RepairedKernel, repair_kernel
from skstruct.spaces import Classes

METHODS = ("clip", "flip", "shift")


def symmetric(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return (A + A.T) / 2


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from(METHODS))
@settings(max_examples=60, deadline=None)
def test_the_spectrum_is_what_the_method_says(seed, n, method):
    K = symmetric(seed, n)
    values, V = np.linalg.eigh(K)
    wanted = {
        "clip": np.maximum(values, 0.0),
        "flip": np.abs(values),
        "shift": values - min(values[0], 0.0),
    }[method]
    model = RepairedKernel(method)
    repaired = model.fit_transform(K)
    assert_allclose(repaired, (V * wanted) @ V.T, atol=1e-10)
    assert_array_equal(repaired, repaired.T)
    assert np.linalg.eigvalsh(repaired)[0] >= -1e-10
    assert_allclose(repair_kernel(K, method), repaired)
    assert_allclose(model.eigenvalues_, values, atol=1e-12)
    share = np.abs(values[values < 0]).sum() / np.abs(values).sum()
    assert model.negative_share_ == pytest.approx(share)


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from(["clip", "flip"]))
@settings(max_examples=40, deadline=None)
def test_rows_of_training_as_new_rows_are_the_same(seed, n, method):
    K = symmetric(seed, n)
    model = RepairedKernel(method)
    assert_allclose(model.fit_transform(K), model.transform(K), atol=1e-10)
    rows = np.random.default_rng(seed + 1).permutation(n)[: max(1, n // 2)]
    assert_allclose(model.transform(K[rows]), model.transform(K)[rows], atol=1e-12)


def test_clipping_is_the_nearest_semidefinite_matrix():
    """Nearer than many others: random semidefinite matrices and steps towards them."""
    K = symmetric(0, 6)
    clipped = repair_kernel(K, "clip")
    rng = np.random.default_rng(1)
    for _ in range(200):
        B = rng.normal(size=(6, 6))
        other = clipped + rng.uniform(0, 1) * (B @ B.T - clipped)
        assert np.linalg.norm(K - clipped) <= np.linalg.norm(K - other) + 1e-12


def test_new_rows_are_inner_products_with_the_same_features():
    """Clip: k P are inner products of features of new rows with those of training."""
    K = symmetric(3, 8)
    values, V = np.linalg.eigh(K)
    positive = values > 0
    features = V[:, positive] * np.sqrt(values[positive])
    new = np.random.default_rng(4).normal(size=(5, 8))
    of_new = new @ V[:, positive] / np.sqrt(values[positive])
    assert_allclose(RepairedKernel().fit(K).transform(new), of_new @ features.T, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_stays_as_it_is(method):
    X = np.random.default_rng(0).normal(size=(10, 3))
    K = X @ X.T  # of rank three: seven eigenvalues are rounding, of either sign
    model = RepairedKernel(method)
    assert_allclose(model.fit_transform(K), K, atol=1e-12)
    assert_allclose(model.transform(K[:4]), K[:4], atol=1e-12)
    assert_allclose(RepairedKernel(method).fit(sparse.csr_array(K)).transform(K), K, atol=1e-12)


def test_learners_behind_it():
    K, y = symmetric(0, 12), ["a", "b", "c"] * 4
    for method in METHODS:
        learner = ConditionalRiskMinimizer(kernel="precomputed", alpha=0.01)
        model = make_pipeline(RepairedKernel(method), learner).fit(K, y)
        by_hand = clone(learner).fit(repair_kernel(K, method), y)
        new = RepairedKernel(method).fit(K).transform(K[:5])
        assert_array_equal(model.predict(K[:5]), by_hand.predict(new))
    found = cross_val_predict(make_pipeline(RepairedKernel(), learner), K, y, cv=3)
    assert len(found) == 12


def test_copied_by_pickle():
    K = symmetric(0, 12)
    repaired = RepairedKernel("flip").fit(K)
    again = pickle.loads(pickle.dumps(repaired))
    assert_array_equal(again.transform(K), repaired.transform(K))


def test_what_learners_say_names_it():
    K, y = symmetric(0, 12), ["a", "b", "c"] * 4
    named = r"skstruct\.kernels\.RepairedKernel"
    with pytest.raises(np.linalg.LinAlgError, match=named):
        ConditionalRiskMinimizer(kernel="precomputed", alpha=0.01).fit(K, y)
    with pytest.warns(UserWarning, match=rf"not positive semidefinite.*{named}"):
        ConditionalRiskMinimizer(kernel="precomputed").fit(K, y)
    with pytest.warns(UserWarning, match=named):
        ConditionalRiskMinimizer(kernel=lambda A, B: -(np.abs(A - B.T) ** 3)).fit(K[:, :1], y)
    with pytest.raises(ValueError, match=named):
        OutputKernelRegressor(alpha=0.1, output_kernel="precomputed").fit(K, K)
    with pytest.raises(ValueError, match=named):
        OutputKernelRegressor(kernel="precomputed", method="sample_compression").fit(K, y)
    with pytest.raises(ValueError, match=named):
        CountingRidge(Classes(), kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=named):
        StructuredSVM(Classes(), kernel="precomputed").fit(K, y)


def test_repaired_output_kernels():
    K, X = symmetric(0, 9), np.random.default_rng(0).normal(size=(9, 2))
    model = OutputKernelRegressor(alpha=0.1, output_kernel="precomputed")
    assert model.fit(X, repair_kernel(K)).predict(X).shape == (9,)


def test_bad_input():
    with pytest.raises(ValueError, match="method is one of clip, flip, shift; got 'cut'"):
        RepairedKernel("cut").fit(np.eye(2))
    with pytest.raises(ValueError, match="symmetric"):
        RepairedKernel().fit([[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(ValueError, match="similarities with 2 training rows"):
        RepairedKernel().fit(np.eye(2)).transform(np.eye(3))
    with pytest.raises(ValueError, match="finite"):
        RepairedKernel().fit([[np.nan]])
