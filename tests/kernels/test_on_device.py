# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on a device have the values of those on the host."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.backends import backend_for
from skstruct.kernels import RBF, ChiSquareKernel, Precomputed, resolve_kernel

torch = pytest.importorskip("torch")
from skstruct.kernels.on_device import device_kernel, kernel_product  # noqa: E402

NAMES = [
    "rbf", "linear", "poly", "polynomial", "sigmoid", "cosine", "laplacian", "rbf+laplacian",
    "linear+cosine+rbf",
]  # fmt: skip
BACKEND = backend_for("cpu")


def rows(rng, n, p, shift=0.0):
    X = rng.standard_normal((n, p)) + shift
    X[0] = 0.0
    return X


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 12), m=st.integers(1, 12), p=st.integers(1, 9),
    shift=st.sampled_from([0, 1e3]), gamma=st.sampled_from([None, 0.05]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_values_are_those_of_the_host(name, n, m, p, shift, gamma, seed):
    rng = np.random.default_rng(seed)
    A, B = rows(rng, n, p, shift), rows(rng, m, p, shift)
    kernel = resolve_kernel(name, gamma=gamma, degree=2, coef0=0.5).fit(A)
    a, b = BACKEND.asarray(A), BACKEND.asarray(B)
    function = device_kernel(kernel, BACKEND)
    expected = kernel(A, B)
    scale = max(1.0, np.abs(expected).max())
    # Distances of rows far from the centre lose what their squares cannot hold.
    spread = 1.0 + (kernel.gamma_ or 0.0) * ((np.vstack([A, B]) - A.mean(axis=0)) ** 2).sum(1).max()
    assert_allclose(function(a, b).numpy(), expected, atol=1e-13 * scale * spread)
    assert_allclose(function(a, a).numpy(), kernel(A, A), atol=1e-13 * scale * spread)
    out = torch.full((n, m + 2), torch.nan, dtype=torch.float64)
    function.block(function.left(a), function.right(b), out=out[:, 1:-1])
    assert_allclose(out[:, 1:-1].numpy(), expected, atol=1e-13 * scale * spread)
    assert out[:, [0, -1]].isnan().all()


@pytest.mark.parametrize("name", NAMES)
def test_single_precision(name):
    rng = np.random.default_rng(0)
    X = rows(rng, 20, 5)
    kernel = resolve_kernel(name, coef0=1).fit(X)
    x = BACKEND.asarray(X, "float32")
    K = device_kernel(kernel, BACKEND)(x, x)
    assert K.dtype == torch.float32
    assert_allclose(K.numpy(), kernel(X, X), rtol=1e-4, atol=1e-4)


def test_one_on_the_diagonal():
    X = torch.randn(30, 4, dtype=torch.float32, generator=torch.manual_seed(0)) + 100.0
    kernel = device_kernel(RBF().fit(X.numpy().astype(float)), BACKEND)
    assert (kernel(X, X).diagonal() == 1.0).all()


@pytest.mark.parametrize("name", ["rbf", "rbf+laplacian"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_by_blocks(name, dtype):
    rng = np.random.default_rng(0)
    X, X_fit, coef = rows(rng, 23, 4), rows(rng, 17, 4), rng.standard_normal((17, 3))
    kernel = resolve_kernel(name).fit(X_fit)
    found = kernel_product(kernel, X, X_fit, coef, "cpu", memory=500, dtype=dtype)
    tolerance = {"atol": 1e-12} if dtype == "float64" else {"rtol": 1e-4, "atol": 1e-4}
    assert_allclose(found, kernel(X, X_fit) @ coef, **tolerance)
    tensors = kernel_product(kernel, torch.tensor(X), torch.tensor(X_fit), coef, None, dtype=dtype)
    assert_allclose(tensors, found, **tolerance)


def test_kernels_that_devices_have_not():
    X = np.eye(3)
    for kernel in (resolve_kernel(np.dot), Precomputed(), ChiSquareKernel()):
        with pytest.raises(ValueError, match="On a device, kernels are"):
            device_kernel(kernel.fit(X), BACKEND)
    with pytest.raises(ValueError, match="On a device, kernels are"):
        device_kernel(resolve_kernel("rbf+chi2", gamma=1.0).fit(X), BACKEND)


def test_sparse_rows():
    X = np.eye(3)
    kernel = RBF().fit(X)
    with pytest.raises(ValueError, match=r"toarray\(\), or device=None"):
        kernel_product(kernel, sparse.csr_array(X), X, np.ones((3, 1)), "cpu")
