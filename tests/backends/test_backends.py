# SPDX-License-Identifier: BSD-3-Clause
"""Every function of every backend against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.backends import NumpyBackend, backend_for, is_tensor

torch = pytest.importorskip("torch")
BACKENDS = [NumpyBackend(), backend_for("cpu")]
sizes = st.integers(1, 40)
seeds = st.integers(0, 2**32 - 1)
every_backend = pytest.mark.parametrize("backend", BACKENDS, ids=lambda b: b.name)
precisions = st.sampled_from(["float64", "float32"])


def close(backend, found, expected, dtype="float64"):
    found = backend.to_host(found)
    assert found.dtype == np.dtype(dtype)
    assert_allclose(found, expected, atol=1e-10 if dtype == "float64" else 2e-3, rtol=1e-3)


def by_columns(backend, A, dtype="float64"):
    out = backend.zeros(A.shape, dtype)
    out[:] = backend.asarray(A, dtype)
    return out


def lower_factor(rng, m):
    A = rng.standard_normal((m, m + 3))
    return np.linalg.cholesky(A @ A.T / m + np.eye(m))


def address(A):
    return A.data_ptr() if is_tensor(A) else A.__array_interface__["data"][0]


@every_backend
@settings(deadline=None, max_examples=30)
@given(n=sizes, m=sizes, q=sizes, seed=seeds, dtype=precisions)
def test_products(backend, n, m, q, seed, dtype):
    rng = np.random.default_rng(seed)
    Z, T = rng.standard_normal((n, m)), rng.standard_normal((n, q))
    G, C = rng.standard_normal((m, m)), rng.standard_normal((m, q))
    z, t = backend.asarray(Z, dtype), backend.asarray(T, dtype)
    summed = backend.add_square(by_columns(backend, G, dtype), z)
    assert_allclose(
        np.tril(backend.to_host(summed)),
        np.tril(G + Z.T @ Z),
        atol=1e-9 if dtype == "float64" else 2e-3,
    )
    close(backend, backend.add_product(by_columns(backend, C, dtype), z, t), C + Z.T @ T, dtype)
    close(backend, backend.multiply(backend.asarray(Z.T, dtype), t), Z.T @ T, dtype)
    close(backend, backend.exp(backend.asarray(Z.copy(), dtype)), np.exp(Z), dtype)


@every_backend
def test_sums_stay_where_they_are(backend):
    rng = np.random.default_rng(0)
    Z, T = backend.asarray(rng.standard_normal((50, 7))), backend.asarray(rng.random((50, 3)))
    G, C = backend.zeros((7, 7)), backend.zeros((7, 3))
    assert address(backend.add_square(G, Z)) == address(G)
    assert address(backend.add_product(C, Z, T)) == address(C)
    A = backend.add_diagonal(G, 1.0)
    assert address(backend.cholesky(A)[0]) == address(G)


@every_backend
def test_panels_cover_many_columns(backend):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((5, 700))  # more than one panel
    G = backend.to_host(backend.add_square(backend.zeros((700, 700)), backend.asarray(Z)))
    assert_allclose(np.tril(G), np.tril(Z.T @ Z), atol=1e-12)


@every_backend
@settings(deadline=None, max_examples=30)
@given(m=sizes, n=sizes, seed=seeds, dtype=precisions)
def test_triangular_systems(backend, m, n, seed, dtype):
    rng = np.random.default_rng(seed)
    L, K = lower_factor(rng, m), rng.standard_normal((n, m))
    M = by_columns(backend, L @ L.T, dtype)
    copy = backend.copied(M)
    factor, failed = backend.cholesky(M)
    assert failed == 0
    assert_allclose(np.tril(backend.to_host(factor)), L, atol=1e-10 if dtype == "float64" else 1e-3)
    close(backend, copy, L @ L.T, dtype)
    factor = by_columns(backend, np.tril(backend.to_host(factor)), dtype)
    expected = np.linalg.solve(L, K.T).T
    close(backend, backend.whiten(factor, backend.asarray(K.copy(), dtype)), expected, dtype)
    close(backend, backend.whitener(factor)(backend.asarray(K.copy(), dtype)), expected, dtype)
    for order in ("C", "F"):
        B = backend.asarray(K.T.copy(), dtype) if order == "C" else by_columns(backend, K.T, dtype)
        close(backend, backend.solve_lower(factor, B), expected.T, dtype)
        B = backend.asarray(K.T.copy(), dtype) if order == "C" else by_columns(backend, K.T, dtype)
        back = backend.solve_lower(factor, B, transposed=True)
        close(backend, back, np.linalg.solve(L.T, K.T), dtype)


@every_backend
@settings(deadline=None, max_examples=20)
@given(m=st.integers(1, 12), seed=seeds)
def test_eigenvectors_read_the_lower_half(backend, m, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, m))
    A = A + A.T
    values, vectors = map(backend.to_host, backend.eigh(by_columns(backend, np.tril(A))))
    assert_allclose((vectors * values) @ vectors.T, A, atol=1e-9)


@every_backend
def test_cholesky_names_the_row_that_fails(backend):
    A = by_columns(backend, np.diag([1.0, 2.0, -1.0, 3.0]))
    assert backend.cholesky(A)[1] == 3


@every_backend
@pytest.mark.filterwarnings("error")
def test_memory_and_dtypes(backend):
    free = backend.free_memory()
    assert free is None or free > 0
    A = np.arange(6.0).reshape(2, 3)
    A.setflags(write=False)
    assert_allclose(backend.to_host(backend.asarray(A, "float32")), A)
    assert_allclose(backend.to_host(backend.asarray(A[:, ::2])), A[:, ::2])
    assert backend.zeros((3,)).shape == (3,)


def test_blocks_are_as_accurate_as_substitution():
    """A factor of condition 1e5: residuals of both ways are rounding errors."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 300)[:, None]
    M = np.exp(-10.0 * (x - x.T) ** 2) + 1e-10 * np.eye(300)
    backend = BACKENDS[1]
    L, _ = backend.cholesky(by_columns(backend, M))
    K = np.exp(-10.0 * (rng.random((50, 1)) - x.T) ** 2)
    residuals = []
    for whiten in (lambda K: backend.whiten(L, K), backend.whitener(L)):
        Z = whiten(backend.asarray(K.copy()))
        residuals.append(float(torch.dist(Z @ L.T, backend.asarray(K))))
    assert max(residuals) < 1e-12


