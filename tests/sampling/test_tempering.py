# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from skstruct.exceptions import MixingWarning
from skstruct.sampling.metropolis import Metropolis
from skstruct.sampling.tempering import Ladder, ParallelTempering, checked_betas, evened
from skstruct.spaces import LabelSets, PairwiseLabels, Rankings
from skstruct.testing.spaces import assert_drawn_from

# Eight labels, all in or all out: with k labels in, f = 1.5 k (k - 8) + k / 10. Single labels
# that change one after the other must pass f = -23.6.
TWO_MODES = np.repeat([-10.4, 3.0], [8, 28])
EIGHT = PairwiseLabels(labels=range(8))


def distribution_of(space, scores):
    """All outputs with their probabilities, and ln Z."""
    outputs = space.enumerate()
    values = space.embed(outputs) @ scores
    return outputs, np.exp(values - logsumexp(values)), logsumexp(values)


def last_of(space, scores, *, n_rounds, n_chains=1000, **how):
    """Where independent ladders are after so many rounds."""
    ladders = ParallelTempering(space, scores, n_chains=n_chains, rng=0, **how)
    return ladders.sample(1, n_warmup=n_rounds).outputs[:, 0]


def test_two_modes_have_their_weights():
    """Independent ladders: a chi-square test of level 1e-6, which chains alone do not pass."""
    outputs, probabilities, _ = distribution_of(EIGHT, TWO_MODES)
    drawn = last_of(EIGHT, TWO_MODES, n_rounds=100)
    assert_drawn_from(drawn, outputs, probabilities)
    # The full set alone: five standard errors, level 6e-7.
    error = np.sqrt(probabilities[-1] * (1 - probabilities[-1]) / len(drawn))
    assert outputs[-1].all()
    assert abs(drawn.all(axis=1).mean() - probabilities[-1]) < 5 * error


def test_chains_alone_stay_in_one_mode():
    chains = Metropolis(EIGHT, TWO_MODES, n_chains=20, rng=0)
    with pytest.warns(MixingWarning, match="ParallelTempering"):
        draws = chains.sample(2000, n_warmup=150)
    share = (draws.outputs.mean(axis=2) > 0.5).mean(axis=1)
    assert np.isin(share, [0.0, 1.0]).all()  # no chain has crossed
    assert not np.allclose(share.mean(), 0.69, atol=0.05)


def test_draws_of_few_long_ladders():
    draws = ParallelTempering(EIGHT, TWO_MODES, rng=1).sample(4000, n_warmup=200)
    _, probabilities, log_partition = distribution_of(EIGHT, TWO_MODES)
    assert draws.outputs.shape == (4, 4000, 8)
    assert draws.values.shape == (4, 4000)
    np.testing.assert_allclose(
        draws.values, EIGHT.embed(draws.pooled).reshape(4, 4000, -1) @ TWO_MODES, atol=1e-9
    )
    details = draws.details
    assert details["betas"][0] == 1
    assert details["betas"][-1] == 0
    assert details["swaps"].shape == (7,)
    assert (details["swaps"] > 0.3).all()
    assert np.ptp(details["swaps"]) < 0.25  # the ladder was evened
    assert (details["round_trips"] > 100).all()
    # The modes' weights change with each round trip at most: so many independent draws.
    error = np.sqrt(probabilities[-1] * (1 - probabilities[-1]) / details["round_trips"].sum())
    assert abs(draws.outputs.all(axis=2).mean() - probabilities[-1]) < 5 * error
    assert abs(details["log_partition"] - log_partition) < 0.1
    assert (draws.acceptance < 0.1).all()  # changes at beta = 1, which are rare


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), given_betas=st.booleans())
def test_distributions_of_small_spaces(seed, given_betas):
    rng = np.random.default_rng(seed)
    space = PairwiseLabels(labels=range(3))
    scores = 2.0 * rng.standard_normal(6)
    outputs, probabilities, _ = distribution_of(space, scores)
    how = {"betas": [1.0, 0.6, 0.3, 0.0]} if given_betas else {"n_temperatures": 4}
    drawn = last_of(space, scores, n_rounds=40, **how)
    assert_drawn_from(drawn, outputs, probabilities)


