# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds, p-values and intervals on arrays, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, multinomial

from skstruct.bounds import held_out_bound
from skstruct.conformal import (
    betting_p_values,
    binomial_p_values,
    conformal_quantile,
    crc_threshold,
    fixed_sequence,
    hoeffding_bentkus,
    jackknife_plus,
)
from skstruct.conformal.levels import risk_curve
from skstruct.conformal.risks import sums_above

LEVELS = st.sampled_from([0.0, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.9, 1.0])
GRADES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, np.inf])  # ties are the rule


def table(n, m, values):
    return st.lists(st.lists(values, min_size=m, max_size=m), min_size=n, max_size=n)


@st.composite
def tables(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    scores = np.array(draw(table(n, m, GRADES)))
    shares = np.array(draw(table(n, m, st.sampled_from([0.0, 0.5, 1.0]))))
    return scores, shares / m


def naive_threshold(scores, losses, level, weights, weight):
    """The least of all candidates that meets the definition, each tried by itself."""
    for t in [-np.inf, *sorted(set(scores.ravel().tolist())), np.inf]:
        sums = (losses * (scores > t)).sum(axis=1)
        if t == np.inf or weights @ sums + weight <= level * (weights.sum() + weight) + 1e-9:
            return t


@given(tables(), LEVELS)
def test_risk_control_is_its_definition(drawn, level):
    scores, losses = drawn
    t = crc_threshold(scores, losses, level)
    naive = naive_threshold(scores, losses, level, np.ones(len(scores)), 1.0)
    # Thresholds between two steps make the same predictions of these rows.
    assert t <= naive
    assert_array_equal((losses > 0) & (scores > t), (losses > 0) & (scores > naive))


@given(st.lists(GRADES, min_size=1, max_size=12), LEVELS)
def test_the_quantile_is_an_order_statistic(scores, level):
    k = math.ceil((1 - level) * (len(scores) + 1) - 1e-9)
    expected = -np.inf if k == 0 else np.inf if k > len(scores) else sorted(scores)[k - 1]
    assert conformal_quantile(scores, level) == expected


@given(
    st.lists(st.tuples(GRADES, st.sampled_from([0.0, 0.5, 1.0, 3.0])), min_size=1, max_size=8),
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 10.0]), min_size=1, max_size=4),
    LEVELS,
)
def test_weighted_quantiles(pairs, new, level):
    scores, weights = np.array(pairs).T
    found = conformal_quantile(scores, level, weights, np.array(new))
    for t, w in zip(found, new):
        naive = naive_threshold(scores[:, None], np.ones((len(scores), 1)), level, weights, w)
        counted = weights > 0
        assert t <= naive
        assert_array_equal((scores > t)[counted], (scores > naive)[counted])


def test_equal_weights_are_none():
    scores = np.random.default_rng(0).random(37)
    for level in (0.05, 0.1, 0.5):
        assert conformal_quantile(scores, level, np.full(37, 2.0), 2.0) == conformal_quantile(
            scores, level
        )


@given(tables(), st.lists(GRADES, min_size=1, max_size=5))
def test_sums_above_thresholds(drawn, grid):
    scores, parts = drawn
    expected = [[(row_p * (row_s > t)).sum() for t in grid] for row_s, row_p in zip(scores, parts)]
    assert_allclose(sums_above(scores, parts, np.array(grid)), expected, atol=1e-12)


@given(tables(), GRADES)
def test_means_of_a_curve(drawn, t):
    scores, losses = drawn
    expected = (losses * (scores > t)).sum(axis=1).mean()
    assert_allclose(risk_curve(scores, losses).mean(t), expected, atol=1e-12)


@given(tables(), st.sampled_from([0.1, 0.3, 0.7]), st.sampled_from([0.05, 0.2, 0.6]))
def test_sure_thresholds_pass_at_and_above(drawn, level, delta):
    scores, losses = drawn
    curve, n = risk_curve(scores, losses), len(scores)
    t = curve.sure_threshold(level, delta)
    tried = [-np.inf, *sorted(set(scores[losses > 0].tolist())), np.inf]
    good = [
        hoeffding_bentkus([(losses * (scores > s)).sum(axis=1).mean()], n, level)[0] <= delta
        for s in tried
    ]
    good[-1] = True  # nothing is asserted there
    naive = next(s for i, s in enumerate(tried) if all(good[i:]))
    assert t == naive


