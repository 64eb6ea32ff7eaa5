# SPDX-License-Identifier: BSD-3-Clause
"""Sums over rows merge in any order, so that rows may come in parts."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import config_context
from skstruct.backends import backend_for
from skstruct.smoothing.nystroem import ridge as ridge_module
from skstruct.smoothing.nystroem.kernel_sums import FeatureSums
from skstruct.smoothing.nystroem.reading import as_given
from skstruct.smoothing.nystroem.sums import ARRAYS, Stats, accumulate, merged
from skstruct.streaming import ArraySource, IteratorSource
from skstruct.streaming.engines import SerialEngine
from smoothing.nystroem_cases import (
    X_NEW,
    T,
    X,
    brute_force,
    gaussian,
    some_landmarks,
)


# ---------------------------------------------------------------------- sums
def rows_of(seed, n, m=4, q=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)), rng.standard_normal((n, q)), rng.random(n)


def answers(model):
    """Predictions, weights and what is left out, of a fitted model."""
    groupings = (None, np.arange(25) % 4, np.arange(25) % 12)
    found = [model.predict(X_NEW), model.weights(X_NEW), *map(model.loo, groupings)]
    return found + [left for groups in groupings for left in model.loo_path([0.1, 5.0], groups)]


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
    feature_sums = FeatureSums(some_landmarks().fit(X, T).map_)
    [part] = ArraySource(A, targets, weight).partitions()
    for _ in range(2):
        accumulate(part, feature_sums, as_given, 7)
    np.testing.assert_array_equal(A, X)
    np.testing.assert_array_equal(targets, T)
    np.testing.assert_array_equal(weight, np.linspace(0.1, 1.0, 25))
    with pytest.raises(ValueError, match="no rows to learn from"):
        accumulate(ArraySource(A[:0], targets[:0]).partitions()[0], feature_sums, as_given, 7)


# ---------------------------------------------------------------------- parts
@pytest.mark.slow
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
