# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks against the exact system, against plain numpy, and against refitting."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from skstruct import config_context
from skstruct.backends import backend_for
from skstruct.kernels import RBF, resolve_kernel
from skstruct.smoothing import KernelRidge, NystroemRidge
from skstruct.smoothing.nystroem import ridge as ridge_module
from skstruct.smoothing.nystroem.feature_maps import FourierMap, NystroemMap
from skstruct.smoothing.nystroem.reading import as_given, first_not_finite
from skstruct.smoothing.nystroem.sums import ARRAYS, Stats, accumulate, merged
from skstruct.smoothing.nystroem.system import fold_numbers, group_blocks
from skstruct.streaming import ArraySource, IteratorSource, SerialEngine
from skstruct.testing import check_smoother

RNG = np.random.default_rng(0)
X, T, X_NEW = (
    RNG.standard_normal((25, 3)),
    RNG.standard_normal((25, 4)),
    RNG.standard_normal((7, 3)),
)
KERNELS = ["rbf", "laplacian", "poly", "linear", "cosine", "rbf+linear", "callable"]


def named(kernel, gamma):
    if kernel != "callable":
        return resolve_kernel(kernel, gamma=gamma)
    return lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5)


def brute_force(L, X, T, alpha, *, weight=None, fit_intercept=True, kernel=rbf_kernel):
    """A function that predicts: ridge regression on z(x) = K_LL^-1/2 k(L, x), by dense algebra."""
    values, vectors = np.linalg.eigh(kernel(L, L))
    root = vectors / np.sqrt(values)
    weight = np.ones(len(X)) if weight is None else weight
    Z = kernel(X, L) @ root
    z_mean, t_mean = ((weight @ A / weight.sum()) if fit_intercept else 0.0 * A[0] for A in (Z, T))
    A = (weight * (Z - z_mean).T) @ (Z - z_mean) + alpha * np.eye(len(L))
    B = np.linalg.solve(A, (weight * (Z - z_mean).T) @ (T - t_mean))
    return lambda X_new: (kernel(X_new, L) @ root - z_mean) @ B + t_mean


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.7)


def some_landmarks(**options):
    return NystroemRidge(**{"kernel": RBF(0.7), "n_landmarks": 6, "alpha": 0.3, **options})


# ---------------------------------------------------------------------- every row a landmark
weights_of_rows = st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=12).filter(
    lambda w: sum(v > 0 for v in w[:12]) >= 3
)


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


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_smoother(fit_intercept):
    model = NystroemRidge(RBF(0.2), alpha=0.3, n_landmarks=100, fit_intercept=fit_intercept)
    check_smoother(model, X, T)
    check_smoother(clone(model).set_params(n_landmarks=5), X, T, exact_loo=False)


# ---------------------------------------------------------------------- few landmarks
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


# ---------------------------------------------------------------------- sums
def rows_of(seed, n, m=4, q=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)), rng.standard_normal((n, q)), rng.random(n)


def sums(Z, targets, weight, backend=None):
    backend = backend_for(None) if backend is None else backend
    stats = Stats.empty(Z.shape[1], targets.shape[1], backend)
    Z, targets = backend.asarray(Z.copy()), backend.asarray(targets.copy())
    stats.add(Z, targets, weight, backend)
    return stats


def lower(stats):
    """All numbers of the sums; of G, what is on and below the diagonal counts."""
    host = stats.on_host()
    return [np.tril(host.G), host.C, host.z, host.t, host.yy, host.weight, host.n]


@st.composite
def trees(draw, leaves):
    """A merge of all leaves in any order, some at a time."""
    nodes = list(leaves)
    while len(nodes) > 1:
        order = draw(st.permutations(range(len(nodes))))
        width = draw(st.integers(2, len(nodes)))
        chosen = sorted(order[:width])
        rest = [node for i, node in enumerate(nodes) if i not in chosen]
        nodes = [*rest, [nodes[i] for i in order[:width]]]
    return nodes[0]


