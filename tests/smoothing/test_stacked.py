# SPDX-License-Identifier: BSD-3-Clause
"""Stacks against refitting without every row, and by their promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from skstruct.kernels import RBF, Linear
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import (
    CrossFitted,
    Forest,
    KernelRidge,
    Neighbors,
    Penalties,
    Scaled,
    Stacked,
    Weighing,
)
from skstruct.smoothing.folds import folds_of, rank_by_content
from skstruct.smoothing.stack_weights import blocks_pay, nonnegative_weights
from skstruct.testing.smoothers import check_smoother

PARTS = [
    ("gaussian", KernelRidge(RBF(0.5), 0.3)),
    ("linear", Scaled(KernelRidge(Linear(), 2.0))),
    ("neighbors", Neighbors(3)),
]


def draw(n, seed, q=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 10.0, 0.1]
    T = np.column_stack([np.sin(X[:, 0]), X[:, 1] / 10])[:, :q]
    return X, T + 0.3 * rng.standard_normal(T.shape), rng


def refitted_without(smoother, X, T, weight, numbers):
    """Predictions of every row by a copy that never saw its group."""
    left = np.empty_like(T)
    for number in np.unique(numbers):
        out = numbers == number
        model = clone(smoother).fit(X[~out], T[~out], sample_weight=weight[~out])
        left[out] = model.predict(X[out])
    return left


def slow_weights(smoothers, X, T, weight, numbers):
    base = np.empty_like(T)
    for number in np.unique(numbers):
        out = numbers == number
        base[out] = np.average(T[~out], axis=0, weights=weight[~out])
    root = np.sqrt(weight)[:, None]
    means = [refitted_without(smoother, X, T, weight, numbers) for smoother in smoothers]
    columns = np.column_stack([(root * (mean - base)).ravel() for mean in means])
    return nnls(columns, (root * (T - base)).ravel())[0], means


@given(n=st.integers(8, 20), seed=st.integers(0, 10**6), grouped=st.booleans())
@settings(max_examples=15, deadline=None)
def test_weights_are_those_of_refitting(n, seed, grouped):
    X, T, rng = draw(n, seed)
    numbers = rng.permutation(n) // 2 if grouped else np.arange(n)
    weight = rng.uniform(0.5, 2.0, n)
    smoothers = [smoother for _, smoother in PARTS[:2]]
    # What scales by all rows would scale by others without some: scaled beforehand instead.
    smoothers[1] = KernelRidge(Linear(), 2.0)
    expected, means = slow_weights(smoothers, X, T, weight, numbers)
    stack = Stacked(smoothers).fit(X, T, weight, groups=numbers if grouped else None)
    assert_allclose(stack.all_coef_, expected, atol=1e-6)
    errors = [np.average(((mean - T) ** 2).sum(axis=1), weights=weight) for mean in means]
    assert_allclose(stack.errors_[:2], errors, rtol=1e-8)
    assert stack.errors_[-1] <= min(errors) + 1e-9


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_order_of_parts_and_rows(seed):
    X, T, rng = draw(18, seed)
    folds = ("fitted", CrossFitted(LinearRegression(), 3))
    parts = [*PARTS, folds]
    stack = Stacked(parts).fit(X, T)
    order = rng.permutation(len(X))
    again = Stacked([parts[k] for k in (2, 3, 0, 1)]).fit(X[order], T[order])
    assert_allclose(again.all_coef_, stack.all_coef_[[2, 3, 0, 1]], atol=1e-6)
    assert_allclose(again.predict(X), stack.predict(X), atol=1e-6)


def test_linear_parts_make_a_linear_smoother():
    for parts in (PARTS, PARTS[:1]):
        stack = Stacked(parts)
        assert Weighing.of(stack).is_linear
        check_smoother(stack, exact_loo=False)
    check_smoother(Scaled(KernelRidge(RBF(0.5), 0.3)), exact_loo=False)
    check_smoother(Scaled(Neighbors(3), "rank"), exact_loo=False)


def test_a_part_alone_and_useless_ones():
    X, T, _ = draw(60, 0)
    noise = Scaled(KernelRidge(RBF(1e4), 1e-3))  # every row on its own: says nothing of others
    stack = Stacked([("good", PARTS[0][1]), ("noise", noise)]).fit(X, T)
    assert stack.names_ == ["good"]
    assert stack.errors_[-1] <= stack.errors_[0]
    constant = Stacked([KernelRidge(RBF(1.0), 1.0)]).fit(X, np.ones((60, 1)))
    assert constant.parts_ == []
    assert_allclose(constant.predict(X), 1.0)
    assert_allclose(constant.weights(X), 1 / 60)
    twins = Stacked([PARTS[0][1], PARTS[0][1]]).fit(X, T)
    assert_allclose(twins.all_coef_[0], twins.all_coef_[1], rtol=1e-3)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_folds_do_not_see_the_targets_of_their_rows(seed):
    X, T, rng = draw(17, seed)
    groups = rng.integers(0, 6, 17)
    model = CrossFitted(LinearRegression(), 4).fit(X, T)
    left = model.loo(groups)
    out = groups == groups[0]
    changed = T + out[:, None] * rng.standard_normal(T.shape)
    assert_allclose(model.with_targets(changed).loo(groups)[out], left[out])
    assert_allclose(model.with_targets(changed).predict(X),
                    LinearRegression().fit(X, changed).predict(X))  # fmt: skip


def test_classifiers_give_means():
    X, T, _ = draw(50, 1)
    labels = (T > 0).astype(float)
    part = CrossFitted(LogisticRegression(), 5)
    stack = Stacked([("logistic", part), PARTS[0]]).fit(X, labels)
    assert not Weighing.of(stack).is_linear
    folds = folds_of(np.arange(50), 5, rank_by_content(X, labels))
    expected = np.empty_like(labels)
    for k in range(5):
        for j in range(2):
            model = LogisticRegression().fit(X[folds != k], labels[folds != k, j])
            expected[folds == k, j] = model.predict_proba(X[folds == k])[:, 1]
    assert_allclose(clone(part).fit(X, labels).loo(), expected)
    with pytest.raises(ValueError, match="folds from 2"):
        CrossFitted(LogisticRegression(), 1).fit(X, labels)


@given(
    n=st.integers(2, 30), most=st.integers(1, 40), n_folds=st.integers(2, 6), seed=st.integers(0)
)
def test_folds_keep_groups_together(n, most, n_folds, seed):
    rng = np.random.default_rng(seed)
    group = np.unique(rng.integers(0, most, n), return_inverse=True)[1]
    key = rng.standard_normal(n)
    fold = folds_of(group, n_folds, key)
    assert all(len(set(fold[group == g])) == 1 for g in group)
    sizes = np.bincount(fold)
    assert len(sizes) == min(n_folds, group.max() + 1)
    assert sizes.max() - sizes.min() <= np.bincount(group).max()


def test_scales():
    X, T, rng = draw(40, 2)
    scaled = Scaled(KernelRidge(RBF(0.5), 0.3)).fit(X, T)
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = KernelRidge(RBF(0.5), 0.3).fit(A, T)
    assert_allclose(scaled.predict(X), plain.predict(A))
    assert_allclose(scaled.loo(), plain.loo())
    ranked = Scaled(KernelRidge(RBF(0.5), 0.3), "rank").fit(np.exp(X), T)
    assert_allclose(ranked.predict(np.exp(X)), Scaled(KernelRidge(RBF(0.5), 0.3), "rank")
                    .fit(X, T).predict(X), atol=1e-9)  # fmt: skip
    kept = sparse.csr_array(np.where(rng.uniform(size=X.shape) < 0.5, X, 0.0))
    assert_allclose(Scaled(KernelRidge(RBF(0.5), 0.3)).fit(kept, T).predict(kept),
                    KernelRidge(RBF(0.5), 0.3).fit(kept / kept.toarray().std(axis=0), T)
                    .predict(kept / kept.toarray().std(axis=0)))  # fmt: skip
    with pytest.raises(ValueError, match='"standard" or "rank"'):
        Scaled(KernelRidge(), "log").fit(X, T)


def test_penalties_of_least_left_out_error():
    X, T, _ = draw(30, 3)
    alphas = [0.01, 0.1, 1.0, 10.0]
    stack = Stacked([Scaled(KernelRidge(RBF(0.5), alphas))]).fit(X, T)
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    errors = [((KernelRidge(RBF(0.5), a).fit(A, T).loo() - T) ** 2).sum() for a in alphas]
    assert Penalties.of(stack.parts_[0]).fitted == alphas[int(np.argmin(errors))]


def test_weights_of_a_quadratic_program():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((20, 4)), rng.standard_normal(20)
    assert_allclose(nonnegative_weights(A.T @ A, A.T @ b), nnls(A, b)[0], atol=1e-7)
    assert_allclose(nonnegative_weights(np.zeros((2, 2)), np.zeros(2)), 0.0)


def test_saved(tmp_path):
    X, T, _ = draw(40, 4)
    parts = [*PARTS, ("forest", Forest(10, min_samples_leaf=2, random_state=0))]
    stack = Stacked(parts).fit(X, T)
    save_model(stack, tmp_path / "stack")
    again = load_model(tmp_path / "stack")
    assert_allclose(again.predict(X), stack.predict(X), rtol=1e-12)
    assert_allclose(again.loo(), stack.loo(), rtol=1e-12)


def test_weights_of_blocks_are_those_of_each_alone():
    X, T, rng = draw(40, 3)
    T = np.column_stack([T, np.sign(X[:, 0]), rng.standard_normal(40)])
    blocks = np.array([0, 1, 0, 1])
    fitted = []
    for name, smoother in PARTS:
        model = clone(smoother).fit(X, T)
        fitted.append((name, model, model.loo()))
    stack = Stacked([])
    stack._blocks_pay = lambda *_: True
    stack.combine(fitted, X, T, np.ones(40), blocks=blocks)
    for block in (0, 1):
        inside = blocks == block
        own = [(name, m.with_targets(T[:, inside]), left[:, inside]) for name, m, left in fitted]
        alone = Stacked([]).combine(own, X, T[:, inside], np.ones(40))
        assert_allclose(stack.predict(X)[:, inside], alone.predict(X), atol=1e-9)
        assert_allclose(stack.loo()[:, inside], alone.loo(), atol=1e-9)
    assert not Weighing.of(stack).is_linear
    one = Stacked([]).combine(fitted, X, T, np.ones(40))
    assert_allclose(stack.linear_.predict(X), one.predict(X))
    assert_allclose(stack.with_targets(T[:, :1]).predict(X), one.with_targets(T[:, :1]).predict(X))


def test_blocks_are_weighed_apart_where_that_pays():
    """Two smoothers, each good for one block; and noise, of which neither knows anything."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((200, 6))
    blocks = np.repeat([0, 1], 3)
    good = T + 0.3 * rng.standard_normal(T.shape)
    first, second = np.where(blocks == 0, good, 0.0), np.where(blocks == 1, good, 0.0)
    noise = np.where(blocks == 0, 0.0, rng.standard_normal(T.shape))
    fold, base, weight = np.arange(200) % 5, np.zeros(T.shape), np.ones(200)
    assert blocks_pay([first + noise, second], T, base, weight, blocks, fold)
    wins = 0
    for seed in range(40):
        means = [T + np.random.default_rng((seed, k)).standard_normal(T.shape) for k in (0, 1)]
        wins += blocks_pay(means, T, base, weight, blocks, fold)
    assert wins <= 12  # one in six by the margin, if nothing pays: more than 12 once in 100
