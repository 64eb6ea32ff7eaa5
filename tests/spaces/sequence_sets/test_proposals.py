# SPDX-License-Identifier: BSD-3-Clause
"""Markov chains among sequences against the exact distribution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, Sequences
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing import check_proposals


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 3),
    st.tuples(st.integers(0, 3), st.integers(1, 3)).map(sorted).filter(lambda pair: pair[1] > 0),
    st.sampled_from(["positions", "bigrams"]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_proposals_reach_the_distribution(q, lengths, embedding, told, seed):
    space = Sequences("abc"[:q], tuple(lengths), embedding)
    if told:
        space = space.restrict(known={lengths[1] // 2: "a"})
    scores = 0.7 * np.random.default_rng(seed).standard_normal((2, space._width()))
    check_proposals(space, scores, n_chains=800, n_sweeps=60, rng=seed)


def test_proposals_at_other_temperatures():
    space = Sequences("ab", (0, 3), "bigrams")
    scores = np.random.default_rng(0).standard_normal((1, space._width()))
    check_proposals(space, scores, beta=0.0)
    check_proposals(space, scores, beta=0.4)


def test_no_proposals_where_ways_may_be_missing():
    space = Sequences("ab", 3)
    assert Inference.of(space.restrict(forbidden=[("a", "b")])).proposals() is None
    assert Inference.of(space.restrict(known=[{0: "a"}, {}])).proposals() is None


def test_no_sequence():
    space = Sequences("ab", (0, 3)).restrict(known={0: "a"}, length=0)
    assert space.size() == 0
    with pytest.raises(InfeasibleError, match="no sequence meets the constraints"):
        Inference.of(space).proposals()


def test_a_single_sequence_stays():
    space = Sequences("ab", 2).restrict(known={0: "a", 1: "b"})
    proposals = Inference.of(space).proposals()
    states = proposals.start(space.enumerate())
    accepted = proposals.walk(
        states, np.zeros((1, 4)), np.zeros(1, np.int64), np.ones(1), 10, new_streams(1, 0)
    )
    assert accepted.tolist() == [0]
    assert proposals.outputs(states).tolist() == [[0, 1]]


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_chains_climb_steep_scores(size):
    """The best symbol of every position is far better than all others."""
    space = Sequences("abcd", 5)
    scores = np.zeros((1, 20))
    scores[0, [0, 5, 10, 15, 17]] = size
    proposals = Inference.of(space).proposals()
    states = proposals.start(np.full((50, 5), 2))
    proposals.walk(states, scores, np.zeros(50, np.int64), np.ones(50), 2000, new_streams(50, 0))
    assert (proposals.outputs(states) == [0, 1, 2, 3, 1]).all()
