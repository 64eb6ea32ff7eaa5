# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from skstruct.smoothing.forest import Forest
from skstruct.testing.smoothers import check_smoother

TREES = ["random", "extra"]


def tree_weights(tree, x, X, draws):
    """Share of the draws in the leaf of x."""
    leaf, weights = tree.apply(x[None])[0], np.zeros(len(X))
    for i, other in enumerate(tree.apply(X)):
        weights[i] = draws[i] if other == leaf else 0
    return weights / weights.sum()


def slow_weights(model, x, X):
    pairs = zip(model.estimators_, model.draws_.T)
    return np.mean([tree_weights(tree, x, X, draws) for tree, draws in pairs], axis=0)


def slow_left_out(model, i, X, sample_weight, groups):
    others = groups != groups[i]
    pairs = list(zip(model.estimators_, model.draws_.T))
    unseen = [(tree, draws) for tree, draws in pairs if not draws[~others].any()]
    if unseen:
        return np.mean([tree_weights(tree, X[i], X, draws) for tree, draws in unseen], axis=0)
    weights = others * slow_weights(model, X[i], X)
    weights = weights if weights.any() else others * sample_weight
    return weights / weights.sum()


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p, q = draw(st.integers(2, 15)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    X = rng.standard_normal((n, p)).astype(np.float32)
    T = np.rint(1024 * rng.standard_normal((n, q))) / 1024  # on the grid that trees split by
    weight = np.ones(n) if draw(st.booleans()) else rng.integers(0, 3, n) + rng.random(n)
    weight[:2] += 1.0
    groups = rng.integers(0, draw(st.integers(1, n)), n)
    groups[:2] = 0, 1
    model = Forest(
        draw(st.sampled_from([1, 3, 12])),
        trees=draw(st.sampled_from(TREES)),
        min_samples_leaf=draw(st.integers(1, 4)),
        random_state=0,
    )
    return X, T, weight, groups, model


@given(cases())
def test_weights_from_the_definition(case):
    X, T, weight, _, model = case
    model.fit(X, T, weight)
    queries = np.vstack([X, X + np.float32(0.3)])
    W = model.weights(queries).toarray()
    assert_allclose(W, [slow_weights(model, x, X) for x in queries], atol=1e-12)
    trees = [tree.predict(queries).reshape(len(queries), -1) for tree in model.estimators_]
    assert_allclose(model.predict(queries), np.mean(trees, axis=0), atol=1e-10)
    assert_allclose(W @ T, model.predict(queries), atol=1e-10)


@given(cases())
def test_left_out_weights_from_the_definition(case):
    X, T, weight, groups, model = case
    model.fit(X, T, weight)
    for left_out in (None, groups):
        own = np.arange(len(X)) if left_out is None else left_out
        slow = [slow_left_out(model, i, X, weight, own) for i in range(len(X))]
        W = model.left_out_weights(left_out).toarray()
        assert_allclose(W, slow, atol=1e-12)
        assert_allclose(model.loo(left_out), slow @ T, atol=1e-10)
        assert not W[own[:, None] == own].any()


@pytest.mark.parametrize("trees", TREES)
@pytest.mark.parametrize("n_estimators", [2, 50])
def test_smoother(n_estimators, trees):
    model = Forest(n_estimators, trees=trees, random_state=0)
    check_smoother(model, exact_loo=False)
    X = np.random.default_rng(0).poisson(1.0, (30, 8))
    check_smoother(model, sparse.csr_array(X), exact_loo=False)


@pytest.mark.parametrize(
    ("trees", "reference"), [("random", RandomForestRegressor), ("extra", ExtraTreesRegressor)]
)
def test_as_good_as_scikit_learn(trees, reference):
    X, y = make_friedman1(1500, random_state=0)
    ours = Forest(200, trees=trees, random_state=0, n_jobs=2).fit(X[:500], y[:500])
    theirs = reference(200, max_features=1 / 3, bootstrap=True, oob_score=True, random_state=0)
    theirs.fit(X[:500], y[:500])
    assert abs(ours.score(X[500:], y[500:]) - theirs.score(X[500:], y[500:])) < 0.02
    out_of_bag = 1 - ((ours.loo() - y[:500]) ** 2).mean() / y[:500].var()
    assert abs(out_of_bag - theirs.oob_score_) < 0.02


def test_samples_are_bootstrap_samples():
    X, T = np.random.default_rng(0).standard_normal((2, 200, 3))
    weight = np.repeat([0.0, 0.5, 1.5, 2.0], 50)
    draws = Forest(300, max_depth=1, random_state=0).fit(X, T, weight).draws_
    assert_array_equal(draws.sum(axis=0), 200)
    assert not draws[weight == 0].any()
    assert_allclose(draws.reshape(4, -1).mean(axis=1), [0, 0.5, 1.5, 2.0], rtol=0.03)
    assert_allclose(draws[150:].var(), 2.0, rtol=0.05)  # binomial, nearly Poisson
    assert np.corrcoef(draws[:, 0], draws[:, 1])[0, 1] < 0.9


@given(cases(), st.randoms())
def test_neither_order_nor_repetition_matters(case, random):
    X, T, weight, _, model = case
    T, times = np.rint(3 * T), np.ceil(weight).astype(int)
    model.set_params(min_samples_leaf=1)
    weighted = model.fit(X, T, times).predict(X)
    rows = np.repeat(np.arange(len(X)), times)
    random.shuffle(rows)
    assert_allclose(model.fit(X[rows], T[rows]).predict(X), weighted, atol=1e-10)


@pytest.mark.parametrize(("scale", "drawn"), [(1e-6, 40), (0.5, 40), (3.0, 120), (1e9, 400)])
def test_sample_sizes_stay_in_bounds(scale, drawn):
    X = np.arange(40.0)[:, None]
    model = Forest(2, random_state=0).fit(X, X, np.full(40, scale))
    assert_array_equal(model.draws_.sum(axis=0), drawn)


def test_leaving_out_large_groups_uses_the_others():
    """No sample misses a fifth of the rows, so that all trees vote, without the group."""
    rng = np.random.default_rng(0)
    X, T, groups = rng.standard_normal((60, 2)), rng.standard_normal((60, 3)), np.arange(60) % 5
    model = Forest(20, min_samples_leaf=5, random_state=0).fit(X, T)
    W = model.left_out_weights(groups).toarray()
    assert_allclose(W.sum(axis=1), 1)
    expected = model.weights(X).toarray() * (groups[:, None] != groups)
    assert_allclose(W, expected / expected.sum(axis=1, keepdims=True))


def test_single_and_constant_rows():
    model = Forest(5).fit([[1.0]], [2.0])
    assert_allclose(model.predict([[5.0], [1.0]]), [2, 2])
    with pytest.raises(ValueError, match="leaves nothing"):
        model.loo()
    constant = Forest(400, random_state=0).fit(np.ones((3, 2)), [0.0, 1.0, 5.0])
    assert_allclose(constant.predict(np.ones((1, 2))), [2], atol=0.2)
    assert_allclose(constant.loo(), [3, 2.5, 0.5], atol=0.3)


def test_threads_do_not_change_the_trees():
    X, T = np.random.default_rng(0).standard_normal((2, 50, 3))
    one, two = (Forest(10, n_jobs=n_jobs, random_state=3).fit(X, T) for n_jobs in (1, 2))
    assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("one_column", [False, True])
def test_last_bits_of_targets_do_not_change_the_trees(one_column):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 6)).astype(float)
    T = rng.integers(0, 2, (80, 3)) / 3
    T = T[:, 0] if one_column else T
    nearly = T * (1 + 1e-15 * rng.standard_normal(T.shape))
    assert (nearly != T).any()
    one, other = (Forest(20, min_samples_leaf=1, random_state=0).fit(X, t) for t in (T, nearly))
    for tree, same in zip(one.estimators_, other.estimators_):
        assert_array_equal(tree.tree_.feature, same.tree_.feature)
        assert_array_equal(tree.tree_.threshold, same.tree_.threshold)


def test_large_sparse_indices_are_read():
    X = sparse.csr_array(np.eye(6))
    T = np.arange(6.0)
    expected = Forest(5, random_state=0).fit(X, T).predict(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert_allclose(Forest(5, random_state=0).fit(X, T).predict(X), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "at least 1; got 0"),
        ({"trees": "oak"}, "got 'oak'"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Forest(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_wrong_groups():
    model = Forest(3).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\).* 3 rows"):
        model.loo([0, 1])
