# SPDX-License-Identifier: BSD-3-Clause
"""Measures of scores and sets, against loops over their definitions and against scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import metrics

from skstruct.model_selection import (
    area_under_prc,
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
    label_propensities,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
    precision_at,
    propensity_scored_precision_at,
)
from skstruct.model_selection import ranking_measures as measures

QUICK = settings(deadline=None, max_examples=60)


@st.composite
def cases(draw, most=6):
    """Scores with many ties, and any truth: rows, labels or all of it may be empty."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    scores = draw(arrays(float, shape, elements=st.integers(-2, 2).map(lambda v: v / 4)))
    return scores, draw(arrays(np.int8, shape, elements=st.integers(0, 1)))


def points(scores, truth):
    """Right and kept pairs at every distinct score, from the highest."""
    kept = [scores >= level for level in np.unique(scores)[::-1]]
    return [((truth[part] == 1).sum(), part.sum()) for part in kept]


@QUICK
@given(cases())
def test_average_precision_is_that_of_a_loop_and_of_scikit_learn(case):
    scores, truth = case
    found = micro_average_precision(scores, truth)
    if not truth.any():
        assert np.isnan(found)
        return
    before, total = 0, 0.0
    for right, kept in points(scores, truth):
        total += (right - before) * right / kept
        before = right
    assert found == pytest.approx(total / truth.sum())
    assert found == pytest.approx(metrics.average_precision_score(truth.ravel(), scores.ravel()))
    assert found == micro_average_precision(scores, sparse.csr_array(truth))
    labels = truth.any(axis=0)
    by_label = [metrics.average_precision_score(truth[:, j], scores[:, j])
                for j in np.flatnonzero(labels)]  # fmt: skip
    assert macro_average_precision(scores, truth) == pytest.approx(np.mean(by_label))


@QUICK
@given(cases())
def test_label_ranking_is_that_of_a_loop_and_of_scikit_learn(case):
    scores, truth = case
    rows = []
    for s, y in zip(scores, truth):
        shares = [(y[s >= s[j]] == 1).mean() for j in np.flatnonzero(y)]
        rows.append(np.mean(shares) if shares else 1.0)
    found = label_ranking_average_precision(scores, truth)
    assert found == pytest.approx(np.mean(rows))
    if truth.shape[1] > 1:
        assert found == pytest.approx(metrics.label_ranking_average_precision_score(truth, scores))


@QUICK
@given(cases())
def test_joined_points_of_the_curve(case):
    """Numerical integrals over the true ones found, and the trapezoids of scikit-learn."""
    scores, truth = case
    if not truth.any():
        assert np.isnan(area_under_prc(scores, truth))
        return
    area, lines, last, precision = 0.0, 0.0, (0, 0), None
    for right, kept in points(scores, truth):
        x = (np.arange(4000) + 0.5) / 4000
        tp = last[0] + x * (right - last[0])
        area += (tp / (last[1] + x * (kept - last[1]))).mean() * (right - last[0])
        first = right / kept if precision is None else precision
        lines += (first + right / kept) / 2 * (right - last[0])
        precision, last = right / kept, (right, kept)
    assert area_under_prc(scores, truth) == pytest.approx(area / truth.sum(), abs=1e-4)
    found = area_under_prc(scores, truth, interpolation="linear")
    assert found == pytest.approx(lines / truth.sum())


def test_the_three_areas_are_close_without_ties():
    rng = np.random.default_rng(0)
    scores, truth = rng.random((40, 5)), rng.random((40, 5)) < 0.3
    steps, counts = micro_average_precision(scores, truth), area_under_prc(scores, truth)
    assert steps == pytest.approx(counts, abs=0.02)
    assert area_under_prc(scores, truth, interpolation="linear") == pytest.approx(counts, abs=0.02)


