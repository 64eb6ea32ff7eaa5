# SPDX-License-Identifier: BSD-3-Clause
"""Chains among trees, matchings, cliques, graphs and cycles against their exact distributions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cycle_cases import KINDS
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Cliques, Cycles, Graphs, Inference, Matchings, SpanningTrees
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing import check_proposals

SOME = settings(max_examples=10, deadline=None)


def random_scores(space, seed=0, rows=2):
    d = space.embed(space.enumerate()[:1]).shape[1]
    return np.random.default_rng(seed).standard_normal((rows, d))


@st.composite
def graphs(draw, max_nodes=5):
    """Pairs of a connected graph: a random tree and some more."""
    n = draw(st.integers(2, max_nodes))
    pairs = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    return sorted(pairs | {(u, v) for v in range(n) for u in range(v) if draw(st.booleans())})


@SOME
@given(graphs(), st.data())
def test_trees(pairs, data):
    space = SpanningTrees(graph=pairs)
    one = data.draw(st.sampled_from(space.enumerate().tolist()))
    known = np.array([bit and data.draw(st.integers(0, 3)) == 0 for bit in one], bool)
    space = space.restrict(include=known[None])
    check_proposals(space, random_scores(space, data.draw(st.integers(0, 99))), n_chains=1000)


@SOME
@given(graphs(), st.data())
def test_matchings(pairs, data):
    space = Matchings(graph=pairs)
    one = data.draw(st.sampled_from(space.enumerate().tolist()))
    known = np.array([bit and data.draw(st.integers(0, 3)) == 0 for bit in one], bool)
    space = space.restrict(include=known[None])
    check_proposals(space, random_scores(space, data.draw(st.integers(0, 99))), n_chains=1000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        SpanningTrees(5),
        SpanningTrees(4).restrict(exclude=[(0, 1)]),
        Matchings(5),
        Matchings(3, 3),
        Matchings(6, perfect=True),
        Matchings(6, perfect=True).restrict(include=[(0, 3)]),
        Matchings(4, 4, perfect=True),
        Matchings(2, perfect=True),
        Cliques(2),
        Cliques(5),
        Cliques(6).restrict(include=[1], exclude=[3]),
        Graphs(3),
        Graphs(4).restrict(include=[(0, 1)], min_size=2, max_size=3),
        Graphs(4, property="matching"),
        Graphs(4, property="spanning tree").restrict(exclude=[(0, 1)]),
    ],
    ids=str,
)
def test_edge_sets(space):
    check_proposals(space, random_scores(space))


@pytest.mark.slow
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
@pytest.mark.parametrize(
    "constraints",
    [
        {},
        {"include": [1, 3]},
        {"exclude": [2]},
        {"min_size": 4},
        {"max_size": 3},
        {"min_size": 4, "max_size": 4, "include": [0]},
        {"min_size": 5},
        {"include": [0, 1, 2], "max_size": 3},
    ],
    ids=str,
)
def test_cycles(directed, embedding, constraints):
    space = Cycles(5, directed, embedding).restrict(**constraints)
    check_proposals(space, random_scores(space))


@pytest.mark.slow
@pytest.mark.parametrize("score", [-0.7, 0.4])
@pytest.mark.parametrize("directed", [True, False])
def test_sizes_balance(directed, score):
    """Nodes come in and go out as often, where either is the rarer: enough chains to tell."""
    space = Cycles(5, directed, "indicators")
    scores = np.full((1, len(space.edges_)), score)
    check_proposals(space, scores, n_chains=20_000, n_sweeps=10)


@pytest.mark.slow
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_cycles_of_six(directed, embedding):
    """Parts of several lengths are turned, and the distribution is tempered."""
    space = Cycles(6, directed, embedding).restrict(min_size=6)
    check_proposals(space, random_scores(space), beta=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 1.0])
@pytest.mark.parametrize(
    "space",
    [
        SpanningTrees(3),
        Matchings(2),
        Matchings(graph=[(0, 1), (2, 3)]),
        Matchings(4).restrict(include=[(0, 1)]),
        Matchings(2, 2, perfect=True),
        Cliques(2),
        Cliques(4),
        Cliques(5).restrict(include=[1], exclude=[3]),
        Graphs(2),
        Cycles(3),
        Cycles(3, embedding="indicators"),
        Cycles(4).restrict(exclude=[1]),
        Cycles(4, embedding="indicators").restrict(max_size=3),
        Cycles(4, directed=False).restrict(max_size=3),
    ],
    ids=str,
)
def test_chains_that_accept_everything_have_no_period(space, size):
    """As at infinite temperature: all outputs are as likely, after few and many steps."""
    scores = size * random_scores(space, rows=1)
    for n_sweeps in (20, 40):
        check_proposals(space, scores, beta=1.0 - size, n_sweeps=n_sweeps)


@pytest.mark.parametrize(
    "space",
    [
        SpanningTrees(4).restrict(include=[[(0, 1)], [(1, 2)]]),
        Matchings(4).restrict(include=[[(0, 1)], [(1, 2)]]),
        Matchings(6, perfect=True).restrict(exclude=[(0, 1)]),
        Cliques(4).restrict(include=[[0], [1]]),
        Cycles(5).restrict(min_size=[3, 4]),
        Cycles(5).restrict(exclude_edges=[(0, 1)]),
        Graphs(4, property="planar"),
    ],
    ids=str,
)
def test_where_nothing_is_promised(space):
    assert Inference.of(space).proposals() is None


@pytest.mark.parametrize("space", [SpanningTrees(12), Matchings(12), Cycles(12), Cliques(12)])
def test_states_are_outputs(space):
    proposals, outputs = Inference.of(space).proposals(), space.sample(20, 0)
    np.testing.assert_array_equal(proposals.outputs(proposals.start(outputs)), outputs)


@pytest.mark.parametrize(
    "space",
    [
        SpanningTrees(3).restrict(exclude=[(0, 1), (0, 2)]),
        Matchings(4).restrict(include=[(0, 1), (1, 2)]),
        Cycles(4).restrict(include=[0, 1, 2, 3], max_size=3),
        Cliques(3).restrict(include=[1], exclude=[1]),
    ],
    ids=str,
)
def test_no_outputs(space):
    with pytest.raises(InfeasibleError):
        Inference.of(space).proposals()


def test_a_chain_depends_on_no_other():
    space = Cycles(8)
    proposals, outputs = Inference.of(space).proposals(), space.sample(5, 0)
    scores = np.random.default_rng(0).standard_normal((1, 28))
    streams, row, beta = new_streams(5, 0), np.zeros(5, np.int64), np.ones(5)
    together, last = proposals.start(outputs), proposals.start(outputs[4:])
    proposals.walk(together, scores, row, beta, 100, streams.copy())
    proposals.walk(last, scores, row[4:], beta[4:], 100, streams[4:].copy())
    np.testing.assert_array_equal(together[4:], last)
