# SPDX-License-Identifier: BSD-3-Clause
"""Marginals of learners: coherent, by name, conditional, calibrated by rows that were left out."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredSVM,
)
from skstruct.learners.calibration import _with_likeliest, isotonic_map, logistic_map, refined
from skstruct.losses import Hamming, Listed
from skstruct.spaces import (
    Classes,
    Hierarchy,
    Interval,
    LabelSets,
    Marginals,
    Ordinal,
    Rankings,
    Sequences,
    Simplex,
    Sphere,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
SETS = (X + 0.5 * rng.normal(size=X.shape) > 0).astype(int)
CLOSED = SETS.copy()
CLOSED[:, 0] = CLOSED.max(axis=1)
TREE = Hierarchy([("top", "left"), ("top", "right")])
RANKS = np.argsort(np.argsort(X + 0.3 * rng.normal(size=X.shape), axis=1), axis=1) + 1
WORDS = ["".join("ab"[v] for v in row) for row in SETS]


def risk(space, loss=None, **settings):
    return ConditionalRiskMinimizer(space, loss, kernel="rbf", **settings)


@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
@pytest.mark.parametrize("space", [LabelSets(), TREE])
def test_labels_under_every_loss(space, loss):
    Y = SETS if isinstance(space, LabelSets) else CLOSED
    P = risk(space, loss).fit(X, Y).predict_marginals(X)
    assert P.shape == (80, 3)
    assert P.min() >= 0
    assert P.max() <= 1
    if space is TREE:
        assert (P[:, 1:] <= P[:, :1]).all()
    assert ((P - Y) ** 2).mean() < ((Y.mean(axis=0) - Y) ** 2).mean()


@pytest.mark.parametrize(
    "learner", [ConditionalRiskMinimizer, CountingRidge, OutputKernelRegressor]
)
def test_every_learner_that_smooths(learner):
    P = learner(TREE).fit(X, CLOSED).predict_marginals(X, restrict={"exclude": ["right"]})
    assert (P[:, 2] == 0).all()
    assert (P[:, 1] <= P[:, 0]).all()


@pytest.mark.parametrize("loss", ["kendall", "spearman", "footrule", "zero_one"])
@pytest.mark.parametrize("parts", ["pairs", "positions"])
def test_rankings_have_pairs_and_positions(loss, parts):
    P = risk(Rankings(), loss).fit(X, RANKS).predict_marginals(X, parts=parts)
    assert P.shape == (80, 3, 3)
    assert P.min() >= 0
    if parts == "pairs":
        assert_allclose(P + P.swapaxes(1, 2), 1.0)
    else:
        assert_allclose(P.sum(axis=1), 1.0, atol=1e-9)
        assert_allclose(P.sum(axis=2), 1.0, atol=1e-9)


def test_sequences_levels_and_quantities():
    words = risk(Sequences()).fit(X, WORDS)
    assert words.predict_marginals(X).shape == (80, 3, 2)
    known = words.predict_marginals(X, restrict={"known": {1: "a"}})
    assert_allclose(known[:, 1], np.tile([1.0, 0.0], (80, 1)), atol=1e-9)
    levels = risk(Ordinal()).fit(X, SETS.sum(axis=1))
    assert_allclose(levels.predict_proba(X).sum(axis=1), 1.0)
    numbers = risk(Interval(-1, 1)).fit(X, np.clip(X[:, 0], -1, 1))
    assert_allclose(numbers.predict_marginals(X)[:, 0], numbers.predict(X))
    assert not hasattr(numbers, "predict_proba")


def test_positions_of_tokens():
    rows = [rng.normal(size=(length, 2)) for length in (3, 1, 4, 2, 5, 3)]
    tags = [list(np.where(row[:, 0] > 0, "p", "n")) for row in rows]
    model = ConditionalRiskMinimizer(Sequences(), alpha=0.1).fit(rows, tags)
    found = model.predict_marginals(rows)
    assert [array.shape for array in found] == [(len(row), 2) for row in rows]
    assert_allclose(np.concatenate(found).sum(axis=1), 1.0)
    known = model.predict_marginals(rows[:1], restrict={"known": {0: "p"}})
    assert_allclose(known[0][0], [0.0, 1.0], atol=1e-9)


def test_names_and_index_come_along():
    table = pd.DataFrame(X, columns=list("uvw"), index=[f"r{i}" for i in range(80)])
    outputs = pd.DataFrame(SETS, columns=["sun", "rain", "wind"], index=table.index)
    model = risk(LabelSets()).fit(table, outputs)
    marginals = model.predict_marginals(table)
    assert list(marginals.columns) == ["sun", "rain", "wind"]
    assert_array_equal(marginals.index, table.index)
    assert isinstance(model.predict_proba(table), np.ndarray)
    plain = risk(Rankings()).fit(X, RANKS)
    assert isinstance(plain.predict_marginals(X), np.ndarray)
    named = plain.set_output(transform="pandas").predict_marginals(X)
    assert named.columns.nlevels == 2
    assert named.shape == (80, 9)
    with pytest.raises(ValueError, match='"default" or "pandas"'):
        plain.set_output(transform="polars")


def test_what_has_no_parts_says_so():
    directions = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = risk(Sphere()).fit(X, directions)
    with pytest.raises(ValueError, match="have no parts with probabilities"):
        model.predict_marginals(X)
    with pytest.raises(ValueError, match="parts is one of 'pairs', 'positions'"):
        risk(Rankings()).fit(X, RANKS).predict_marginals(X, parts="labels")


def test_rows_one_by_one_give_the_same():
    model = risk(TREE).fit(X, CLOSED)
    alone = np.vstack([model.predict_marginals(X[[i]]) for i in range(80)])
    assert_allclose(alone, model.predict_marginals(X), atol=1e-12)


# ------------------------------------------------------------------ calibration


def test_calibration_is_that_of_refits_without_each_row():
    model = ConditionalRiskMinimizer(
        LabelSets(), kernel="rbf", alpha=[0.3, 0.3000001], cv=None
    ).fit(X, SETS)
    from skstruct.kernels import RBF

    left = np.empty(SETS.shape)
    for i in range(80):
        rest = np.arange(80) != i
        settings = {"kernel": RBF(model.gamma_), "alpha": model.alpha_}
        other = ConditionalRiskMinimizer(LabelSets(), **settings).fit(X[rest], SETS[rest])
        left[i] = other.predict_marginals(X[[i]], calibrated=None)[0]
    expected = logistic_map(left, SETS.astype(float), np.ones(80))
    found = model.calibration_.logistic
    assert_allclose(found.shift, expected.shift, rtol=1e-3, atol=1e-3)
    assert_allclose(found.slope, expected.slope, rtol=1e-3)
    rising = refined(expected, left, SETS.astype(float), np.ones(80))
    grid = np.repeat(np.linspace(0.05, 0.95, 19)[:, None], 3, axis=1)
    assert_allclose(model.calibration_.isotonic(grid), rising(grid), atol=2e-3)


def test_rows_kept_apart_calibrate_too():
    """Outputs that are noisier than those of training pull probabilities towards one half."""
    model = risk(LabelSets()).fit(X, SETS)
    before = model.predict_marginals(X)
    noise = rng.normal(size=(400, 3))
    coins = rng.integers(2, size=(400, 3))
    after = model.calibrate(noise, coins).predict_marginals(X)
    assert np.abs(after - 0.5).mean() < np.abs(before - 0.5).mean() / 2
    assert model.calibration_.n_rows == 400


def test_maps():
    p, weight = rng.random((4000, 1)), np.ones(4000)
    happened = (rng.random((4000, 1)) < expit(-1.0 + 2.0 * np.log(p / (1 - p)))).astype(float)
    found = logistic_map(p, happened, weight)
    # Standard errors of both are about .05 with so many rows.
    assert_allclose([found.shift[0], found.slope], [-1.0, 2.0], atol=0.3)
    rising = refined(found, p, happened, weight)
    grid = np.linspace(0, 1, 50)[:, None]
    assert (np.diff(rising(grid), axis=0) >= 0).all()
    assert np.abs(rising(grid) - found(grid)).mean() < 0.05
    plain = isotonic_map(p[:, 0], happened[:, 0], weight)
    twice = isotonic_map(np.tile(p[:, 0], 2), np.tile(happened[:, 0], 2), np.ones(8000))
    assert_allclose(twice(grid), plain(grid), atol=1e-9)


def test_labels_of_any_frequency_are_calibrated_each():
    """Estimates that were drawn to their means are spread again, around the mean of each label."""
    usual = np.array([0.95, 0.5, 0.05])
    odds = np.log(usual / (1 - usual)) + rng.normal(size=(4000, 3))
    happened = (rng.random(odds.shape) < expit(odds)).astype(float)
    drawn = happened.mean(axis=0) + 0.4 * (expit(odds) - expit(odds).mean(axis=0))
    first = logistic_map(drawn, happened, np.ones(4000))
    for found in (first, refined(first, drawn, happened, np.ones(4000))):
        assert found(drawn).mean(axis=0) == pytest.approx(happened.mean(axis=0), abs=0.01)
        assert np.abs(found(drawn) - expit(odds)).mean() < np.abs(drawn - expit(odds)).mean() / 2


def test_the_class_that_is_predicted_stays_the_most_probable():
    """Shifts of classes move their order; shares are the nearest that keep the first."""
    found = np.array([[0.3, 0.4, 0.3], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.4, 0.0, 0.6]])
    kept = _with_likeliest(found, np.array([1, 2, 0, 1]))
    expected = [[0.3, 0.4, 0.3], [0.1, 0.45, 0.45], [0.35, 0.3, 0.35], [1 / 3] * 3]
    assert_allclose(kept, expected, atol=1e-3)
    assert_allclose(kept.sum(axis=1), 1.0)
    odds = rng.normal(size=(2000, 3)) - [0.0, 1.0, 2.0]
    p = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    happened = np.eye(3)[(np.cumsum(p, axis=1) > rng.random((2000, 1))).argmax(axis=1)]
    flat = 0.5 * p + 0.5 * p.mean(axis=0)
    first = logistic_map(flat, happened, np.ones(2000), 3)
    for moved in (first, refined(first, flat, happened, np.ones(2000))):
        assert_array_equal(moved(flat).argmax(axis=1), flat.argmax(axis=1))
        assert np.log(moved(flat)[happened == 1]).mean() > np.log(flat[happened == 1]).mean()


def test_risks_are_calibrated_by_left_out_losses():
    model = risk(LabelSets()).fit(X, SETS)
    told = model.predict_risk(X, calibrated=True)
    assert told.shape == (80,)
    assert (told >= 0).all()
    order = np.argsort(model.predict_risk(X))
    assert (np.diff(told[order]) >= -1e-12).all()
    for own in ("hamming", Hamming()):
        assert_array_equal(model.predict_risk(X, loss=own, calibrated=True), told)
    for other in ("f1", Hamming(miss=2.0), Hamming(weights=[1.0, 1.0, 2.0])):
        with pytest.raises(ValueError, match=r"model's own loss, Hamming\(\); got"):
            model.predict_risk(X, loss=other, calibrated=True)


def test_methods_are_named():
    model = risk(LabelSets()).fit(X, SETS)
    with pytest.raises(ValueError, match="calibrated is one of 'auto', 'logistic', 'isotonic'"):
        model.predict_marginals(X, calibrated="platt")


# ------------------------------------------------------------------ learners by scores


def test_a_family_gives_its_exact_marginals():
    model = ExponentialFamily(TREE).fit(X, CLOSED)
    outputs = TREE.enumerate()
    p = np.exp([model.log_proba(X, np.tile(z, (80, 1))) for z in outputs])
    assert_allclose(model.predict_marginals(X), p.T @ outputs, atol=1e-9)


def test_temperature_gives_the_truth_the_largest_likelihood():
    model = StructuredSVM(TREE, max_iter=30).fit(X[:50], CLOSED[:50])
    model.calibrate(X[50:], CLOSED[50:])
    scores = model.decision_function(X[50:])
    outputs = TREE.enumerate()

    def likelihood(temperature):
        each = scores @ outputs.T / temperature
        own = (scores * CLOSED[50:]).sum(axis=1) / temperature
        return (own - np.log(np.exp(each).sum(axis=1))).sum()

    best = likelihood(model.temperature_)
    assert all(likelihood(model.temperature_ * factor) <= best for factor in (0.9, 1.1))
    p = np.exp(scores @ outputs.T / model.temperature_)
    expected = p @ outputs / p.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_marginals(X[50:]), expected, atol=1e-9)


# ------------------------------------------------------------------ thresholds


def test_thresholds_are_kept_within_the_space():
    model = risk(TREE).fit(X, CLOSED)
    P = model.predict_marginals(X)
    assert_array_equal(model.predict(X, threshold=0.3), (P >= 0.3).astype(int))
    by_label = model.predict(X, threshold={"top": 0.9, "left": 0.1})
    assert (by_label[:, 1:] <= by_label[:, :1]).all()
    outputs = TREE.enumerate()
    gains = (P - [0.9, 0.1, 0.5]) @ outputs.T
    assert_allclose(((P - [0.9, 0.1, 0.5]) * by_label).sum(axis=1), gains.max(axis=1))
    one = model.predict(X, threshold=0.01, restrict={"max_size": 1})
    assert one.sum(axis=1).max() == 1


def test_thresholds_are_chosen_on_left_out_rows():
    model = risk(LabelSets()).fit(X, SETS)
    known = model.calibration_
    left, truth = known.of_marginals("auto")(known.left), known.truth

    def micro(t):
        picked = left >= t
        return 2 * (picked * truth).sum() / (picked.sum() + truth.sum())

    P = model.predict_marginals(X)
    best = max(micro(t) for t in np.unique(left))
    predicted = model.predict(X, threshold="micro_f1")
    cut = (P[predicted == 1].min(), P[predicted == 0].max())
    assert cut[0] >= cut[1]
    assert_allclose(max(micro(t) for t in cut), best, atol=0.02)
    many = model.predict(X, threshold="recall=0.95").sum()
    few = model.predict(X, threshold="precision=0.95").sum()
    assert many > few


@pytest.mark.parametrize("threshold", ["recall", "recall=2", "f1", [0.1, 0.2], {"no": 0.5}])
def test_bad_thresholds_are_named(threshold):
    model = risk(TREE).fit(X, CLOSED)
    with pytest.raises(ValueError, match="threshold"):
        model.predict(X, threshold=threshold)
    with pytest.raises(ValueError, match="not both"):
        model.predict(X, threshold=0.5, loss="f1")


def test_intervals_of_two_quantiles():
    """Noise that grows: quantiles of one model follow it."""
    x = rng.uniform(0, 1, size=(400, 1))
    y = x[:, 0] * rng.normal(size=400)
    model = ConditionalRiskMinimizer(Interval(), kernel="rbf", alpha=1.0).fit(x, y)
    lower, upper = model.predict_interval([[0.1], [0.9]], level=0.2)
    assert (upper > lower).all()
    assert upper[1] - lower[1] > 2 * (upper[0] - lower[0])
    with pytest.raises(ValueError, match="level is between 0 and 1"):
        model.predict_interval(x, level=1.0)
    assert not hasattr(risk(LabelSets()), "predict_interval")


# ------------------------------------------------------------------ what went wrong once


def test_a_restriction_is_not_undone_by_calibration():
    model = risk(LabelSets(), Listed(Hamming())).fit(X, SETS)
    P = model.predict_marginals(X[:5], restrict={"include": [0], "exclude": [1]})
    assert_allclose(P[:, :2], np.tile([1.0, 0.0], (5, 1)), atol=1e-9)


def test_a_restriction_that_narrows_nothing_changes_nothing():
    one = np.eye(3, dtype=int)[rng.integers(0, 3, 80)]
    model = risk(LabelSets(max_size=1)).fit(X, one)
    P = model.predict_marginals(X)
    assert_allclose(model.predict_marginals(X, restrict={"max_size": 1}), P, atol=1e-9)


def test_maps_are_of_their_own_parts():
    model = risk(Rankings(), "kendall").fit(X, RANKS)
    assert model.calibration_.parts == "pairs"
    told = model.predict_marginals(X, parts="positions")
    assert_array_equal(model.predict_marginals(X, parts="positions", calibrated=None), told)


def test_thresholds_are_reached_by_equals_and_are_for_labels():
    model = risk(LabelSets()).fit(X, SETS)
    P = model.predict_marginals(X[:1])[0]
    assert model.predict(X[:1], threshold=P).sum() == 3
    levels = risk(Ordinal()).fit(X, SETS.sum(axis=1))
    with pytest.raises(ValueError, match="label sets and hierarchies"):
        levels.predict(X, threshold=0.5)


def test_a_new_fit_forgets_the_temperature():
    model = StructuredSVM(LabelSets(), max_iter=5).fit(X, SETS).calibrate(X, SETS)
    assert not hasattr(model.fit(X, SETS), "temperature_")
    ranker = StructuredSVM(Rankings(), "kendall", max_iter=5).fit(X, RANKS).calibrate(X, RANKS)
    assert hasattr(ranker, "temperature_")
    assert not hasattr(ranker.fit(X, RANKS), "temperature_")


def test_rows_of_no_weight_calibrate_nothing():
    model = risk(LabelSets()).fit(X, SETS)
    weight = np.r_[np.ones(40), np.zeros(40)]
    model.calibrate(X, SETS, sample_weight=weight)
    assert model.calibration_.n_rows == 40
    some = model.predict(X, threshold="micro_f1")
    model.calibrate(X[:40], SETS[:40])
    assert_array_equal(model.predict(X, threshold="micro_f1"), some)


def test_no_intervals_where_coordinates_depend_on_each_other():
    shares = rng.dirichlet([1.0, 1.0, 1.0], 80)
    assert not hasattr(risk(Simplex()).fit(X, shares), "predict_interval")


def test_thresholds_are_chosen_by_labels_that_are_known():
    gaps = np.where(np.random.default_rng(1).random(SETS.shape) < 0.3, np.nan, SETS)
    model = risk(LabelSets(), "hamming").fit(X, gaps)
    predicted = model.predict(X, threshold="macro_f1")
    assert (predicted != SETS).mean() < 0.3


# ------------------------------------------------------------------ nothing is impossible


def drawn_classes(n, seed):
    """Three classes by a multinomial logit, and their numbers."""
    source = np.random.default_rng(seed)
    weights = 1.2 * np.random.default_rng(50).normal(size=(5, 3))
    inputs = source.normal(size=(n, 5))
    odds = inputs @ weights
    p = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    return inputs, (source.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=2)


def log_loss(p, y):
    return -np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)).mean()


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.parametrize("n", [60, 300])
def test_calibration_lessens_the_log_loss_of_classes(n, method):
    inputs, y = drawn_classes(n, 1)
    model = risk(Classes(range(3)), alpha=[1.0, 3.0]).fit(inputs, y)
    known = model.calibration_
    left, at = known.left.astype(float), known.truth.argmax(axis=1)
    assert log_loss(known.of_marginals(method)(left), at) <= log_loss(left, at)
    fresh, happened = drawn_classes(4000, 2)
    before, after = (model.predict_marginals(fresh, calibrated=how) for how in (None, method))
    assert before.min() == 0.0
    assert after.min() > 1e-4
    assert_allclose(after.sum(axis=1), 1.0)
    assert log_loss(after, happened) < log_loss(before, happened)


ONE = np.eye(3, dtype=int)[drawn_classes(80, 3)[1]]


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.parametrize(
    ("space", "loss", "y"),
    [
        (LabelSets(max_size=1), "hamming", ONE * (np.arange(80) % 5 > 0)[:, None]),
        (LabelSets(min_size=2), "hamming", 1 - ONE),
        (TREE, "hamming", CLOSED),
        (Ordinal(), None, SETS.sum(axis=1)),
        (Rankings(), "footrule", RANKS),
        (Rankings(), "kendall", RANKS),
        (Sequences(), "hamming", WORDS),
    ],
)
def test_no_part_is_certain_after_eighty_rows(space, loss, y, method):
    """Nor made so on the way back to what a distribution over the outputs has."""
    model = risk(space, loss, alpha=[0.01, 0.1]).fit(3.0 * X, y)
    parts = model.calibration_.parts  # of rankings under footrule these are positions
    P = np.asarray(model.predict_marginals(3.0 * X, parts=parts, calibrated=method))
    assert P.min() > 1e-6
    assert P.max() < 1.0 - 1e-6
    read = Marginals.of(model.problem_.space)
    assert_allclose(read.marginals(read.means_of(P)), P, atol=1e-8)  # and they are coherent


def test_copies_and_weights_calibrate_alike():
    left, happened = rng.random((50, 3)), rng.integers(2, size=(50, 3)).astype(float)
    count = rng.integers(1, 4, size=50)
    weighed = logistic_map(left, happened, count.astype(float))
    copied = logistic_map(
        *(np.repeat(part, count, axis=0) for part in (left, happened)), np.ones(count.sum())
    )
    assert_allclose(weighed(left), copied(left), atol=1e-5)
