# SPDX-License-Identifier: BSD-3-Clause
"""Products of split halves against float64, and what happens where they are not good enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from skstruct.backends import split_products, torch_backend  # noqa: E402
from skstruct.backends.split_products import (  # noqa: E402
    SplitTriangle,
    add_product,
    add_square,
    halves,
    power_of_two,
    residual,
)
from skstruct.backends.torch_backend import BlockTriangle, TorchBackend  # noqa: E402

sizes = st.integers(1, 40)
seeds = st.integers(0, 2**32 - 1)
exponents = st.integers(-60, 60)
fast = settings(deadline=None, max_examples=60)


def single(rng, shape, low, high):
    """Numbers of both signs between powers of two."""
    sizes = np.exp2(rng.uniform(min(low, high), max(low, high), shape))
    return torch.tensor(sizes * rng.choice([-1.0, 1.0], shape), dtype=torch.float32)


@fast
@given(n=sizes, m=sizes, low=exponents, high=exponents, seed=seeds)
def test_two_halves_are_22_digits(n, m, low, high, seed):
    A = single(np.random.default_rng(seed), (n, m), low, high)
    scale = power_of_two(A.abs().amax(0))
    first, second = (part.double() for part in halves(A, scale))
    error = (A.double() - scale * (first + second / 2048)).abs()
    assert (first.abs() <= 1).all()
    assert (error <= 2.0**-22 * A.abs().double() + 2.0**-36 * scale.double()).all()


def test_powers_of_two():
    found = power_of_two(torch.tensor([0.0, 1.0, 0.75, 3.0, 1e-44, 3e38]))
    assert found.tolist() == [1.0, 2.0, 1.0, 4.0, 2.0**-120, 2.0**120]


@pytest.mark.slow
@fast
@given(n=sizes, k=st.integers(1, 300), m=sizes, a=exponents, b=exponents, seed=seeds)
def test_products_within_the_stated_bound(n, k, m, a, b, seed):
    """|AB - found| <= 2^-20 |A||B| + k 2^-34 s_a s_b, and k 2^-24 |A||B| for adding up."""
    rng = np.random.default_rng(seed)
    A, B = single(rng, (n, k), a, a + 12), single(rng, (k, m), b, b + 12)
    s, t = power_of_two(A.abs().amax(1, keepdim=True)), power_of_two(B.abs().amax(0))
    found = add_product(torch.zeros(n, m), halves(A, s), halves(B, t)).double() * (s * t).double()
    A, B = A.double(), B.double()
    bound = (2.0**-20 + k * 2.0**-24) * (A.abs() @ B.abs()) + k * 2.0**-34 * (s * t).double()
    assert ((found - A @ B).abs() <= bound).all()


@pytest.mark.slow
@fast
@given(n=sizes, m=sizes, spread=st.integers(0, 40), panels=st.integers(1, 3), seed=seeds)
def test_squares(n, m, spread, panels, seed):
    """Columns of any sizes, in units of their lengths."""
    rng = np.random.default_rng(seed)
    sizes = torch.tensor(np.exp2(rng.uniform(-spread, spread, m)), dtype=torch.float32)
    Z, before = torch.tensor(rng.standard_normal((n, m)), dtype=torch.float32) * sizes, torch.eye(m)
    G = before.clone()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_products, "PANELS", panels)
        patch.setattr(split_products, "ALIGNED", 8)
        measured = add_square(G, Z)
    lengths = Z.double().norm(dim=0)
    expected = before.double() + Z.double().T @ Z.double()
    error = torch.tril(G.double() - expected).abs()
    assert measured <= 1e-6
    assert (error <= 1e-6 * (lengths[:, None] * lengths + before)).all()


@pytest.mark.slow
@fast
@given(n=sizes, k=sizes, m=sizes, spread=st.integers(0, 40), seed=seeds)
def test_products_of_any_sizes(n, k, m, spread, seed):
    rng = np.random.default_rng(seed)
    A, B = single(rng, (k, n), -spread, 0).T, single(rng, (k, m), 0, spread)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_backend, "NARROWEST", 1)
        found = TorchBackend("cpu", split=True).multiply(A, B)
    assert residual(found, A, B) <= 1e-6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_products, "SPLIT_RESIDUAL", -1.0)
        assert torch.equal(split_products.product(A, B), A @ B)


def factor(rng, m, smallest=0.1):
    """A factor with diagonal entries down to ``smallest``; above it is what nobody reads."""
    L = np.tril(rng.standard_normal((m, m)) / np.sqrt(m))
    np.fill_diagonal(L, rng.uniform(smallest, 1.0, m))
    return torch.tensor(L + np.triu(np.full((m, m), np.nan), 1), dtype=torch.float32)


@pytest.mark.slow
@fast
@given(n=sizes, m=sizes, size=exponents, blocks=st.integers(1, 6), seed=seeds)
def test_whitening(n, m, size, blocks, seed):
    """Whatever the size of a row, Z L' = K in units of the lengths of both."""
    rng = np.random.default_rng(seed)
    L, sizes = factor(rng, m), np.exp2(rng.uniform(-abs(size), abs(size), (n, 1)))
    Z = torch.tensor(rng.standard_normal((n, m)) * sizes)
    L64 = L.double().tril()
    K = (Z @ L64.T).float()
    triangle = SplitTriangle(BlockTriangle(L, blocks))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_products, "ROWS", 7)
        found = triangle.whiten(K.clone())
    assert residual(K, found, L64.T) <= 1e-4
    assert triangle.residual <= split_products.SPLIT_RESIDUAL


