# SPDX-License-Identifier: BSD-3-Clause
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import LinAlgError

from skstruct import config_context
from skstruct.kernels import RBF, resolve_kernel
from skstruct.kernels.grams import GramBlocks
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.planning import plan
from skstruct.smoothing.systems import CholeskySystem, PackedCholeskySystem, SpectralSystem
from skstruct.smoothing.systems.direct import MOST_ROWS
from skstruct.testing import check_smoother, check_system

NAMES = ["rbf", "linear", "poly", "laplacian", "sigmoid", "cosine", "rbf+linear", "chi2"]
SYSTEMS = [CholeskySystem, PackedCholeskySystem, SpectralSystem]


@pytest.fixture(autouse=True, scope="module")
def _small_blocks():
    """Small matrices of several blocks."""
    before, GramBlocks.shortest = GramBlocks.shortest, 8
    yield
    GramBlocks.shortest = before


def case(n, seed, zeros=False):
    """Rows without negative entries, which chi2 needs, roots of weights, and right-hand sides."""
    rng = np.random.default_rng(seed)
    root = rng.random(n) + 0.1
    if zeros:
        root[rng.random(n) < 0.3] = 0.0
        root[0] = 1.0
    return rng.random((n, 3)), root, rng.standard_normal((n, 2))


def dense_inverse(M, border):
    """Upper block of the inverse of the bordered matrix."""
    if border is None:
        return np.linalg.inv(M)
    n = len(M)
    bordered = np.block([[M, border[:, None]], [border[None], np.zeros((1, 1))]])
    return np.linalg.inv(bordered)[:n, :n]


@pytest.mark.parametrize("n", [8, 9, 50, 51])
def test_system(n):
    check_system(PackedCholeskySystem(), n=n)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
@given(
    n=st.one_of(st.integers(1, 5), st.integers(1, 90)),
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 99),
    zeros=st.booleans(),
    bordered=st.booleans(),
    thin=st.booleans(),
)
def test_rows_against_a_dense_inverse(system, n, name, seed, zeros, bordered, thin):
    X, root, B = case(n, seed, zeros)
    if name == "chi2":
        thin = False  # scikit-learn has chi2 for dense rows only
    rows = sparse.csr_array(X) if thin else X
    kernel = resolve_kernel(name, gamma=0.5, degree=2).fit(rows)
    K, shift = kernel(X, X), 3.0 if name == "sigmoid" else 0.3
    border = root if bordered else None
    inverse = dense_inverse(root[:, None] * K * root + shift * np.eye(n), border)
    fitted = system().fit_rows(kernel, rows, root, shift, border)
    np.testing.assert_allclose(fitted.column_mean_, K @ root**2 / (root @ root), atol=1e-10)
    np.testing.assert_allclose(fitted.solve(B), inverse @ B, atol=1e-8)
    np.testing.assert_allclose(fitted.residual_shares(), shift * np.diag(inverse), atol=1e-8)
    some = np.random.default_rng(seed).permutation(n)[:4]
    block = shift * inverse[np.ix_(some, some)]
    np.testing.assert_allclose(fitted.residual_block(some), block, atol=1e-8)


@given(n=st.integers(1, 70), single=st.booleans(), seed=st.integers(0, 9))
def test_the_rectangle_is_the_one_that_lapack_writes(n, single, seed):
    """Its own routine, which packs a full matrix, is the judge."""
    from scipy.linalg import lapack

    X, root, _ = case(n, seed)
    kernel = RBF(0.5).fit(X)
    full = root[:, None] * kernel(X, X) * root
    expected, _ = lapack.dtrttf(full, uplo="L")
    dtype = np.float32 if single else np.float64
    packed, sums = PackedCholeskySystem()._build(GramBlocks(kernel, X), root, dtype)
    assert packed.dtype == dtype
    np.testing.assert_allclose(packed.ravel(), expected, rtol=1e-6 if single else 1e-12)
    np.testing.assert_allclose(sums, kernel(X, X) @ root**2)


@pytest.mark.slow
@given(n=st.integers(1, 60), name=st.sampled_from(NAMES), seed=st.integers(0, 9))
def test_gram_and_product_by_blocks(n, name, seed):
    X, _, P = case(n, seed)
    kernel = resolve_kernel(name, gamma=0.5).fit(X)
    K = kernel(X, X)
    np.testing.assert_allclose(kernel.gram(X), K, atol=1e-12)
    np.testing.assert_array_equal(kernel.gram(X), kernel.gram(X).T)
    np.testing.assert_allclose(np.triu(kernel.gram(X, half=True)), np.triu(K), atol=1e-12)
    np.testing.assert_allclose(GramBlocks(kernel, X).product(P), K @ P, atol=1e-10)


