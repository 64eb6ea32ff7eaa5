# SPDX-License-Identifier: BSD-3-Clause
"""The classes as they are used: formats, groups, weights, errors, copies and files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conformal.toys import ALL, PARTS, all_orders, classes, labels, quantities, tree
from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.conformal import Abstention, PredictionSets, RiskControl
from skstruct.persistence import load_model, save_model
from skstruct.spaces import Hierarchy, Interval, LabelSets

EDGES = [("animal", "cat"), ("animal", "dog"), ("cat", "lion")]


def noisy_names(n=260, seed=0):
    """Inputs, and the labels of a small hierarchy as lists of names."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    U = X + 0.5 * rng.normal(size=X.shape)
    Y = [
        [name for name, there in zip(("animal", "cat", "lion", "dog"), row) if there]
        for row in zip(U[:, 0] > -1, U[:, 0] > 0, U[:, 0] > 1, (U[:, 0] > -1) & (U[:, 1] > 0))
    ]
    return X, Y


@pytest.fixture(scope="module")
def fitted():
    X, Y = noisy_names()
    return ExponentialFamily(Hierarchy(EDGES), alpha=0.1).fit(X[:60], Y[:60]), X[60:], Y[60:]


# ------------------------------------------------------------------- end to end
def test_a_hierarchy_by_names(fitted):
    learner, X, Y = fitted
    control = RiskControl(learner, 0.1, risk="wrong").calibrate(X[:150], Y[:150])
    nested = control.predict(X[150:])
    ancestors = {"cat": "animal", "dog": "animal", "lion": "cat"}
    for certain, possible in zip(nested.certain, nested.possible):
        assert set(certain) <= set(possible)
        for found in (certain, possible):
            assert all(ancestors[name] in found for name in found if name in ancestors)
    assert 0 < control.withheld_ < 1
    assert "at most 0.1 in expectation" in control.promise_
    assert "not for each of them" in control.promise_


def test_parts_of_a_hierarchy_go_up(fitted):
    learner, X, Y = fitted
    sure = Abstention(learner, 0.2, of="parts").calibrate(X[:150], Y[:150])
    kept = sure.predict(X[150:])
    labels_ = learner.space_.labels_
    for names, mask in zip(kept.outputs, kept.kept):
        assert set(names) == {labels_[j] for j in np.flatnonzero(mask)}
    assert 0 < sure.kept_share_ < 1
    assert "parts that are kept" in sure.promise_


def test_files_and_copies(fitted, tmp_path):
    learner, X, Y = fitted
    made = [
        RiskControl(learner, 0.1, risk="wrong").calibrate(X, Y, groups=["a", "b"] * 100),
        RiskControl(learner, 0.2, risk="false", delta=0.1).calibrate(X, Y),
        Abstention(learner, 0.2, of="parts").calibrate(X, Y),
        PredictionSets(learner, 0.1).calibrate(X, Y),
    ]
    for number, predictor in enumerate(made):
        path = tmp_path / f"{number}.skstruct"
        save_model(predictor, path)
        loaded = load_model(path)
        groups = {"groups": ["b", "a", "a"]} if predictor.groups_ else {}
        before, after = predictor.predict(X[:3], **groups), loaded.predict(X[:3], **groups)
        for name in vars(before):
            a, b = getattr(before, name), getattr(after, name)
            assert (a == b) if isinstance(a, list) else np.array_equal(a, b)
        assert loaded.promise_ == predictor.promise_
        assert repr(loaded) == repr(predictor)
        fresh = clone(predictor)
        assert fresh.get_params(deep=False) == predictor.get_params(deep=False)
        with pytest.raises(NotFittedError, match="not calibrated yet"):
            fresh.predict(X[:3])


def test_rows_of_a_learner_with_risks():
    """Rows are withheld by the estimated risk, in units of the learner's own loss."""
    X, Y = noisy_names(300)
    learner = ConditionalRiskMinimizer(Hierarchy(EDGES), "hamming", alpha=1.0).fit(X[:60], Y[:60])
    sure = Abstention(learner, 0.8).calibrate(X[60:260], Y[60:260])
    kept = sure.predict(X[260:])
    assert_array_equal(kept.kept, learner.predict_risk(X[260:]) <= sure.thresholds_[0])
    assert sure.kept_share_ > 0
    for row, (output, keep) in enumerate(zip(kept.outputs, kept.kept)):
        assert output == (learner.predict(X[260 + row : 261 + row])[0] if keep else None)