def merged_by(tree, parts):
    return parts[tree] if isinstance(tree, int) else merged([merged_by(t, parts) for t in tree])


@given(data=st.data(), n=st.integers(1, 30), seed=st.integers(0, 100), plain=st.booleans())
def test_sums_merge_in_any_tree(data, n, seed, plain):
    Z, targets, weight = rows_of(seed, n)
    weight = None if plain else weight
    cuts = data.draw(st.lists(st.integers(0, n), max_size=5).map(sorted))
    pairs = list(zip([0, *cuts], [*cuts, n]))
    parts = [sums(Z[a:b], targets[a:b], None if plain else weight[a:b]) for a, b in pairs]
    total = merged_by(data.draw(trees(range(len(parts)))), parts)
    s = np.ones(n) if plain else weight
    expected = [
        np.tril((s * Z.T) @ Z), (s * Z.T) @ targets, s @ Z, s @ targets,
        float((s[:, None] * targets**2).sum()), s.sum(), n,
    ]  # fmt: skip
    for found, wanted in zip(lower(total), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def merged_in_place(parts):
    """The mistake: the first argument becomes the sum."""
    for part in parts[1:]:
        for name in ARRAYS:
            total = getattr(parts[0], name)
            total += getattr(part, name)
        parts[0].yy += part.yy
        parts[0].weight += part.weight
        parts[0].n += part.n
    return parts[0]


def changes_what_it_was_given(merge) -> bool:
    """Whether a merge that is run again, as after the loss of a worker, gives something else."""
    parts = [sums(*rows_of(seed, 5)) for seed in range(4)]
    before = [copy.deepcopy(lower(part)) for part in parts]
    first, again = (copy.deepcopy(lower(merge(parts))) for _ in range(2))
    same = all(np.array_equal(a, b) for a, b in zip(first, again))
    kept = all(
        np.array_equal(a, b) for old, part in zip(before, parts) for a, b in zip(old, lower(part))
    )
    return not (same and kept)


def test_a_merge_leaves_its_parts_alone():
    assert not changes_what_it_was_given(merged)
    assert changes_what_it_was_given(merged_in_place)
    alone = sums(*rows_of(0, 5))
    total = merged([alone])
    total.G[:] = total.t[:] = 0.0
    assert all(np.array_equal(a, b) for a, b in zip(lower(alone), lower(sums(*rows_of(0, 5)))))


def test_accumulating_leaves_the_rows_alone():
    A, targets, weight = X.copy(), T.copy(), np.linspace(0.1, 1.0, 25)
    feature_map = some_landmarks().fit(X, T).map_
    [part] = ArraySource(A, targets, weight).partitions()
    for _ in range(2):
        accumulate(part, feature_map, as_given, 7)
    np.testing.assert_array_equal(A, X)
    np.testing.assert_array_equal(targets, T)
    np.testing.assert_array_equal(weight, np.linspace(0.1, 1.0, 25))
    with pytest.raises(ValueError, match="no rows to learn from"):
        accumulate(ArraySource(A[:0], targets[:0]).partitions()[0], feature_map, as_given, 7)


# ---------------------------------------------------------------------- parts
@given(
    cuts=st.lists(st.integers(1, 24), max_size=5, unique=True).map(sorted), seed=st.integers(0, 9)
)
def test_further_rows_are_as_if_all_had_come_at_once(cuts, seed):
    """But for the landmarks, which the first rows settle."""
    weight = np.random.default_rng(seed).random(25)
    model = some_landmarks()
    for a, b in zip([0, *cuts], [*cuts, 25]):
        model.partial_fit(X[a:b], T[a:b], weight[a:b])
    plain = brute_force(model.landmarks_, X, T, 0.3, weight=weight, kernel=gaussian)
    np.testing.assert_allclose(model.predict(X_NEW), plain(X_NEW), atol=1e-8)
    assert model.stats_.n == 25
    whole = model.with_alpha(2.0)
    plain = brute_force(model.landmarks_, X, T, 2.0, weight=weight, kernel=gaussian)
    np.testing.assert_allclose(whole.predict(X_NEW), plain(X_NEW), atol=1e-8)


def test_after_fit_further_rows_are_judged_beside_those_of_fit(monkeypatch):
    model = some_landmarks().partial_fit(X[:3] + 9.0, T[:3])
    model.fit(X[:20], T[:20]).partial_fit(X[20:], T[20:])
    np.testing.assert_array_equal(model.sample_[0], X)
    np.testing.assert_array_equal(model.sample_[1], T)
    [left] = model.loo_path([0.3])
    for i in (0, 24):
        out = np.arange(25) == i
        plain = brute_force(model.landmarks_, X[~out], T[~out], 0.3, kernel=gaussian)
        np.testing.assert_allclose(left[i], plain(X[out])[0], atol=1e-8)
    monkeypatch.setattr(ridge_module, "FEWEST_ROWS", 8)
    model.partial_fit(X[:3], T[:3], np.full(3, 2.0))
    np.testing.assert_array_equal(model.sample_[0], np.vstack([X[-5:], X[:3]]))
    np.testing.assert_array_equal(model.sample_[2], [1.0] * 5 + [2.0] * 3)
    for method in (model.loo, lambda: model.weights(X), lambda: model.with_targets(T)):
        with pytest.raises(ValueError, match="training rows are not kept"):
            method()


def answers(model):
    """Predictions, weights and what is left out, of a fitted model."""
    groupings = (None, np.arange(25) % 4, np.arange(25) % 12)
    found = [model.predict(X_NEW), model.weights(X_NEW), *map(model.loo, groupings)]
    return found + [left for groups in groupings for left in model.loo_path([0.1, 5.0], groups)]


def test_blocks_of_any_size():
    whole = some_landmarks().fit(X, T)
    for memory in (1, 600, 5000):
        with config_context(memory=memory):
            blocked = some_landmarks().fit(X, T)
            ours = answers(blocked)
        np.testing.assert_array_equal(blocked.landmarks_, whole.landmarks_)
        for a, b in zip(ours, answers(whole)):
            np.testing.assert_allclose(a, b, atol=1e-11)


@pytest.mark.parametrize("again", [True, False])
def test_a_source_is_the_same_as_arrays(again):
    weight = np.linspace(0.0, 2.0, 25)

    def blocks():
        for i in range(0, 25, 6):
            yield X[i : i + 6], T[i : i + 6], weight[i : i + 6]

    arrays = some_landmarks().fit(X, T, weight)
    source = IteratorSource(blocks if again else blocks())
    streamed = some_landmarks().fit_source(source)
    np.testing.assert_array_equal(streamed.landmarks_, arrays.landmarks_)
    np.testing.assert_allclose(streamed.predict(X_NEW), arrays.predict(X_NEW), atol=1e-9)
    counted = weight > 0
    for ours, theirs in zip(*(m.loo_path([0.1, 3.0]) for m in (streamed, arrays))):
        np.testing.assert_allclose(ours[counted], theirs[counted], atol=1e-9)
    one = some_landmarks().fit_source(ArraySource(X, T[:, 0]))
    assert one.predict(X_NEW).shape == (7,)
    np.testing.assert_allclose(
        one.predict(X_NEW), some_landmarks().fit(X, T[:, 0]).predict(X_NEW), atol=1e-9
    )


def test_the_same_number_of_partitions_gives_the_same_bits():
    class Postponed(SerialEngine):
        """Computes in another order: last come, first served."""

        def submit(self, f, *args):
            return lambda: f(*(self.result(a) for a in args))

        def result(self, x):
            if isinstance(x, list):
                return [self.result(part) for part in reversed(x)][::-1]
            return x() if callable(x) and getattr(x, "__name__", "") == "<lambda>" else x

    models = []
    for engine in (None, Postponed()):
        with config_context(engine=engine):
            models.append(some_landmarks(n_partitions=5).fit(X, T))
    ours, theirs = ([A.tobytes() for A in lower(m.stats_)[:4]] for m in models)
    assert ours == theirs
    assert models[0].predict(X_NEW).tobytes() == models[1].predict(X_NEW).tobytes()
    other = some_landmarks(n_partitions=2).fit(X, T)
    np.testing.assert_allclose(other.predict(X_NEW), models[0].predict(X_NEW), atol=1e-10)


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
    coef = RNG.standard_normal((6, 2))
    np.testing.assert_allclose(found.values(X) @ found.readout(coef), Z @ coef, atol=1e-9)


def test_landmarks_that_are_alike_or_the_same():
    close = np.vstack([X[:5], X[:5] + 1e-9, X[:5]])
    found = NystroemMap(RBF(0.4).fit(X), close)
    Z = found.features(X[:5])
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X[:5], gamma=0.4), atol=1e-6)
    with pytest.raises(LinAlgError, match="15 landmarks is not positive semidefinite"):
        NystroemMap(resolve_kernel(lambda A, B: -rbf_kernel(A, B)).fit(X), close).features(X)


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


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive; got 0.0"),
        ({"alpha": np.nan}, "alpha must be positive"),
        ({"alpha": [1.0, 2.0]}, "One alpha serves all targets"),
        ({"kernel": RBF(-2.0)}, "gamma must be positive; got -2.0"),
        ({"kernel": "gauss"}, "Unknown kernel 'gauss'"),
        ({"kernel": "precomputed"}, "has no landmarks: use KernelRidge"),
        (
            {"features": "wavelets"},
            'features is "nystroem", "fourier" or "linear"; got \'wavelets\'',
        ),
        ({"features": "fourier", "kernel": "poly"}, "stand for kernel=\"rbf\"; got 'polynomial'"),
        ({"n_landmarks": 0}, "n_landmarks is a whole number from 1"),
        ({"n_landmarks": 2.5}, "n_landmarks is a whole number from 1"),
        ({"n_landmarks": "many"}, "n_landmarks is a whole number from 1"),
        ({"dtype": "float16"}, 'dtype is "float64" or "float32"'),
        ({"dtype": int}, 'dtype is "float64" or "float32"'),
        ({"n_partitions": 0}, "at least one partition"),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        NystroemRidge(**changes).fit(X, T)


