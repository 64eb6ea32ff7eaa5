# SPDX-License-Identifier: BSD-3-Clause
"""Markov chains among labels and among states against the exact distribution."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, PairwiseLabels, PairwiseStates
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing import check_proposals

FEW = settings(max_examples=15, deadline=None)


@FEW
@given(st.integers(1, 5), st.data(), st.integers(0, 2**32))
def test_proposals_of_labels(n, data, seed):
    pairs = list(combinations(range(n), 2))
    graph = data.draw(st.lists(st.sampled_from(pairs))) if pairs else []
    space = PairwiseLabels(graph, labels=range(n))
    known = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=2))
    space = space.restrict(include=known[:1], exclude=known[1:])
    scores = 0.7 * np.random.default_rng(seed).standard_normal((2, n + len(space.edges_)))
    check_proposals(space, scores, n_chains=800, n_sweeps=60, rng=seed)


@FEW
@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["states", "node states"]),
    st.data(),
    st.integers(0, 2**32),
)
def test_proposals_of_states(n, k, embedding, data, seed):
    joined = [(data.draw(st.integers(0, j - 1)), j) for j in range(1, n)]
    number = data.draw(st.permutations(range(n)))
    edges = [(number[i], number[j]) for i, j in joined]
    space = PairwiseStates(edges, states=range(k), labels=range(n), embedding=embedding)
    if k > 2 and data.draw(st.booleans()):
        space = space.restrict(forbidden={0: 1})
    width = space.embed(space.enumerate()[:1]).shape[1]
    scores = 0.7 * np.random.default_rng(seed).standard_normal((2, width))
    check_proposals(space, scores, n_chains=800, n_sweeps=60, rng=seed)


def test_flat_scores_make_no_periodic_chain():
    check_proposals(PairwiseLabels([], labels=[0]), np.zeros((1, 1)), n_sweeps=10)
    check_proposals(PairwiseStates([], states="ab", labels=[0]), np.zeros((1, 2)), n_sweeps=10)


@pytest.mark.parametrize(
    "space",
    [
        PairwiseLabels("full", labels=range(3)).restrict(include=[[0], []]),
        PairwiseStates([(0, 1)], states="ab", labels=range(2)).restrict(known=[{0: "a"}, {}]),
    ],
)
def test_no_proposals_where_rows_differ(space):
    assert Inference.of(space).proposals() is None


@pytest.mark.parametrize(
    "space",
    [
        PairwiseLabels("full", labels=range(3)).restrict(include=[0], exclude=[0]),
        PairwiseStates("empty", "xy", "ab").restrict(forbidden={"a": ["x", "y"]}),
    ],
)
def test_no_outputs(space):
    with pytest.raises(InfeasibleError, match="no output meets the constraints"):
        Inference.of(space).proposals()


def test_nothing_moves_where_all_is_known():
    for space, width in (
        (PairwiseLabels("full", labels=range(2)).restrict(include=[0], exclude=[1]), 3),
        (PairwiseStates([], states="ab", labels=[0]).restrict(known={0: "b"}), 2),
    ):
        proposals = Inference.of(space).proposals()
        states = proposals.start(space.enumerate())
        rest = np.zeros(1, np.int64), np.ones(1), 10, new_streams(1, 0)
        assert proposals.walk(states, np.zeros((1, width)), *rest).tolist() == [0]
        assert (proposals.outputs(states) == space.enumerate()).all()