def test_intervals_of_a_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 1))
    y = X[:, 0] + 0.3 * rng.normal(size=150)
    learner = ConditionalRiskMinimizer(Interval(), "squared", alpha=0.1).fit(X[:50], y[:50])
    sets = PredictionSets(learner, 0.1).calibrate(X[50:], y[50:])
    found = sets.predict(X[:5])
    assert found.lower.shape == found.upper.shape == y[:5].shape
    assert (found.lower < found.upper).all()


def test_frames_in_frames_out():
    pandas = pytest.importorskip("pandas")
    X, Y = noisy_names(100)
    table = pandas.DataFrame(X, columns=["u", "v"], index=[f"r{i}" for i in range(100)])
    truth = pandas.DataFrame(
        [["animal" in y, "cat" in y] for y in Y], columns=["animal", "cat"], index=table.index
    ).astype(int)
    learner = ExponentialFamily(LabelSets(), alpha=0.1).fit(table[:40], truth[:40])
    control = RiskControl(learner, 0.2).calibrate(table[40:], truth[40:])
    nested = control.predict(table[:3])
    assert list(nested.possible.columns) == ["animal", "cat"]
    assert list(nested.possible.index) == ["r0", "r1", "r2"]


# ------------------------------------------------------------------- formats
def test_formats_of_every_structure():
    for name, make in PARTS.items():
        toy = make(60)
        nested = RiskControl(toy, 0.2, risk="wrong").calibrate(np.arange(50), toy.y(np.arange(50)))
        found = nested.predict(np.arange(50, 60))
        assert len(found.certain) == len(found.possible) == 10
        if name == "rankings":
            assert all(isinstance(pair, tuple) for row in found.certain for pair in row)
        if name == "sequences":
            assert {len(row) for row in found.certain} == {4}
            assert any(None in row for row in found.certain)
            assert all(
                symbol in options if symbol is not None else len(options) == 3
                for sure, sets in zip(found.certain, found.possible)
                for symbol, options in zip(sure, sets)
            )
        if name == "classes":
            assert set(found.certain) <= {*"wxyz", None}
        if name == "levels":
            assert all(row == tuple(range(row[0], row[-1] + 1)) for row in found.possible)


def test_possible_levels_and_symbols():
    toy = ALL["levels"](80)
    rows = np.arange(60)
    found = RiskControl(toy, 0.3).calibrate(rows, toy.y(rows)).predict(np.arange(60, 80))
    for options in found.possible:
        assert options == tuple(range(options[0], options[-1] + 1)) if options else True
    sets = PredictionSets(toy, 0.3, score="aps").calibrate(rows, toy.y(rows))
    for options in sets.predict(np.arange(60, 80)):
        assert options == tuple(range(options[0], options[-1] + 1)) if options else True


@pytest.mark.parametrize("name", ["labels", "tree", "dag", "rankings", "sequences"])
def test_whole_outputs_are_listed_as_they_are_tested(name):
    """The listed members are all outputs of the space whose score is up to the threshold."""
    toy = PARTS[name](40)
    rows = np.arange(30)
    sets = PredictionSets(toy, 0.3, most=200).calibrate(rows, toy.y(rows))
    found = sets.predict(np.arange(30, 34))
    every = all_orders(4) if name == "rankings" else toy.space_.enumerate()
    assert found.complete.all()
    assert_array_equal(sets.count(np.arange(30, 34)), [len(row) for row in found.members])
    for i, members in enumerate(found.members, 30):
        inside = sets.includes(np.full(len(every), i), toy.space_.restore(every))
        expected = sorted(map(str, list(toy.space_.restore(every[inside]))))
        assert sorted(map(str, members)) == expected
    short = PredictionSets(toy, 0.01, most=2)
    with pytest.warns(UserWarning, match="cannot be met"):
        short.calibrate(rows, toy.y(rows))
    listed = short.predict([30])
    assert len(listed.members[0]) == 2
    assert not listed.complete[0]
    assert short.count([30], most=7)[0] == 7 if len(every) >= 7 else True


