# SPDX-License-Identifier: BSD-3-Clause
"""Ridge systems on a device against those of the host."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import LinAlgError

from skstruct.kernels import RBF, Linear, Sigmoid, resolve_kernel
from skstruct.smoothing.systems import CholeskySystem
from skstruct.testing import check_system

torch = pytest.importorskip("torch")
from skstruct.smoothing.systems.on_device import DeviceSystem  # noqa: E402


def data(seed, n, p=3):
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, p)), rng.standard_normal((n, 2))


def test_is_a_ridge_system():
    check_system(DeviceSystem("cpu"))


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 45), seed=st.integers(0, 2**32 - 1), weighted=st.booleans(),
    bordered=st.booleans(), name=st.sampled_from(["rbf", "linear", "laplacian", "rbf+linear"]),
)  # fmt: skip
def test_same_as_on_the_host(n, seed, weighted, bordered, name):
    rng, X, B = data(seed, n)
    weight = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    weight[0] = 1.0
    root, kernel = np.sqrt(weight), resolve_kernel(name).fit(X, weight)
    border = root if bordered else None
    K = kernel(X, X)
    host = CholeskySystem().fit(K * root * root[:, None], 0.3, border=border)
    device = DeviceSystem("cpu").fit_rows(kernel, X, root, 0.3, border=border)
    assert_allclose(device.column_mean_, K @ weight / weight.sum(), atol=1e-11)
    assert_allclose(device.solve(B), host.solve(B.copy()), atol=1e-10)
    assert_allclose(device.residual_shares(), host.residual_shares(), atol=1e-10)
    assert_allclose(device.leverages(), host.leverages(), atol=1e-10)
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    assert_allclose(device.residual_block(rows), host.residual_block(rows), atol=1e-10)
    assert_allclose(device.solve(B[:, :1]), host.solve(B[:, :1].copy()), atol=1e-10)


def test_leaving_out_before_solving():
    """What solving brings along is found without it, too."""
    _, X, B = data(0, 20)
    kernel, one = RBF().fit(X), np.ones(20)
    systems = [DeviceSystem("cpu").fit_rows(kernel, X, one, 0.1, border=one) for _ in range(2)]
    systems[1].solve(B)
    assert_allclose(*(system.residual_shares() for system in systems), atol=1e-13)


def test_one_matrix_in_memory():
    """The factor lies where the kernel was written, columns together."""
    _, X, _ = data(0, 40)
    system = DeviceSystem("cpu").fit_rows(RBF().fit(X), X, np.ones(40), 0.1)
    assert system.factor_.stride() == (1, 40)
    assert system.factor_.untyped_storage().nbytes() == 40 * 40 * 8
    assert (system.factor_.triu(1) == 0).all()


def test_tensors_and_single_precision():
    _, X, B = data(1, 30)
    kernel, one = RBF().fit(X), np.ones(30)
    expected = DeviceSystem("cpu").fit_rows(kernel, X, one, 0.5, border=one)
    single = DeviceSystem("cpu", dtype="float32")
    single.fit_rows(kernel, torch.tensor(X), one, 0.5, border=one)
    assert single.factor_.dtype == torch.float32
    assert single.solve(B).dtype == np.float64
    assert_allclose(single.solve(B), expected.solve(B), rtol=1e-3, atol=1e-4)
    assert_allclose(single.column_mean_, expected.column_mean_, rtol=1e-5)
    assert_allclose(single.residual_shares(), expected.residual_shares(), rtol=1e-3)


def test_single_precision_far_from_zero():
    """Rows are centred before they lose digits."""
    _, X, B = data(2, 30)
    kernel, one = RBF(0.3).fit(X), np.ones(30)
    far = RBF(0.3).fit(X + 1e6)
    expected = DeviceSystem("cpu").fit_rows(kernel, X, one, 0.5).solve(B)
    found = DeviceSystem("cpu", "float32").fit_rows(far, X + 1e6, one, 0.5).solve(B)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_not_positive_definite():
    X = np.array([[1.0], [2.0], [3.0]])
    kernel = Sigmoid(1.0, coef0=-3.0).fit(X)
    messages = []
    for fit in (
        lambda: CholeskySystem().fit(kernel(X, X), 1e-3),
        lambda: DeviceSystem("cpu").fit_rows(kernel, X, np.ones(3), 1e-3),
    ):
        with pytest.raises(LinAlgError, match="not positive definite at row") as caught:
            fit()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_kernel_that_is_not_finite():
    X = np.array([[1e200], [1.0]])
    kernel = Linear().fit(X)
    with pytest.raises(ValueError, match="not finite"):
        DeviceSystem("cpu").fit_rows(kernel, X, np.ones(2), 1.0)


def test_sparse_rows():
    X = np.eye(3)
    with pytest.raises(ValueError, match="toarray"):
        DeviceSystem("cpu").fit_rows(RBF().fit(X), sparse.csr_array(X), np.ones(3), 1.0)


def test_memory_is_asked_for_first(monkeypatch):
    from skstruct.backends.torch_backend import TorchBackend

    monkeypatch.setattr(TorchBackend, "free_memory", lambda self: 7000)
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(MemoryError, match=r"30 rows takes 0\.0 GB.*NystroemRidge"):
        DeviceSystem("cpu").fit_rows(RBF().fit(X), X, np.ones(30), 1.0)
