# SPDX-License-Identifier: BSD-3-Clause
"""Online learners: what one step does, pieces against the whole, averages and mistakes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skstruct.learners import LabelRankingSVM, OnlineLabelRanker
from skstruct.learners.label_ranking.reductions import ordered_pairs
from skstruct.spaces import Rankings
from strategies import partial_rankings, total_orders

UPDATES = ("perceptron", "primal-dual", "passive-aggressive", "multiplicative")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3))
Z = total_orders(4)[RNG.integers(24, size=50)]
SCORES = X @ RNG.standard_normal((3, 4))
SEPARABLE = np.argsort(np.argsort(-SCORES, axis=1), axis=1) + 1
CLEAR = np.diff(np.sort(SCORES, axis=1), axis=1).min(axis=1) > 0.2  # rows with a wide margin


def started(**parameters):
    """A learner that has seen some rows, and predicts with its last weights."""
    model = OnlineLabelRanker(average=False, space=Rankings(range(4)), **parameters)
    return model.partial_fit(X[:7], Z[:7])


@given(partial_rankings(4, max_rows=1), st.integers(0, 99))
def test_margins_hold_after_an_unlimited_step(z, seed):
    x = np.random.default_rng(seed).standard_normal((1, 3))
    model = started(alpha=1e-12).partial_fit(x, z)
    scores = model.decision_function(x)[0]
    _, better, worse = ordered_pairs(z)
    assert (scores[better] - scores[worse] >= 1 - 1e-5).all()


def test_a_limited_step_stays_nearer():
    far, near = started(alpha=1e-12), started(alpha=1e-12)
    before = far.coef_.copy()
    far.partial_fit(X[7:8], Z[7:8])
    near.set_params(alpha=100.0).partial_fit(X[7:8], Z[7:8])
    proposals = [np.abs(model.coef_ - before).sum() for model in (far, near)]
    assert 0 < proposals[1] < proposals[0]
    # All six multipliers are at most C / 6, C = 1 / alpha: no item moves by more than half of C x.
    assert np.abs(near.coef_ - before).max() <= 0.005 * np.abs(X[7]).max() + 1e-12


@pytest.mark.parametrize("C", [0.05, 1.0, 1e6])
def test_the_first_step_is_the_machine_of_one_row(C):
    """From zero weights, a passive-aggressive step minimizes what the batch learner does."""
    step = OnlineLabelRanker(average=False, alpha=1 / C).partial_fit(X[:1], Z[:1])
    batch = LabelRankingSVM(alpha=1 / C, tol=1e-9, max_iter=10**5, random_state=0).fit(X[:1], Z[:1])
    assert_allclose(step.coef_, batch.coef_, atol=1e-5)
    assert_allclose(step.intercept_, batch.intercept_, atol=1e-5)


def test_nothing_happens_when_all_margins_hold():
    model = started(alpha=1e-12)
    model.partial_fit(X[7:8], Z[7:8])
    before = model.coef_.copy()
    model.partial_fit(X[7:8], Z[7:8])
    assert_allclose(model.coef_, before, atol=1e-6)


def test_perceptron_steps():
    model = started(method="perceptron")
    W, b = model.coef_.copy(), model.intercept_.copy()
    for x, z in zip(X[7:20], Z[7:20]):
        scores = W @ x + b
        pairs = [(p, q) for p in range(4) for q in range(4) if z[p] < z[q]]
        for p, q in [(p, q) for p, q in pairs if scores[p] <= scores[q]]:
            W[p] += x
            W[q] -= x
            b[p] += 1
            b[q] -= 1
        model.partial_fit(x[None], z[None])
        assert_allclose(model.coef_, W, atol=1e-12)
        assert_allclose(model.intercept_, b, atol=1e-12)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("update", UPDATES)
def test_pieces_are_one_pass(update, average):
    settings = {"alpha": 1.0, "average": average, "max_iter": 1, "shuffle": False}
    whole = OnlineLabelRanker(method=update, **settings).fit(X, Z)
    pieces = OnlineLabelRanker(method=update, space=Rankings(range(4)), **settings)
    for start, stop in ((0, 1), (1, 20), (20, 50)):
        pieces.partial_fit(X[start:stop], Z[start:stop])
    assert_array_equal(pieces.coef_, whole.coef_)
    assert_array_equal(pieces.intercept_, whole.intercept_)
    assert pieces.n_mistakes_ == whole.n_mistakes_
    assert pieces.n_seen_ == whole.n_seen_ == 50
    again = clone(pieces).fit(X, Z).fit(X, Z)  # fit begins anew
    assert_array_equal(again.coef_, whole.coef_)


@pytest.mark.parametrize("update", UPDATES)
def test_averages_and_mistakes(update):
    model = OnlineLabelRanker(method=update, average=False, alpha=1.0)
    seen, mistakes = [], 0
    for i, (x, z) in enumerate(zip(X, Z)):
        if i == 0:
            mistakes += 1  # all scores are zero
        else:
            scores = model.decision_function(x[None])[0]
            _, better, worse = ordered_pairs(z[None])
            mistakes += (scores[better] <= scores[worse]).any()
        model.partial_fit(x[None], z[None])
        seen.append(model.coef_.copy())
    assert model.n_mistakes_ == mistakes > 10
    averaged = OnlineLabelRanker(method=update, max_iter=1, shuffle=False, alpha=1.0).fit(X, Z)
    assert_allclose(averaged.coef_, np.mean(seen, axis=0), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
def test_no_mistakes_in_the_end_where_none_are_needed(update):
    inputs, rankings = X[CLEAR], SEPARABLE[CLEAR]
    assert len(inputs) > 10
    model = OnlineLabelRanker(method=update, average=False, random_state=0, alpha=1e-12)
    counts = [model.set_params(max_iter=n).fit(inputs, rankings).n_mistakes_ for n in (900, 1000)]
    assert counts[0] == counts[1] > 0
    assert model.score(inputs, rankings) == 1.0


@pytest.mark.parametrize(("first", "then"), [("multiplicative", "perceptron"), (*UPDATES[1::2],)])
def test_multiplied_weights_are_not_added_to(first, then):
    model = started(method=first, alpha=1.0)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=f'not those of method="{then}", which begins anew'):
        model.set_params(method=then).partial_fit(X, Z)
    assert_array_equal(model.coef_, before)
    model.fit(X, Z)


def test_margins_may_change_on_the_way():
    model = started(alpha=1e-12).set_params(margin="feedback", decomposition="whole")
    scores = model.partial_fit(X[7:8], Z[7:8]).decision_function(X[7:8])[0]
    by_rank = scores[np.argsort(Z[7])]
    assert (by_rank[:, None] - by_rank >= np.subtract.outer(-np.arange(4), -np.arange(4)) - 1e-5)[
        np.triu_indices(4, 1)
    ].all()


def test_items_must_be_known_from_the_start():
    model = OnlineLabelRanker(alpha=1.0).partial_fit(X[:2], [["a", "b"], ["b", "a"]])
    with pytest.raises(ValueError, match="'c'"):
        model.partial_fit(X[:1], [["c", "a"]])
    named = OnlineLabelRanker(space=Rankings(["a", "b", "c"]), alpha=1.0)
    named.partial_fit(X[:2], [["a", "b"], ["b", "a"]]).partial_fit(X[2:3], [["c", "a", "b"]])
    assert sorted(named.predict(X[:1])[0]) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="2 features"):
        named.partial_fit(X[:1, :2], [["c", "a", "b"]])


def test_shuffling():
    first, second = (
        OnlineLabelRanker(random_state=seed, max_iter=2, alpha=1.0).fit(X, Z) for seed in (0, 1)
    )
    assert np.abs(first.coef_ - second.coef_).max() > 1e-6