def test_bad_settings():
    wrong = {"memory": 'memory is a size such as "500MB"', "engine": 'engine is None, "serial"'}
    for name, message in wrong.items():
        with pytest.raises(ValueError, match=message), config_context(**{name: "much"}):
            NystroemRidge().fit(X, T)


def test_bad_rows():
    with pytest.raises(ValueError, match=r"[Aa]ll.*zero|at least one non-zero"):
        NystroemRidge().fit(X, T, np.zeros(25))
    with pytest.raises(ValueError, match="kernel is zero for every row"):
        NystroemRidge("linear").fit(0.0 * X, T)
    with pytest.raises(ValueError, match="groups has shape"):
        NystroemRidge().fit(X, T).loo(np.zeros(3))
    for groups in (np.zeros(25), np.arange(25) > 0):
        with pytest.raises(ValueError, match="All rows are in one group"):
            NystroemRidge().fit(X, T, np.arange(25) > 0).loo(groups)
    with pytest.raises(ValueError, match="4 targets before; got 3"):
        NystroemRidge().fit(X, T).partial_fit(X, T[:, :3])
    pytest.importorskip("torch")
    for features in ("nystroem", "fourier"):
        on_torch = config_context(device="cpu")
        with on_torch, pytest.raises(ValueError, match="sparse, which devices do not take"):
            NystroemRidge(features=features).fit(sparse.csr_array(X), T)
    on_torch = config_context(device="cpu")
    with on_torch, pytest.raises(ValueError, match=r"On a device, kernels are .*device=None"):
        NystroemRidge(rbf_kernel).fit(X, T)


