# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks against the exact system, against plain numpy, and against refitting."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import config_context
from skstruct.kernels import RBF, resolve_kernel
from skstruct.smoothing import KernelRidge, NystroemRidge
from skstruct.smoothing.nystroem.feature_maps import FourierMap, NystroemMap
from skstruct.testing import check_smoother
from smoothing.nystroem_cases import (
    KERNELS,
    X_NEW,
    T,
    X,
    brute_force,
    gaussian,
    named,
    some_landmarks,
)

# ---------------------------------------------------------------------- every row a landmark
weights_of_rows = st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=12).filter(
    lambda w: sum(v > 0 for v in w[:12]) >= 3
)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    kernel=st.sampled_from(KERNELS),
    weight=weights_of_rows,
    fit_intercept=st.booleans(),
    alpha=st.sampled_from([0.05, 0.7, 20.0]),
    thin=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_with_every_row_a_landmark_it_is_kernel_ridge(
    kernel, weight, fit_intercept, alpha, thin, seed
):
    rng = np.random.default_rng(seed)
    A, targets, new = (rng.standard_normal(shape) for shape in ((12, 3), (12, 2), (4, 3)))
    if thin:
        A[np.abs(A) < 0.5] = new[np.abs(new) < 0.5] = 0.0
        A, new = sparse.csr_array(A), sparse.csr_array(new)
    weight = None if weight is None else np.array(weight[:12])
    shared = {"kernel": named(kernel, 0.2), "alpha": alpha, "fit_intercept": fit_intercept}
    exact = KernelRidge(**shared).fit(A, targets, weight)
    ours = NystroemRidge(n_landmarks=12, **shared).fit(A, targets, weight)
    same = {"rtol": 1e-7, "atol": 1e-8}
    np.testing.assert_allclose(ours.predict(new), exact.predict(new), **same)
    np.testing.assert_allclose(ours.weights(new), exact.weights(new), **same)
    np.testing.assert_allclose(ours.loo(), exact.loo(), **same)
    groups, counts = np.arange(12) % 5, np.ones(12, bool) if weight is None else weight > 0
    if len(set(groups[counts])) >= 2:
        left = ours.loo(groups)
        np.testing.assert_allclose(left[counts], exact.loo(groups)[counts], **same)
        for i in np.flatnonzero(~counts):  # such a row is left out with its group, too
            kept = groups != groups[i]
            again = clone(exact).fit(A[kept], targets[kept], weight[kept])
            np.testing.assert_allclose(left[[i]], again.predict(A[[i]]), **same)


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [2, 10, 11, 17])
@pytest.mark.parametrize("n_landmarks", [6, 40])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_groups_are_left_out_by_folds_or_by_blocks(n_groups, n_landmarks, fit_intercept):
    rng = np.random.default_rng(n_groups)
    A, targets, weight = rng.standard_normal((40, 3)), rng.standard_normal((40, 2)), rng.random(40)
    groups = rng.permutation(np.arange(40) % n_groups)
    model = NystroemRidge(
        RBF(0.5), alpha=0.3, n_landmarks=n_landmarks, fit_intercept=fit_intercept
    ).fit(A, targets, weight)
    left = model.loo(groups)
    for g in range(n_groups):
        out = groups == g
        again = brute_force(
            model.landmarks_, A[~out], targets[~out], 0.3, weight=weight[~out],
            fit_intercept=fit_intercept, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5),
        )  # fmt: skip
        np.testing.assert_allclose(left[out], again(A[out]), atol=1e-6)
    for path in model.loo_path([0.3], groups):
        np.testing.assert_allclose(path, left, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_smoother(fit_intercept):
    model = NystroemRidge(RBF(0.2), alpha=0.3, n_landmarks=100, fit_intercept=fit_intercept)
    check_smoother(model, X, T)
    check_smoother(clone(model).set_params(n_landmarks=5), X, T, exact_loo=False)


# ---------------------------------------------------------------------- few landmarks
@pytest.mark.slow
@given(
    weight=weights_of_rows,
    fit_intercept=st.booleans(),
    m=st.integers(1, 6),
    seed=st.integers(0, 1000),
)
def test_few_landmarks_are_ridge_regression_on_their_features(weight, fit_intercept, m, seed):
    rng = np.random.default_rng(seed)
    A, targets, new = (rng.standard_normal(shape) for shape in ((12, 3), (12, 2), (4, 3)))
    weight = None if weight is None else np.array(weight[:12])
    model = some_landmarks(n_landmarks=m, fit_intercept=fit_intercept).fit(A, targets, weight)
    assert model.n_landmarks_ == len(model.landmarks_) <= m
    shared = {"alpha": 0.3, "fit_intercept": fit_intercept, "kernel": gaussian}
    L = model.landmarks_
    plain = brute_force(L, A, targets, weight=weight, **shared)
    np.testing.assert_allclose(model.predict(new), plain(new), atol=1e-8)
    np.testing.assert_allclose(model.weights(new) @ targets, plain(new), atol=1e-8)
    left = model.loo()
    for i in range(12):
        out = np.arange(12) == i
        kept = None if weight is None else weight[~out]
        again = brute_force(L, A[~out], targets[~out], weight=kept, **shared)
        np.testing.assert_allclose(left[out], again(A[out]), atol=1e-7)


def test_what_landmarks_leave_is_measured():
    model = some_landmarks().fit(X, T)
    L = model.landmarks_
    K, S = gaussian(X, L), gaussian(L, L)
    left = 1.0 - np.trace(K @ np.linalg.solve(S, K.T)) / 25
    assert model.residual_ == pytest.approx(left)
    assert all((row == X).all(axis=1).any() for row in L)


def test_integer_weights_are_repetitions():
    weight = np.random.default_rng(3).integers(0, 4, 25)
    repeated = np.repeat(X, weight, axis=0), np.repeat(T, weight, axis=0)
    for fit_intercept in (True, False):
        shared = {"alpha": 0.3, "fit_intercept": fit_intercept, "n_landmarks": 25}
        weighted = NystroemRidge(**shared).fit(X, T, weight)
        twice = NystroemRidge(RBF(weighted.kernel_.gamma_), **shared).fit(*repeated)
        np.testing.assert_allclose(weighted.predict(X_NEW), twice.predict(X_NEW), atol=1e-8)
        assert weighted.stats_.weight == twice.stats_.weight == weight.sum()


# ---------------------------------------------------------------------- alphas and targets
@pytest.mark.parametrize("groups", [None, np.arange(25) % 4, np.arange(25) % 12])
def test_a_path_is_one_fit_for_each_alpha(groups):
    alphas = [1e-3, 0.1, 10.0, np.inf]
    model = some_landmarks().fit(X, T)
    for alpha, left in zip(alphas, model.loo_path(alphas, groups)):
        single = some_landmarks(alpha=alpha).fit(X, T)
        np.testing.assert_array_equal(single.landmarks_, model.landmarks_)
        np.testing.assert_allclose(left, single.loo(groups), atol=1e-7)
        predicted = model.with_alpha(alpha).predict(X_NEW)
        np.testing.assert_allclose(predicted, single.predict(X_NEW), atol=1e-7)
    assert model.alpha == 0.3


def test_bits_do_not_depend_on_what_was_asked_for_before():
    asked, silent = (some_landmarks().fit(X, T) for _ in range(2))
    list(asked.loo_path([0.1, 1.0]))
    for alpha in (0.3, 2.0):
        ours, theirs = (model.with_alpha(alpha).dual_coef_ for model in (asked, silent))
        assert ours.tobytes() == theirs.tobytes()


def test_penalties_below_rounding():
    """Twelve landmarks that two dimensions explain."""
    A = np.random.default_rng(0).standard_normal((30, 2))
    # In one part: what single precision loses differs from part to part, and may be too much.
    model = some_landmarks(n_landmarks=12, kernel=RBF(1e-4), dtype="float32", n_partitions=1)
    assert np.isfinite(clone(model).set_params(alpha=1e-15).fit(A, A).predict(A)).all()
    fitted = model.fit(A, A)
    assert all(np.isfinite(left).all() for left in fitted.loo_path([1e-15]))
    assert np.isfinite(fitted.with_alpha(1e-15).predict(A)).all()


def test_other_targets_are_another_fit():
    weight = np.linspace(0.5, 2.0, 25)
    model = some_landmarks().fit(X, T, weight)
    before = model.predict(X_NEW).tobytes()
    for other in (T[:, :2] ** 2, T[:, 0]):
        ours, refitted = model.with_targets(other), some_landmarks().fit(X, other, weight)
        np.testing.assert_allclose(ours.predict(X_NEW), refitted.predict(X_NEW), atol=1e-9)
        np.testing.assert_allclose(ours.loo(), refitted.loo(), atol=1e-9)
        np.testing.assert_allclose(
            ours.with_alpha(3.0).predict(X_NEW),
            some_landmarks(alpha=3.0).fit(X, other, weight).predict(X_NEW), atol=1e-9,
        )  # fmt: skip
    assert model.predict(X_NEW).tobytes() == before
    with pytest.raises(ValueError, match="25 rows, and y has 3"):
        model.with_targets(T[:3])


# ---------------------------------------------------------------------- precision and devices
ON_DEVICES = KERNELS[:-1]  # by name
FEATURES = [("nystroem", kernel) for kernel in ON_DEVICES] + [("fourier", "rbf")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "kernel"), [(None, k) for k in KERNELS] + [("cpu", k) for k in ON_DEVICES]
)
def test_single_precision(kernel, device):
    if device == "cpu":
        pytest.importorskip("torch")
    double = NystroemRidge(named(kernel, 0.3), alpha=1.0, n_landmarks=8)
    single = clone(double).set_params(dtype="float32")
    with config_context(device=device):
        for model in (double, single):
            model.fit(X, T)
    assert double.map_.backend.name == ("numpy" if device is None else "torch")
    np.testing.assert_allclose(single.predict(X_NEW), double.predict(X_NEW), rtol=0, atol=2e-4)
    np.testing.assert_allclose(single.loo(), double.loo(), rtol=0, atol=2e-4)
    assert single.predict(X_NEW).dtype == np.float64
    assert single.stats_.on_host().G.dtype == np.float64
    assert (single.predict(X_NEW) != double.predict(X_NEW)).any()


