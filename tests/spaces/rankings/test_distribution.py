# SPDX-License-Identifier: BSD-3-Clause
"""Sums over orders and distributions of rankings against the list of all rankings."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from ranking_cases import limited_rankings, row_scores
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, Rankings
from skstruct.spaces.rankings.distribution import (
    OrderSums,
    PositionDistribution,
    supports_inference,
)
from skstruct.testing.spaces import check_distribution
from strategies import total_orders

EVERY = ["positions", "pairs", "ranks", "pair shares", "complete rating differences"]


@given(limited_rankings(EVERY), st.sampled_from([0.0, 1.0, 30.0, 1e6]), st.data())
def test_distributions_against_enumeration(space, scale, data):
    scores = row_scores(space, scale, data.draw(st.integers(0, 999)))
    if space.size() == 0:
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)
    else:
        check_distribution(space, scores, n_draws=0)


@pytest.mark.parametrize("embedding", ["positions", "pairs", "ranks"])
@pytest.mark.parametrize("scale", [0.7, 1e3])
@pytest.mark.parametrize(
    "constraints", [{}, {"top": 2}, {"positions": {1: 3}}, {"before": [(0, 3), (2, 3)]},
               {"before": [(0, 3)], "top": 3, "positions": {2: 1}}]
)  # fmt: skip
def test_draws_have_the_distribution(embedding, scale, constraints):
    """Chi-square tests of level 1e-6, two rows in each of 30 cases: one in 16,000 fails."""
    space = Rankings(range(5), embedding).restrict(**constraints)
    check_distribution(space, row_scores(space, scale, 3, n=2), n_draws=4000, rng=1)


def test_constraints_may_differ_from_row_to_row():
    space = Rankings("abcd", "pairs")
    rows = [[("a", "b")], [("c", "a"), ("d", "c")], []]
    scores = row_scores(space, 2.0, 0, n=3)
    distribution = Inference.of(space.restrict(before=rows, top=2)).distribution(scores)
    drawn = distribution.sample(5, np.random.default_rng(0))
    for i, before in enumerate(rows):
        single = space.restrict(before=before, top=2)
        alone = Inference.of(single).distribution(scores[i])
        assert_allclose(distribution.log_partition[i], alone.log_partition[0])
        assert_allclose(distribution.marginals()[i], alone.marginals()[0])
        assert single.contains(drawn[i]).all()
    with pytest.raises(InfeasibleError, match="row 1"):
        Inference.of(
            space.restrict(before=[[], [("a", "b")]], positions=[{}, {"a": 4}])
        ).distribution(scores[:2])
    with pytest.raises(ValueError, match="rows"):
        Inference.of(space.restrict(before=rows)).distribution(scores[:2])


def test_numbers_and_logarithms_agree(monkeypatch):
    space = Rankings(range(9), "positions").restrict(top=7, before=[(0, 1)])
    scores = row_scores(space, 3.0, 0, n=2)
    fast = Inference.of(space).distribution(scores)
    assert not fast.sums.logs.any()
    monkeypatch.setattr("skstruct.spaces.rankings.distribution.LARGEST_EXPONENT", 0.0)
    slow = Inference.of(space).distribution(scores)
    assert slow.sums.logs.all()
    assert_allclose(fast.log_partition, slow.log_partition, rtol=1e-13)
    assert_allclose(fast.marginals(), slow.marginals(), rtol=1e-10, atol=1e-15)
    rng = [np.random.default_rng(2) for _ in range(2)]
    np.testing.assert_array_equal(fast.sample(50, rng[0]), slow.sample(50, rng[1]))


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_positions_and_pairs_together(scale):
    """Scores of both kinds, those of pairs of any format; one row of pairs serves all rows."""
    d, rng = 5, np.random.default_rng(4)
    positions, pairs = (
        scale * rng.standard_normal((3, d, d)),
        scale * rng.standard_normal((1, d, d)),
    )
    ranks = total_orders(d).astype(int) - 1
    ahead = ranks[:, :, None] < ranks[:, None, :]
    values = positions[:, np.arange(d), ranks].sum(axis=2) + (ahead * pairs).sum(axis=(1, 2))
    probabilities = np.exp(values - logsumexp(values, axis=1, keepdims=True))
    sums = OrderSums(3, d, positions=positions, pairs=pairs)
    assert sums.logs.all() == (scale > 1)
    assert_allclose(sums.log_partition, logsumexp(values, axis=1), rtol=1e-12)
    assert_allclose(sums.ahead, np.tensordot(probabilities, ahead, 1), atol=1e-11)
    assert_allclose(sums.placed, np.tensordot(probabilities, np.eye(d)[ranks], 1), atol=1e-11)


def test_partition_function_is_a_permanent():
    """Ryser's formula, and marginals whose rows and columns sum to 1."""
    d, rng = 8, np.random.default_rng(0)
    weights = rng.random((d, d))
    subsets = np.array(list(itertools.product((0, 1), repeat=d)))
    signs = (-1.0) ** (d - subsets.sum(axis=1))
    permanent = (signs * (subsets @ weights).prod(axis=1)).sum()
    distribution = Inference.of(Rankings(range(d))).distribution(np.log(weights).ravel())
    assert_allclose(distribution.log_partition, np.log(permanent), rtol=1e-12)
    doubly = distribution.marginals().reshape(d, d)
    assert_allclose(doubly.sum(axis=0), 1.0)
    assert_allclose(doubly.sum(axis=1), 1.0)


