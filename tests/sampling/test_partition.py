# SPDX-License-Identifier: BSD-3-Clause
"""Partition functions and marginals of spaces against the list of all outputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from distribution_cases import SPACES, listed
from skstruct.exceptions import InfeasibleError, MixingWarning, SamplingError
from skstruct.sampling import log_partition, marginals
from skstruct.sampling.annealed_estimates import Schedule, annealed_estimate, repeats_for
from skstruct.spaces import BaseSpace, Classes, Inference, Interval, LabelSets, Rankings


class NoSampler(BaseSpace):
    """A space that knows nothing."""


@pytest.mark.slow
@given(st.sampled_from(SPACES), st.integers(0, 1000), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_exact_values_are_sums_over_all_outputs(space, seed, scale):
    psi = listed(space)[1]
    scores = scale * np.random.default_rng(seed).normal(size=(3, psi.shape[1]))
    expected = logsumexp(scores @ psi.T, axis=1)
    assert_allclose(log_partition(space, scores), expected, rtol=1e-9, atol=1e-12)
    probabilities = np.exp(scores @ psi.T - expected[:, None])
    assert_allclose(marginals(space, scores), probabilities @ psi, atol=1e-9)
    found = log_partition(space, scores, method="exact", return_interval=True)
    assert_array_equal(found.lower, found.upper)
    assert found.method == "exact"


@given(st.sampled_from(SPACES), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_marginals_are_the_gradient(space, seed):
    psi = listed(space)[1]
    rng = np.random.default_rng(seed)
    scores, step = rng.normal(size=(1, psi.shape[1])), 1e-5
    direction = rng.normal(size=scores.shape)
    up, down = (log_partition(space, scores + s * direction) for s in (step, -step))
    slope = (marginals(space, scores) * direction).sum()
    assert_allclose((up - down) / (2 * step), slope, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_the_annealed_promise_holds_in_repeated_simulation(space):
    """Each of 40 estimates may miss with probability 1/4: 21 or more do so with probability
    5e-5.
    """
    psi = listed(space)[1]
    rng, missed = np.random.default_rng(3), 0
    scores = rng.normal(size=(40, psi.shape[1]))
    truth = logsumexp(scores @ psi.T, axis=1)
    found = log_partition(
        space, scores, method="annealed", eps=0.2, return_interval=True, rng=5, n_sweeps=10
    )
    missed = (np.abs(np.expm1(found.values - truth)) > 0.2).sum()
    assert missed <= 20
    assert_array_equal((truth < found.lower) | (truth > found.upper),
                       np.abs(np.expm1(found.values - truth)) > 0.2)  # fmt: skip


def test_standard_errors_are_right():
    """Of 200 estimates about 68 % lie within one error: outside 55..80 % with probability 1e-4."""
    space = LabelSets(range(5))
    scores = np.tile(np.random.default_rng(0).normal(size=5), (200, 1))
    values, errors, _ = annealed_estimate(space, scores, n_draws=200, n_sweeps=20, rng=1)
    within = np.abs(values - Inference.of(space).distribution(scores).log_partition) <= errors
    assert 0.55 <= within.mean() <= 0.80


def test_the_number_of_draws_of_the_promise():
    schedule = Schedule.of(2.1, eps=0.1, delta=0.25, p=3.0)
    assert (schedule.n_levels, schedule.n_repeats) == (7, 1)
    assert schedule.n_draws == int(np.ceil(65 * 7 * np.sinh(1 / 3) ** 2 / 0.01))


@pytest.mark.parametrize("delta", [0.25, 0.1, 0.01])
def test_the_median_fails_seldom_enough(delta):
    from scipy.stats import binom

    k = repeats_for(delta)
    assert binom.sf(k // 2, k, 0.25) <= delta
    assert k == 1 or binom.sf((k - 2) // 2, k - 2, 0.25) > delta


def test_an_interval_of_so_many_draws_is_that_of_ten_batches():
    space = LabelSets(range(3))
    scores = np.ones((1, 3))
    found = log_partition(
        space, scores, method="annealed", n_draws=500, delta=0.05, return_interval=True, rng=0
    )
    assert_allclose(found.upper - found.values, 2.262157 * found.errors, rtol=1e-5)
    assert found.confidence == 0.95


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_chains_that_are_annealed_together(space):
    """Of 40 estimates with large scores, at most 12 are off by more than two errors."""
    psi = listed(space)[1]
    scores = 4 * np.random.default_rng(7).normal(size=(40, psi.shape[1]))
    values, errors, _ = annealed_estimate(space, scores, n_draws=1000, rng=3)
    truth = logsumexp(scores @ psi.T, axis=1)
    assert (np.abs(values - truth) > 2 * errors).sum() <= 12
    assert np.abs(values - truth).max() <= 1.0


def test_chains_that_hardly_mix_still_have_honest_intervals():
    """Rankings of 8 items with sharp scores, 5 sweeps: 90 % intervals of 20, at least 13 cover."""
    space = Rankings(range(8), "pairs")
    scores = 4 * np.random.default_rng(1).normal(size=(20, 28))
    found = log_partition(
        space, scores, method="annealed", n_draws=1000, delta=0.1, return_interval=True, rng=0
    )
    truth = log_partition(space, scores)
    assert ((found.lower <= truth) & (truth <= found.upper)).sum() >= 13
    off = marginals(space, scores, method="chains", rng=0) - marginals(space, scores)
    assert np.abs(off).max() <= 0.25


def test_chains_that_are_still_on_their_way_say_so():
    from skstruct.sampling.convergence import warn_if_moved

    rng = np.random.default_rng(0)
    before = rng.normal(size=(3, 200))
    warn_if_moved(before, rng.normal(size=(3, 200)))
    with pytest.warns(MixingWarning, match=r"row 1 \(1 such rows\): raise n_warmup"):
        warn_if_moved(before, before + np.array([[0.0], [1.0], [0.0]]))


def test_draws_that_saw_one_score_know_nothing_of_their_error():
    space = Classes(range(1000)).fit(range(1000))
    scores = np.zeros((1, 1000))
    scores[0, 500] = 20.0
    found = log_partition(space, scores, method="annealed", n_draws=20, return_interval=True, rng=0)
    assert np.isnan([found.errors[0], found.lower[0], found.upper[0]]).all()
    assert marginals(space, scores[:0], method="chains").shape == (0, 1000)


def test_scores_that_are_all_equal_need_no_draws():
    space = LabelSets(range(4), min_size=2, max_size=2)
    values = log_partition(space, np.ones((1, 4)), method="annealed")
    assert_allclose(values, np.log(6) + 2)


@pytest.mark.parametrize("method", ["cumulant", "taylor"])
@pytest.mark.parametrize("space", SPACES[:-1], ids=lambda space: type(space).__name__)
def test_quick_estimates_are_right_to_second_order(space, method):
    psi = listed(space)[1]
    u = np.random.default_rng(2).normal(size=(1, psi.shape[1]))
    errors = []
    for size in (0.02, 0.01):
        estimate = log_partition(space, size * u, method=method)
        errors.append(abs(estimate - logsumexp(size * u @ psi.T, axis=1))[0])
    assert errors[1] <= errors[0] / 6 + 1e-12  # of third order: an eighth


def test_the_formulas_of_the_quick_estimates():
    space = Rankings(range(4), "positions")
    psi, u = listed(space)[1], np.random.default_rng(0).normal(size=(2, 16))
    f = u @ psi.T
    cumulant = np.log(24) + f.mean(axis=1) + f.var(axis=1) / 2
    assert_allclose(log_partition(space, u, method="cumulant"), cumulant)
    taylor = np.log((1 + f + f**2 / 2).sum(axis=1))
    assert_allclose(log_partition(space, u, method="taylor"), taylor)


def test_marginals_by_chains_are_close():
    """Means of 4,000 draws: each of 12 numbers off by 5 errors with probability 6e-7."""
    space = Rankings(range(4), "pairs")
    scores = np.random.default_rng(0).normal(size=(2, 6))
    found = marginals(space, scores, method="chains", n_draws=4000, rng=1)
    assert_allclose(found, marginals(space, scores), atol=5 / np.sqrt(4000))


def test_one_row_may_come_without_its_axis():
    assert log_partition(LabelSets("ab"), [0.0, 0.0]).shape == (1,)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, np.nan]], r"scores\[0, 1\] is nan"),
        ([[np.inf, 0.0]], r"scores\[0, 0\] is inf"),
        ([[0.0, 0.0], [1e308, 0.0]], r"scores\[1, 0\]"),
        ([[0.0]], r"shape \(n, 2\)"),
        (np.zeros((1, 1, 2)), "shape"),
    ],
)
def test_scores_that_cannot_be_normalised(scores, message):
    with pytest.raises(ValueError, match=message):
        log_partition(LabelSets("ab"), scores)


@pytest.mark.parametrize("eps", [0, -1.0, 1.5, np.nan, "a", None])
def test_eps(eps):
    with pytest.raises(ValueError, match="eps is above 0"):
        log_partition(LabelSets("ab"), [0.0, 0.0], method="annealed", eps=eps)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, None])
def test_delta(delta):
    with pytest.raises(ValueError, match="delta is above 0 and below 1"):
        log_partition(LabelSets("ab"), [0.0, 0.0], delta=delta)


def test_methods_and_options():
    space = LabelSets("ab")
    with pytest.raises(ValueError, match="method is one of"):
        log_partition(space, [0.0, 0.0], method="guess")
    for n_draws in (0, 30.5):
        with pytest.raises(ValueError, match="n_draws is a whole number from 1"):
            log_partition(space, [0.0, 1.0], method="annealed", n_draws=n_draws)
    with pytest.raises(SamplingError, match="Give n_draws"):
        log_partition(LabelSets(range(50)), np.full(50, 50.0), method="annealed", eps=0.01)
    with pytest.raises(ValueError, match="p is a number from 1"):
        log_partition(space, [0.0, 1.0], method="annealed", p=0.5)
    with pytest.raises(ValueError, match="proposals is one of"):
        log_partition(space, [0.0, 1.0], method="annealed", proposals="far")


def test_a_space_without_a_sampler_says_so():
    space = NoSampler()
    with pytest.raises(ValueError, match="facet Inference"):
        log_partition(space, [0.0], method="exact")
    with pytest.raises(ValueError, match=r"not Samplable.*sample\(n, rng\)"):
        log_partition(space, [0.0], method="annealed")
    with pytest.raises(ValueError, match="Countable"):
        log_partition(space, [0.0], method="taylor")


def test_numbers_cannot_be_counted():
    space = Interval(0, 1).fit([0.2, 0.4])
    with pytest.raises(ValueError, match="not Countable"):
        log_partition(space, [0.0], method="annealed")


def test_a_space_too_large_for_exact_sums_says_so():
    with pytest.raises(ValueError, match="no exact distribution"):
        log_partition(Rankings(range(40)), np.zeros((1, 1600)), method="exact")


def test_no_output_at_all():
    space = LabelSets("ab").restrict(include=["a"], exclude=["a"])
    with pytest.raises(InfeasibleError):
        log_partition(space, [0.0, 0.0])