@pytest.mark.slow
@pytest.mark.parametrize(("features", "kernel"), FEATURES)
@pytest.mark.parametrize("tensors", [True, False])
def test_torch_on_a_processor(kernel, features, tensors):
    torch = pytest.importorskip("torch")
    weight = np.linspace(0.0, 2.0, 25)
    there = NystroemRidge(named(kernel, 0.3), alpha=0.5, n_landmarks=8, features=features)
    here = clone(there).fit(X, T, weight)
    given = (torch.tensor(X), torch.tensor(T), weight) if tensors else (X, T, weight)
    new = torch.tensor(X_NEW) if tensors else X_NEW
    with config_context(device=None if tensors else "cpu"):
        there.fit(*given)
    assert there.map_.backend.name == "torch"
    groups = np.arange(25) % 12
    for ours, theirs in (
        (there.predict(new), here.predict(X_NEW)),
        (there.weights(new), here.weights(X_NEW)),
        (there.loo(), here.loo()),
        (there.loo(groups), here.loo(groups)),
        (there.loo(groups % 3), here.loo(groups % 3)),
        (there.with_alpha(2.0).predict(new), here.with_alpha(2.0).predict(X_NEW)),
        (there.with_targets(T**2).predict(new), here.with_targets(T**2).predict(X_NEW)),
        (there.partial_fit(*given).predict(new), here.partial_fit(X, T, weight).predict(X_NEW)),
    ):
        assert isinstance(ours, np.ndarray)
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.slow
def test_further_rows_of_another_kind():
    torch = pytest.importorskip("torch")
    kinds = [
        (X, T), (sparse.csr_array(X), T), (torch.tensor(X), torch.tensor(T)),
        (torch.tensor(X, dtype=torch.float32), torch.tensor(T)),
    ]  # fmt: skip
    for first, targets in kinds:
        for rows, others in kinds:
            if sparse.issparse(first) != sparse.issparse(rows) and "torch" in str(type(first)):
                continue  # devices take no sparse rows
            model = some_landmarks().partial_fit(first, targets).partial_fit(rows, others)
            assert type(model.sample_[0]) is type(first)
            assert model.sample_[0].shape == (50, 3)
            [left] = model.loo_path([0.3])
            np.testing.assert_allclose(left[:25], left[25:], atol=1e-4)