@pytest.mark.parametrize("embedding", ["positions", "pairs", "ranks"])
def test_marginals_are_the_gradient(embedding):
    space = Rankings(range(10), embedding)
    scores = row_scores(space, 0.5, 1, n=1)
    step = 1e-5 * np.random.default_rng(0).standard_normal(scores.shape)
    difference = (
        Inference.of(space).distribution(scores + step).log_partition
        - Inference.of(space).distribution(scores - step).log_partition
    )
    assert_allclose(
        (Inference.of(space).distribution(scores).marginals() * step).sum(),
        difference[0] / 2,
        rtol=1e-7,
    )


def test_mallows_partition_function_is_a_product():
    """The same score for all pairs weighs by Kendall's distance: a closed form, 13 items."""
    d, theta = 13, 0.8
    scores = np.full((1, math.comb(d, 2)), theta / 2)
    sizes = [np.exp(-theta * np.arange(k)).sum() for k in range(1, d + 1)]
    expected = np.log(sizes).sum() + theta / 2 * math.comb(d, 2)
    assert_allclose(
        Inference.of(Rankings(range(d), "pairs")).distribution(scores).log_partition,
        expected,
        rtol=1e-12,
    )


def test_extreme_scores_leave_the_best_ranking():
    space = Rankings(range(12), "positions")
    scores = 1e6 * np.random.default_rng(0).standard_normal((3, 144))
    distribution = Inference.of(space).distribution(scores)
    best = space.argmin(-scores)
    assert_allclose(distribution.log_partition, -best.values, rtol=1e-12)
    drawn = distribution.sample(2, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, np.repeat(best.outputs[:, None], 2, axis=1))
    assert_allclose(distribution.marginals(), space.embed(best.outputs).toarray(), atol=1e-12)


def test_what_is_not_summed():
    assert supports_inference(10_000, 12)
    assert not supports_inference(1, 21)
    assert Inference.of(Rankings(range(30))).distribution(np.zeros(900)) is None
    assert (
        Inference.of(Rankings(range(30)).restrict(before=[(0, 1)])).distribution(np.zeros(900))
        is None
    )
    many = Rankings(range(20)).restrict(before=[[(0, 1)]] * 40)
    assert Inference.of(many).distribution(np.zeros((40, 400))) is None
    few = Rankings(range(30)).restrict(positions={j: j + 1 for j in range(26)})
    assert not isinstance(Inference.of(few).distribution(np.zeros(900)), PositionDistribution)
    assert_allclose(Inference.of(few).distribution(np.zeros(900)).log_partition, math.log(24))


def test_nothing_to_order():
    distribution = Inference.of(Rankings(["only"], "pairs")).distribution(np.zeros((2, 0)))
    assert_allclose(distribution.log_partition, 0.0)
    assert distribution.marginals().shape == (2, 0)
    np.testing.assert_array_equal(
        distribution.sample(3, np.random.default_rng(0)), np.ones((2, 3, 1))
    )
    assert OrderSums(0, 3).draw(2, np.random.default_rng(0)).shape == (0, 2, 3)


def test_no_rows():
    for embedding in EVERY:
        space = Rankings(range(3), embedding)
        distribution = Inference.of(space).distribution(row_scores(space, 1.0, 0, n=0))
        assert distribution.marginals().shape == row_scores(space, 1.0, 0, n=0).shape
        assert distribution.sample(4, np.random.default_rng(0)).shape == (0, 4, 3)
