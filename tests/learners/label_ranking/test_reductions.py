# SPDX-License-Identifier: BSD-3-Clause
"""Reductions against the definitions, written out pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skstruct.learners import Reduction
from skstruct.learners.label_ranking.base import mean_tau
from skstruct.learners.label_ranking.neighbors import RiskReduction
from skstruct.learners.label_ranking.reductions import (
    KeslerReduction,
    PairwiseReduction,
    PreferenceReduction,
    ordered_pairs,
)
from skstruct.learners.label_ranking.subgraphs import SubgraphReduction
from skstruct.losses import Kendall
from skstruct.spaces import Rankings
from strategies import partial_rankings, total_orders

SPACE = Rankings(range(4))
FOUR = total_orders(4)


def preferences(Z):
    """Row, better and worse item of each ordered pair, from the definition."""
    d = Z.shape[1]
    return {
        (i, p, q) for i in range(len(Z)) for p in range(d) for q in range(d) if Z[i, p] < Z[i, q]
    }


def inputs(n, p=2):
    return np.random.default_rng(n).standard_normal((n, p)).round(2)


@given(partial_rankings(4))
def test_ordered_pairs(Z):
    rows, better, worse = ordered_pairs(Z)
    assert set(zip(rows, better, worse)) == preferences(Z)
    assert len(rows) == len(preferences(Z))
    assert (np.diff(rows) >= 0).all()


@given(partial_rankings(4))
def test_all_say_whether_there_is_something_to_learn(Z):
    reductions = [
        PreferenceReduction(SPACE),
        KeslerReduction(SPACE),
        PairwiseReduction(SPACE),
        SubgraphReduction(SPACE),
        RiskReduction(SPACE, Kendall(), Z),
    ]
    for reduction in reductions:
        assert isinstance(reduction, Reduction)
        assert reduction.accepts(Z) == bool(preferences(Z))
        assert reduction.accepts(np.ones((3, 1)))  # one item: nothing to order


@given(partial_rankings(4))
def test_preferences_know_rows_and_margins(Z):
    X, scores = inputs(len(Z)), inputs(len(Z), 4)
    found = PreferenceReduction(SPACE).apply(X, Z)
    starts = found.starts
    assert len(starts) == len(Z) + 1
    for i in range(len(Z)):
        assert (found.rows[starts[i] : starts[i + 1]] == i).all()
    assert starts[-1] == len(found.rows)
    pairs = zip(found.rows, found.better, found.worse)
    expected = [scores[i, p] - scores[i, q] for i, p, q in pairs]
    assert_allclose(found.margins(scores), expected)


@given(partial_rankings(4), st.booleans())
def test_kesler_is_the_kronecker_product(Z, thin):
    X = inputs(len(Z))
    examples, classes = KeslerReduction(SPACE).apply(sparse.csr_array(X) if thin else X, Z)
    rows, better, worse = ordered_pairs(Z)
    expected = [np.kron(np.eye(4)[p] - np.eye(4)[q], X[i]) for i, p, q in zip(rows, better, worse)]
    m = len(rows)
    assert examples.shape == (2 * m, 8)
    assert_array_equal(classes, [1] * m + [-1] * m)
    if m:
        assert_allclose(examples.toarray(), np.vstack([expected, -np.array(expected)]))


def test_kesler_draws_some():
    X = inputs(24)
    whole, _ = KeslerReduction(SPACE).apply(X, FOUR)
    drawn, classes = KeslerReduction(SPACE, 10, 0).apply(X, FOUR)
    again, _ = KeslerReduction(SPACE, 10, 0).apply(X, FOUR)
    assert drawn.shape == (20, 8)
    assert_array_equal(classes, [1] * 10 + [-1] * 10)
    assert_array_equal(drawn.toarray(), again.toarray())
    known = {tuple(row) for row in whole.toarray()}
    assert len({tuple(row) for row in drawn.toarray()} & known) == 20
    assert KeslerReduction(SPACE, 10**6, 0).apply(X, FOUR)[0].shape == whole.shape


@pytest.mark.slow
@given(partial_rankings(4))
def test_pairwise_examples(Z):
    X = inputs(len(Z))
    problems = PairwiseReduction(SPACE).apply(X, Z)
    pairs = [(p, q) for p in range(4) for q in range(p + 1, 4)]
    assert len(problems) == len(pairs)
    for (p, q), problem in zip(pairs, problems):
        known = [i for i in range(len(Z)) if Z[i, p] < Z[i, q] or Z[i, p] > Z[i, q]]
        assert_array_equal(problem.inputs, X[known])
        assert_array_equal(problem.before, [int(Z[i, p] < Z[i, q]) for i in known])


def probabilities(seed, n=20, d=4):
    """Random probabilities with R + R' = 1, not from any distribution of orders."""
    R = np.triu(np.random.default_rng(seed).uniform(size=(n, d, d)), 1)
    return R + np.tril(1 - R.transpose(0, 2, 1), -1)