def in_blocks(X, T=None, size=5):
    for i in range(0, len(X), size):
        yield X[i : i + size] if T is None else (X[i : i + size], T[i : i + size])


def test_bad_blocks():
    hole, far = X.copy(), T.copy()
    hole[17, 1], far[3, 2] = np.nan, np.inf
    model = some_landmarks()
    with pytest.raises(ValueError, match=r"In rows 15 to 19: X has .* not finite in row 17"):
        model.fit_source(IteratorSource(lambda: in_blocks(hole, T)), sample=_block(X, T))
    with pytest.raises(ValueError, match=r"In a sample of 25 rows: X has .* in row 17"):
        model.fit_source(IteratorSource(lambda: in_blocks(hole, T)))
    with pytest.raises(ValueError, match=r"In rows 0 to 4: y has .* not finite in row 3"):
        model.fit_source(IteratorSource(lambda: in_blocks(X, far)), sample=_block(X, T))
    with pytest.raises(ValueError, match="no targets: give pairs"):
        model.fit_source(IteratorSource(lambda: in_blocks(X)))
    with pytest.raises(ValueError, match=r"weights must be finite and not negative"):
        model.fit_source(ArraySource(X, T, -np.ones(25)))
    with pytest.raises(ValueError, match="All sample weights are zero"):
        model.fit_source(ArraySource(X, T, np.zeros(25)))
    assert not hasattr(model, "map_")