def test_a_model_that_was_pickled_goes_on():
    for device in (None, "cpu"):
        if device:
            pytest.importorskip("torch")
        with config_context(device=device):
            model = some_landmarks().fit(X[:20], T[:20])
        copied = pickle.loads(pickle.dumps(model))
        for m in (model, copied):
            m.partial_fit(X[20:], T[20:])
        assert copied.predict(X_NEW).tobytes() == model.predict(X_NEW).tobytes()


# ---------------------------------------------------------------------- features
@pytest.mark.slow
def test_fourier_features_come_close_to_the_kernel():
    """Entries are means of m numbers within [-2, 2] of variance at most 1.

    Of 625 entries all are within 6 deviations but for a probability of 2e-6.
    """
    kernel, m = RBF(0.4).fit(X), 20_000
    found = FourierMap.of_sample(kernel, X, m, m, 0, "float64", None)
    Z = found.features(X)
    assert Z.shape == (25, found.width) == (25, m)
    wrong = np.abs(Z @ Z.T - rbf_kernel(X, gamma=0.4)).max()
    assert 1e-4 < wrong < 6.0 / np.sqrt(m)
    thin = found.features(sparse.csr_array(X))
    np.testing.assert_allclose(thin, Z, atol=1e-12)
    model = NystroemRidge(RBF(0.4), alpha=1.0, features="fourier", n_landmarks=4000).fit(X, T)
    exact = KernelRidge(RBF(0.4), alpha=1.0).fit(X, T)
    np.testing.assert_allclose(model.predict(X_NEW), exact.predict(X_NEW), atol=0.1)
    assert np.isnan(model.residual_)


