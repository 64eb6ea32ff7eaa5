# SPDX-License-Identifier: BSD-3-Clause
"""Sums of kernel values, whitened at the end, are those of features whitened row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skstruct import config_context
from skstruct.backends import backend_for, numpy_backend
from skstruct.kernels import RBF
from skstruct.smoothing import NystroemRidge
from skstruct.smoothing.nystroem import kernel_sums
from skstruct.smoothing.nystroem.feature_maps import LinearMap, NystroemMap
from skstruct.smoothing.nystroem.kernel_sums import FeatureSums, KernelSums, chosen_sums
from skstruct.streaming import ArraySource

ALPHAS = [1e-6, 1e-3, 1.0]


def rows(n=400, p=3, q=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, np.sin(X @ rng.standard_normal((p, q))) + 0.1 * rng.standard_normal((n, q))


def answers(model, X):
    """Predictions and left-out means, for several penalties, and coefficients of the same sums."""
    groups = np.arange(len(X)) % 13
    found = [model.with_alpha(alpha).predict(X[:50] + 0.1) for alpha in ALPHAS]
    found += list(model.loo_path(ALPHAS)) + list(model.loo_path(ALPHAS, groups))
    return np.concatenate([part.reshape(-1) for part in found])


@pytest.fixture
def row_by_row(monkeypatch):
    """A context in which every row is whitened, whatever the landmarks."""

    def fitted(model, *given):
        with monkeypatch.context() as patch:
            patch.setattr(kernel_sums, "WORST_CONDITION", 0.0)
            model.fit(*given)
            assert model.sums_.name == "features"
            return model

    return fitted


# ---------------------------------------------------------------------- the same sums
@st.composite
def maps(draw):
    """Landmarks of any closeness, some of them perhaps twice."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    m, gamma = draw(st.integers(1, 12)), 10.0 ** draw(st.floats(-2, 1))
    L = rng.standard_normal((m, 2)) * 10.0 ** draw(st.floats(-1, 1))
    L = np.vstack([L, L[: draw(st.integers(0, 1))]])
    return NystroemMap(RBF(gamma).fit(L), L)


def relative(found, wanted):
    return np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300)


