# SPDX-License-Identifier: BSD-3-Clause
"""Counts of linear extensions of many items: closed forms, and estimates against them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skstruct.kernels import ExtensionKernel

NAN = float("nan")


def fence(n, n_items=None):
    """0 < 1 > 2 < 3 ...: cannot be split, and has Fibonacci(n + 2) down-sets."""
    R = np.zeros((1, n_items or n, n_items or n), dtype=bool)
    low, high = np.arange(0, n, 2), np.arange(1, n, 2)
    R[0, low[: len(high)], high] = R[0, low[1:], high[: len(low) - 1]] = True
    return R


def zigzag(n):
    """Number of alternating permutations, by the triangle of Seidel: the extensions of a fence."""
    row = [1]
    for _ in range(n):
        row = np.cumsum([0, *row[::-1]], dtype=object).tolist()
    return row[-1]


@pytest.mark.parametrize("d", [1, 2, 12, 18, 19, 20])
def test_integers_up_to_20_factorial(d):
    assert ExtensionKernel()(np.full((1, d), NAN)) == float(math.factorial(d))


def test_integers_beyond_the_53_bits_of_a_float():
    # 0 before 2, ..., 19 and 1 before 2: with item 2 in place j of the others, in 17!
    # ways for each j = 2, ..., 19, there are j positions for item 1. No split applies.
    R = np.zeros((1, 20, 20), dtype=bool)
    R[0, 0, 2:] = R[0, 1, 2] = True
    assert ExtensionKernel()(R) == float(math.factorial(17) * (sum(range(20)) - 1))
    values, errors = ExtensionKernel(max_down_sets=2**18, random_state=0).estimate(R)
    assert errors[0, 0] > 0.0
    assert_allclose(values, math.factorial(17) * 189.0, rtol=0.05)


@pytest.mark.parametrize("n", [*range(1, 12), 20, 21, 24])
def test_fences(n):
    values, errors = ExtensionKernel().estimate(fence(n))
    assert_allclose(values, float(zigzag(n)), rtol=0 if n < 20 else 1e-12)
    assert not errors.any()


def test_parts_far_beyond_a_word():
    """Ties, items that are not ranked and chains split without end."""
    tied = np.repeat(np.arange(30.0), 5)[None]  # 30 groups of 5
    chain_and_rest = np.where(np.arange(150) < 60, np.arange(150), NAN)[None]
    fences = fence(12, 150)
    Y = [tied, chain_and_rest]
    logs, errors = ExtensionKernel(max_down_sets=2**10).estimate(
        np.concatenate([*map(as_relations, Y), fences]), log=True
    )
    assert not errors.any()
    rest = math.lgamma(151)
    expected = [30 * math.log(120), rest - math.lgamma(61)]
    expected += [rest - math.lgamma(13) + math.log(zigzag(12))]
    assert_allclose(logs.diagonal(), expected, rtol=1e-13)
    assert_allclose(logs[0, 1], 18 * math.log(120), rtol=1e-13)
    assert logs[0, 2] == -math.inf  # a fence goes up and down, ranks only up


def as_relations(ranks):
    return ranks[:, :, None] < ranks[:, None, :]


def test_counts_beyond_the_largest_float():
    nothing, one_pair = np.full((2, 1, 200), NAN)
    one_pair[0, :2] = 1, 2
    with pytest.raises(ValueError, match="set normalize=True, or call estimate with log=True"):
        ExtensionKernel()(nothing)
    logs, _ = ExtensionKernel().estimate(nothing, one_pair, log=True)
    assert_allclose(logs, math.lgamma(201) - math.log(2), rtol=1e-13)
    assert_allclose(ExtensionKernel(normalize=True)(nothing, one_pair), math.sqrt(0.5), rtol=1e-10)


def test_tables_are_clean_after_parts_that_are_too_large():
    """Fences of 8 have 55 down-sets and are sampled, those of 6 have 21 and are counted."""
    Y = np.concatenate([fence(8), fence(6, 8), fence(8), fence(5, 8)])
    values, errors = ExtensionKernel(max_down_sets=30, random_state=0).estimate(Y)
    exact = ExtensionKernel()(Y)
    assert_array_equal(exact.diagonal(), [1385, 61 * 56, 1385, 16 * 6 * 56])
    assert_array_equal(errors[1::2, 1::2], np.zeros((2, 2)))
    assert_array_equal(values[1::2, 1::2], exact[1::2, 1::2])
    assert (errors[::2] > 0).all()
    assert (np.abs(values - exact) <= 4 * errors).all()


def estimates(Y, n_seeds, n_samples, **settings):
    runs = [
        ExtensionKernel(
            max_down_sets=1, n_samples=n_samples, random_state=seed, **settings
        ).estimate(Y)
        for seed in range(n_seeds)
    ]
    return np.array(runs)[:, :, 0, -1].T  # values, errors


@pytest.mark.slow
@pytest.mark.parametrize("n", [7, 12])
def test_estimates_are_unbiased_and_their_errors_honest(n):
    """Over 1000 seeds; a right estimator fails for one range of seeds in a thousand."""
    values, errors = estimates(fence(n), n_seeds=1000, n_samples=200)
    exact, spread = zigzag(n), values.std(ddof=1)
    assert abs(values.mean() - exact) <= 4 * spread / math.sqrt(1000)
    assert 0.9 <= math.sqrt((errors**2).mean()) / spread <= 1.1
    covered = (np.abs(values - exact) <= 1.96 * errors).mean()
    assert 0.92 <= covered <= 0.975


@pytest.mark.slow
def test_few_samples_are_unbiased_too():
    """A mean over 4000 seeds of two samples each, to four standard errors."""
    values, errors = estimates(fence(9), n_seeds=4000, n_samples=2)
    assert abs(values.mean() - zigzag(9)) <= 4 * values.std() / math.sqrt(4000)
    # Squared errors are unbiased for the variance, whatever the number of samples.
    assert_allclose((errors**2).mean(), values.var(), rtol=0.15)


@pytest.mark.slow
def test_errors_of_normalized_estimates():
    """The delta method at 200 samples, over 500 seeds: 1.96 errors cover at least nine in ten."""
    Y = np.concatenate([fence(9), fence(7, 9)])
    exact = ExtensionKernel(normalize=True)(Y)[0, 1]
    values, errors = estimates(Y, n_seeds=500, n_samples=200, normalize=True)
    assert (np.abs(values - exact) <= 1.96 * errors).mean() >= 0.9
    # The pair and the larger order are the same union here: the error is on the safe side.
    assert errors.mean() <= 3 * values.std()


def test_more_than_63_items_in_one_part():
    logs, errors = ExtensionKernel(random_state=0, n_samples=4000).estimate(fence(80), log=True)
    assert 0.0 < errors[0, 0] < 0.05
    assert abs(logs[0, 0] - math.log(zigzag(80))) <= 4 * errors[0, 0]


@pytest.mark.parametrize("normalize", [False, True])
def test_with_a_seed_the_kernel_is_a_function(normalize):
    kernel = ExtensionKernel(normalize=normalize, max_down_sets=1, n_samples=20, random_state=3)
    Y = np.concatenate([fence(9), fence(7, 9), fence(9), fence(8, 9)])
    K = kernel(Y)
    assert_array_equal(K, K.T)
    assert_array_equal(K, kernel(Y, Y))
    assert_array_equal(K, clone(kernel)(Y))
    assert_array_equal(K[[1, 3]][:, [0, 2]], kernel(Y[[1, 3]], Y[[0, 2]]))
    assert K[0, 1] == K[2, 1]
    other = clone(kernel).set_params(random_state=4)(Y)
    assert other[0, 1] != K[0, 1]
    if normalize:
        assert_array_equal(K.diagonal(), np.ones(4))
        assert K[0, 2] == 1.0
        assert kernel.estimate(Y)[1][0, 2] == 0.0


def test_states_of_randomness():
    Y, state = fence(9), np.random.RandomState(1)
    drawn = [
        ExtensionKernel(max_down_sets=1, random_state=r)(Y)[0, 0] for r in (state, state, None)
    ]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_down_sets": 0}, "max_down_sets is an integer of at least 1; got 0"),
        ({"max_down_sets": 1e6}, "max_down_sets is an integer"),
        ({"n_samples": 1}, "n_samples is an integer of at least 2; got 1"),
        ({"random_state": "x"}, "'x' cannot be used to seed"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        ExtensionKernel(**settings)([[1, 2]])
