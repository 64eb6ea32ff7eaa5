# SPDX-License-Identifier: BSD-3-Clause
"""Chains of rankings against the list of all rankings."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ranking_cases import limited_rankings, row_scores
from skstruct.spaces import Inference, Rankings
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing.spaces import check_proposals

EMBEDDINGS = ["positions", "pairs", "ranks", "pair shares", "complete rating shares"]


@given(limited_rankings(EMBEDDINGS), st.sampled_from([0.0, 0.5, 1.0]), st.data())
@settings(max_examples=60)
def test_chains_approach_the_distribution(space, scale, data):
    """At most 120 chi-square tests of level 1e-6: one run in 8,000 fails."""
    assume(space.size() > 0)
    constraints = space.constraints_
    if constraints.has_fixed and constraints.has_before:
        assert Inference.of(space).proposals() is None
    else:
        scores = row_scores(space, scale, data.draw(st.integers(0, 999)), n=2)
        check_proposals(space, scores, n_chains=1500, n_sweeps=60, beta=0.8)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("top", [None, 5])
@pytest.mark.parametrize("before", [[], [(0, 1), (2, 1), (3, 4)]])
def test_every_gain_is_the_change_of_score(embedding, top, before):
    """Steps uphill only: from any ranking, no score that the chain reaches is lower."""
    space = Rankings(range(8), embedding).restrict(before=before, top=top)
    scores = row_scores(space, 1.0, 5, n=40)
    proposals, row, cold = Inference.of(space).proposals(), np.arange(40), np.full(40, 1e6)
    states, streams = proposals.start(space.sample(40, 0)), new_streams(40, 1)
    value = _scores_of(space, scores, proposals.outputs(states))
    for _ in range(30):
        accepted = proposals.walk(states, scores, row, cold, 1, streams)
        assert space.contains(proposals.outputs(states)).all()
        after = _scores_of(space, scores, proposals.outputs(states))
        assert (after >= value - 1e-9).all()
        assert (after[accepted == 0] == value[accepted == 0]).all()
        value = after
    hot = proposals.walk(states, scores, row, np.zeros(40), 100, streams)
    assert (hot > 0).all()


def test_single_steps_have_metropolis_probabilities():
    """One step from one ranking: frequencies within five standard errors of the probabilities."""
    for embedding in ("positions", "pairs", "ranks"):
        space, n = Rankings(range(3), embedding), 200_000
        scores = row_scores(space, 1.0, 2, n=1)
        listed = space.enumerate()
        values = _scores_of(space, np.repeat(scores, 6, axis=0), listed)
        proposals = Inference.of(space).proposals()
        states = proposals.start(np.repeat(listed[:1], n, axis=0))
        row, warm = np.zeros(n, np.int64), np.full(n, 0.7)
        proposals.walk(states, scores, row, warm, 1, new_streams(n, 3))
        ended = proposals.outputs(states)
        for z, value in zip(listed[1:], values[1:]):
            changed = (z != listed[0]).sum() == 2
            probability = changed * 2 / 9 * min(1.0, np.exp(0.7 * (value - values[0])))
            share = (ended == z).all(axis=1).mean()
            assert abs(share - probability) <= 5 * np.sqrt(probability / n)


def test_one_ranking_has_nowhere_to_go():
    for constraints in ({"positions": {0: 2, 1: 1}}, {"positions": {1: 1}, "top": 1}):
        space = Rankings(range(3)).restrict(**constraints)
        proposals = Inference.of(space).proposals()
        states = proposals.start(space.sample(2, 0))
        start = states.copy()
        scores = np.zeros((1, 9))
        row, warm = np.zeros(2, np.int64), np.ones(2)
        assert (proposals.walk(states, scores, row, warm, 9, new_streams(2, 0)) == 0).all()
        np.testing.assert_array_equal(states, start)


def test_constraints_without_proposals():
    space = Rankings("abc")
    assert Inference.of(space.restrict(before=[[("a", "b")], []])).proposals() is None
    assert Inference.of(space.restrict(before=[("a", "b")], positions={"c": 2})).proposals() is None


def test_long_chains_of_many_items_stay_inside():
    d = 60
    before = [(j, j + 1) for j in range(0, d, 2)]
    for embedding in ("pairs", "ranks"):
        space = Rankings(range(d), embedding).restrict(before=before, top=20)
        proposals = Inference.of(space).proposals()
        start = np.arange(1.0, d + 1)
        start[20:] = (21 + d) / 2
        states = proposals.start(np.repeat(start[None], 4, axis=0))
        scores, row = row_scores(space, 0.1, 0, n=2), np.array([0, 1, 0, 1])
        proposals.walk(states, scores, row, np.ones(4), 20_000, new_streams(4, 0))
        assert space.contains(proposals.outputs(states)).all()


def _scores_of(space, scores, outputs):
    psi = space.embed(outputs)
    psi = psi.toarray() if hasattr(psi, "toarray") else psi
    return (scores * psi).sum(axis=1)