def _block(X, T):
    return ArraySource(X, T).sample(len(X), 0)


def test_a_fit_that_fails_leaves_the_old_model():
    model = some_landmarks().fit(X, T)
    before = pickle.dumps(model)
    hole = X.copy()
    hole[17, 1] = np.nan
    for attempt in (
        lambda: model.fit(hole, T),
        lambda: model.partial_fit(hole, T),
        lambda: model.partial_fit(X, T[:, :1]),
        lambda: model.fit_source(IteratorSource(in_blocks(hole, T)), sample=_block(X, T)),
        lambda: model.set_params(n_landmarks=0).fit(X, T),
    ):
        with pytest.raises(ValueError):
            attempt()
        model.set_params(n_landmarks=6)
        assert pickle.dumps(model) == before
    fresh = some_landmarks()
    with pytest.raises(ValueError):
        fresh.partial_fit(hole, T)
    assert fresh.partial_fit(X, T).stats_.n == 25


# ---------------------------------------------------------------------- parts of it
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 20))
def test_folds_and_blocks_keep_groups_together(groups, step):
    number = np.unique(groups, return_inverse=True)[1]
    fold = fold_numbers(number)
    assert fold.max() < 10
    assert sorted(set(fold)) == list(range(fold.max() + 1))
    for g in set(number.tolist()):
        assert len(set(fold[number == g])) == 1
    blocks = group_blocks(number, step)
    assert sorted(np.concatenate(blocks)) == list(range(len(number)))
    for block in blocks[:-1]:
        assert len(block) >= step
    owners = [set(number[block]) for block in blocks]
    assert sum(map(len, owners)) == number.max() + 1


def test_rows_that_are_not_finite_are_found():
    A = np.zeros((5, 2))
    assert first_not_finite(A) is first_not_finite([["a"]]) is None
    assert first_not_finite(sparse.csr_array(A)) is None
    A[3, 1], A[4, 0] = np.inf, np.nan
    assert first_not_finite(A) == first_not_finite(sparse.csc_array(A)) == 3
    assert first_not_finite(A.tolist()) == 3
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    assert first_not_finite(pandas.DataFrame(A)) == first_not_finite(torch.tensor(A)) == 3