def test_kendall_takes_the_least_expected_loss():
    R = probabilities(0)
    decided = PairwiseReduction(SPACE, "kendall").invert(R)
    wrong = FOUR[:, :, None] < FOUR[:, None, :]  # p before q costs the probability of the reverse
    losses = np.einsum("zpq,nqp->nz", wrong, R)
    assert_array_equal(decided, FOUR[losses.argmin(axis=1)])


def test_votes_take_the_least_squared_rank_difference():
    R = probabilities(1)
    decided = PairwiseReduction(SPACE, "votes").invert(R)
    ranks = 1 + R.sum(axis=1)  # expected rank of p: one, and all q that come before it
    losses = ((FOUR[None] - ranks[:, None]) ** 2).sum(axis=2)
    assert_array_equal(decided, FOUR[losses.argmin(axis=1)])


def test_both_ways_of_counting_differ():
    R = probabilities(2)
    ways = [PairwiseReduction(SPACE, way).invert(R) for way in ("votes", "kendall")]
    assert (ways[0] != ways[1]).any()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scores_are_sorted_and_ties_keep_their_order(scale):
    scores = scale * np.array([[0.1, 0.7, 0.7, -2.0], [0.0, 0.0, 0.0, 0.0]])
    ranks = PreferenceReduction(SPACE).invert(scores)
    assert_array_equal(ranks, [[3, 1, 2, 4], [1, 2, 3, 4]])
    noisy = scores + 1e-13 * scale * np.array([1, -1, 1, 0])  # last bits decide nothing
    assert_array_equal(PreferenceReduction(SPACE).invert(noisy)[0], ranks[0])


CENTERS = {
    "pairs": lambda i, p, q: (i, p, q),
    "better-items": lambda i, p, q: (i, p),
    "items": lambda i, p, q: (i, p),
    "worse-items": lambda i, p, q: (i, q),
    "whole": lambda i, p, q: i,
}


@given(partial_rankings(4), st.sampled_from(sorted(CENTERS)))
def test_subgraphs(Z, way):
    """All preferences are in one subgraph each, and two share it if their centers are the same."""
    found = SubgraphReduction(SPACE, way).apply(inputs(len(Z)), Z)
    edges = list(zip(found.rows.tolist(), found.better.tolist(), found.worse.tolist()))
    assert len(edges) == len(set(edges))
    assert set(edges) == preferences(Z)
    centers = [CENTERS[way](*edge) for edge in edges]
    assert len(set(zip(centers, found.owner))) == len(set(centers)) == len(found.begins)
    assert (np.diff(found.owner) >= 0).all()
    assert_array_equal(found.owner[found.begins], np.arange(len(found.begins)))
    for i in range(len(Z)):
        here = range(found.first_subgraphs[i], found.first_subgraphs[i + 1])
        pairs = [e for s in here for e in range(found.ends[s], found.ends[s + 1])]
        assert pairs == [e for e, edge in enumerate(edges) if edge[0] == i]
    assert_array_equal(found.margin, np.ones(len(edges)))


@given(partial_rankings(4))
def test_margins_of_feedback(Z):
    found = SubgraphReduction(SPACE, "worse-items", "feedback").apply(inputs(len(Z)), Z)
    for i, p, q, margin in zip(found.rows, found.better, found.worse, found.margin):
        assert margin == Z[i, q] - Z[i, p] > 0


@given(partial_rankings(4))
def test_tau_of_partial_rankings(Z):
    predicted = FOUR[np.arange(len(Z)) % 24]
    taus = []
    for z, y in zip(predicted, Z):
        pairs = [(p, q) for p in range(4) for q in range(4) if y[p] < y[q]]
        if pairs:
            taus.append(np.mean([1 if z[p] < z[q] else -1 for p, q in pairs]))
    if taus:
        assert_allclose(mean_tau(predicted, Z), np.mean(taus), atol=1e-12)
    else:
        with pytest.raises(ValueError, match="no row has one"):
            mean_tau(predicted, Z)
