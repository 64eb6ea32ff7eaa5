# SPDX-License-Identifier: BSD-3-Clause
"""Annealed estimates from exact draws: their distribution, their promise, and what they cost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from distribution_cases import SPACES, listed
from skstruct.exceptions import SamplingError
from skstruct.sampling import log_partition
from skstruct.sampling.annealed_estimates import Schedule, annealed_estimate
from skstruct.sampling.exact_levels import FEW_TRIALS, ExactLevels
from skstruct.spaces import Cycles, LabelSets, PairwiseLabels, Rankings, SpanningTrees, Uniform
from skstruct.spaces.label_sets.uniform import UniformOfLabelSets
from skstruct.testing.spaces import assert_drawn_from


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("size", [0.7, 4.0])
@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_draws_of_a_level_have_its_distribution(space, beta, size):
    """3,000 draws by rejection or coupling against the list: chi-square at level 1e-6."""
    outputs, psi = listed(space)
    scores = size * np.random.default_rng(1).normal(size=(1, psi.shape[1]))
    f = beta * (psi @ scores[0])
    exact = ExactLevels(space, scores, 10**8, np.random.default_rng(2))
    drawn = exact.draw(beta, 3000, logsumexp(f) - np.log(len(f)))
    assert_drawn_from(drawn, outputs, np.exp(f - logsumexp(f)))


def test_where_outputs_have_an_order_many_trials_are_coupled():
    scores = np.full((1, 12), 4.0)
    ordered, unordered = LabelSets(range(12)), LabelSets(range(12), max_size=11)
    trials = []
    for space in (ordered, unordered):
        f = space.enumerate() @ scores[0]
        log_ratio = logsumexp(f) - np.log(len(f))
        expected = np.exp(48.0 - log_ratio) if space is ordered else np.exp(44.0 - log_ratio)
        assert expected > FEW_TRIALS
        exact = ExactLevels(space, scores, 10**8, np.random.default_rng(0))
        assert len(exact.draw(1.0, 500, log_ratio)) == 500
        trials.append(exact.n_trials)
    assert trials[0] == 500 * 1  # independent labels meet in the first sweep
    assert trials[1] > 500 * FEW_TRIALS


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_the_promise_holds_in_repeated_simulation(space):
    """Each of 40 estimates may miss with probability 1/4: 21 or more do so with probability 5e-5;
    and their mean ratio to the truth, whose variance is eps^2 / 64 at most, is off by more than
    5 / sqrt(40) of eps / 8 with probability 1/25 by Chebyshev, 6e-7 were it normal.
    """
    psi = listed(space)[1]
    scores = np.random.default_rng(3).normal(size=(40, psi.shape[1]))
    truth = logsumexp(scores @ psi.T, axis=1)
    found = log_partition(
        space, scores, method="annealed", draws="exact", eps=0.2, return_interval=True, rng=5
    )
    assert set(found.draws) == {"exact"}
    assert found.confidence == 0.75
    ratio = np.exp(found.values - truth)
    missed = np.abs(ratio - 1) > 0.2
    assert missed.sum() <= 20
    assert_array_equal((truth < found.lower) | (truth > found.upper), missed)
    assert abs(ratio.mean() - 1) <= 5 * 0.2 / 8 / np.sqrt(40)


@pytest.mark.slow
def test_the_variance_is_that_of_the_proof():
    """Var(Zhat / Z) <= eps^2 / 64. Of 200 estimates the sample variance is above 1.5 times that
    with probability 1e-5 even if it were attained by a normal distribution.
    """
    space = SpanningTrees(range(4))
    psi = listed(space)[1]
    scores = np.tile(1.5 * np.random.default_rng(4).normal(size=psi.shape[1]), (200, 1))
    values, errors, _ = annealed_estimate(space, scores, eps=0.5, draws="exact", rng=0)
    ratio = np.exp(values - logsumexp(scores @ psi.T, axis=1))
    assert ratio.var(ddof=1) <= 1.5 * 0.5**2 / 64
    # The errors by the spread of batches are those of the estimates: within a factor of 1.3.
    assert 1 / 1.3 <= np.sqrt(np.mean(errors**2)) / np.log(ratio).std(ddof=1) <= 1.3


@pytest.mark.slow
def test_a_smaller_delta_is_the_median_of_repeats():
    """Of 20 estimates with delta = 0.01 two or more miss with probability 0.017 at most; with the
    true variance, which is far smaller, never in practice.
    """
    space = Rankings(range(3), "pairs")
    psi = listed(space)[1]
    scores = np.random.default_rng(5).normal(size=(20, psi.shape[1]))
    found = log_partition(
        space, scores, method="annealed", draws="exact", eps=0.3, delta=0.01,
        return_interval=True, rng=6,
    )  # fmt: skip
    truth = logsumexp(scores @ psi.T, axis=1)
    assert found.confidence == 0.99
    assert ((truth < found.lower) | (truth > found.upper)).sum() <= 1


def test_trials_are_foreseen():
    """Of n draws they are n |Y| exp(f_ub) / Z on average; off by 6 standard errors: 2e-9."""
    space = Cycles(range(4))
    psi = listed(space)[1]
    scores = np.random.default_rng(0).normal(size=(1, psi.shape[1]))
    f = psi @ scores[0]
    expected = len(f) * np.exp(f.max() - logsumexp(f))
    exact = ExactLevels(space, scores, 10**8, np.random.default_rng(1))
    exact.draw(1.0, 40_000, logsumexp(f) - np.log(len(f)))
    blocks = 4096 / 40_000  # the last block of uniform draws is made whole
    off = 6 * np.sqrt(expected * (expected - 1) / 40_000)
    assert abs(exact.n_trials / 40_000 - expected) <= off + blocks


# ------------------------------------------------------------------ too many trials
def test_too_many_trials_are_an_error_that_says_what_else():
    space = Rankings(range(6), "pairs")
    scores = 3 * np.random.default_rng(0).normal(size=15)
    with pytest.raises(SamplingError, match=r"Rankings: Exact draws at level .* Use draws='auto'"):
        log_partition(space, scores, method="annealed", draws="exact", eps=0.5, max_trials=50_000)


def test_chains_take_the_levels_from_there_on():
    """8 estimates with chains from some level on: within the promise, which 1/4 may miss; 7 or
    more do so with probability 4e-4.
    """
    space = Rankings(range(5), "pairs")
    psi = listed(space)[1]
    scores = 2 * np.random.default_rng(0).normal(size=(8, 10))
    found = log_partition(
        space, scores, method="annealed", draws="auto", eps=0.5, max_trials=30_000,
        return_interval=True, rng=0,
    )  # fmt: skip
    assert set(found.draws) == {"mixed"}
    truth = logsumexp(scores @ psi.T, axis=1)
    assert ((truth < found.lower) | (truth > found.upper)).sum() <= 6
    plenty = log_partition(
        space, scores[:2] / 4, method="annealed", draws="auto", eps=0.5, return_interval=True, rng=0
    )
    assert set(plenty.draws) == {"exact"}


def test_coupled_chains_that_do_not_meet_in_time_are_too_many_trials():
    clique = PairwiseLabels("full", range(8))
    parted = np.concatenate([np.full(8, -10.5), np.full(28, 3.0)])[None]
    exact = ExactLevels(clique, parted, 10_000, np.random.default_rng(0))
    assert exact.ordered
    assert exact.draw(1.0, 100, -20.0) is None
    assert "level 1 of 1" in exact.refused
    exact.n_trials = exact.max_trials
    assert exact.draw(1.0, 100, -20.0) is None


# ------------------------------------------------------------------ what is said, bad input
def test_what_was_drawn_is_said():
    space, scores = LabelSets(range(3)), np.ones((2, 3))
    told = {
        "none": log_partition(space, scores, return_interval=True),
        "chains": log_partition(
            space, scores, method="annealed", eps=0.5, return_interval=True, rng=0
        ),
        "exact": log_partition(
            space, scores, method="annealed", draws="exact", eps=0.5, return_interval=True, rng=0
        ),
    }
    for name, found in told.items():
        assert found.draws.tolist() == [name, name]
    quick = log_partition(space, scores, method="cumulant", return_interval=True)
    assert quick.draws.tolist() == ["none", "none"]
    same = LabelSets(range(4), min_size=2, max_size=2)
    found = log_partition(
        same, np.ones((1, 4)), method="annealed", draws="exact", return_interval=True
    )
    assert_allclose(found.values, np.log(6) + 2)
    assert found.draws.tolist() == ["none"]


def test_equal_seeds_give_equal_answers():
    space, scores = SpanningTrees(range(4)), np.linspace(-1, 1, 6)
    settings = {"method": "annealed", "draws": "exact", "eps": 0.5}
    assert_array_equal(*(log_partition(space, scores, rng=7, **settings) for _ in range(2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": "perfect"}, "draws is one of chains, exact, auto; got 'perfect'"),
        ({"draws": "exact", "n_draws": 100}, "leave one of the two out"),
        ({"draws": "auto", "max_trials": 0}, "max_trials is a whole number from 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        log_partition(LabelSets("ab"), [0.0, 1.0], method="annealed", **options)


def test_the_number_of_draws_is_at_least_that_of_the_promise():
    schedule = Schedule.of(1.0, eps=0.5, delta=0.25, p=3.0)
    seen = []

    class Counting(LabelSets):
        pass

    class Counted(UniformOfLabelSets):
        def sample(self, n, rng=None):
            seen.append(n)
            return super().sample(n, rng)

    Uniform.at(Counting, Counted)
    log_partition(Counting(range(2)), [1.0, 1.0], method="annealed", draws="exact", eps=0.5, rng=0)
    assert seen[0] >= schedule.n_draws
