# SPDX-License-Identifier: BSD-3-Clause
"""Judging by truths of which parts are missing: brute force over all completions is the judge."""

from itertools import product

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from skstruct import (
    ConditionalRiskMinimizer,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.conformal import Abstention, PredictionSets, RiskControl
from skstruct.losses import FBeta, Hamming, resolve_loss
from skstruct.model_selection import (
    area_under_prc,
    compare,
    completion_bounds,
    evaluate,
    hierarchical_f,
    label_ranking_average_precision,
    loss_scorer,
    macro_average_precision,
    marginal_scorer,
    micro_average_precision,
)
from skstruct.spaces import (
    Box,
    Classes,
    Embeddings,
    Hierarchy,
    LabelSets,
    OneOf,
    Rankings,
    Sequences,
)
from skstruct.spaces.truth import read_truth, told_mean

SETS = {
    "sets": LabelSets(range(4)),
    "sized": LabelSets(range(4), min_size=1, max_size=2),
    "tree": Hierarchy([(0, 1), (0, 2), (2, 3)], labels=range(5)),
    "dag": Hierarchy([(0, 1), (0, 2), (1, 3), (2, 3)], labels=range(5)),
}
LOSSES = ("hamming", "f1", FBeta(0.5), Hamming(miss=3.0, weights=[1, 2, 3, 4]), "zero_one")
SEEDS = st.integers(0, 10**6)


def bound_to(loss, space):
    loss = resolve_loss(loss)
    return loss.bind(Embeddings.of(space).view(loss.embedding_on(space), space.enumerate()))


def brute(loss, listed, predicted, truth, known):
    """Least and largest loss over the listed outputs that agree with what is known."""
    ends = []
    for z, y, seen in zip(predicted, truth, known):
        agree = listed[((listed == y) | ~seen).reshape(len(listed), -1).all(axis=1)]
        losses = loss(np.repeat(z[None], len(agree), axis=0), agree)
        ends.append((losses.min(), losses.max()))
    return np.transpose(ends)


def drawn(listed, seed, n=12):
    rng = np.random.default_rng(seed)
    predicted, truth = (listed[rng.integers(len(listed), size=n)] for _ in range(2))
    return predicted, truth, rng.random(truth.shape) < rng.random()


@pytest.mark.parametrize("name", SETS)
@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_ends_of_sets_are_those_of_all_completions(name, seed):
    space = SETS[name]
    listed = space.enumerate()
    predicted, truth, known = drawn(listed, seed)
    losses = list(LOSSES) if len(space.labels_) == 4 else ["hamming", "f1", "zero_one"]
    losses += ["hierarchical"] if name in ("tree", "dag") else []
    for loss in losses:
        found = completion_bounds(loss, space, predicted, np.where(known, truth, np.nan))
        expected = brute(bound_to(loss, space), listed, predicted, truth, known)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_ends_of_hamming_are_a_closed_form(seed):
    predicted, truth, known = drawn(LabelSets(range(4)).enumerate(), seed)
    lower, upper = completion_bounds("hamming", LabelSets(range(4)), predicted, truth, known)
    assert np.array_equal(lower, ((predicted != truth) & known).sum(axis=1))
    assert np.array_equal(upper, lower + (~known).sum(axis=1))


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_ends_of_sequences(seed):
    space = Sequences("abc", length=3)
    space.fit(["abc", "cab"])
    listed = np.array(list(product(range(3), repeat=3)))
    predicted, truth, known = drawn(listed, seed)
    known[0, 0] = True
    y = [["abc"[s] if seen else None for s, seen in zip(*row)] for row in zip(truth, known)]
    for loss in ("hamming", "zero_one"):
        found = completion_bounds(loss, space, space.restore(predicted), y)
        plain = resolve_loss(loss)
        plain = plain.bind(space) if loss == "hamming" else plain
        expected = brute(plain, listed, predicted, truth, known)
        np.testing.assert_allclose(found, expected)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_ends_of_classes_and_of_sets_of_candidates(seed):
    rng, names = np.random.default_rng(seed), np.array(["a", "b", "c", "d"])
    predicted = rng.choice(names, 8)
    allowed = rng.random((8, 4)) < 0.5
    allowed[~allowed.any(axis=1), 0] = True
    y = [set(names[row].tolist()) for row in allowed]
    lower, upper = completion_bounds("zero_one", Classes(names), predicted, y)
    differ = predicted[:, None] != names
    assert np.array_equal(lower, [row[ok].min() for row, ok in zip(differ, allowed)])
    assert np.array_equal(upper, [row[ok].max() for row, ok in zip(differ, allowed)])


@given(SEEDS, st.sampled_from(["squared", "absolute", "huber"]))
@settings(max_examples=25, deadline=None)
def test_ends_of_boxes_hold_and_are_reached(seed, loss):
    rng = np.random.default_rng(seed)
    low, high = np.array([0.0, -1.0, 2.0]), np.array([1.0, 1.0, 5.0])
    space = Box(low, high, labels=range(3))
    predicted, truth = (rng.uniform(low, high, (6, 3)) for _ in range(2))
    known = rng.random((6, 3)) < 0.5
    lower, upper = completion_bounds(loss, space, predicted, np.where(known, truth, np.nan))
    plain = resolve_loss(loss)
    corners = [np.where(known, truth, corner) for corner in product(*zip(low, high))]
    inside = [np.where(known, truth, rng.uniform(low, high, (6, 3))) for _ in range(50)]
    losses = np.array([plain(predicted, ends) for ends in [*corners, *inside]])
    np.testing.assert_allclose(upper, losses.max(axis=0))
    np.testing.assert_allclose(lower, plain(predicted, np.where(known, truth, predicted)))
    assert (lower <= losses.min(axis=0) + 1e-12).all()


def test_numbers_without_limits_have_no_upper_end():
    space = Box().fit([[0.0, 1.0], [1.0, 3.0]])
    lower, upper = completion_bounds("squared", space, [[0.5, 2.0]], [[0.0, np.nan]])
    assert lower == [0.25]
    assert upper == [np.inf]


def test_ends_hold_where_outputs_are_too_many_to_be_listed():
    edges = [(0, j) for j in range(1, 14)] + [(j, 14) for j in range(1, 3)]
    space = Hierarchy(edges, labels=range(15))
    rng = np.random.default_rng(0)
    truth = np.hstack([np.ones((9, 1)), rng.integers(0, 2, (9, 13)), np.zeros((9, 1))])
    known = rng.random(truth.shape) < 0.7
    predicted = np.roll(truth, 1, axis=0)
    lower, upper = completion_bounds("f1", space, predicted, truth, known)
    losses = resolve_loss("f1")(predicted, truth)
    assert (lower <= losses).all()
    assert (losses <= upper).all()
    assert (upper < 1).any()


# ------------------------------------------------------------- models
def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 4)) > 0).astype(float)
    known = rng.random(Y.shape) < 0.6
    known[:4] = False
    return X, Y, known