def test_a_residual_that_is_too_large(monkeypatch):
    """Squares are then those of single precision, to the last bit."""
    Z = torch.tensor(np.random.default_rng(0).standard_normal((50, 30)), dtype=torch.float32)
    monkeypatch.setattr(split_products, "SPLIT_RESIDUAL", 0.0)
    G = torch.zeros(30, 30)
    assert add_square(G, Z) > 0
    assert torch.equal(G.tril(), (Z.T @ Z).tril())


def test_halves_then_refinement_then_single_precision(monkeypatch):
    """Blocks whose inverses have large entries: halves alone lose digits, refinement restores."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 120)[:, None]
    M = np.exp(-40.0 * (x - x.T) ** 2) + 1e-5 * np.eye(120)
    L = torch.tensor(np.linalg.cholesky(M), dtype=torch.float32)
    K = torch.tensor(np.exp(-40.0 * (rng.random((40, 1)) - x.T) ** 2), dtype=torch.float32)
    plain = BlockTriangle(L, 1)
    errors = {}
    for refine in (False, True):
        Z = K.clone()
        SplitTriangle(plain)._by_halves(Z, refine)
        errors[refine] = residual(K, Z, L.T)
    assert errors[True] < errors[False] / 5
    between = (errors[True] * errors[False]) ** 0.5
    monkeypatch.setattr(split_products, "SPLIT_RESIDUAL", between)
    triangle = SplitTriangle(plain)
    Z = triangle.whiten(K.clone())
    assert triangle.ways == ["refined", "single"]
    assert residual(K, Z, L.T) <= between
    monkeypatch.setattr(split_products, "SPLIT_RESIDUAL", errors[True] / 100)
    triangle = SplitTriangle(plain)
    assert torch.equal(triangle.whiten(K.clone()), plain.whiten(K.clone()))
    assert triangle.ways == ["single"]


def test_numbers_too_large_for_halves():
    """What overflows is seen, and computed in single precision."""
    L = torch.eye(20) * 1e-6
    K = torch.ones(5, 20)
    K[:, 0], L[1:, 0] = 1e-3, 0.5
    triangle = SplitTriangle(BlockTriangle(L, 4))
    assert torch.equal(triangle.whiten(K.clone()), BlockTriangle(L, 4).whiten(K.clone()))


def test_rows_that_are_not_finite():
    Z = torch.ones(4, 3)
    Z[1, 2] = torch.nan
    G = torch.zeros(3, 3)
    add_square(G, Z)
    assert torch.isnan(G[2]).all()
    assert torch.equal(G[:2, :2].tril(), torch.full((2, 2), 4.0).tril())


@pytest.mark.parametrize("split", [True, False])
def test_a_backend_with_halves(monkeypatch, split):
    monkeypatch.setattr(torch_backend, "NARROWEST", 2)
    rng, backend = np.random.default_rng(0), TorchBackend("cpu", split=split)
    Z = backend.asarray(rng.standard_normal((60, 9)), "float32")
    G = backend.add_square(backend.zeros((9, 9), "float32"), Z)
    torch.testing.assert_close(G.tril(), (Z.T @ Z).tril(), atol=1e-4, rtol=1e-5)
    L = factor(rng, 9)
    K = Z @ L.tril().nan_to_num().T
    torch.testing.assert_close(backend.whitener(L)(K), Z, atol=1e-3, rtol=1e-3)
    assert not TorchBackend("cpu").split


@pytest.mark.slow
def test_a_fit_by_halves_is_the_fit_of_single_precision(monkeypatch):
    """Landmarks, sums and predictions with halves: off by no more than single precision is."""
    from skstruct import config_context
    from skstruct.smoothing.nystroem.ridge import NystroemRidge

    monkeypatch.setattr(torch_backend, "NARROWEST", 2)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    T = np.tanh(X @ rng.standard_normal((3, 4)))
    found = {}
    for name, dtype, split in (
        ("double", "float64", False), ("single", "float32", False), ("halves", "float32", True),
    ):  # fmt: skip
        monkeypatch.setattr(split_products, "has_half_units", lambda device, split=split: split)
        model = NystroemRidge(alpha=1e-3, n_landmarks=60, dtype=dtype)
        with config_context(device="cpu"):
            found[name] = model.fit(X, T).predict(X)
    off = {name: np.abs(found[name] - found["double"]).max() for name in ("single", "halves")}
    assert off["halves"] <= 10 * off["single"] + 1e-6