def test_intervals_are_where_the_scores_say():
    toy = quantities(200)
    rows, new = np.arange(100), np.arange(100, 200)
    for score in ("absolute", "normalized", "interval"):
        sets = PredictionSets(toy, 0.2, score=score).calibrate(rows, toy.y(rows))
        found = sets.predict(new)
        y = np.ravel(toy.Z[new])
        inside = (np.ravel(found.lower) <= y) & (y <= np.ravel(found.upper))
        assert_array_equal(inside, sets.includes(new, toy.y(new)))
    with pytest.raises(ValueError, match="more numbers than can be counted"):
        sets.count(new)
    widths = PredictionSets(toy, 0.2).calibrate(rows, toy.y(rows)).predict(new)
    assert_allclose(
        np.diff([np.ravel(widths.lower), np.ravel(widths.upper)], axis=0).std(), 0, atol=1e-9
    )


def test_scores_of_classes_by_definition():
    toy = classes(50)
    toy.P[:10] = [0.25, 0.125, 0.375, 0.25]  # ties
    for score in ("lac", "aps"):
        rule = PredictionSets(toy, 0.1, score=score)._rule()
        found = rule.read(np.arange(50))
        for i in range(50):
            p = toy.P[i]
            for k in range(4):
                naive = 1 - p[k] if score == "lac" else sum(q for q in p if q >= p[k])
                assert found[i, k] == pytest.approx(naive)


# ------------------------------------------------------------------- rows
def test_rows_are_kept_by_what_the_learner_says():
    toy = classes(400)
    rows, new = np.arange(300), np.arange(300, 400)
    sure = Abstention(toy, 0.4, loss_bound=1.0).calibrate(rows, toy.y(rows))
    kept = sure.predict(new)
    assert_array_equal(kept.kept, toy.risks[new] <= sure.thresholds_[0])
    predictions = toy.predict(new)
    assert kept.outputs == [y if k else None for y, k in zip(predictions, kept.kept)]
    by_marginals = Abstention(toy, 0.4, by="marginals", loss="zero_one").calibrate(
        rows, toy.y(rows)
    )
    assert_allclose(by_marginals._row_scores(new), toy.risks[new])
    with pytest.raises(ValueError, match="give loss_bound"):
        Abstention(toy, 0.4).calibrate(rows, toy.y(rows))
    with pytest.raises(ValueError, match=r"losses are from 0 to 0\.5"):
        Abstention(toy, 0.4, loss_bound=0.5).calibrate(rows, toy.y(rows))
    with pytest.raises(ValueError, match="no sample_weight"):
        Abstention(toy, 0.4).calibrate(rows, toy.y(rows), sample_weight=np.ones(300))


def test_parts_that_stay_open():
    for name in ("labels", "rankings", "sequences"):
        toy = PARTS[name](400)
        rows, new = np.arange(300), np.arange(300, 400)
        sure = Abstention(toy, 0.25, of="parts").calibrate(rows, toy.y(rows))
        kept = sure.predict(new)
        if name == "sequences":
            said = [[symbol is not None for symbol in row] for row in kept.outputs]
            assert_array_equal(kept.kept, said)
        if name == "rankings":
            assert_array_equal(kept.kept, kept.kept.transpose(0, 2, 1))
            assert_array_equal(kept.kept.sum(axis=(1, 2)), [2 * len(row) for row in kept.outputs])
        if name == "labels":
            assert not np.asarray(kept.outputs)[~kept.kept].any()


# ------------------------------------------------------------------- groups and weights
def test_groups_are_calibrated_alone():
    toy = labels(120)
    groups = np.array(["x", "y"])[(np.arange(120) >= 50).astype(int)]
    control = RiskControl(toy, 0.2).calibrate(np.arange(120), toy.y(np.arange(120)), groups=groups)
    alone = RiskControl(toy, 0.2).calibrate(np.arange(50), toy.y(np.arange(50)))
    assert control.groups_ == ["x", "y"]
    assert control.thresholds_[0] == alone.thresholds_[0]
    assert_array_equal(
        control.predict([3, 4], groups=["x", "x"]).possible, alone.predict([3, 4]).possible
    )
    assert "within each group" in control.promise_
    with pytest.raises(ValueError, match="row 1 is of group 'z'"):
        control.predict([3, 4], groups=["x", "z"])
    with pytest.raises(ValueError, match="give groups of new rows"):
        control.predict([3, 4])
    with pytest.raises(ValueError, match="leave out groups"):
        alone.predict([3], groups=["x"])
    with pytest.raises(ValueError, match="groups has 1 entries; there are 2 rows"):
        control.predict([3, 4], groups=["x"])
    with pytest.raises(ValueError, match=r"groups\[1\] is None"):
        control.predict([3, 4], groups=["x", None])


