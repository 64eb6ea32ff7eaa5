# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skstruct import config_context
from skstruct.kernels import RBF, resolve_kernel
from skstruct.kernels.grams import GramBlocks
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.systems import (
    CholeskySystem,
    MixedSystem,
    PackedCholeskySystem,
    SpectralSystem,
)
from skstruct.testing import check_smoother

NAMES = ["rbf", "linear", "poly", "laplacian", "sigmoid", "cosine", "rbf+linear"]
RNG = np.random.default_rng(0)
X, T, X_NEW = RNG.random((40, 3)), RNG.standard_normal((40, 4)), RNG.random((7, 3))


@pytest.fixture(autouse=True, scope="module")
def _small_blocks():
    """Small matrices of several blocks."""
    before, GramBlocks.shortest = GramBlocks.shortest, 8
    yield
    GramBlocks.shortest = before


@pytest.mark.slow
@given(
    n=st.one_of(st.integers(1, 4), st.integers(1, 80)),
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 99),
    packed=st.booleans(),
    zeros=st.booleans(),
    bordered=st.booleans(),
    thin=st.booleans(),
)
def test_rows_against_a_dense_inverse(n, name, seed, packed, zeros, bordered, thin):
    rng = np.random.default_rng(seed)
    X, B, root = rng.random((n, 3)), rng.standard_normal((n, 2)), rng.random(n) + 0.1
    if zeros:
        root[1 : 1 + n // 2] = 0.0
        B[:, 1] = 0.0  # a right-hand side of zeros has the solution zero
    rows = sparse.csr_array(X) if thin else X
    kernel = resolve_kernel(name, gamma=0.5, degree=2).fit(rows)
    K, shift = kernel(X, X), 3.0 if name == "sigmoid" else 1e-3
    M = root[:, None] * K * root + shift * np.eye(n)
    inverse = np.linalg.inv(M)
    if bordered:
        lifted = inverse @ root
        inverse -= np.outer(lifted, lifted) / (root @ lifted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # single precision suffices
        fitted = MixedSystem(packed=packed)
        fitted.fit_rows(kernel, rows, root, shift, root if bordered else None)
        found = fitted.solve(B)
    assert fitted.double_ is None
    assert fitted.n_steps_ <= 12
    assert fitted.coarse_.factor_.dtype == np.float32
    size = max(1.0, np.abs(inverse @ B).max())
    np.testing.assert_allclose(found, inverse @ B, atol=1e-9 * size)
    np.testing.assert_allclose(fitted.column_mean_, K @ root**2 / (root @ root), atol=1e-12)
    np.testing.assert_allclose(fitted.residual_shares(), shift * np.diag(inverse), atol=1e-9)
    some = rng.permutation(n)[:3]
    block = shift * inverse[np.ix_(some, some)]
    np.testing.assert_allclose(fitted.residual_block(some), block, atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_residuals_are_those_of_double_precision(alpha):
    """Single precision alone would leave residuals of 1e-6 and more."""
    rng = np.random.default_rng(1)
    X, B = rng.standard_normal((400, 5)), rng.standard_normal((400, 6))
    kernel = RBF(0.1).fit(X)
    M = kernel(X, X) + alpha * np.eye(400)
    system = MixedSystem().fit_rows(kernel, X, np.ones(400), alpha)
    left = np.linalg.norm(B - M @ system.solve(B), axis=0) / np.linalg.norm(B, axis=0)
    rounding = 1e-15 * np.linalg.norm(M, 2) / alpha
    assert left.max() <= max(3e-12, rounding)
    coarse = system.coarse_._plain(B.astype(np.float32, order="F")).astype(np.float64)
    assert np.linalg.norm(B - M @ coarse) / np.linalg.norm(B) > 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_mixed_ridge_is_a_smoother(fit_intercept):
    model = KernelRidge(RBF(0.5), alpha=0.3, fit_intercept=fit_intercept)
    with config_context(precision="mixed"):
        check_smoother(model, X, T)
        assert isinstance(model.fit(X, T).system_, MixedSystem)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "packed"])
def test_mixed_ridge_answers_like_double(solver):
    weight = np.random.default_rng(3).integers(0, 3, 40)
    double = KernelRidge(RBF(0.5), alpha=0.01).fit(X, T, weight)
    with config_context(precision="mixed"):
        mixed = KernelRidge(RBF(0.5), alpha=0.01, solver=solver).fit(X, T, weight)
    assert mixed.system_.packed == (solver == "packed")
    np.testing.assert_allclose(mixed.predict(X_NEW), double.predict(X_NEW), atol=1e-9)
    np.testing.assert_allclose(mixed.weights(X_NEW), double.weights(X_NEW), atol=1e-9)
    np.testing.assert_allclose(mixed.loo(), double.loo(), atol=1e-8)
    groups = np.arange(40) % 7
    np.testing.assert_allclose(mixed.loo(groups), double.loo(groups), atol=1e-8)
    other = np.sin(T)
    np.testing.assert_allclose(
        mixed.with_targets(other).predict(X_NEW),
        double.with_targets(other).predict(X_NEW),
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("packed", "kind"), [(False, CholeskySystem), (True, PackedCholeskySystem)]
)
def test_too_small_a_penalty_falls_back(packed, kind):
    """With rows twice, K is singular; alpha = 1e-9 vanishes beside 1 in single precision."""
    twice, targets = np.vstack([X, X]), np.vstack([T, T])
    ridge = KernelRidge(RBF(0.5), alpha=1e-9, solver="packed" if packed else "cholesky")
    with (
        config_context(precision="mixed"),
        pytest.warns(ConvergenceWarning, match="not positive definite in single precision"),
    ):
        mixed = clone(ridge).fit(twice, targets)
    assert type(mixed.system_.double_) is kind
    assert mixed.system_.coarse_ is None
    double = ridge.fit(twice, targets)
    np.testing.assert_allclose(mixed.predict(X_NEW), double.predict(X_NEW), atol=1e-10)
    np.testing.assert_allclose(mixed.loo(), double.loo(), atol=1e-5)


def test_refining_that_stalls_falls_back(monkeypatch):
    monkeypatch.setattr("skstruct.smoothing.systems.mixed_precision.MOST_STEPS", 1)
    with (
        config_context(precision="mixed"),
        pytest.warns(ConvergenceWarning, match="did not reach a residual of 1e-12"),
    ):
        mixed = KernelRidge(RBF(0.5), alpha=1e-3).fit(X, T)
    double = KernelRidge(RBF(0.5), alpha=1e-3).fit(X, T)
    np.testing.assert_allclose(mixed.predict(X_NEW), double.predict(X_NEW), atol=1e-10)


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_values_that_single_precision_does_not_hold(scale):
    """Squares are beyond 1e38, or below 1e-45: either way the answer is that of double."""
    alpha = scale**2
    with config_context(precision="mixed"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixed = KernelRidge("linear", alpha).fit(scale * X, T)
    double = KernelRidge("linear", alpha).fit(scale * X, T)
    np.testing.assert_allclose(mixed.predict(scale * X), double.predict(scale * X), atol=1e-9)


def test_errors():
    mixed = config_context(precision="mixed")
    with mixed, pytest.raises(ValueError, match="this one is precomputed"):
        KernelRidge("precomputed").fit(X @ X.T, T)
    with (
        pytest.raises(ValueError, match='precision is "double" or "mixed"; got \'half\''),
        config_context(precision="half"),
    ):
        KernelRidge().fit(X, T)
    with pytest.raises(ValueError, match="takes rows and a kernel"):
        MixedSystem().fit(np.eye(3), 1.0)
    mixed = config_context(precision="mixed")
    with mixed, pytest.raises(LinAlgError), pytest.warns(ConvergenceWarning):
        KernelRidge(lambda A, B: -(A @ B.T), 1e-3).fit(X, T)


def test_an_eigendecomposition_is_double_in_any_case():
    with config_context(precision="mixed"):
        spectral = KernelRidge(alpha=0.1, solver="spectral").fit(X, T)
    assert isinstance(spectral.system_, SpectralSystem)
    np.testing.assert_allclose(
        spectral.predict(X_NEW), KernelRidge(alpha=0.1).fit(X, T).predict(X_NEW), atol=1e-9
    )