@settings(deadline=None, max_examples=25)
@given(cases(most=4), st.integers(1, 4), st.integers(0, 50))
def test_the_top_is_the_mean_over_all_orders_of_ties(case, k, seed):
    scores, truth = case
    k = min(k, truth.shape[1])
    propensities = np.random.default_rng(seed).uniform(0.1, 1, truth.shape[1])
    shares, gains, best = [], 0.0, 0.0
    for s, y in zip(scores, truth):
        orders = [o for o in permutations(range(len(s))) if (np.diff(s[list(o)]) <= 0).all()]
        shares.append(np.mean([y[list(o[:k])].mean() for o in orders]))
        gains += np.mean([(y / propensities)[list(o[:k])].sum() for o in orders])
        best += np.sort(y / propensities)[::-1][:k].sum()
    assert precision_at(scores, truth, k) == pytest.approx(np.mean(shares))
    found = propensity_scored_precision_at(scores, truth, k, propensities=propensities)
    assert found == pytest.approx(gains / best) if best else np.isnan(found)
    even = propensity_scored_precision_at(scores, truth, k, propensities=np.ones(truth.shape[1]))
    if (truth.sum(axis=1) >= k).all():
        assert even == pytest.approx(precision_at(scores, truth, k))


def test_propensities_are_those_of_the_paper():
    counts, n = np.array([0, 3, 50]), 200
    C = (np.log(n) - 1) * 2.5**0.55
    expected = [1 / (1 + C * np.exp(-0.55 * np.log(c + 1.5))) for c in counts]
    np.testing.assert_allclose(label_propensities(counts, n), expected)
    other = label_propensities(counts, n, a=0.6, b=2.6)
    assert (np.diff(other) > 0).all()
    with pytest.raises(ValueError, match="3 training rows at least"):
        label_propensities([1], 2)
    with pytest.raises(ValueError, match="counts up to 9"):
        label_propensities([9], 5)


@QUICK
@given(cases(), st.integers(0, 1000), st.sampled_from([0.5, 1.0, 2.0]))
def test_hierarchical_measures_are_sums_of_sets(case, seed, beta):
    _, truth = case
    predicted = (np.random.default_rng(seed).random(truth.shape) < 0.5).astype(int)
    sets = [(set(np.flatnonzero(p)), set(np.flatnonzero(t))) for p, t in zip(predicted, truth)]
    common = sum(len(p & t) for p, t in sets)
    n_predicted, n_true = sum(len(p) for p, _ in sets), sum(len(t) for _, t in sets)
    precision = common / n_predicted if n_predicted else 0.0
    recall = common / n_true if n_true else 0.0
    assert hierarchical_precision(predicted, truth) == pytest.approx(precision)
    assert hierarchical_recall(predicted, sparse.csr_array(truth)) == pytest.approx(recall)
    flat = truth.ravel(), predicted.ravel()
    expected = metrics.fbeta_score(*flat, beta=beta, zero_division=0)
    assert hierarchical_f(predicted, truth, beta=beta) == pytest.approx(expected)
    if truth.shape[1] > 1:
        without = hierarchical_f(predicted[:, 1:], truth[:, 1:])
        assert hierarchical_f(predicted, truth, root=0) == without


def test_constant_scores_give_the_share_of_true_pairs():
    truth = np.array([[1, 0, 0], [1, 1, 0]])
    scores = np.full((2, 3), 0.4)
    assert micro_average_precision(scores, truth) == pytest.approx(0.5)
    assert area_under_prc(scores, truth) == pytest.approx(0.5)
    assert macro_average_precision(scores, truth) == pytest.approx(0.75)
    assert precision_at(scores, truth, 2) == pytest.approx(0.5)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    scores, truth = rng.integers(0, 4, (9, 7)), rng.random((9, 7)) < 0.4
    both = macro_average_precision, label_ranking_average_precision
    whole = [measure(scores, truth) for measure in both]
    monkeypatch.setattr(measures, "AT_ONCE", 20)
    assert [measure(scores, truth) for measure in both] == whole


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: micro_average_precision([[0.5]], [[0.5]]), "truth is 0 or 1 in every entry"),
        (lambda: micro_average_precision([[0.5]], [[1, 0]]), "same shape"),
        (lambda: micro_average_precision([[np.nan]], [[1]]), r"scores\[0, 0\] is nan"),
        (lambda: area_under_prc([[0.5]], [[1]], interpolation="spline"), "counts or linear"),
        (lambda: precision_at([[0.5]], [[1]], 2), "k is a whole number from 1 to 1"),
        (lambda: propensity_scored_precision_at([[0.5]], [[1]], propensities=[0.0]), "above 0"),
        (lambda: hierarchical_f([[1]], [[1]], beta=0.0), "beta is a positive number"),
        (lambda: hierarchical_recall([[1]], [[2]]), "truth is 0 or 1"),
        (lambda: hierarchical_recall([1], [1]), "same shape"),
    ],
)
def test_what_they_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()