@pytest.fixture(scope="module")
def model():
    X, Y, _ = problem(seed=1)
    return ConditionalRiskMinimizer(alpha=0.1).fit(X, Y)


def test_losses_are_those_on_what_is_known(model):
    X, Y, known = problem()
    gaps = np.where(known, Y, np.nan)
    says = known.any(axis=1)
    estimates = {e.loss: e for e in evaluate(model, X, gaps, missing="bounds")}
    wrong = ((model.predict(X) != Y) & known).sum(axis=1)[says]
    assert np.isclose(estimates["hamming"].mean, wrong.mean())
    assert estimates["hamming"].n == says.sum()
    assert np.isclose(model.score(X, gaps), -wrong.mean())
    assert np.isclose(loss_scorer("hamming")(model, X, Y, known), -wrong.mean())
    f1 = [
        f1_score(y[seen], z[seen], zero_division=1.0)
        for y, z, seen in zip(Y, model.predict(X, loss="f1"), known)
        if seen.any()
    ]
    assert np.isclose(estimates["f1"].mean, 1 - np.mean(f1))
    whole = {e.loss: e.mean for e in evaluate(model, X, Y)}
    for name, estimate in estimates.items():
        assert estimate.lower <= whole[name] <= estimate.upper
        share = 1 - known.mean()
        assert estimate.unknown.startswith(f"{share:.0%}".replace("%", " % of the labels"))
        assert estimate.unknown.endswith("4 of 60 rows say nothing.")