@settings(deadline=None, max_examples=20)
@given(m=sizes, n_blocks=st.integers(1, 8), seed=seeds)
def test_rows_of_an_inverse(m, n_blocks, seed):
    from skstruct.backends.torch_backend import BlockTriangle

    L = lower_factor(np.random.default_rng(seed), m)
    above = np.triu(np.full((m, m), np.nan), 1)  # never read
    triangle = BlockTriangle(by_columns(BACKENDS[1], L + above), n_blocks)
    rows = [triangle.inverse_rows(j).numpy() for j in range(len(triangle.blocks))]
    assert_allclose(np.vstack(rows), np.linalg.inv(L).T, atol=1e-10)


def test_backend_of_a_device():
    tensor = torch.zeros(3)
    assert backend_for(None, np.zeros(3)).name == "numpy"
    assert backend_for("numpy", np.zeros(3)).name == "numpy"
    assert backend_for(None, np.zeros(3), tensor).name == "torch"
    assert backend_for("cpu").device == torch.device("cpu")
    assert is_tensor(tensor)
    assert not is_tensor(np.zeros(3))


def test_wrong_devices():
    with pytest.raises(ValueError, match="different devices: cpu, meta"):
        backend_for(None, torch.zeros(2), torch.zeros(2, device="meta"))
    with pytest.raises(ValueError, match="tensor on meta, and device is 'cpu'"):
        backend_for("cpu", torch.zeros(2, device="meta"))
    with pytest.raises(ValueError, match='device is "cpu", "cuda" or "cuda:0"'):
        backend_for("gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_cuda():
    with pytest.raises(ValueError, match=r"device='cuda:0' was asked for, and torch .* sees no"):
        backend_for("cuda")
