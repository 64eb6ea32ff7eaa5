# SPDX-License-Identifier: BSD-3-Clause
"""Limits of means: how often they fail, and against slow and obvious versions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from skstruct.bounds.means import (
    ORDER,
    betting_limit,
    empirical_bernstein_limit,
    hoeffding_bentkus_limit,
    predictable_stakes,
)

DELTA, DRAWS = 0.1, 1000
# A limit that fails with probability 0.1 fails more often than this in 1,000 draws with
# probability below 1e-6: that is the error rate of each of the tests below.
MOST = int(binom.isf(1e-6, DRAWS, DELTA))
LIMITS = [betting_limit, empirical_bernstein_limit]  # Hoeffding and Bentkus: test_held_out.py


def draws(distribution, n):
    """DRAWS samples of n numbers, and their expectation."""
    rng = np.random.default_rng(3)
    shape = (DRAWS, n)
    return {
        "coin": lambda: ((rng.random(shape) < 0.3).astype(float), 0.3),
        "beta": lambda: (rng.beta(0.3, 1.2, shape), 0.2),
        "narrow": lambda: (rng.beta(30, 30, shape), 0.5),
        "constant": lambda: (np.full(shape, 0.6), 0.6),
        "mostly zero": lambda: ((rng.random(shape) < 0.05) * rng.random(shape), 0.025),
        "mostly one": lambda: (1 - (rng.random(shape) < 0.05) * rng.random(shape), 0.975),
    }[distribution]()


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 90])
@pytest.mark.parametrize(
    "distribution", ["coin", "beta", "narrow", "constant", "mostly zero", "mostly one"]
)
def test_limits_hold_for_all_but_delta_of_all_draws(distribution, n):
    samples, mean = draws(distribution, n)
    for limit in LIMITS:
        values = np.array([limit(sample, DELTA) for sample in samples])
        assert np.count_nonzero(values < mean - 1e-12) <= MOST, limit.__name__


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["beta", "mostly zero"])
def test_sorted_rows_do_no_harm(distribution):
    """Rows in order of their loss, either way: bets would run with the order, were it kept."""
    samples, mean = draws(distribution, 60)
    for way in (1, -1):
        values = [betting_limit(np.sort(sample)[::way], DELTA) for sample in samples]
        assert np.count_nonzero(np.array(values) < mean) <= MOST


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.5))
def test_betting_from_its_definition(numbers, delta):
    """Every mean of a fine grid below the limit survives, every one above is refuted."""
    x = np.array(numbers)
    limit = betting_limit(x, delta)
    shuffled = x[np.random.default_rng(ORDER).permutation(len(x))]
    stakes = predictable_stakes(shuffled, delta)
    for mean in np.linspace(0, 1, 41)[:-1]:
        fortune, most = 1.0, 1.0
        for number, stake in zip(shuffled, stakes):
            fortune *= 1 - min(stake, 0.75 / (1 - mean)) * (number - mean)
            most = max(most, fortune)
        if abs(mean - limit) > 1e-9 and mean > x.mean():
            assert (most >= (1 / delta) * (1 - 1e-9)) if mean > limit else (most < 1.000001 / delta)
    assert x.mean() <= limit <= 1


def test_stakes_look_back_only():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 20))
    mixed = np.concatenate([x[:10], y[10:]])
    stakes = predictable_stakes(x, 0.05)
    np.testing.assert_array_equal(predictable_stakes(mixed, 0.05)[:11], stakes[:11])
    variance, total, expected = 0.25, 0.5, []
    squares = 0.25
    for t, number in enumerate(x, start=1):
        expected.append(math.sqrt(2 * math.log(20) / (20 * variance)))
        total += number
        squares += (number - total / (t + 1)) ** 2
        variance = squares / (t + 1)
    np.testing.assert_allclose(stakes, expected)


@pytest.mark.parametrize("n", [50, 400])
def test_betting_is_closer_where_numbers_vary_little(n):
    rng = np.random.default_rng(0)
    for a, b in ((20, 20), (2, 18), (5, 2)):
        x = rng.beta(a, b, n)
        slack = betting_limit(x, 0.05) - x.mean()
        assert slack < hoeffding_bentkus_limit(x, 0.05) - x.mean()
        assert slack < empirical_bernstein_limit(x, 0.05) - x.mean()


def test_the_empirical_bernstein_inequality_from_its_definition():
    x = np.array([0.1, 0.4, 0.4, 0.9])
    pairs = [(a - b) ** 2 for a in x for b in x]
    variance, log = sum(pairs) / (2 * 4 * 3), math.log(2 / 0.05)
    expected = 0.45 + math.sqrt(2 * variance * log / 4) + 7 * log / (3 * 3)
    assert empirical_bernstein_limit(x, 0.05) == pytest.approx(expected)


def test_ends():
    assert betting_limit(np.ones(50), 0.05) == 1.0
    assert betting_limit(np.zeros(1), 0.05) == 1.0
    assert 3 / 500 < betting_limit(np.zeros(500), 0.05) < 0.0081
    assert betting_limit(np.full(500, 0.25), 0.05) - 0.25 < 0.01