def test_features_of_landmarks_are_the_kernel():
    kernel = RBF(0.4).fit(X)
    found = NystroemMap(kernel, X[:6])
    Z, Z_landmarks = found.features(X), found.features(X[:6])
    np.testing.assert_allclose(Z @ Z_landmarks.T, kernel(X, X[:6]), atol=1e-10)
    coef = np.random.default_rng(1).standard_normal((6, 2))
    np.testing.assert_allclose(found.values(X) @ found.readout(coef), Z @ coef, atol=1e-9)


def test_landmarks_that_are_alike_or_the_same():
    close = np.vstack([X[:5], X[:5] + 1e-9, X[:5]])
    found = NystroemMap(RBF(0.4).fit(X), close)
    Z = found.features(X[:5])
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X[:5], gamma=0.4), atol=1e-6)
    with pytest.raises(LinAlgError, match="15 landmarks is not positive semidefinite"):
        NystroemMap(resolve_kernel(lambda A, B: -rbf_kernel(A, B)).fit(X), close).features(X)


@pytest.mark.slow
@pytest.mark.parametrize(("features", "kernel"), FEATURES)
def test_sparse_rows(kernel, features):
    A = sparse.random_array((30, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    targets = np.random.default_rng(1).standard_normal((30, 2))
    model = NystroemRidge(resolve_kernel(kernel, gamma=0.5), n_landmarks=7, features=features)
    thin, dense = clone(model).fit(A, targets), clone(model).fit(A.toarray(), targets)
    np.testing.assert_allclose(thin.predict(A), dense.predict(A.toarray()), atol=1e-9)
    np.testing.assert_allclose(thin.loo(), dense.loo(), atol=1e-9)
    np.testing.assert_allclose(thin.weights(A[:3]), dense.weights(A[:3].toarray()), atol=1e-9)
    # Whatever it was fitted to, it predicts for rows of the other kind.
    np.testing.assert_allclose(thin.predict(A.toarray()), thin.predict(A), atol=1e-9)
    np.testing.assert_allclose(dense.predict(A), dense.predict(A.toarray()), atol=1e-9)
    further = thin.partial_fit(A[:4], targets[:4])
    assert sparse.issparse(further.sample_[0])


@pytest.mark.parametrize("shift", [1e2, 1e4, 1e6])
def test_columns_far_from_zero_leave_a_linear_kernel_as_it_is(shift):
    """One landmark explained nearly all of the trace, and no other was chosen."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((200, 4)), rng.standard_normal((20, 4))
    T = X @ rng.standard_normal((4, 3))
    near = NystroemRidge("linear", 0.01).fit(X, T).predict(new)
    far = NystroemRidge("linear", 0.01).fit(np.insert(X, 1, shift, axis=1), T)
    moved = np.insert(new, 1, shift, axis=1)
    np.testing.assert_allclose(far.predict(moved), near, atol=1e-6)
    again = pickle.loads(pickle.dumps(far))
    np.testing.assert_allclose(again.predict(moved), far.predict(moved), rtol=1e-12)
    np.testing.assert_allclose(far.landmarks_[:, 1], shift)