def test_all_ways_of_saying_what_is_missing_are_the_same(model):
    X, Y, known = problem()
    gaps = np.where(known, Y, np.nan)
    masked = np.ma.masked_array(Y, ~known)
    expected = evaluate(model, X, gaps, missing="bounds")
    assert evaluate(model, X, masked, missing="bounds") == expected
    assert evaluate(model, X, Y, known=known, missing="bounds") == expected
    assert model.score(X, masked) == model.score(X, gaps)
    frame = pandas.DataFrame(gaps, columns=[f"l{j}" for j in range(4)])
    named = ConditionalRiskMinimizer(alpha=0.1).fit(X, frame.fillna(0).astype(int))
    assert named.score(X, frame[frame.columns[::-1]]) == named.score(X, frame)


def test_what_is_masked_leaks_nowhere(model, tmp_path):

    X, Y, known = problem()
    other = np.where(known, Y, 1 - Y)
    first, second = (np.ma.masked_array(truth, ~known) for truth in (Y, other))
    assert evaluate(model, X, first, missing="bounds") == evaluate(
        model, X, second, missing="bounds"
    )
    for name in ("micro_average_precision", "macro_average_precision", "hierarchical_f1"):
        scorer = marginal_scorer(name)
        assert scorer(model, X, first) == scorer(model, X, second)


def test_with_nothing_missing_all_is_as_it_was(model):
    X, Y, _ = problem()
    plain = evaluate(model, X, Y)
    for same in (
        evaluate(model, X, Y, known=np.ones(Y.shape, bool)),
        evaluate(model, X, np.ma.masked_array(Y)),
    ):
        assert repr(same) == repr(plain)
        assert all(np.array_equal(a.losses, b.losses) for a, b in zip(same, plain))
    ends = evaluate(model, X, Y, missing="bounds")
    assert all(e.lower == e.upper == pytest.approx(e.mean) for e in ends)


def test_sample_weights_go_with_rows_that_say_something(model):
    X, Y, known = problem()
    weight = np.arange(60.0)
    losses = ((model.predict(X) != Y) & known).sum(axis=1)
    expected = np.average(losses[4:], weights=weight[4:])
    assert np.isclose(model.score(X, np.where(known, Y, np.nan), weight), -expected)


def test_learners_are_compared_by_what_is_known():
    X, Y, known = problem()
    learners = {
        "ridge": ConditionalRiskMinimizer(alpha=0.1),
        "family": ExponentialFamily(LabelSets(), alpha=0.1),
        "perceptron": StructuredPerceptron(LabelSets()),
    }
    gaps = np.where(known, Y, np.nan)
    scoring = {"area": marginal_scorer("micro_average_precision")}
    found = compare(learners, X, gaps, cv=2, losses=["hamming"], scoring=scoring)
    assert set(found.failed) == {"perceptron"}
    assert found.unknown.endswith("4 of 60 rows say nothing.")
    assert np.isnan(found.losses["hamming"][:4]).all()
    assert np.isfinite([row.mean for row in found.rows]).all()
    assert np.isfinite(found.scores["area"]).all()
    same = compare(learners, X, Y, known=known, cv=2, losses=["hamming"], scoring=scoring)
    assert np.array_equal(same.losses["hamming"], found.losses["hamming"], equal_nan=True)


def test_nothing_known_and_a_wrong_choice_are_said(model):
    X, Y, _ = problem()
    with pytest.raises(ValueError, match="Nothing is known of any row"):
        evaluate(model, X, np.full(Y.shape, np.nan))
    with pytest.raises(ValueError, match='"known" or "bounds"'):
        evaluate(model, X, Y, missing="mean")
    with pytest.raises(ValueError, match="nothing to judge by"):
        told_mean(np.array([np.nan]))


