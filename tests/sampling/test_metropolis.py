# SPDX-License-Identifier: BSD-3-Clause
"""Metropolis chains: the distribution they approach, threads, interrupts and bad input."""

from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.exceptions import MixingWarning
from skstruct.sampling import Metropolis
from skstruct.sampling.chains import Chains, MetaProposals
from skstruct.spaces import (
    BaseSpace,
    BinaryPolytope,
    Candidates,
    Inference,
    LabelSets,
    PairwiseLabels,
    Rankings,
)
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing.spaces import assert_drawn_from


class NoSampler(BaseSpace):
    """A space that knows nothing."""


@pytest.mark.parametrize("proposals", ["local", "meta"])
@pytest.mark.parametrize(
    "space", [LabelSets(range(4)), Rankings(range(4), "pairs")], ids=["sets", "rankings"]
)
def test_chains_end_in_the_distribution(space, proposals):
    """2,000 chains from one output after 60 sweeps: chi-square at level 1e-6."""
    outputs = space.enumerate()
    psi = np.asarray(space.embed(outputs), dtype=float)
    scores = np.random.default_rng(1).normal(size=psi.shape[1])
    chains = Metropolis(
        space,
        scores,
        proposals=proposals,
        n_chains=2000,
        start=np.repeat(outputs[:1], 2000, axis=0),
        rng=2,
    )
    drawn = chains.sample(1, n_warmup=60)
    probabilities = np.exp(psi @ scores)
    assert_drawn_from(drawn.pooled, outputs, probabilities / probabilities.sum())
    assert_allclose(drawn.values, (space.embed(drawn.pooled) @ scores)[:, None])


def test_the_mixing_of_the_meta_chain():
    """From the worst start, P(not yet moved to another) falls as the exact eigenvalue says."""
    space, scores = LabelSets(range(3)), np.array([1.0, 0.5, -0.3])
    f = space.enumerate() @ scores
    probabilities = np.exp(f - f.max()) / np.exp(f - f.max()).sum()
    eigenvalue = 1 - np.exp(f).mean() / np.exp(f.max())
    # The chain at its most probable output leaves with 1 - eigenvalue, except to itself.
    start = np.repeat(space.enumerate()[[f.argmax()]], 20_000, axis=0)
    states = start.copy()
    MetaProposals(space).walk(
        states, scores[None], np.zeros(len(start), int), np.ones(len(start)), 3,
        new_streams(len(start), 0),
    )  # fmt: skip
    there = (states == start).all(axis=1).mean()
    expected = probabilities.max() + (1 - probabilities.max()) * eigenvalue**3
    assert abs(there - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(start))


def test_threads_change_nothing():
    space = Rankings(range(6), "pairs")
    scores = np.random.default_rng(0).normal(size=15)
    drawn = [
        Metropolis(space, scores, n_chains=300, rng=4, n_jobs=n_jobs).sample(5)
        for n_jobs in (1, 2, 3)
    ]
    for other in drawn[1:]:
        assert_array_equal(drawn[0].outputs, other.outputs)
        assert_array_equal(drawn[0].acceptance, other.acceptance)


def test_a_chain_goes_on():
    space, scores = LabelSets(range(3)), np.ones(3)
    at_once = Metropolis(space, scores, rng=0).sample(10)
    chains = Metropolis(space, scores, rng=0)
    first, second = chains.sample(4), chains.sample(6)
    assert_array_equal(at_once.outputs, np.hstack([first.outputs, second.outputs]))


def test_temperature_zero_is_uniform():
    space = LabelSets(range(3))
    drawn = Metropolis(space, [5.0, 5.0, 5.0], n_chains=3000, beta=0.0, rng=0).sample(1, n_warmup=9)
    assert_drawn_from(drawn.pooled, space.enumerate(), np.full(8, 1 / 8))