@given(feature_map=maps(), n=st.integers(1, 40), weighted=st.booleans(), seed=st.integers(0, 9))
def test_whitened_sums_are_sums_of_whitened_rows(feature_map, n, weighted, seed):
    X, T = rows(n, 2, 3, seed)
    weight = np.random.default_rng(seed).random(n) if weighted else None
    wanted = FeatureSums(feature_map).added(None, X, T, weight)
    sums = KernelSums(feature_map)
    found = sums.finished(sums.added(None, X, T, weight))
    lost = 100.0 * np.finfo(float).eps * feature_map.condition  # of what features add up to
    size = wanted.weight
    assert np.abs(np.tril(found.G - wanted.G)).max() <= lost * size
    assert np.abs(found.C - wanted.C).max() <= lost * size * max(1.0, np.abs(T).max())
    assert np.abs(found.z - wanted.z).max() <= lost * size
    for name in ("t", "yy", "weight", "n"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@given(feature_map=maps())
def test_the_condition_is_that_of_the_landmarks_kernel(feature_map):
    L = np.tril(feature_map.factor)
    wanted = np.linalg.cond(L) ** 2
    assert feature_map.condition <= wanted * (1 + 1e-6)  # approached from below
    assert feature_map.condition >= wanted / 10
    assert chosen_sums(feature_map).name == (
        "kernel values" if feature_map.condition <= 1e6 else "features"
    )


@given(n=st.integers(1, 60), offset=st.floats(-2, 2), weighted=st.booleans())
def test_a_centre_of_any_size_is_put_back(n, offset, weighted):
    L = np.arange(6.0)[:, None] * 2
    feature_map = NystroemMap(RBF(0.5).fit(L), L)
    X, T = rows(n, 1)
    weight = np.linspace(0.1, 2.0, n) if weighted else None
    sums = KernelSums(feature_map, np.linspace(0, offset, 6))
    found = sums.finished(sums.added(None, X, T, weight))
    wanted = FeatureSums(feature_map).added(None, X, T, weight)
    for name in ("C", "z"):
        assert relative(getattr(found, name), getattr(wanted, name)) < 1e-5 * (1 + offset**2)
    assert relative(np.tril(found.G), np.tril(wanted.G)) < 1e-5 * (1 + offset**2)
    np.testing.assert_allclose(found.t, wanted.t, rtol=1e-12)  # never in single precision


# ---------------------------------------------------------------------- the same models
@pytest.mark.parametrize("gamma", [0.5, 3.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_model_is_the_same_to_eight_digits(gamma, fit_intercept, row_by_row):
    X, T = rows()
    weight = np.linspace(0.0, 1.0, len(X))
    options = {"n_landmarks": 40, "fit_intercept": fit_intercept, "random_state": 0}
    new = NystroemRidge(RBF(gamma), **options).fit(X, T, weight)
    old = row_by_row(NystroemRidge(RBF(gamma), **options), X, T, weight)
    assert new.sums_.name == "kernel values"
    assert relative(answers(new, X), answers(old, X)) < 1e-8
    others = T[:, ::-1] ** 2
    new, old = new.with_targets(others), old.with_targets(others)
    assert relative(answers(new, X), answers(old, X)) < 1e-8


def test_landmarks_twice_are_whitened_row_by_row():
    X, T = rows(60)
    L = np.vstack([X[:5], X[:5]])
    assert chosen_sums(NystroemMap(RBF(1.0).fit(X), L)).name == "features"
    model = NystroemRidge(RBF(1e-4), n_landmarks=40).fit(X, T)
    assert model.map_.condition > 1e6
    assert model.sums_.name == "features"


def test_parts_left_out_are_whitened_too(monkeypatch):
    X, T = rows(90)
    source, folds = ArraySource(X, T), np.repeat(np.arange(3), 30)
    found = []
    for worst in (1e6, 0.0):
        monkeypatch.setattr(kernel_sums, "WORST_CONDITION", worst)
        model = NystroemRidge(n_landmarks=20)
        model.fit_source(source, sample=source.sample(90), folds=folds)
        found.append(np.concatenate(list(model.loo_path(ALPHAS))))
    assert 0 < relative(*found) < 1e-8


def test_devices_and_features_of_their_own_are_summed_as_they_are():
    assert chosen_sums(LinearMap(None, 3)).name == "features"
    torch = pytest.importorskip("torch")
    backend = backend_for("cpu")
    L = torch.tensor([[2.0, 0.0], [1.0, 4.0]], dtype=torch.float64)
    G = torch.tensor([[3.0, 7.0], [1.0, 5.0]], dtype=torch.float64)
    assert backend.condition(L) == np.inf
    found = backend.to_host(backend.whiten_square(L, G))
    wanted = backend_for().whiten_square(np.asfortranarray(L.numpy()), G.numpy())
    np.testing.assert_allclose(np.tril(found), np.tril(wanted), rtol=1e-12)


# ---------------------------------------------------------------------- single precision
@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(kernel_sums, "SINGLE_ROWS", 300)
    monkeypatch.setattr(kernel_sums, "TRIED_SHARE", 1.0)


def test_single_precision_changes_less_than_a_thousandth(few_are_many, row_by_row):
    X, T = rows(3000, 6)
    model = NystroemRidge(RBF(0.5), n_landmarks=60, alpha=np.inf, random_state=0).fit(X, T)
    assert model.sums_.name.endswith("in single precision")
    old = row_by_row(NystroemRidge(RBF(0.5), n_landmarks=60, alpha=np.inf, random_state=0), X, T)
    found, wanted = answers(model, X), answers(old, X)
    assert 0 < np.sqrt(np.mean((found - wanted) ** 2)) < 1e-3 * wanted.std()


def test_single_precision_is_tried_and_left(few_are_many):
    X, T = rows(1000, 2)
    model = NystroemRidge(RBF(0.1), n_landmarks=25, alpha=np.inf).fit(X, T)
    assert model.map_.condition > 1e3
    assert model.sums_.name in ("kernel values", "features")
    larger = NystroemRidge(RBF(2.0), n_landmarks=25, alpha=5.0).fit(X, T)
    assert larger.sums_.name.endswith("in single precision")
    asked = NystroemRidge(RBF(2.0), n_landmarks=25, alpha=5.0, dtype="float64").fit(X, T)
    assert asked.sums_.name == "kernel values"
    constant = NystroemRidge(RBF(2.0), n_landmarks=25).fit(X, np.ones(1000))
    assert constant.sums_.name == "kernel values"  # no deviation to compare with


def test_few_rows_are_summed_in_double_precision():
    X, T = rows()
    assert NystroemRidge(n_landmarks=20).fit(X, T).sums_.name == "kernel values"


# ---------------------------------------------------------------------- the same bits
@pytest.mark.parametrize("single", [True, False])
def test_bits_do_not_depend_on_how_many_rows_are_held(single, monkeypatch, few_are_many):
    monkeypatch.setattr(numpy_backend, "STEP", 8)
    X, T = rows(640)
    found = []
    for memory in ("10KB", "30KB", "1GB"):
        dtype = "auto" if single else "float64"
        model = NystroemRidge(RBF(2.0), n_landmarks=20, alpha=1.0, dtype=dtype, random_state=0)
        with config_context(memory=memory):
            model.fit(X, T)
            streamed = clone(model).fit_source(ArraySource(X, T))
        assert ("single" in model.sums_.name) == single
        assert model._block_rows() % 8 == 0
        found += [model.dual_coef_.tobytes(), streamed.dual_coef_.tobytes()]
    assert len(set(found)) == 1
