# SPDX-License-Identifier: BSD-3-Clause
"""Ties, few rows, levels at the ends, truths that are all alike: promises are never broken."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom

from conformal.toys import ALL, PARTS, Toy, classes, labels, quantities, rankings, tree
from skstruct.conformal import Abstention, PredictionSets, RiskControl
from skstruct.spaces import Classes, LabelSets

MONOTONE = ["missed", "wrong", "false_labels"]


def quietly(predictor, toy, n, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return predictor.calibrate(np.arange(n), toy.y(np.arange(n)), **more)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("name", PARTS)
def test_few_rows_promise_nothing_false(name, n):
    """With level < 1 / (n + 1) nothing is certain and all is possible, and that is said."""
    toy = PARTS[name](n)
    for risk in MONOTONE:
        control = RiskControl(toy, 0.9 / (n + 1), risk=risk)
        with pytest.warns(UserWarning, match=f"cannot be met with {n} calibration rows; nothing"):
            control.calibrate(np.arange(n), toy.y(np.arange(n)))
        assert control.vacuous_ == [True]
        assert control.withheld_ == 1.0
        assert control.thresholds_[0] == np.inf
    sets = PredictionSets(toy, 0.9 / (n + 1))
    with pytest.warns(UserWarning, match="sets hold all outputs"):
        sets.calibrate(np.arange(n), toy.y(np.arange(n)))
    assert sets.includes(np.arange(n), toy.y(np.arange(n))).all()


def test_vacuous_answers():
    toy = labels(3)
    nested = quietly(RiskControl(toy, 0.0), toy, 3).predict([0, 1])
    assert_array_equal(nested.certain, np.zeros((2, 4)))
    assert_array_equal(nested.possible, np.ones((2, 4)))
    toy = quantities(3)
    found = quietly(PredictionSets(toy, 0.0), toy, 3).predict([0, 1])
    assert_array_equal(found.lower, [-50.0, -50.0])  # the range of the space
    assert_array_equal(found.upper, [50.0, 50.0])
    toy = classes(3)
    assert quietly(PredictionSets(toy, 0.0), toy, 3).predict([0]) == [tuple("wxyz")]
    kept = quietly(Abstention(toy, 0.1, loss="zero_one"), toy, 3).predict([0, 1])
    assert kept.outputs == [None, None]
    assert not kept.kept.any()


@pytest.mark.parametrize("name", ALL)
def test_level_one_allows_all(name):
    toy = ALL[name](10)
    if name != "quantities":
        for risk in MONOTONE:
            assert quietly(RiskControl(toy, 1.0, risk=risk), toy, 10).thresholds_[0] == -np.inf
        for risk in ("false", "precision"):
            assert quietly(RiskControl(toy, 1.0, risk=risk), toy, 10).thresholds_[0] < np.inf
    sets = quietly(PredictionSets(toy, 1.0), toy, 10)
    assert not sets.includes(np.arange(10), toy.y(np.arange(10))).any()


def test_empty_intervals_are_nan():
    toy = quantities(10)
    found = quietly(PredictionSets(toy, 1.0), toy, 10).predict([0, 1])
    assert np.isnan(found.lower).all()
    assert np.isnan(found.upper).all()


def test_nonempty_sets_are_never_empty():
    toy = classes(50)
    for level in (0.5, 1.0):
        sets = quietly(PredictionSets(toy, level, nonempty=True), toy, 30)
        found = sets.predict(np.arange(50))
        best = toy.space_.restore(toy.predictions)
        assert all(name in members for name, members in zip(best, found))
        assert sets.includes(np.arange(50), best).all()


@pytest.mark.parametrize("truth", [0, 1])
def test_all_labels_or_none(truth):
    """Where nothing can be missed all may be excluded; where all is true nothing is false."""
    space = LabelSets(list("abc")).fit(np.ones((1, 3), int))
    toy = Toy(space, np.full((30, 3), 0.5), np.full((30, 3), truth, np.int8))
    missed = quietly(RiskControl(toy, 0.1), toy, 30)
    false = quietly(RiskControl(toy, 0.1, risk="false_labels"), toy, 30)
    assert_array_equal(missed.predict([0]).possible, [[truth] * 3])
    assert_array_equal(false.predict([0]).certain, [[truth] * 3])
    sure = quietly(RiskControl(toy, 0.2, risk="false", delta=0.1), toy, 30)
    assert_array_equal(sure.predict([0]).certain, [[truth] * 3])


@pytest.mark.parametrize("name", PARTS)
def test_constant_scores(name):
    """All parts alike: either all are asserted or none is, and the risk is that of one of both."""
    toy = PARTS[name](40)
    constant = np.broadcast_to(toy.P[:1], toy.P.shape)
    toy = Toy(toy.space_, constant, toy.Z)
    for level in (0.05, 0.3, 0.7):
        for risk in MONOTONE:
            control = quietly(RiskControl(toy, level, risk=risk), toy, 40)
            nested = control.predict([0, 1, 2])
            assert_array_equal(nested.certain[0], nested.certain[1])
            curve = control.curves_[0]
            assert curve.mean(control.thresholds_[0]) * 40 + 1 <= level * 41 + 1e-9


def test_groups_of_one_row():
    toy = tree(6)
    control = RiskControl(toy, 0.3)
    with pytest.warns(UserWarning, match="1 calibration rows of group 0"):
        control.calibrate(np.arange(6), toy.y(np.arange(6)), groups=np.arange(6))
    assert control.vacuous_ == [True] * 6
    assert_array_equal(control.predict([0], groups=[3]).possible, [[1, 1, 1, 1]])
    half = quietly(RiskControl(toy, 0.5), toy, 6, groups=list("aaaaab"))
    assert half.groups_ == ["a", "b"]


def test_bigger_levels_never_assert_less():
    for name, make in PARTS.items():
        toy = make(60)
        for risk in [*MONOTONE, "false"]:
            cuts = [
                quietly(RiskControl(toy, level, risk=risk), toy, 60).thresholds_[0]
                for level in (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0)
            ]
            assert cuts == sorted(cuts, reverse=True), (name, risk)
        cuts = [
            quietly(PredictionSets(toy, level), toy, 60).thresholds_[0]
            for level in (0.05, 0.2, 0.6)
        ]
        assert cuts == sorted(cuts, reverse=True)


def test_abstention_at_the_edge_of_its_promise():
    """All rows score alike and the risk is just above the level: rows are kept with delta at most.

    Fails with probability 0.001 for a test of exactly this size.
    """
    rng, n, level, delta, repeats = np.random.default_rng(0), 80, 0.3, 0.2, 1000
    space = Classes(["a", "b"]).fit(["a", "b"])
    y = (rng.random(n * repeats) < level + 1e-9).astype(int)
    zeros = np.zeros(n * repeats, int)
    toy = Toy(space, None, y, predictions=zeros, risks=zeros.astype(float)).plain()
    sure = Abstention(toy, level, delta=delta, loss="zero_one")
    kept = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for r in range(repeats):
            X = np.arange(r * n, (r + 1) * n)
            kept += not sure.calibrate(X, y[X]).vacuous_[0]
    assert 0.5 * delta * repeats < kept <= binom.ppf(0.999, repeats, delta)


@pytest.mark.parametrize("loss", ["learner", "zero_one"])
def test_rows_that_are_withheld_do_not_count(loss):
    """Half of the rows score low and are wrong just too often, the others always: none may be kept.

    Fails with probability 0.001 for a test of exactly the size delta.
    """
    rng, n, level, delta, repeats = np.random.default_rng(1), 80, 0.3, 0.2, 1000
    space = Classes(["a", "b"]).fit(["a", "b"])
    doubt = rng.integers(0, 2, n * repeats)
    y = np.where(doubt, 1, rng.random(n * repeats) < level + 1e-9).astype(int)
    toy = Toy(
        space, None, y, predictions=np.zeros_like(y), risks=doubt.astype(float),
        loss=lambda a, b: (a != b).astype(float),
    ).plain()  # fmt: skip
    sure = Abstention(toy, level, delta=delta, loss=loss, loss_bound=1.0)
    kept = ~np.array(quietly(sure, toy, len(y), groups=np.repeat(range(repeats), n)).vacuous_)
    assert kept.sum() <= binom.ppf(0.999, repeats, delta)


def test_two_items_and_one_label():
    toy = rankings(20)
    pair = Toy(type(toy.space_)(2).fit([[1, 2]]), toy.P[:, :2, :2], np.array([[1.0, 2.0]] * 20))
    control = quietly(RiskControl(pair, 0.3, risk="wrong"), pair, 20)
    assert len(control.predict([0]).possible[0]) in (1, 2)
    space = LabelSets(["only"]).fit([[1]])
    one = Toy(space, np.linspace(0, 1, 20)[:, None], np.ones((20, 1), np.int8))
    assert_array_equal(quietly(RiskControl(one, 0.1), one, 20).predict([19]).possible, [[1]])