def test_equal_weights_change_nothing():
    toy = labels(80)
    rows, new = np.arange(60), np.arange(60, 80)
    plain = RiskControl(toy, 0.2).calibrate(rows, toy.y(rows))
    even = RiskControl(toy, 0.2).calibrate(rows, toy.y(rows), sample_weight=np.full(60, 3.0))
    assert_array_equal(
        even.predict(new, weights=np.full(20, 3.0)).possible, plain.predict(new).possible
    )
    assert even.predict(new[:1], weights=[1e9]).possible.all()  # nothing is known there
    assert "ratios of densities" in even.promise_
    with pytest.raises(ValueError, match="weights if, and only if"):
        even.predict(new)
    with pytest.raises(ValueError, match="weights if, and only if"):
        plain.predict(new, weights=np.ones(20))
    with pytest.raises(ValueError, match="sample_weight has a finite number"):
        even.calibrate(rows, toy.y(rows), sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="in expectation only"):
        RiskControl(toy, 0.2, delta=0.1).calibrate(rows, toy.y(rows), sample_weight=np.ones(60))


# ------------------------------------------------------------------- refusals
def test_what_is_refused():
    toy = labels(20)
    rows, y = np.arange(20), toy.y(np.arange(20))
    for level in (-0.1, 1.1, "much", None, float("nan")):
        for kind in (RiskControl, PredictionSets):
            with pytest.raises(ValueError, match="level is a number from 0 to 1"):
                kind(toy, level).calibrate(rows, y)
    with pytest.raises(ValueError, match="risk is one of missed"):
        RiskControl(toy, risk="any").calibrate(rows, y)
    with pytest.raises(ValueError, match="delta is a probability"):
        RiskControl(toy, delta=2.0).calibrate(rows, y)
    with pytest.raises(ValueError, match="score is one of gap"):
        PredictionSets(toy, score="lac").calibrate(rows, y)
    with pytest.raises(ValueError, match="of is 'rows' or 'parts'"):
        Abstention(toy, 0.1, of="all").calibrate(rows, y)
    with pytest.raises(ValueError, match="no parts with probabilities"):
        RiskControl(quantities(5)).calibrate([0], [0.0])
    with pytest.raises(ValueError, match="no threshold is shown by 20"):
        RiskControl(toy, 0.01, risk="f1").calibrate(rows, y)
    crossed = quantities(5)
    crossed.intervals = crossed.intervals[::-1]
    with pytest.raises(ValueError, match="lower end above"):
        PredictionSets(crossed, 0.5, score="interval").calibrate([0, 1], crossed.y([0, 1]))
    with pytest.raises(NotFittedError, match="learner is not fitted"):
        RiskControl(ExponentialFamily()).calibrate([[0.0]], ["a"])


def test_more_costly_labels_are_missed_less():
    toy = tree(400)
    rows = np.arange(300)
    deep = {"d": 50.0}
    plain = RiskControl(toy, 0.2).calibrate(rows, toy.y(rows))
    costly = RiskControl(toy, 0.2, weights=deep).calibrate(rows, toy.y(rows))
    column = list(toy.space_.labels_).index("d")
    new = np.arange(300, 400)
    missed = [
        (toy.Z[new, column] > np.asarray(c.predict(new).possible)[:, column]).sum()
        for c in (plain, costly)
    ]
    assert missed[1] <= missed[0]


def test_intervals_do_not_end_where_training_rows_did():
    """Heavy tails: outputs of new rows are beyond those of training, and still within intervals."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 1))
    y = X[:, 0] + rng.standard_t(2, size=900)
    learner = ConditionalRiskMinimizer(Interval(), kernel="rbf", alpha=1.0).fit(X[:20], y[:20])
    sets = PredictionSets(learner, level=0.1).calibrate(X[20:400], y[20:400])
    found = sets.predict(X[400:])
    inside = (found.lower <= y[400:]) & (y[400:] <= found.upper)
    np.testing.assert_array_equal(inside, sets.includes(X[400:], y[400:]))
    given = ConditionalRiskMinimizer(Interval(-1, 1), kernel="rbf", alpha=1.0)
    given.fit(X[:20], np.clip(y[:20], -1, 1))
    sets = PredictionSets(given, level=0.1).calibrate(X[20:400], np.clip(y[20:400], -1, 1))
    assert np.min(sets.predict(X[400:]).lower) >= -1