@pytest.mark.parametrize("level", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_a_p_value_is_small_where_the_bound_is(n, level):
    for k in range(n + 1):
        losses = [1.0] * k + [0.0] * (n - k)
        p, how = hoeffding_bentkus(k / n, n, level), "hoeffding_bentkus"
        for delta in (0.01, 0.1, 0.5):
            value = held_out_bound(losses, 1.0, delta=delta, method=how).value
            if abs(p - delta) > 1e-6:
                assert (p <= delta) == (value <= level)


def test_p_values_are_valid():
    """Exactly, for losses of 0 and 1 at the edge of the hypothesis: P(p <= delta) <= delta."""
    for n, level in [(5, 0.3), (30, 0.1), (200, 0.05)]:
        k = np.arange(n + 1)
        probabilities = binom.pmf(k, n, level)
        for p in (hoeffding_bentkus(k / n, n, level), binomial_p_values(k, n, level)):
            for delta in (0.01, 0.05, 0.1, 0.3):
                assert probabilities[p <= delta].sum() <= delta + 1e-12


def test_p_values_by_betting_are_valid():
    """For losses of 0, 1/2 and 1 with a mean at the level: all counts of each, exactly."""
    n, level = 12, 0.3
    k = np.array([(a, b) for a in range(n + 1) for b in range(n + 1 - a)])
    probabilities = multinomial.pmf(np.column_stack([k, n - k.sum(axis=1)]), n, [0.2, 0.2, 0.6])
    losses = [[1.0] * a + [0.5] * b + [0.0] * (n - a - b) for a, b in k]
    p = betting_p_values(np.transpose(losses), level)
    assert probabilities.sum() == pytest.approx(1)
    for delta in (0.05, 0.1, 0.3, 0.6):
        assert probabilities[p <= delta].sum() <= delta
    other = betting_p_values(np.transpose(losses), level, np.zeros((20, len(losses))))
    assert probabilities[other <= 0.1].sum() <= 0.1
    assert_array_equal(betting_p_values([[0.0, 1.0]], 1.0), [0.0, 0.0])
    assert_allclose(betting_p_values([[0.0, 1.0]], 0.0), [1.0, 1.0])
    assert_allclose(betting_p_values(np.zeros((0, 2)), 0.5), [1.0, 1.0])


def test_p_values_at_the_ends():
    assert_array_equal(hoeffding_bentkus([0.0, 0.5], 10, 0.0), [1.0, 1.0])
    assert_array_equal(hoeffding_bentkus([0.0, 1.0], 10, 1.0), [0.0, 0.0])
    assert_array_equal(hoeffding_bentkus([0.0], 0, 0.2), [1.0])
    assert_array_equal(binomial_p_values([0, 0], [0, 3], 0.5), [1.0, 0.125])
    assert_array_equal(binomial_p_values([3], 3, 1.0), [0.0])


@given(st.lists(st.sampled_from([0.0, 0.05, 0.5, 1.0]), max_size=6), st.sampled_from([0.05, 0.1]))
def test_sequences_end_at_the_first_failure(p_values, delta):
    passed = 0
    for p in p_values:
        if p > delta:
            break
        passed += 1
    assert fixed_sequence(p_values, delta) == passed


# ------------------------------------------------------------------- jackknife+
@given(st.integers(1, 9), LEVELS, st.integers(0, 10_000))
def test_jackknife_plus_is_its_definition(n, level, seed):
    rng = np.random.default_rng(seed)
    left, y, new = rng.integers(0, 4, n), rng.integers(0, 4, n), rng.integers(0, 4, (n, 2))
    found = jackknife_plus(left, y, new, level)
    k = math.floor(level * (n + 1) + 1e-9)
    for j in range(2):
        low = sorted(new[:, j] - abs(y - left))
        high = sorted(new[:, j] + abs(y - left))
        # As published: the ceil((1 - level)(n + 1))-th smallest, which is the k-th largest.
        assert found.lower[j] == (low[min(k, n) - 1] if k else -np.inf)
        assert found.upper[j] == (high[n - min(k, n)] if k else np.inf)


def test_jackknife_plus_refuses():
    with pytest.raises(ValueError, match="level is a number"):
        jackknife_plus([1.0], [1.0], [[1.0]], 1.5)
    with pytest.raises(ValueError, match="one number per training row"):
        jackknife_plus([1.0, 2.0], [1.0], [[1.0]], 0.5)
    with pytest.raises(ValueError, match="a row for each of 1"):
        jackknife_plus([1.0], [1.0], [[1.0], [2.0]], 0.5)
    with pytest.raises(ValueError, match=r"truth\[0\] is not"):
        jackknife_plus([1.0], [np.nan], [[1.0]], 0.5)
