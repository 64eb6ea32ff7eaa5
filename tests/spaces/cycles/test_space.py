# SPDX-License-Identifier: BSD-3-Clause
"""Cycles against the list of all of them, straight from the definition."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from cycle_cases import KINDS, all_tours, indicators
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Coordinates, Embeddings
from skstruct.spaces.cycles.space import Cycles
from skstruct.spaces.cycles.tours import CycleCounts
from skstruct.testing import check_space


# ----------------------------------------------------------------- the whole space
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_all_cycles(n, directed, embedding):
    check_space(Cycles(n, directed, embedding), indicators(all_tours(n, directed), n, directed))


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_only_cycles_are_members(n, directed):
    space = Cycles(n, directed)
    rows = np.array(list(product((0, 1), repeat=len(space.edges_))), np.int8)
    members = {tuple(z) for z in indicators(all_tours(n, directed), n, directed).tolist()}
    expected = [tuple(row) in members for row in rows.tolist()]
    assert_array_equal(space.contains(rows), expected)
    assert [not space._why_not(row) for row in rows] == expected


@pytest.mark.parametrize("n", range(3, 8))
def test_moments_are_those_of_the_list(n):
    for sizes in ((3, n), (4, 5), (n, n)):
        tours = [t for t in all_tours(n, True) if sizes[0] <= len(t) <= sizes[1]]
        if not tours:
            continue
        for directed, embedding in KINDS:
            space = Cycles(n, directed, embedding).restrict(min_size=sizes[0], max_size=sizes[1])
            psi = space.embed(indicators(tours, n, directed))
            assert space.size() * (1 if directed else 2) == len(tours)
            assert_allclose(space.mean_embedding(), psi.mean(axis=0), atol=1e-12)
            expected = np.cov(psi.T, bias=True)
            covariance = space.covariance()
            assert_allclose(covariance.dense(), expected, atol=1e-12)
            assert (covariance.eigenvalues >= 0).all()
            V = np.random.default_rng(n).standard_normal((3, psi.shape[1]))
            parts = covariance.parts(V)
            assert_allclose(sum(parts), V, atol=1e-12)
            for part, value in zip(parts, covariance.eigenvalues):
                assert_allclose(part @ expected, value * part, atol=1e-12)


def test_known_counts():
    # Counted by hand; sums that start at two nodes would give 2.5, 10, 42, 204.5.
    assert [Cycles(n, False).size() for n in range(3, 7)] == [1, 7, 37, 197]
    assert [Cycles(n).size() for n in range(3, 7)] == [2, 14, 74, 394]
    counts = CycleCounts.of(9)
    assert counts.through == (9 - 2) * counts.consecutive


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_two_hundred_nodes(directed, embedding):
    space = Cycles(200, directed, embedding)
    exact = sum(math.comb(200, i) * math.factorial(i - 1) for i in range(3, 201))
    assert space.size() == exact // (1 if directed else 2)
    assert_allclose(space.log_size(), math.log(space.size()))
    Z = space.sample(50, 0)
    psi, mean, covariance = space.embed(Z), space.mean_embedding(), space.covariance()
    assert space.contains(Z).all()
    assert mean.shape == (covariance.d,) == (psi.shape[1],)
    # Cycles have almost 200 nodes: the mean of <1, psi> and its spread are known well.
    expected = 0.0 if embedding == "signed pairs" else Z.sum(axis=1).mean()
    assert_allclose(mean.sum(), expected, atol=0.5)
    assert covariance.apply(psi[:2]).shape == (2, covariance.d)
    with pytest.raises(UndecidableError, match=r"about 10\*\*37"):
        space.enumerate()


def test_the_sampler_is_uniform():
    """Chi-square test at level 1e-3 in each case, all with the same seed."""
    for directed, constraints in (
        (True, {}),
        (False, {}),
        (True, {"include": [1, 2], "exclude": [0]}),
        (False, {"min_size": 4, "include": [3]}),
    ):
        space = Cycles(5, directed).restrict(**constraints)
        listed = [tuple(z) for z in space.enumerate().tolist()]
        number = {z: i for i, z in enumerate(listed)}
        drawn = [number[tuple(z)] for z in space.sample(100 * len(listed), 7).tolist()]
        counts = np.bincount(drawn, minlength=len(listed))
        assert stats.chisquare(counts).pvalue > 1e-3


# ----------------------------------------------------------------- many nodes
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_many_nodes_have_a_certificate(directed, embedding):
    n = 20
    space = Cycles(n, directed, embedding)
    costs = np.random.default_rng(1).standard_normal((2, len(space.mean_embedding())))
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert_allclose((costs * space.embed(decoded.outputs)).sum(axis=1), decoded.values)
    assert (decoded.bounds <= decoded.values).all()
    proof = Cycles(n, directed, embedding, prove=True)
    best = proof.argmin(costs)
    assert_allclose(best.values, best.bounds, atol=1e-6)
    assert (best.values <= decoded.values + 1e-9).all()
    assert (decoded.bounds <= best.values + 1e-6).all()
    if embedding == "signed pairs":  # the worst cycle is the reverse of the best
        assert space.guarantee.ratio == 0.5 + 0.5 / 6
        reached = (-best.values - decoded.values) / (-2 * best.values)
        assert (reached >= space.guarantee.ratio).all()
        assert_allclose(space.embed(space.sibling(best.outputs)), -space.embed(best.outputs))
    else:
        assert space.guarantee.kind == "bound only"
    assert space.restrict(include=[1]).guarantee.kind == "bound only"
    assert space.restrict(exclude=range(4)).guarantee.kind == "exact"
    with pytest.raises(ValueError, match="up to 16 nodes; there are 20"):
        space.kbest(costs, 2)


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_constraints_on_many_nodes(directed, embedding):
    space = Cycles(20, directed, embedding)
    costs = np.random.default_rng(2).standard_normal((2, len(space.mean_embedding())))
    space = space.restrict(
        include=[0], exclude=[1], include_edges=[(2, 3), (3, 4), (8, 6)],
        exclude_edges=[(5, 6)], max_size=9,
    )  # fmt: skip
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= decoded.values).all()
    assert_allclose((costs * space.embed(decoded.outputs)).sum(axis=1), decoded.values)
    impossible = space.restrict(include_edges=[(2, 5), (2, 7)])  # a node with three edges
    with pytest.raises(InfeasibleError, match="row 0"):
        impossible.argmin(costs)


# ----------------------------------------------------------------- embeddings
@given(st.integers(3, 6), st.integers(0, 10**6))
def test_signed_pairs_do_not_see_nodes(n, seed):
    """Costs p_u - p_v of going from u to v are zero for every cycle."""
    space = Cycles(n)
    worth = np.random.default_rng(seed).standard_normal(n)
    u, v = np.triu_indices(n, 1)
    assert_allclose(space.embed(space.enumerate()) @ (worth[u] - worth[v]), 0, atol=1e-12)


def test_lift():
    space = Cycles(5)
    view, Z = Embeddings.of(space).view("indicators"), space.enumerate()
    costs = np.random.default_rng(0).standard_normal((4, 10))
    lifted = Coordinates.of(view).lift(costs, "signed pairs")
    assert_allclose(lifted @ view.embed(Z).T, costs @ space.embed(Z).T, atol=1e-12)
    assert_array_equal(view.argmin(lifted).outputs, space.argmin(costs).outputs)
    assert Embeddings.of(view).view("signed pairs").embedding == "signed pairs"
    for narrow, name in ((space, "indicators"), (Cycles(5, False), "signed pairs")):
        with pytest.raises(ValueError, match=name):
            Coordinates.of(narrow).lift(np.zeros((1, 20)), name)
    with pytest.raises(ValueError, match=r"shape \(n_samples, 10\)"):
        Coordinates.of(view).lift(np.zeros((1, 20)), "signed pairs")
    with pytest.raises(ValueError, match="asks for signed pairs"):
        Embeddings.of(Cycles(5, False)).view("signed pairs")


def test_siblings_are_reversed():
    space = Cycles(list("abc")).fit([["a", "b", "c"]])
    Z = space.validate([["a", "b", "c"]])
    assert space.restore(space.sibling(Z))[0] == ["a", "c", "b"]
    with pytest.raises(ValueError, match="only signed pairs"):
        Embeddings.of(space).view("indicators").sibling(Z)


def test_parameters():
    assert Cycles().embedding == "signed pairs"
    assert clone(Cycles()).set_params(directed=False).embedding == "indicators"
    space = Cycles(4, embedding="indicators").restrict(include=[2])
    assert clone(space).size() == space.size()
    assert clone(space).get_params()["embedding"] == "indicators"
    with pytest.raises(ValueError, match="of directed cycles"):
        Cycles(4, False, "signed pairs").argmin(np.zeros((1, 6)))
    with pytest.raises(ValueError, match="got 'pairs'"):
        Cycles(4, embedding="pairs").fit([[0, 1, 2]])
    with pytest.raises(ValueError, match="at least 3 nodes; there are 2"):
        Cycles(["a", "b"]).size()
    grown = Cycles(4)
    assert (grown.size(), grown.set_params(nodes=5).size()) == (14, 74)