# ------------------------------------------------------------- measures
@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_measures_leave_out_what_is_not_known(seed):
    rng = np.random.default_rng(seed)
    scores, truth = rng.integers(0, 5, (12, 3)) / 4, rng.integers(0, 2, (12, 3))
    known = rng.random((12, 3)) < 0.7
    known[:2] = True
    truth[:2] = [[1, 1, 1], [0, 0, 0]]
    pooled = scores[known], truth[known]
    found = micro_average_precision(scores, truth, known=known)
    assert np.isclose(found, average_precision_score(pooled[1], pooled[0]))
    columns = [average_precision_score(truth[k, j], scores[k, j]) for j, k in enumerate(known.T)]
    assert np.isclose(macro_average_precision(scores, truth, known=known), np.mean(columns))
    rows = [
        label_ranking_average_precision([s[k]], [y[k]])
        for s, y, k in zip(scores, truth, known)
        if k.any()
    ]
    assert np.isclose(label_ranking_average_precision(scores, truth, known=known), np.mean(rows))
    for how in ("counts", "linear"):
        area = area_under_prc(scores, truth, interpolation=how, known=known)
        flat = pooled[0][None], pooled[1][None]
        assert np.isclose(area, area_under_prc(*flat, interpolation=how))
    sets = scores > 0.5
    found = hierarchical_f(sets, truth, known=known)
    assert np.isclose(found, f1_score(truth[known], sets[known], zero_division=0.0))


def test_a_measure_of_whole_outputs_is_left_out(model):
    X, Y, known = problem()
    with pytest.warns(UserWarning, match=r"needs whole outputs.* are not known"):
        assert np.isnan(marginal_scorer("precision_at_2")(model, X, Y, known))


# ------------------------------------------------------------- reports
def test_a_report_says_how_much_is_unknown(model, tmp_path):
    from skstruct.reports import write_report

    X, Y, known = problem()
    pages = []
    for place, truth in enumerate((Y, np.where(known, Y, 1 - Y))):
        gaps = np.ma.masked_array(truth, ~known)
        path = write_report(model, X, gaps, tmp_path / f"{place}.html", title="t")
        pages.append(path.read_text(encoding="utf-8"))
    assert "of the labels of the truth are not known; 4 of 60 rows say nothing." in pages[0]
    assert "shown as they were predicted" in pages[0]
    for section in ("losses", "labels", "calibration", "coverage", "examples"):
        first, second = (page.split(f'id="{section}"')[1].split("</section>")[0] for page in pages)
        assert first == second


def test_truths_are_read_by_the_names_that_a_space_has():
    space = LabelSets().fit([["a", "b"], ["c"]])
    truth = read_truth(space, [{"include": ["c"], "exclude": ["a"]}, None])
    assert truth.outputs.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert truth.known.tolist() == [[True, False, True], [False] * 3]
    assert truth.in_words(space) == (
        "67 % of the labels of the truth are not known; 1 of 2 rows say nothing."
    )
    with pytest.raises(ValueError, match="new"):
        read_truth(space, [{"include": ["new"]}])
    numbers = Box().fit(pandas.DataFrame({"x": [0.0, 1.0], "y": [2.0, 3.0]}))
    turned = pandas.DataFrame({"y": [2.5, np.nan], "x": [np.nan, 0.5]})
    truth = read_truth(numbers, turned)
    assert truth.known.tolist() == [[False, True], [True, False]]
    assert truth.outputs[truth.known].tolist() == [2.5, 0.5]


# ------------------------------------------------------------- calibration
def test_calibration_takes_rows_that_are_known_as_a_whole(model):
    X, Y, known = problem()
    known[30:] = True
    gaps, groups = np.where(known, Y, np.nan), np.arange(60) % 2
    whole = known.all(axis=1)
    for made in (
        lambda: RiskControl(model, level=0.3),
        lambda: PredictionSets(model, level=0.3),
        lambda: Abstention(model, level=0.9),
    ):
        with pytest.warns(UserWarning, match=r"of 60 rows of which parts are missing"):
            found = made().calibrate(X, gaps, groups=groups)
        expected = made().calibrate(X[whole], Y[whole], groups=groups[whole])
        assert np.array_equal(found.thresholds_, expected.thresholds_)
    machine = StructuredSVM(LabelSets()).fit(X, Y)
    with pytest.warns(UserWarning, match="StructuredSVM"):
        machine.calibrate(X, gaps)
    temperature = machine.temperature_
    assert machine.calibrate(X[whole], Y[whole]).temperature_ == temperature
    with pytest.raises(ValueError, match="no row of y is known as a whole"):
        RiskControl(model).calibrate(X, np.where(np.arange(4) == 0, np.nan, Y))


