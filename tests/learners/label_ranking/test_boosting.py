# SPDX-License-Identifier: BSD-3-Clause
"""Boosting: its loss and gradient against the definition, and that the loss falls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from skstruct.learners import LabelRankingBoosting
from skstruct.learners.label_ranking.subgraphs import SubgraphReduction, Subgraphs
from skstruct.spaces import Rankings
from strategies import partial_rankings, total_orders

WAYS = ("pairs", "better-items", "worse-items", "whole")


def defined(F, Z, decomposition):
    """Mean over rows of mean over subgraphs of log2(1 + sum of e^(worse - better))."""
    values, wrong = [], []
    for f, z in zip(F, Z):
        items = range(len(z))
        edges = [(p, q) for p in items for q in items if z[p] < z[q]]
        graphs = {
            "pairs": [[edge] for edge in edges],
            "better-items": [[e for e in edges if e[0] == p] for p in {p for p, _ in edges}],
            "worse-items": [[e for e in edges if e[1] == q] for q in {q for _, q in edges}],
            "whole": [edges] if edges else [],
        }[decomposition]
        terms = [np.log2(1 + sum(np.exp(f[q] - f[p]) for p, q in graph)) for graph in graphs]
        if terms:
            values.append(np.mean(terms))
            wrong.append(np.mean([any(f[p] <= f[q] for p, q in graph) for graph in graphs]))
    return np.mean(values), np.mean(wrong)


def subgraphs(Z, decomposition):
    return SubgraphReduction(Rankings(range(4)), decomposition).apply(np.zeros((len(Z), 1)), Z)


def has_pairs(Z):
    return (np.nanmin(Z, axis=1) < np.nanmax(Z, axis=1)).any()


@pytest.mark.slow
@given(partial_rankings(4).filter(has_pairs), st.sampled_from(WAYS), st.integers(0, 99))
def test_loss_gradient_and_curvature(Z, way, seed):
    rng = np.random.default_rng(seed)
    F, H = rng.standard_normal((2, *Z.shape))
    reduced = subgraphs(Z, way)
    loss, shares = reduced.evaluate(F)
    expected, n_wrong = defined(F, Z, way)
    assert_allclose(loss, expected)
    assert loss >= n_wrong  # the bound
    step = 1e-5
    numeric = np.zeros_like(F)
    for place in np.ndindex(F.shape):
        nudge = np.zeros_like(F)
        nudge[place] = step
        numeric[place] = (defined(F + nudge, Z, way)[0] - defined(F - nudge, Z, way)[0]) / (
            2 * step
        )
    assert_allclose(reduced.gradient(shares), numeric, atol=1e-8)
    slope, curvature = reduced.derivatives(shares, H)
    assert_allclose(slope, (numeric * H).sum(), atol=1e-7)
    ends = [(reduced.gradient(reduced.evaluate(F + s * H)[1]) * H).sum() for s in (step, -step)]
    assert_allclose(curvature, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_large_scores_do_not_overflow(way):
    Z = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]])
    loss, shares = subgraphs(Z, way).evaluate(np.tile([5e3, 1e3, -1e3, -5e3], (2, 1)))
    assert np.isfinite(loss)
    assert loss > 1e3
    assert np.isfinite(shares).all()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", [None, LinearRegression()], ids=["tree", "linear"])
def test_the_loss_falls(way, base):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    Z = total_orders(4)[rng.integers(24, size=80)]
    model = LabelRankingBoosting(
        n_estimators=40, estimator=base, decomposition=way, random_state=0
    ).fit(X, Z)
    losses = model.train_loss_
    assert len(losses) == len(model.estimators_) + 1 == len(model.steps_) + 1
    assert (np.diff(losses) < 0).all()
    scores = model.decision_function(X)
    assert_allclose(losses[-1], defined(scores, Z, way)[0])
    assert_allclose(losses[0], defined(np.zeros((80, 4)), Z, way)[0])


def test_the_other_name_of_a_decomposition():
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((20, 2)), total_orders(3)[rng.integers(6, size=20)]
    losses = [
        LabelRankingBoosting(n_estimators=3, decomposition=way, random_state=0)
        .fit(X, Z)
        .train_loss_
        for way in ("items", "better-items", "worse-items")
    ]
    assert_array_equal(losses[0], losses[1])
    assert abs(losses[1][-1] - losses[2][-1]) > 1e-3
    # Turned round, with scores of the other sign, the worse items are the better ones.
    F, Z = rng.standard_normal((20, 4)), total_orders(4)[rng.integers(24, size=20)]
    turned = subgraphs(5 - Z, "worse-items").evaluate(-F)[0]
    assert_allclose(subgraphs(Z, "better-items").evaluate(F)[0], turned)


def test_stages():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Z = np.argsort(np.argsort(-X, axis=1), axis=1) + 1
    model = LabelRankingBoosting(n_estimators=15, random_state=0).fit(X, Z)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_) == 15
    assert_array_equal(stages[-1], model.predict(X))
    short = LabelRankingBoosting(n_estimators=4, random_state=0).fit(X, Z)
    assert_array_equal(stages[3], short.predict(X))


def test_stops_where_no_step_helps():
    model = LabelRankingBoosting(n_estimators=50, estimator=LinearRegression(), learning_rate=1.0)
    model.fit(np.ones((6, 1)), [[1, 2], [2, 1]] * 3)  # even probabilities: zero is the best score
    assert len(model.estimators_) == 0
    assert_array_equal(model.predict(np.ones((2, 1))), [[1, 2], [1, 2]])


@pytest.mark.slow
def test_last_bits_of_steps_choose_no_splits(monkeypatch):
    """Two items are exchanged in a copy of every row, so that many splits are equally good."""
    real = Subgraphs.derivatives
    for seed in range(10):
        rng = np.random.default_rng(seed)
        half, new = rng.integers(-4, 5, (2, 12, 5)) / [8.0, 2.0, 1.0, 4.0, 8.0]
        X = np.vstack([half, half])
        ranks = np.argsort(np.argsort(rng.standard_normal((12, 4)), axis=1), axis=1) + 1
        y = np.vstack([ranks, ranks[:, [1, 0, 2, 3]]])
        model = LabelRankingBoosting(n_estimators=5, random_state=0)
        expected = model.fit(X, y).predict(new)
        with monkeypatch.context() as patched:
            patched.setattr(
                Subgraphs, "derivatives", lambda *given: np.multiply(real(*given), [1 + 2**-50, 1])
            )
            assert_array_equal(model.fit(X, y).predict(new), expected)
