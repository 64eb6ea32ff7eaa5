# SPDX-License-Identifier: BSD-3-Clause
"""Estimated risks against realised losses, compared with slow and obvious versions."""

from itertools import permutations

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.inspection import CalibrationDisplay, RiskCoverageDisplay
from skstruct.inspection.risks import equal_bins, kept_risk, mean_interval, risks_and_losses
from skstruct.spaces import LabelSets, Sequences

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = (X + 0.5 * RNG.standard_normal((30, 2)) > 0).astype(int)
NUMBERS = st.integers(0, 3).map(float)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6))
def test_kept_risk_is_the_mean_over_all_orders_that_agree(pairs):
    risks, losses = np.array(pairs).T
    curves = []
    for order in permutations(range(len(risks))):
        if (np.diff(risks[list(order)]) >= 0).all():
            curves.append([losses[list(order[:k])].mean() for k in range(1, len(risks) + 1)])
    np.testing.assert_allclose(kept_risk(risks, losses), np.mean(curves, axis=0))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30))
def test_coverage_lies_above_the_oracle_and_ends_at_the_mean(pairs):
    risks, losses = np.array(pairs).T
    kept = np.arange(1, len(losses) + 1)
    oracle = np.cumsum(np.sort(losses)) / kept
    curve = kept_risk(risks, losses)
    assert (curve >= oracle - 1e-12).all()
    assert curve[-1] == pytest.approx(losses.mean())
    np.testing.assert_allclose(kept_risk(losses, losses), oracle)


def test_areas():
    display = RiskCoverageDisplay.from_predictions([0.3, 0.1, 0.2], [3.0, 0.0, 6.0], name="a $b$")
    np.testing.assert_allclose(display.risk, [0, 3, 3])
    np.testing.assert_allclose(display.oracle, [0, 1.5, 3])
    assert (display.area, display.area_random, display.area_oracle) == (2.0, 3.0, 1.5)
    assert display.excess_area == 0.5
    confidence = np.array([-7.0, 20.0, 0.5])  # the same order
    again = RiskCoverageDisplay.from_predictions(-confidence, [3.0, 0.0, 6.0])
    np.testing.assert_array_equal(again.risk, display.risk)
    ideal = RiskCoverageDisplay.from_predictions([3.0, 0.0, 6.0], [3.0, 0.0, 6.0])
    assert ideal.excess_area == 0.0
    first = display.ax_.get_legend().get_texts()[0]
    assert first.get_text().startswith("a $b$")
    assert not first.get_parse_math()


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.integers(1, 12))
def test_bins_are_in_order_of_risk_and_about_equal(risks, n_bins):
    risks = np.array(risks)
    bins = equal_bins(risks, n_bins)
    assert set(bins) == set(range(bins.max() + 1))
    assert bins.max() < n_bins
    for a in range(len(risks)):
        for b in range(len(risks)):
            if risks[a] < risks[b]:
                assert bins[a] <= bins[b]
            if risks[a] == risks[b]:
                assert bins[a] == bins[b]
    if len(set(risks)) == len(risks):
        counts = np.bincount(bins)
        assert counts.max() - counts.min() <= 1


def test_calibration_against_a_loop():
    risks, losses = RNG.random(50), RNG.random(50) * 3
    display = CalibrationDisplay.from_predictions(risks, losses, n_bins=5)
    order = np.argsort(risks)
    for b in range(5):
        rows = order[10 * b : 10 * (b + 1)]
        assert display.counts[b] == 10
        assert display.estimated[b] == pytest.approx(risks[rows].mean())
        assert display.realised[b] == pytest.approx(losses[rows].mean())
        low, high = display.intervals[b]
        assert low < display.realised[b] < high
    gaps = np.abs(display.estimated - display.realised)
    assert display.expected_error == pytest.approx(gaps.mean())


@pytest.mark.parametrize("draw", ["normal", "coin"])
def test_intervals_hold_the_mean_as_often_as_they_say(draw):
    """1,000 samples of 20: 95 % of them within, give or take 3 standard errors (2.1 %)."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(1000):
        sample = rng.normal(1.0, 2.0, 20) if draw == "normal" else rng.random(20) < 0.3
        low, high = mean_interval(sample.astype(float))
        inside += low <= (1.0 if draw == "normal" else 0.3) <= high
    # Wilson's interval is not exact: with 20 coins it holds the mean in 97.5 % of the samples.
    assert abs(inside / 1000 - (0.95 if draw == "normal" else 0.975)) < 0.021


def test_risks_of_a_risk_minimizer():
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=0.5).fit(X, Y)
    risks, losses = risks_and_losses(model, X, Y)
    np.testing.assert_allclose(risks, model.predict_risk(X))
    np.testing.assert_allclose(losses, np.abs(model.predict(X) - Y).sum(axis=1))
    other, wrong = risks_and_losses(model, X, Y, loss="zero_one")
    np.testing.assert_allclose(other, model.predict_risk(X, loss="zero_one"))
    np.testing.assert_array_equal(wrong, (model.predict(X, loss="zero_one") != Y).any(axis=1))
    display = CalibrationDisplay.from_estimator(model, X, Y, n_bins=3)
    assert display.counts.sum() == 30
    piped = make_pipeline(StandardScaler(), model).fit(X, Y)
    inner = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(risks_and_losses(piped, X, Y)[0], model.predict_risk(inner))
    coverage = RiskCoverageDisplay.from_estimator(piped, X, Y)
    assert coverage.area_random == pytest.approx(-piped.score(X, Y))


def test_risks_of_an_exponential_family():
    model = ExponentialFamily(LabelSets(), alpha=1e-3, fit_intercept=False).fit(X, Y)
    risks, losses = risks_and_losses(model, X, Y)
    best = np.exp([model.log_proba(X, np.tile(z, (30, 1))) for z in model.space_.enumerate()])
    np.testing.assert_allclose(risks, 1 - best.max(axis=0), atol=1e-9)
    np.testing.assert_array_equal(losses, (model.predict(X) != Y).any(axis=1))
    judged = ExponentialFamily(LabelSets(), alpha=1e-3, loss="hamming", fit_intercept=False).fit(
        X, Y
    )
    risks, losses = risks_and_losses(judged, X, Y)
    marginals = judged.predict_marginals(X)
    np.testing.assert_allclose(risks, np.minimum(marginals, 1 - marginals).sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(losses, np.abs(judged.predict(X) - Y).sum(axis=1))


def test_sequences_of_different_lengths_are_compared():
    tokens = [RNG.standard_normal((2 + i % 2, 2)) for i in range(12)]
    tags = [tuple("ab"[int(t[0] > 0)] for t in x) for x in tokens]
    model = ConditionalRiskMinimizer(Sequences(), alpha=1.0).fit(tokens, tags)
    losses = risks_and_losses(model, tokens[:6], tags[:6])[1]
    wrong = [sum(a != b for a, b in zip(z, y)) for z, y in zip(model.predict(tokens[:6]), tags)]
    np.testing.assert_allclose(losses, wrong)


def test_what_has_no_risks():
    with pytest.raises(ValueError, match="StructuredSVM does not estimate the risk"):
        CalibrationDisplay.from_estimator(StructuredSVM(LabelSets(), alpha=0.01, max_iter=1), X, Y)
    with pytest.raises(ValueError, match="One estimated risk"):
        RiskCoverageDisplay.from_predictions([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="losses are finite; got nan"):
        RiskCoverageDisplay.from_predictions([0.1], [np.nan])
    with pytest.raises(ValueError, match="n_bins"):
        CalibrationDisplay.from_predictions([0.1], [0.2], n_bins=0)
