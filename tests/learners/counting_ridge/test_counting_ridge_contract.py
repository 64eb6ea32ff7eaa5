# SPDX-License-Identifier: BSD-3-Clause
"""What users of structured ridge regression may count on, and what they are told."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from skstruct import CountingRidge, config_context
from skstruct.kernels import RBF
from skstruct.learners import NewtonCG, StochasticGradient
from skstruct.spaces import BinaryPolytope, Box, Classes, Hierarchy, LabelSets


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    return X, (X @ rng.standard_normal((3, 4)) > 0).astype(int)


# ------------------------------------------------------------------ predictions
def test_names_come_back():
    X = [[0.0], [0.1], [1.0], [1.1]]
    Y = [{"sea", "sun"}, {"sea", "sun"}, {"city"}, {"city"}]
    model = CountingRidge(alpha=0.01).fit(X, Y)
    assert model.predict([[0.0], [1.0]]).tolist() == [{"sea", "sun"}, {"city"}]
    assert model.predict([[1.0]], restrict={"include": ["sun"]})[0] >= {"sun"}
    best = model.kbest([[0.0]], 2)
    assert best.outputs[0][0] == {"sea", "sun"}
    assert best.outputs[1][0] != {"sea", "sun"}
    assert best.values[0, 0] <= best.values[0, 1]


def test_scores_decide_and_are_the_costs_of_predictions(data):
    X, Y = data
    model = CountingRidge(alpha=0.1).fit(X, Y)
    scores = model.decision_function(X)
    assert_array_equal(model.predict(X), scores > 0)
    decoded = model.decode(X)
    assert_allclose(decoded.values, -np.where(scores > 0, scores, 0.0).sum(axis=1))
    assert_array_equal(decoded.values, decoded.bounds)
    assert model.score(X, Y) == -(model.predict(X) != Y).sum(axis=1).mean()


def test_explanations_add_up_to_the_scores(data):
    X, Y = data
    model = CountingRidge(alpha=0.1).fit(X, Y)
    explained = model.explain(X[:5])
    assert explained.weights.shape == (5, 40)
    assert_allclose(explained.weights.sum(axis=1), -model.decode(X[:5]).values)
    assert_array_equal(explained.losses[0], (model.predict(X[:1]) != Y).sum(axis=1))
    with pytest.raises(ValueError, match="one term per training row"):
        CountingRidge(kernel="linear", alpha=0.1).fit(X, Y).explain(X)


def test_least_risk_is_decided_from_means_of_the_embedding(data):
    X, Y = data
    model = CountingRidge(alpha=0.1).fit(X, Y)
    means = model.mean_embedding(X)
    by_hamming = model.predict(X, loss="hamming")
    assert_array_equal(by_hamming, means > 0.5)
    assert_array_equal(by_hamming, model.predict(X))  # free sets: the same decisions
    with pytest.raises(ValueError, match="F1 is bilinear in sized indicators"):
        model.predict(X, loss="f1")
    with pytest.raises(ValueError, match="closed-form"):
        CountingRidge(alpha=0.1, solver="newton-cg").fit(X, Y).predict(X, loss="hamming")


def test_means_are_near_the_shares_of_outputs():
    # Rows of no information: the mean is the share of each label. 3000 draws of shares 0.9, 0.5
    # and 0.2 have standard errors below 0.01, and examples of common sets weigh less.
    rng = np.random.default_rng(0)
    Y = (rng.random((3000, 3)) < [0.9, 0.5, 0.2]).astype(int)
    model = CountingRidge(kernel="linear", alpha=1e-3).fit(np.zeros((3000, 1)), Y)
    found = model.mean_embedding([[0.0]])[0]
    assert found[0] > 0.7
    assert abs(found[1] - 0.5) < 0.05
    assert found[2] < 0.4


def test_weights_are_copies_of_rows(data):
    X, Y = data
    weight = np.arange(40) % 3
    copies = np.repeat(np.arange(40), weight)
    weighted = CountingRidge(alpha=0.2, kernel=RBF(0.3)).fit(X, Y, sample_weight=weight)
    copied = CountingRidge(alpha=0.2, kernel=RBF(0.3)).fit(X[copies], Y[copies])
    assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-9)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    given = CountingRidge(kernel="precomputed", alpha=0.2).fit(K, Y)
    plain = CountingRidge(alpha=0.2, kernel=RBF(0.3)).fit(X, Y)
    assert_allclose(given.decision_function(K), plain.decision_function(X), atol=1e-9)
    given = CountingRidge(kernel="precomputed", alpha=0.2).fit(K, Y, sample_weight=weight)
    assert_allclose(given.decision_function(K), copied.decision_function(X), atol=1e-9)


def test_blocks_of_rows_mind_the_kernel_values(data):
    X, Y = data
    with config_context(memory=50_000):
        model = CountingRidge(alpha=0.1).fit(X, Y)
        assert model.problem_.bytes_per_row() >= 8 * len(X)  # compared with all of training
        predicted = model.predict(X)
    whole = CountingRidge(alpha=0.1).fit(X, Y)
    assert_array_equal(predicted, whole.predict(X))


def test_sparse_inputs_and_copies_of_models(data):
    X, Y = data
    dense = CountingRidge(alpha=0.2, kernel=RBF(0.5)).fit(X, Y)
    model = CountingRidge(alpha=0.2, kernel=RBF(0.5)).fit(sparse.csr_array(X), Y)
    assert_allclose(model.decision_function(sparse.csr_array(X)), dense.decision_function(X))
    wide = sparse.random_array((40, 90), density=0.1, rng=0, format="csr")
    model = CountingRidge(kernel="linear", alpha=0.2).fit(wide, Y)
    assert model.coef_.shape == (4, 40)  # of rows: nothing of 90 columns was made dense
    dense_wide = CountingRidge(kernel="linear", alpha=0.2).fit(wide.toarray(), Y)
    assert_allclose(
        model.decision_function(wide), dense_wide.decision_function(wide.toarray()), atol=1e-9
    )
    stored = pickle.loads(pickle.dumps(dense))
    assert_array_equal(stored.predict(X), dense.predict(X))
    copied, given = clone(dense).get_params(), dense.get_params()
    assert repr(copied.pop("kernel")) == repr(given.pop("kernel"))
    assert copied == given
    assert given["kernel__gamma"] == 0.5


def test_columns_of_very_different_scale_all_count():
    rng = np.random.default_rng(0)
    flag = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    X, y = np.column_stack([1e7 * rng.standard_normal(60), flag]), np.where(flag > 0, "a", "b")
    both = CountingRidge(kernel="linear", alpha=0.1).fit(X, y)
    alone = CountingRidge(kernel="linear", alpha=0.1).fit(flag[:, None], y)
    assert (both.predict(X) == y).all()
    assert both.objective_ < alone.objective_ + 1e-9  # a feature more cannot make it worse


def test_left_out_groups_and_means_keep_the_digits_of_small_columns():
    rng = np.random.default_rng(0)
    flag = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    X, y = np.column_stack([1e8 * rng.standard_normal(60), flag]), np.where(flag > 0, "a", "b")
    model = CountingRidge(kernel="linear", alpha=[0.1], cv=5).fit(X, y)
    assert model.search_.best["risk"] == 0
    means = model.mean_embedding(X)
    assert_allclose(means.sum(axis=1), 1.0)
    assert (means.argmax(axis=1) == (flag < 0)).all()


def test_two_classes_are_left_out_one_by_one():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.choice(["a", "b"], 30)
    model = CountingRidge(alpha=[0.3, 3.0], kernel=RBF(0.5)).fit(X, y)
    wrong = []
    for i in range(30):
        kept = np.arange(30) != i
        one = CountingRidge(Classes(["a", "b"]), alpha=3.0, kernel=RBF(0.5)).fit(X[kept], y[kept])
        wrong.append(one.predict(X[[i]])[0] != y[i])
    assert_allclose(model.search_.trials[0]["risk"], np.mean(wrong))


def test_tiny_penalties_are_solved_by_eigenvalues():
    X, y = np.ones((12, 2)), np.array(list("aabbbbbbbbbb"))
    found = [
        CountingRidge(kernel="poly", alpha=alpha, fit_intercept=False).fit(X, y).objective_
        for alpha in (1e-9, 1e-12, 1e-14, 1e-16)
    ]
    assert_allclose(found, found[0], rtol=1e-6)


def test_explanations_have_a_column_for_every_training_row(data):
    X, Y = data
    weight = np.r_[0.0, np.ones(38), 0.0]
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    for kernel, inputs in ((RBF(1.0), X), ("precomputed", K)):
        model = CountingRidge(kernel=kernel, alpha=0.1).fit(inputs, Y, weight)
        explained = model.explain(inputs[:3])
        assert explained.weights.shape == explained.losses.shape == (3, 40)
        assert (explained.weights[:, [0, -1]] == 0).all()
        assert (explained.weights[:, 1:-1] != 0).any(axis=0).all()
    model = CountingRidge(alpha=0.1).fit(X, Y)
    model.partial_fit(X[:4], Y[:4], steps=StochasticGradient(budget=40))
    with pytest.raises(ValueError, match="fitted in one go"):
        model.explain(X)


def test_without_positive_weight_the_scores_decide(data):
    X, Y = data
    model = CountingRidge(kernel="poly", alpha=0.1).fit(X, Y)
    far = np.random.default_rng(1).standard_normal((200, 3)) * 3
    lost = np.isnan(model.mean_embedding(far)).any(axis=1)
    assert lost.any()
    assert_array_equal(model.predict(far, loss="hamming")[lost], model.predict(far)[lost])


def test_outputs_listed_twice_count_once():
    X = [[0.0], [1.0], [2.0]]
    once, twice = CountingRidge(alpha=0.01), CountingRidge(alpha=0.01)
    once.fit(X, [["a", "b"], ["c"], ["d"]], several_outputs=True)
    twice.fit(X, [["a", "a", "b", "a"], ["c", "c"], ["d"]], several_outputs=True)
    assert_allclose(once.decision_function(X), twice.decision_function(X))


def test_several_outputs_beyond_the_constraints():
    space = LabelSets(list("abc")).restrict(max_size=1)
    model = CountingRidge(space, alpha=0.1)
    with pytest.raises(ValueError, match=r"y\[1\] has several correct outputs, and not all"):
        model.fit([[0.0], [1.0]], [[{"a", "b"}], [{"a"}, {"a", "b"}]], several_outputs=True)
    with pytest.raises(ValueError, match=r"correct outputs y\[1\].*Y\[2\] holds the label 'x'"):
        model.fit([[0.0], [1.0]], [[{"a"}, {"b"}], [{"x"}]], several_outputs=True)


def test_constraints_of_single_rows_wait_for_prediction(data):
    X, Y = data
    space = LabelSets(range(4)).restrict(include=[[0]] * 20 + [[1]] * 20)
    with pytest.raises(ValueError, match="give them at prediction"):
        CountingRidge(space, alpha=0.1).fit(X, Y)


def test_one_row():
    model = CountingRidge(alpha=[5.0, 7.0]).fit([[0.0]], ["a"])
    assert model.alpha_ == 7.0
    assert CountingRidge().fit([[0.0]], ["a"]).predict([[1.0]])[0] == "a"
    with pytest.raises(ValueError, match="alpha is a positive number"):
        CountingRidge(alpha="most").fit([[0.0]], ["a"])


def test_several_correct_outputs():
    X = [[0.0], [0.2], [1.0], [1.2]]
    Y = [[{"tea"}, {"milk"}]] * 2 + [[{"rum"}]] * 2
    model = CountingRidge(alpha=0.01).fit(X, Y, several_outputs=True)
    first, last = model.predict([[0.1], [1.1]])
    assert first <= {"tea", "milk"}
    assert first
    assert last == {"rum"}
    assert model.score(X, [[{"rum", "tea", "milk"}, output] for output in model.predict(X)]) == 0.0
    assert model.score(X[2:], [[{"rum", "tea"}, {"tea"}]] * 2) == -1.0
    for wrong, message in (([[]], "no correct output"), (["tea"], "a list of correct outputs")):
        with pytest.raises(ValueError, match=rf"y\[3\].*{message}"):
            CountingRidge().fit(X, Y[:3] + wrong, several_outputs=True)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"alpha": "best"}, "alpha is a positive number"),
        ({"solver": "svd"}, "solver is .*newton-cg.*NewtonCG.*; got 'svd'"),
        ({"solver": 3}, "solver is .*NewtonCG.*; got 3"),
        ({"kernel": "hashes"}, "Unknown kernel 'hashes'"),
        ({"kernel": RBF(-1.0)}, "gamma must be positive; got -1.0"),
        ({"n_landmarks": 0}, "n_landmarks is a whole number from 1; got 0"),
        ({"n_landmarks": 2.5}, "n_landmarks is a whole number from 1; got 2.5"),
        ({"alpha": True}, "alpha is a positive number"),
        ({"alpha": {"a": 1}}, "alpha is a positive number"),
        ({"solver": NewtonCG(-1.0)}, "tol is a number .*not negative and below 1; got -1.0"),
        ({"solver": NewtonCG(1.0)}, "tol is a number .*; got 1.0"),
        ({"solver": NewtonCG("x")}, "tol is a number .*; got 'x'"),
        ({"solver": NewtonCG(max_iter=0)}, "max_iter is a whole number from 1; got 0"),
        ({"solver": NewtonCG(max_iter=2.5)}, "max_iter is a whole number from 1; got 2.5"),
        ({"space": Box()}, "needs the moments of the space, which Box has not"),
    ],
)
def test_bad_parameters(data, parameters, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        CountingRidge(**parameters).fit(X, Y.astype(float) if "space" in parameters else Y)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (StochasticGradient("fast"), "learning_rate is one of optimal.*; got 'fast'"),
        (StochasticGradient(eta0=0.0), "eta0 is a number .*; got 0.0"),
        (StochasticGradient(eta0=np.nan), "eta0 is a number .*; got nan"),
        (StochasticGradient(power_t="x"), "power_t is a number .*; got 'x'"),
        (StochasticGradient(meta_rate=-1.0), "meta_rate is a number .*; got -1.0"),
        (StochasticGradient(batch_size=0), "batch_size is a whole number from 1; got 0"),
        (StochasticGradient(budget=None), "budget is a whole number from 1; got None"),
        (StochasticGradient(n_total=1.5), "n_total is a whole number from 1; got 1.5"),
        ({"eta0": 1.0}, "steps is a StochasticGradient; got {'eta0': 1.0}"),
        (StochasticGradient, "steps is a StochasticGradient; got <class"),
    ],
)
def test_bad_steps(data, steps, message):
    X, Y = data
    model = CountingRidge(alpha=1.0).partial_fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, Y, steps=steps)
    assert_array_equal(model.coef_, before)


def test_a_kernel_that_is_none(data):
    X, Y = data
    with pytest.raises(ValueError, match="not positive semidefinite"):
        CountingRidge(kernel=lambda A, B: -(A @ B.T), alpha=1.0).fit(X, Y)


def test_a_failed_fit_leaves_the_old_model(data):
    X, Y = data
    model = CountingRidge(alpha=0.1).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(X[:5], Y[:4])
    with pytest.raises(ValueError):
        model.partial_fit(X[:3], Y[:3] + 5)
    assert_array_equal(model.predict(X), before)


def test_sequences_of_tokens_are_refused(data):
    X, _ = data
    with pytest.raises(ValueError, match="one row of features per output"):
        CountingRidge(LabelSets()).fit([X[:2], X[:3]], [{"a"}, {"b"}])


@pytest.mark.parametrize(
    "space", [Hierarchy([(0, 1), (0, 2), (2, 3)]), BinaryPolytope(A_eq=[[1, 1, 1, 1]], b_eq=[2])]
)
def test_other_spaces(space):
    rng = np.random.default_rng(0)
    listed = space.enumerate()
    centres = rng.standard_normal((len(listed), 2)) * 4
    number = rng.integers(len(listed), size=60)
    X, Y = centres[number] + 0.1 * rng.standard_normal((60, 2)), listed[number]
    model = CountingRidge(space, alpha=1e-3).fit(X, Y)
    assert model.score(X, Y) > -0.1


@pytest.mark.parametrize("listed", [True, False], ids=["list", "splitter"])
def test_splits_of_the_user_count_rows_without_weight(listed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X + rng.normal(size=X.shape) > 0).astype(int)
    counts = np.arange(30) % 5 > 0
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    cv = splits if listed else KFold(4, shuffle=True, random_state=0)
    number = np.empty(30)
    for k, (_, test) in enumerate(splits):
        number[test] = k
    some = CountingRidge(LabelSets(), cv=cv).fit(X, y, counts.astype(float))
    fewer = CountingRidge(LabelSets()).fit(X[counts], y[counts], groups=number[counts])
    assert [t["risk"] for t in some.search_.trials] == [t["risk"] for t in fewer.search_.trials]