@pytest.mark.parametrize("n", [24, 25])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_packed_ridge_is_a_smoother(n, fit_intercept):
    X, _, T = case(n, 0)
    model = KernelRidge(RBF(0.5), alpha=0.3, fit_intercept=fit_intercept, solver="packed")
    check_smoother(model, X, T)
    assert isinstance(model.fit(X, T).system_, PackedCholeskySystem)


@pytest.mark.slow
@given(
    n=st.integers(1, 40),
    name=st.sampled_from([*NAMES, "precomputed"]),
    seed=st.integers(0, 99),
    zeros=st.booleans(),
    fit_intercept=st.booleans(),
)
def test_packed_ridge_answers_like_the_full_one(n, name, seed, zeros, fit_intercept):
    X, root, T = case(n, seed, zeros)
    X_new = case(7, seed + 1)[0]
    if name == "precomputed":
        X, X_new = X @ X.T, X_new @ X.T
    kernel = resolve_kernel(name, gamma=0.5)
    full, packed = (
        KernelRidge(kernel, 4.0, fit_intercept=fit_intercept, solver=solver).fit(X, T, root**2)
        for solver in ("cholesky", "packed")
    )
    np.testing.assert_allclose(packed.predict(X_new), full.predict(X_new), atol=1e-8)
    np.testing.assert_allclose(packed.weights(X_new), full.weights(X_new), atol=1e-8)
    if not (zeros and name == "precomputed") and n > 1:
        np.testing.assert_allclose(packed.loo(), full.loo(), atol=1e-7)
        groups = np.arange(n) % 3 if n > 3 else np.arange(n)
        np.testing.assert_allclose(packed.loo(groups), full.loo(groups), atol=1e-7)


def test_a_sparse_precomputed_matrix():
    X, _, T = case(30, 0)
    K = X @ X.T
    K[K < 0.7] = 0.0
    for solver in ("cholesky", "packed"):
        dense, thin = (
            KernelRidge("precomputed", 20.0, solver=solver).fit(A, T)
            for A in (K, sparse.csr_array(K))
        )
        np.testing.assert_allclose(thin.dual_coef_, dense.dual_coef_, atol=1e-12)
        K_bad = sparse.lil_array(K)
        K_bad[5, 2] += 1.0
        with pytest.raises(ValueError, match=r"not symmetric: K\[5, 2\]"):
            KernelRidge("precomputed", solver=solver).fit(K_bad.tocsr(), T)


def peak(model, X, T):
    """Most memory of a fit, in matrices of n x n doubles; numpy reports to tracemalloc.

    The least of three fits: other threads of the process can only add to what is seen.
    """
    seen = []
    for _ in range(3):
        model.fit(X[:50], T[:50])  # what is loaded once does not count
        tracemalloc.start()
        model.fit(X, T)
        seen.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(seen) / (8 * len(X) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "precision", "allowed"),
    [
        ("cholesky", "double", 1.25),
        ("packed", "double", 0.62),
        ("cholesky", "mixed", 0.75),
        ("packed", "mixed", 0.5),
        ("spectral", "double", 2.3),
    ],
)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_memory_peak(kernel, solver, precision, allowed):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((1500, 4)), rng.standard_normal((1500, 8))
    model = KernelRidge(resolve_kernel(kernel, gamma=0.3), alpha=1.0, solver=solver)
    with config_context(precision=precision):
        measured = peak(model, X, T)
    assert measured <= allowed
    planned = plan(1500, 4, 8, solver=solver, precision=precision).bytes / (8 * 1500**2)
    assert measured <= planned <= 1.6 * measured


def test_errors():
    X, _, T = case(20, 0)
    with pytest.raises(LinAlgError, match=r"at row 0 for alpha = 0\.5"):
        KernelRidge("precomputed", 0.5, solver="packed").fit(-np.eye(20), T)
    K = np.eye(20)
    K[13, 13] = -2.0
    with pytest.raises(LinAlgError, match="at row 13"):
        KernelRidge("precomputed", 0.5, solver="packed").fit(K, T)

    class Many:
        n = MOST_ROWS + 1

    with pytest.raises(ValueError, match=r"at most 23,000 rows.*got 23,001"):
        PackedCholeskySystem()._build(Many(), None, np.float64)
    for solver in ("nystroem", "fourier"):
        with pytest.raises(ValueError, match="NystroemRidge"):
            KernelRidge(solver=solver).fit(X, T)
    with pytest.raises(ValueError, match="not finite"):
        KernelRidge(lambda A, B: np.full((len(A), len(B)), np.nan), solver="packed").fit(X, T)
    with pytest.raises(ValueError, match="has shape"):
        KernelRidge(lambda A, B: np.zeros((2, 3)), solver="packed").fit(X, T)
