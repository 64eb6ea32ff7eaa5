# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of spanning trees against sums over all trees, and against long decimal numbers."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, SpanningTrees
from skstruct.spaces.edge_sets.spanning_trees import are_trees
from skstruct.spaces.spanning_trees.distribution import TreeDistribution
from skstruct.testing import check_distribution
from skstruct.testing.spaces import assert_drawn_from

FEW = settings(max_examples=30, deadline=None)
SIZES = (0.0, 1.0, 100.0, 1e3, 1e6)  # of scores: as numbers and as logarithms


@st.composite
def graphs(draw, max_nodes=5):
    """A connected graph: a random tree and some more edges."""
    n = draw(st.integers(2, max_nodes))
    pairs = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    pairs |= {(u, v) for v in range(n) for u in range(v) if draw(st.booleans())}
    return SpanningTrees(range(n), graph=draw(st.permutations(sorted(pairs))))


@FEW
@given(graphs(), st.sampled_from(SIZES), st.integers(0, 2**32))
def test_against_the_list(space, size, seed):
    scores = size * np.random.default_rng(seed).standard_normal((2, len(space.edges_)))
    check_distribution(space, scores, n_draws=500)


@FEW
@given(graphs(), st.data())
def test_constraints(space, data):
    tree = data.draw(st.sampled_from(space.enumerate().tolist()))
    d = len(tree)
    known = np.array([bit and data.draw(st.booleans()) for bit in tree], bool)
    out = np.array([not bit and data.draw(st.booleans()) for bit in tree], bool)
    space = space.restrict(include=known[None], exclude=out[None])
    scores = np.random.default_rng(data.draw(st.integers(0, 2**32))).standard_normal((2, d))
    check_distribution(space, scores, n_draws=500)


def test_draws_of_many():
    """Every kind of way that elimination makes is undone: K5 has 125 trees."""
    space = SpanningTrees(5)
    scores = np.random.default_rng(1).standard_normal((2, 10))
    check_distribution(space, scores, n_draws=40_000)


def test_constraints_row_by_row():
    space = SpanningTrees(4).restrict(include=[[(0, 1)], [(2, 3), (1, 2)]], exclude=[[], [(0, 2)]])
    scores = np.random.default_rng(0).standard_normal((2, 6))
    distribution = Inference.of(space).distribution(scores)
    drawn = distribution.sample(500, np.random.default_rng(0))
    for i in range(2):
        one = space.rows([i])
        alone = Inference.of(one).distribution(scores[i : i + 1])
        assert_allclose(distribution.log_partition[i], alone.log_partition[0])
        assert_allclose(distribution.marginals()[i], alone.marginals()[0])
        weight = np.exp(one.enumerate() @ scores[i])
        assert_drawn_from(drawn[i], one.enumerate(), weight / weight.sum())


def test_several_edges_between_the_same_nodes():
    ends = np.array([[0, 1], [1, 0], [1, 2], [0, 2]])
    u = np.array([[0.3, -0.5, 1.0, 0.1], [400.0, 401.0, -400.0, -399.0]])
    distribution = TreeDistribution(u, ends, 3)
    trees = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    for row, scores in enumerate(u):
        values = trees @ scores
        probabilities = np.exp(values - np.logaddexp.reduce(values))
        assert_allclose(distribution.log_partition[row], np.logaddexp.reduce(values))
        assert_allclose(distribution.marginals()[row], probabilities @ trees, atol=1e-12)
        drawn = distribution.sample(2000, np.random.default_rng(row))[row]
        assert_drawn_from(drawn, trees.astype(np.int8), probabilities)


def by_decimals(space, scores):
    """ln Z and the marginals of one row from the Laplacian in 1000 digits."""
    N = len(space.nodes_)
    with localcontext() as context:
        context.prec = 1000
        weights = [Decimal(float(u)).exp() for u in scores]
        rows = [[Decimal(0)] * (N - 1) + [Decimal(int(i == j)) for j in range(N - 1)]
                for i in range(N - 1)]  # fmt: skip
        for (a, b), w in zip(space.edges_.tolist(), weights):
            for i, j, signed in ((a, a, w), (b, b, w), (a, b, -w), (b, a, -w)):
                if i and j:
                    rows[i - 1][j - 1] += signed
        determinant = Decimal(1)
        for k in range(N - 1):
            determinant *= rows[k][k]
            rows[k] = [x / rows[k][k] for x in rows[k]]
            for i in range(N - 1):
                if i != k:
                    factor = rows[i][k]
                    rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]

        def inverse(i, j):
            return rows[i - 1][N - 1 + j - 1] if i and j else Decimal(0)

        marginals = [
            float(w * (inverse(a, a) + inverse(b, b) - 2 * inverse(a, b)))
            for (a, b), w in zip(space.edges_.tolist(), weights)
        ]
        return float(determinant.ln()), np.array(marginals)


@pytest.mark.parametrize("size", [80.0, 400.0])
def test_extreme_scores_lose_no_digits(size):
    """Also of edges that are hardly ever in: to 1e-9 of their probability."""
    space = SpanningTrees(6)
    rng = np.random.default_rng(2)
    for scores in (size * rng.standard_normal((1, 15)), -size * rng.integers(0, 3, (1, 15))):
        distribution = Inference.of(space).distribution(scores)
        log_partition, marginals = by_decimals(space, scores[0])
        assert_allclose(distribution.log_partition[0], log_partition, rtol=1e-14)
        seen = marginals > 1e-290
        assert_allclose(distribution.marginals()[0][seen], marginals[seen], rtol=1e-9)


def test_two_worlds_apart():
    """A walk between two groups would take e^500 steps; the draws do not walk."""
    space = SpanningTrees(8)
    scores = np.where((space.edges_ < 4).sum(axis=1) == 1, -500.0, 0.0)[None]
    distribution = Inference.of(space).distribution(scores)
    # 16 trees in each group, one of 16 edges between them.
    assert_allclose(distribution.log_partition, np.log(16 * 16 * 16) - 500.0)
    drawn = distribution.sample(200, np.random.default_rng(0))[0]
    assert are_trees(drawn, space.edges_, 8).all()
    assert (drawn @ scores[0] == -500.0).all()


def test_no_tree():
    with pytest.raises(InfeasibleError):
        Inference.of(SpanningTrees(3).restrict(exclude=[(0, 1), (0, 2)])).distribution(
            np.zeros((1, 3))
        )


def test_wrong_width():
    with pytest.raises(ValueError, match=r"shape \(n, 6\)"):
        Inference.of(SpanningTrees(4)).distribution(np.zeros((1, 5)))