def test_without_local_proposals_and_without_the_uniform_distribution():
    space, scores = Rankings(range(3), "pairs"), np.array([2.0, -1.0, 0.5])
    outputs, probabilities, _ = distribution_of(space, scores)
    how = {"proposals": "meta", "betas": [1.0, 0.5, 0.2], "swap_every": 3}
    ladders = ParallelTempering(space, scores, n_chains=1000, rng=0, **how)
    draws = ladders.sample(1, n_warmup=15)
    assert_drawn_from(draws.outputs[:, 0], outputs, probabilities)
    assert np.isnan(draws.details["log_partition"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_do_not_matter(n_jobs):
    how = {"n_chains": 40, "rng": 5, "n_temperatures": 4}
    expected = ParallelTempering(EIGHT, TWO_MODES, **how).sample(5, n_warmup=40)
    draws = ParallelTempering(EIGHT, TWO_MODES, n_jobs=n_jobs, **how).sample(5, n_warmup=40)
    assert (draws.outputs == expected.outputs).all()
    assert (draws.details["betas"] == expected.details["betas"]).all()


def test_temperatures_stay_after_warm_up():
    ladders = ParallelTempering(EIGHT, TWO_MODES, rng=0)
    assert (ladders.betas == np.linspace(1, 0, 8)).all()
    first = ladders.sample(1, n_warmup=64).details["betas"]
    assert not np.allclose(first, np.linspace(1, 0, 8))
    assert (np.diff(first) < 0).all()
    assert (ladders.sample(100).details["betas"] == first).all()
    given_betas = ParallelTempering(EIGHT, TWO_MODES, betas=[1, 0.5, 0], rng=0)
    assert (given_betas.sample(1, n_warmup=64).details["betas"] == [1, 0.5, 0]).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_evened_ladders_fall(rejected):
    betas = np.linspace(1, 0, len(rejected) + 1)
    moved = evened(betas, np.array(rejected))
    assert moved[0] == 1
    assert moved[-1] == 0
    assert (np.diff(moved) < 0).all()
    same = evened(betas, np.full(len(rejected), 0.3))
    np.testing.assert_allclose(same, betas, atol=1e-12)


def test_swaps_and_round_trips():
    """Two temperatures: all swaps that bring the better output down are made."""
    ladder = Ladder(1, 2)
    rng = np.random.default_rng(0)
    ladder.swap(np.array([0.0, 100.0]), np.array([1.0, 0.0]), rng)
    assert ladder.chain_at.tolist() == [[1, 0]]
    assert ladder.values.tolist() == [[100.0, 0.0]]
    ladder.swap(np.array([0.0, 100.0]), np.array([1.0, 0.0]), rng)  # an odd round: no pair
    ladder.swap(np.array([200.0, 100.0]), np.array([1.0, 0.0]), rng)
    assert ladder.chain_at.tolist() == [[0, 1]]
    assert ladder.round_trips.tolist() == [0]
    ladder.swap(np.array([200.0, 100.0]), np.array([1.0, 0.0]), rng)
    ladder.swap(np.array([200.0, 300.0]), np.array([1.0, 0.0]), rng)
    assert ladder.round_trips.tolist() == [1]  # chain 1 was cold, hot, and is cold again
    assert ladder.swap_rates().tolist() == [1.0]


def test_interrupted(monkeypatch):
    ladders = ParallelTempering(LabelSets(range(3)), np.zeros(3), rng=0)
    go, calls = ladders._round, []

    def stops():
        calls.append(None)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return go()

    monkeypatch.setattr(ladders, "_round", stops)
    with pytest.warns(UserWarning, match="after 3 of 10"):
        draws = ladders.sample(10, n_warmup=2)
    assert draws.interrupted
    assert draws.outputs.shape == (4, 3, 3)
    with pytest.raises(KeyboardInterrupt):
        ladders.sample(10)


@pytest.mark.parametrize("betas", [[1.0], [0.9, 0.0], [1.0, 1.0, 0.0], [1.0, -0.1], [[1.0, 0.0]]])
def test_betas_that_are_none(betas):
    with pytest.raises(ValueError, match="betas fall from 1"):
        checked_betas(betas, 8)


@pytest.mark.parametrize("name", ["n_chains", "n_temperatures", "swap_every"])
def test_zero_of_what_is_counted(name):
    with pytest.raises(ValueError, match=f"{name} is a whole number"):
        ParallelTempering(EIGHT, TWO_MODES, **{name: 0})
