# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of matchings, cliques and graphs against sums over all of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Cliques, Graphs, Inference, Matchings
from skstruct.testing import check_distribution

FEW = settings(max_examples=30, deadline=None)
SIZES = (0.0, 1.0, 100.0, 1e6)  # of scores: as numbers and as logarithms


@st.composite
def matchings(draw):
    """Matchings within a graph, in one group of nodes or between two."""
    if draw(st.booleans()):
        n = draw(st.integers(2, 6))
        graph = [(u, v) for v in range(n) for u in range(v) if draw(st.booleans())]
        return Matchings(range(n), graph=graph or [(0, 1)])
    return Matchings(draw(st.integers(1, 4)), draw(st.integers(1, 3)))


@FEW
@given(matchings(), st.sampled_from(SIZES), st.data())
def test_against_the_list(space, size, data):
    d = len(space.edges_)
    one = data.draw(st.sampled_from(space.enumerate().tolist()))
    known = np.array([bit and data.draw(st.booleans()) for bit in one], bool)
    out = np.array([not bit and data.draw(st.booleans()) for bit in one], bool)
    space = space.restrict(include=known[None], exclude=out[None])
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    check_distribution(space, size * rng.standard_normal((2, d)), n_draws=500)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "space", [Matchings(6, perfect=True), Matchings(3, 3, perfect=True), Matchings(2, perfect=True)]
)
def test_perfect(space, size):
    rng = np.random.default_rng(0)
    check_distribution(space, size * rng.standard_normal((2, len(space.edges_))))


def test_long_and_narrow():
    """A path of 200 nodes: the recursion Z(n) = Z(n - 1) + e^u Z(n - 2) of its matchings."""
    space = Matchings(200, graph=[(i, i + 1) for i in range(199)])
    u = np.random.default_rng(0).standard_normal((1, 199))
    log_z = [0.0, 0.0]
    for i in range(199):
        log_z.append(np.logaddexp(log_z[-1], u[0, i] + log_z[-2]))
    distribution = Inference.of(space).distribution(u)
    assert_allclose(distribution.log_partition, log_z[-1])
    before = np.array(log_z)
    shifted = u.copy()
    shifted[0, 57] += 1e-4
    slope = (Inference.of(space).distribution(shifted).log_partition - before[-1]) / 1e-4
    assert_allclose(distribution.marginals()[0, 57], slope, rtol=1e-3)
    assert space.contains(distribution.sample(5, np.random.default_rng(0))[0]).all()


def test_more_than_doubles_hold():
    """A path of 2000 nodes has Fibonacci's number of matchings, beyond e^900."""
    space = Matchings(2000, graph=[(i, i + 1) for i in range(1999)])
    distribution = Inference.of(space).distribution(np.zeros((1, 1999)))
    a, b = 1, 1
    for _ in range(1999):
        a, b = b, a + b
    assert_allclose(distribution.log_partition, math.log(b))
    assert_allclose(distribution.marginals()[0, 1000], 1 / (2 + (1 + 5**0.5) / 2), rtol=1e-9)


def test_many_leaves():
    """A star has few matchings, however far its leaves are from each other in any order."""
    space = Matchings(100, graph=[(0, i) for i in range(1, 100)])
    assert_allclose(Inference.of(space).distribution(np.zeros((1, 99))).log_partition, np.log(100))


def test_constraints_row_by_row():
    space = Matchings(4).restrict(include=[[(0, 1)], [(1, 2)]])
    scores = np.random.default_rng(0).standard_normal((2, 6))
    distribution = Inference.of(space).distribution(scores)
    for i in range(2):
        assert_allclose(
            distribution.log_partition[i],
            Inference.of(space.rows([i])).distribution(scores[i : i + 1]).log_partition[0],
        )


@pytest.mark.slow
def test_too_entangled():
    assert Inference.of(Matchings(40)).distribution(np.zeros((1, 780))) is None


@pytest.mark.parametrize(
    "constraints", [{"include": [(0, 1), (1, 2)]}, {"exclude": [(0, 1), (2, 3)]}]
)
def test_no_matching(constraints):
    space = Matchings(4, perfect=True).restrict(exclude=[(0, 2)]).restrict(**constraints)
    space = space.restrict(exclude=[(0, 3)])
    with pytest.raises(InfeasibleError):
        Inference.of(space).distribution(np.zeros((1, 6)))


# ------------------------------------------------------------------- cliques and graphs
@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "space",
    [
        Cliques(2),
        Cliques(5),
        Cliques(5).restrict(include=[1], exclude=[3]),
        Graphs(4, property="clique"),
        Graphs(4, property="clique").restrict(include=[(0, 1)], exclude=[(1, 3)]),
        Graphs(4),
        Graphs(4).restrict(include=[(0, 1)], max_size=3),
        Graphs(3, directed=True),
        Graphs(4, property="matching").restrict(exclude=[(0, 1)]),
        Graphs(4, property="spanning tree"),
        Graphs(4, property="connected"),
        Graphs(4, property="acyclic").restrict(max_size=2),
    ],
    ids=str,
)
def test_cliques_and_graphs(space, size):
    d = len(space.edges_)
    check_distribution(space, size * np.random.default_rng(0).standard_normal((2, d)))


def test_cliques_beyond_the_list():
    """16 nodes, of which 14 are known to be out: three sets without scores and one with."""
    space = Cliques(16).restrict(exclude=list(range(2, 16)))
    distribution = Inference.of(space).distribution(np.ones((1, 120)))
    assert_allclose(distribution.log_partition, np.log(3 + np.e))
    everything = Inference.of(Cliques(16)).distribution(np.zeros((1, 120)))
    assert_allclose(everything.log_partition, 16 * np.log(2))
    assert_allclose(everything.marginals(), 0.25)
    assert Inference.of(Cliques(19)).distribution(np.zeros((1, 171))) is None


def test_graphs_row_by_row():
    space = Graphs(4, property="clique").restrict(include=[[(0, 1)], [(1, 2)], []])
    distribution = Inference.of(space).distribution(np.zeros((3, 6)))
    assert_allclose(distribution.log_partition, np.log([4, 4, 12]))


def test_no_clique():
    space = Graphs(4, property="clique").restrict(include=[(0, 1), (1, 2)], exclude=[(0, 2)])
    with pytest.raises(InfeasibleError):
        Inference.of(space).distribution(np.zeros((1, 6)))