def test_an_interrupt_keeps_what_was_drawn():
    chains = Metropolis(LabelSets(range(3)), np.ones(3), rng=0)
    advance, calls = Chains.advance, []

    def few(self, n_sweeps=1):
        calls.append(n_sweeps)
        if len(calls) > 7:
            raise KeyboardInterrupt
        advance(self, n_sweeps)

    with (
        mock.patch.object(Chains, "advance", few),
        pytest.warns(UserWarning, match="Interrupted after 7 of 100 draws"),
    ):
        drawn = chains.sample(100)
    assert drawn.interrupted
    assert drawn.outputs.shape == (4, 7, 3)
    assert drawn.values.shape == (4, 7)
    interrupted = mock.patch.object(Chains, "advance", side_effect=KeyboardInterrupt)
    with interrupted, pytest.raises(KeyboardInterrupt):  # nothing was drawn
        chains.sample(5)


def test_draws_are_summed_up():
    space = LabelSets(["sea", "sun"])
    space.fit([{"sea"}, {"sun"}])
    drawn = Metropolis(space, [0.0, 3.0], rng=0).sample(300, n_warmup=20)
    assert_allclose(drawn.marginals(), drawn.pooled.mean(axis=0))
    assert drawn.restored()[0] <= {"sea", "sun"}
    assert drawn.diagnostics(warn=False).r_hat < 1.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_chains": 0}, "n_chains is a whole number from 1; got 0"),
        ({"n_chains": 2.5}, "n_chains"),
        ({"beta": -1.0}, "beta is finite"),
        ({"beta": np.nan}, "beta is finite"),
        ({"proposals": "far"}, "proposals is one of auto, local, meta"),
    ],
)
def test_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        Metropolis(LabelSets("ab"), [0.0, 0.0], **arguments)


@pytest.mark.parametrize(
    "sizes", [{"n_draws": 0}, {"n_draws": 1, "thin": 0}, {"n_draws": 1, "n_warmup": -1}]
)
def test_sizes(sizes):
    with pytest.raises(ValueError, match="whole number from"):
        Metropolis(LabelSets("ab"), [0.0, 0.0]).sample(**sizes)


def test_spaces_and_scores():
    with pytest.raises(ValueError, match="not Samplable"):
        Metropolis(NoSampler(), [0.0])
    with pytest.raises(ValueError, match="One distribution"):
        Metropolis(LabelSets("ab"), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="nan"):
        Metropolis(LabelSets("ab"), [0.0, np.nan])
    by_row = LabelSets("ab").restrict(include=[["a"], ["b"]])
    with pytest.raises(ValueError, match="row to row"):
        Metropolis(by_row, [0.0, 0.0])


def test_candidates_have_the_meta_chain():
    space = Candidates(["red", "green", "blue"]).fit(["red"])
    drawn = Metropolis(space, np.zeros(3), proposals="meta", rng=0).sample(5)
    assert drawn.outputs.shape[:2] == (4, 5)


def test_chains_that_have_not_met_say_what_helps():
    """Four chains, two in each of two modes that local moves do not leave."""
    space = PairwiseLabels("full", range(8))
    pairs = np.full(28, 3.0)
    labels = np.full(8, -10.5)  # nothing and everything are equally probable
    start = np.repeat([[0] * 8, [1] * 8], 2, axis=0)
    chains = Metropolis(space, np.concatenate([labels, pairs]), start=start, rng=0)
    with pytest.warns(MixingWarning, match="ParallelTempering"):
        drawn = chains.sample(200)
    with pytest.warns(MixingWarning, match="R-hat"):
        assert not drawn.diagnostics(of="psi").ok


def test_what_chains_begin_with():
    space = LabelSets("ab")
    with pytest.raises(ValueError, match="start has 2 outputs for 4 chains"):
        Metropolis(space, [0.0, 0.0], start=np.zeros((2, 2), np.int8))
    with pytest.raises(ValueError, match="none of LabelSets"):
        Metropolis(space, [0.0, 0.0], start=np.full((4, 2), 7))
    for scores in ([0.0], [0.0] * 3):
        with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
            Metropolis(space, scores)


def test_a_polytope_is_not_a_cube():
    space = BinaryPolytope(np.array([[1.0, 1.0, 1.0]]), [2.0])
    scores = np.ones((1, 3))
    outputs = space.enumerate()
    assert len(outputs) == 7
    assert_allclose(
        Inference.of(space).distribution(scores).log_partition,
        np.log(np.exp(outputs @ scores[0]).sum()),
    )
    drawn = Metropolis(space, scores, n_chains=200, rng=0).sample(5)
    assert space.contains(drawn.pooled).all()
