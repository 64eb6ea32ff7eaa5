# SPDX-License-Identifier: BSD-3-Clause
"""How large the leaves of a forest are: chosen by rows that their trees have not seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.losses import Kendall
from skstruct.smoothing.forest import Forest, chosen_leaf_size, leaf_sizes, out_of_bag_error
from skstruct.spaces import Rankings


def rankings(n, noise, seed, effect=1.0, d=5):
    """Ranks of items by scores that are linear in the inputs, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    scores = 0.5 * np.arange(d) + effect * X @ rng.standard_normal((6, d)) / 6**0.5
    scores += noise * rng.standard_normal((n, d))
    return X, 1 + np.argsort(np.argsort(-scores, axis=1), axis=1)


def kendall(X, y, n_train, smoother):
    model = ConditionalRiskMinimizer(Rankings(), Kendall(), smoother=smoother)
    model.fit(X[:n_train], y[:n_train])
    return -model.score(X[n_train:], y[n_train:]), model.smoother_


@pytest.mark.parametrize(("effect", "least", "learns"), [(1.0, 5, True), (0.2, 20, False)])
def test_noisy_rankings_need_large_leaves(effect, least, learns):
    """Means over six sets of 1,000 test rows, with a standard error of 0.02 each."""
    found, sizes = [], []
    for seed in range(6):
        X, y = rankings(1200, 4.0, seed, effect)
        losses = []
        for size in ("auto", 1, 10**6):
            smoother = Forest(60, min_samples_leaf=size, random_state=0)
            loss, forest = kendall(X, y, 200, smoother)
            losses.append(loss)
            sizes += [forest.min_samples_leaf_] if size == "auto" else []
        found.append(losses)
    auto, single, constant = np.mean(found, axis=0)
    assert np.median(sizes) >= least
    assert auto < single - 0.05
    assert auto < constant + (-0.05 if learns else 0.1)
    assert single < constant if learns else single > constant + 0.2


@pytest.mark.parametrize("seed", range(3))
def test_clean_rankings_keep_small_leaves(seed):
    X, y = rankings(500, noise=0.0, seed=seed)
    _, forest = kendall(X, y, 400, Forest(50, random_state=0))
    assert forest.min_samples_leaf_ <= 2


def test_targets_that_are_noise_get_their_mean():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((200, 5)), rng.standard_normal((200, 3))
    model = Forest(50, random_state=0).fit(X, T)
    assert model.min_samples_leaf_ >= 50
    assert_allclose(model.predict(X), np.tile(T.mean(axis=0), (200, 1)), atol=0.3)


@pytest.mark.parametrize("trees", ["random", "extra"])
@pytest.mark.parametrize("n_estimators", [1, 10, 60])
def test_the_choice_is_that_forest(trees, n_estimators):
    X, y = rankings(100, noise=1.0, seed=0)
    auto = Forest(n_estimators, trees=trees, random_state=0).fit(X, y)
    given_ = Forest(n_estimators, trees=trees, random_state=0)
    given_.set_params(min_samples_leaf=auto.min_samples_leaf_).fit(X, y)
    assert given_.min_samples_leaf_ == auto.min_samples_leaf_
    assert len(auto.estimators_) == n_estimators
    assert_array_equal(auto.predict(X), given_.predict(X))
    assert_array_equal(auto.draws_, given_.draws_)


@pytest.mark.parametrize("least", [1, 3, 7, 20, 31, 1000])
def test_leaves_hold_so_many_draws(least):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((60, 3)), rng.standard_normal((60, 2))
    model = Forest(20, min_samples_leaf=least, random_state=0).fit(X, T)
    sizes = [
        np.bincount(tree.apply(X.astype(np.float32)), draws)
        for tree, draws in zip(model.estimators_, model.draws_.T)
    ]
    smallest = min(size[size > 0].min() for size in sizes)
    assert smallest >= min(least, 60)
    assert model.n_leaves_ == 20 if least > 30 else model.n_leaves_ > 20


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["auto", 1, 3, 8]))
def test_weights_are_copies(seed, least):
    """A row of weight three is three rows, and one of weight zero none; inputs must differ."""
    rng = np.random.default_rng(seed)
    X, T = rng.standard_normal((30, 2)), np.rint(3 * rng.standard_normal((30, 2)))
    times = rng.integers(0, 4, 30)
    times[:2] = 1
    rows = rng.permutation(np.repeat(np.arange(30), times))
    weighted = Forest(30, min_samples_leaf=least, random_state=0).fit(X, T, times)
    written = Forest(30, min_samples_leaf=least, random_state=0).fit(X[rows], T[rows])
    assert weighted.min_samples_leaf_ == written.min_samples_leaf_
    assert_allclose(weighted.predict(X), written.predict(X), atol=1e-9)


