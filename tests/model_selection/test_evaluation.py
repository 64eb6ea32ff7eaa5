# SPDX-License-Identifier: BSD-3-Clause
"""Losses with intervals and baselines, and comparisons on the same folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.datasets import make_digit_chains
from skstruct.losses import F1, Effort, Hamming, Pinball, pair, resolve_loss
from skstruct.model_selection import compare, evaluate
from skstruct.model_selection.evaluation import (
    bootstrap_means,
    constant_outputs,
    loss_name,
    percentile_interval,
    usual_losses,
)
from skstruct.spaces import (
    Box,
    Classes,
    Description,
    Hierarchy,
    Interval,
    LabelSets,
    Rankings,
    Sequences,
    Simplex,
)

EDGES = [("animal", "cat"), ("animal", "dog"), ("plant", "tree")]


def toy(space, n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if isinstance(space, Classes):
        return X, np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    if isinstance(space, Hierarchy):
        kinds = [["animal", "cat"], ["animal", "dog"], ["animal"], ["plant", "tree"]]
        return X, [kinds[k] for k in rng.integers(4, size=n)]
    if isinstance(space, Rankings):
        return X, np.argsort(np.argsort(rng.normal(size=(n, 3)) + X[:, :1], axis=1), axis=1) + 1
    if isinstance(space, Simplex):
        return X, rng.dirichlet(np.ones(3), n)
    if isinstance(space, Interval):
        return X, X[:, 0] + rng.normal(size=n)
    if isinstance(space, Box):
        return X, X + rng.normal(size=X.shape)
    return X, (rng.random((n, 3)) < 0.4).astype(int)


SPACES = [Classes(), LabelSets(), Hierarchy(EDGES), Rankings(), Simplex(), Interval(), Box()]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_means_are_those_of_a_loop_over_rows(space):
    X, y = toy(space)
    model = ConditionalRiskMinimizer(space, alpha=0.5).fit(X[:20], y[:20])
    estimates = evaluate(model, X[20:], y[20:])
    assert [e.loss for e in estimates] == [space.default_loss, *Description.of(space).usual_losses]
    truth = model.space_.validate(y[20:])
    for estimate in estimates:
        loss = pair(resolve_loss(estimate.loss), model.space_, model.outputs_)[1]
        predicted = model.space_.validate(model.predict(X[20:], loss=estimate.loss))
        by_row = [float(loss(predicted[[i]], truth[[i]])[0]) for i in range(10)]
        np.testing.assert_allclose(estimate.losses, by_row)
        np.testing.assert_allclose(estimate.mean, np.mean(by_row))
        assert estimate.low <= estimate.mean <= estimate.high
        assert estimate.aimed
        assert estimate.n == 10


@pytest.mark.parametrize("space", SPACES[:4], ids=lambda space: type(space).__name__)
def test_the_baseline_is_the_best_constant_of_training(space):
    X, y = toy(space)
    model = ConditionalRiskMinimizer(space, alpha=0.5).fit(X, y)
    every = model.space_.enumerate()
    for name in (space.default_loss, *Description.of(space).usual_losses):
        loss = pair(resolve_loss(name), model.space_, model.outputs_)[1]
        if name == "zero_one" and not isinstance(space, Classes):
            every = np.unique(model.outputs_, axis=0)  # decided among outputs of training
        risks = loss.pairwise(every, model.outputs_).mean(axis=1)
        found = constant_outputs(model.space_, resolve_loss(name), model.outputs_, model.outputs_)
        np.testing.assert_allclose(loss(found, model.outputs_).mean(), risks.min())


def test_the_baseline_of_numbers_is_mean_and_median():
    X, y = toy(Interval())
    model = ConditionalRiskMinimizer(Interval(), alpha=0.5).fit(X, y)
    squared, absolute = evaluate(model, X, y)
    np.testing.assert_allclose(squared.baseline, y.var())
    np.testing.assert_allclose(absolute.baseline, np.abs(y - np.median(y)).mean())


@pytest.mark.parametrize(
    "learner",
    [StructuredSVM(alpha=0.01, random_state=0), StructuredPerceptron(), OutputKernelRegressor(),
     CountingRidge(alpha=1.0), ExponentialFamily(alpha=1e-3, fit_intercept=False)],
    ids=lambda learner: type(learner).__name__,
)  # fmt: skip
def test_every_learner_is_judged_under_every_usual_loss(learner):
    X, y = toy(LabelSets())
    model = learner.set_params(space=LabelSets()).fit(X, y)
    estimates = evaluate(model, X, y)
    assert {"hamming", "f1", "zero_one"} <= {e.loss for e in estimates}
    hamming = next(e for e in estimates if e.loss == "hamming")
    np.testing.assert_allclose(hamming.mean, (model.predict(X) != y).sum(axis=1).mean())


def test_sequences_are_judged_by_their_symbols():
    data = make_digit_chains(20, 10)
    X, y = data.X_test, data.y_test
    model = ExponentialFamily(Sequences(), alpha=0.1, fit_intercept=False).fit(
        data.X_train, data.y_train
    )
    hamming, zero_one = evaluate(model, X, y)
    wrong = [sum(a != b for a, b in zip(found, true)) for found, true in zip(model.predict(X), y)]
    np.testing.assert_allclose(hamming.mean, np.mean(wrong))
    np.testing.assert_allclose(zero_one.mean, np.mean(np.array(wrong) > 0))
    assert hamming.baseline > hamming.mean


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**31))
def test_bootstrap_means_are_means_of_rows(n, m, seed):
    losses = np.random.default_rng(seed).normal(size=(n, m))
    means = bootstrap_means(losses, 50, np.random.default_rng(seed))
    assert means.shape == (50, m)
    assert (means >= losses.min(axis=0) - 1e-12).all()
    assert (means <= losses.max(axis=0) + 1e-12).all()
    # The same draws for all columns: a shifted column has shifted means.
    both = bootstrap_means(
        np.hstack([losses, losses + 1]), 50, np.random.default_rng(seed)
    )  # fmt: skip
    np.testing.assert_allclose(both[:, :m] + 1, both[:, m:])


def test_the_interval_has_the_level_it_claims():
    """2,000 intervals of 95 % around means of 60 uniforms: their cover is within four errors."""
    rng = np.random.default_rng(0)
    n_trials, covered = 2000, 0
    for _ in range(n_trials):
        means = bootstrap_means(rng.random((60, 1)), 300, rng)
        low, high = percentile_interval(means, 0.95)
        covered += bool(low[0] <= 0.5 <= high[0])
    # The interval is that of a normal distribution with the variance over n, not n - 1: a little
    # short.
    share = 1 - 2 * student.sf(1.96 * np.sqrt(59 / 60), 59)
    assert 0.93 < share < 0.95
    assert abs(covered / n_trials - share) < 4 * np.sqrt(share * (1 - share) / n_trials)


def test_names_of_losses():
    assert loss_name("hamming") == loss_name(Hamming()) == "hamming"
    assert loss_name(Pinball(0.9)) == "Pinball(tau=0.9)"
    X, y = toy(LabelSets())
    model = ConditionalRiskMinimizer(LabelSets(), "f1", alpha=1.0).fit(X, y)
    assert list(usual_losses(model)) == ["f1", "hamming", "zero_one"]


@pytest.mark.parametrize(("option", "value"), [("n_bootstrap", 0), ("level", 1.0), ("level", 0)])
def test_bad_options_are_named(option, value):
    X, y = toy(Classes())
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match=option):
        evaluate(model, X, y, **{option: value})


def test_compare_equals_a_loop_over_folds():
    X, y = toy(LabelSets())
    learners = {
        "strong": ConditionalRiskMinimizer(alpha=100.0),
        "weak": ConditionalRiskMinimizer(alpha=0.1),
    }
    result = compare(learners, X, y, cv=3, losses=["hamming"])
    for j, learner in enumerate(learners.values()):
        by_hand = np.empty(len(X))
        for train, test in KFold(3, shuffle=True, random_state=0).split(X):
            predicted = learner.fit(X[train], y[train]).predict(X[test])
            by_hand[test] = (predicted != y[test]).sum(axis=1)
        np.testing.assert_allclose(result.losses["hamming"][:, j], by_hand)
    best, other = result.rows
    assert best.mean <= other.mean
    assert best.behind == best.behind_low == best.behind_high == 0.0
    np.testing.assert_allclose(other.behind, other.mean - best.mean)
    assert other.behind_low <= other.behind <= other.behind_high


def test_compare_tells_who_took_no_part():
    X, y = toy(Simplex())
    learners = {
        "ridge": ConditionalRiskMinimizer(Simplex(), alpha=1.0),
        "counting": CountingRidge(Simplex()),
    }
    result = compare(learners, X, y, cv=2)
    assert list(result.failed) == ["counting"]
    assert {row.name for row in result.rows} == {"ridge"}
    with pytest.raises(ValueError, match="No learner could be compared; counting"):
        compare({"counting": CountingRidge(Simplex())}, X, y, cv=2)


def test_splitters_leave_out_every_row_once():
    X, y = toy(Classes())
    learners = {"ridge": ConditionalRiskMinimizer(alpha=1.0)}
    assert len(compare(learners, X, y, cv=StratifiedKFold(3)).losses["zero_one"]) == len(X)
    for splitter in (ShuffleSplit(5), ShuffleSplit(1, test_size=0.2), RepeatedKFold(n_splits=2)):
        with pytest.raises(ValueError, match="leave out every row once"):
            compare(learners, X, y, cv=splitter)


def test_pipelines_are_judged_like_their_last_step():
    X, y = toy(LabelSets())
    alone = ConditionalRiskMinimizer(alpha=1.0).fit(StandardScaler().fit_transform(X), y)
    pipeline = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(alpha=1.0)).fit(X, y)
    expected = evaluate(alone, StandardScaler().fit_transform(X), y)
    assert evaluate(pipeline, X, y) == expected
    assert [e.aimed for e in expected] == [True, True, True]


def test_losses_that_take_longer_than_to_predict_are_left_out_unless_asked_for(monkeypatch):
    X = np.arange(12.0)[:, None]
    Y = np.tile([[1, 0], [0, 1], [1, 1]], (4, 1))
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=0.1).fit(X, Y)
    assert [one.loss for one in evaluate(model, X, Y)] == ["hamming", "f1", "zero_one"]
    monkeypatch.setattr(type(Effort.of(F1())), "seconds", lambda self, space: 1e3)
    with pytest.warns(UserWarning, match=r"longer than to predict: f1; ask by losses=\["):
        found = evaluate(model, X, Y)
    assert [one.loss for one in found] == ["hamming", "zero_one"]
    assert [one.loss for one in evaluate(model, X, Y, losses=["f1"])] == ["f1"]
    own = ConditionalRiskMinimizer(LabelSets(), "f1", alpha=0.1).fit(X, Y)
    assert evaluate(own, X, Y)[0].loss == "f1"  # its own is what it predicts for