@pytest.mark.parametrize("predictor", [RiskControl, PredictionSets, Abstention])
def test_promises_do_not_take_what_follows_for_known(predictor):
    """A root that is out says all of a row: rows that are out would be kept more often."""
    X, rng = np.random.default_rng(3).normal(size=(80, 2)), np.random.default_rng(4)
    truth = np.cumprod(rng.random((80, 3)) < 0.7, axis=1)
    gaps = np.where(rng.random((80, 3)) < 0.3, np.nan, truth)
    seen = np.isfinite(gaps).all(axis=1)
    space = Hierarchy([("a", "b"), ("b", "c")])
    learner = ConditionalRiskMinimizer(space, kernel="rbf", alpha=1.0).fit(X, truth)
    with pytest.warns(UserWarning, match=f"{(~seen).sum()} of 80 rows"):
        found = predictor(learner, level=0.5).calibrate(X, gaps)
    expected = predictor(learner, level=0.5).calibrate(X[seen], truth[seen])
    assert found.thresholds_ == expected.thresholds_
    added = found.promise_.removeprefix(expected.promise_)
    assert added.startswith(f" {(~seen).sum()} of 80 calibration rows were left out")


def test_what_was_realised_is_that_of_rows_without_gaps(model):
    X, Y, known = problem()
    whole, groups = known.all(axis=1), np.arange(60) % 2
    control = RiskControl(model, level=0.3).calibrate(X, Y, groups=groups)
    with pytest.warns(UserWarning, match=r"RiskControl: \d+ of 60 rows"):
        found = control.realised(X, np.where(known, Y, np.nan), groups=groups)
    assert found == control.realised(X[whole], Y[whole], groups=groups[whole])
    assert found.n_rows == whole.sum()


def test_promises_leave_out_rankings_of_some_of_the_items():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    ranks = (X + rng.normal(size=X.shape)).argsort(axis=1).argsort(axis=1) + 1.0
    part = np.where((np.arange(60)[:, None] % 2 == 1) & (ranks > 2), np.nan, ranks)
    model = ConditionalRiskMinimizer(Rankings(4), "kendall", alpha=1.0).fit(X, ranks)
    with pytest.warns(UserWarning, match="30 of 60 rows"):
        found = RiskControl(model, level=0.3).calibrate(X, part)
    expected = RiskControl(model, level=0.3).calibrate(X[::2], ranks[::2])
    assert found.thresholds_ == expected.thresholds_
    ties = np.where(ranks > 2, 3.0, ranks)  # a tie is an answer
    assert RiskControl(model, level=0.3).calibrate(X, ties).n_left_out_ == 0


def test_the_best_constant_output_is_that_of_what_was_known_in_training():
    X, Y, known = problem()
    Y[:, 0] = 1.0
    known[:, 0] &= np.arange(len(Y)) % 3 == 0
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X, np.where(known, Y, np.nan))
    shares = [Y[seen, j].mean() for j, seen in enumerate(known.T)]
    (found,) = evaluate(model, X, Y, losses=["hamming"])
    assert np.isclose(found.baseline, ((np.array(shares) > 0.5) != Y).sum(axis=1).mean())


def test_ends_of_a_truth_that_is_one_of_several_are_those_of_the_list():
    space = LabelSets(["a", "b", "c"])
    truth = [OneOf([{"a"}, {"a", "b"}]), {"include": ["a"], "exclude": ["c"]}]
    lower, upper = completion_bounds("hamming", space, [{"c"}, {"c"}], truth)
    assert lower.tolist() == [2.0, 2.0]
    assert upper.tolist() == [3.0, 3.0]