# ------------------------------------------------------------------ parts
def test_sizes():
    assert leaf_sizes(1) == [1]
    assert leaf_sizes(2) == [1, 2]
    assert leaf_sizes(40) == [1, 2, 5, 10, 40]
    assert leaf_sizes(4000) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 4000]


def test_the_third_worse_size_ends_the_search():
    asked = []

    def compare(size):
        asked.append(size)
        return {1: 5.0, 2: 6.0, 5: 4.0, 10: 4.0, 20: 4.5, 50: 4.1, 100: 1.0}[size], [
            f"trees of {size}"
        ]

    assert chosen_leaf_size([1, 2, 5, 10, 20, 50, 100], compare) == (5, ["trees of 5"])
    assert asked == [1, 2, 5, 10, 20, 50]
    assert chosen_leaf_size([1], compare) == (1, [])
    assert len(asked) == 6


def test_few_trees_are_judged_as_many():
    """Errors of 25 trees, corrected, are those of 400; without, they are larger."""
    X, y = rankings(300, noise=1.0, seed=1)
    T = y.astype(float)

    def error(n_trees, n_estimators):
        model = Forest(n_trees, min_samples_leaf=1, random_state=5).fit(X, T)
        free, votes = model.draws_ == 0, lambda v: model._votes(model.leaves_, v)
        weight = np.ones(len(T))
        return out_of_bag_error(votes, free, model.leaf_means_, T, weight, n_estimators)

    many = error(400, 400 * 0.37)
    assert_allclose(error(25, 400 * 0.37), many, rtol=0.03)
    assert error(25, 25 * 0.37) > 1.05 * many


def test_the_error_from_its_definition():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((20, 2)), np.hstack([rng.standard_normal((20, 2)), np.ones((20, 1))])
    weight = rng.integers(0, 3, 20).astype(float)
    model = Forest(8, min_samples_leaf=2, random_state=0).fit(X, T, weight)
    free = model.draws_ == 0
    found = out_of_bag_error(
        lambda v: model._votes(model.leaves_, v), free, model.leaf_means_, T, weight, 100
    )
    predicted = np.stack([tree.predict(X.astype(np.float32)) for tree in model.estimators_])
    mean = np.average(T, axis=0, weights=weight)
    scale = np.average((T - mean) ** 2, axis=0, weights=weight)[:2]
    total = part = 0.0
    for i in range(20):
        own = predicted[free[i], i, :2]
        if len(own) > 1 and weight[i] > 0:
            wrong = (own.mean(axis=0) - T[i, :2]) ** 2
            wrong += own.var(axis=0, ddof=1) * (1 / 100 - 1 / len(own))
            total, part = total + weight[i] * (wrong / scale).mean(), part + weight[i]
    assert_allclose(found, total / part)


@pytest.mark.parametrize("least", [0, 2.5, "most", None, True])
def test_wrong_sizes(least):
    with pytest.raises(ValueError, match=r'min_samples_leaf is a whole number from 1, or "auto"'):
        Forest(min_samples_leaf=least).fit([[0.0], [1.0]], [0, 1])


def test_the_choice_is_saved(tmp_path):
    X, y = rankings(60, noise=2.0, seed=0)
    model = ConditionalRiskMinimizer(Rankings(), smoother=Forest(5, random_state=0)).fit(X, y)
    save_model(model, tmp_path / "forest.model")
    again = load_model(tmp_path / "forest.model")
    assert again.smoother_.min_samples_leaf_ == model.smoother_.min_samples_leaf_
    assert again.smoother_.min_samples_leaf == "auto"
    assert_array_equal(again.predict(X), model.predict(X))
