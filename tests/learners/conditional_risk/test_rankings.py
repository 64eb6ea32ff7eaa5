# SPDX-License-Identifier: BSD-3-Clause
"""The conditional risk minimizer on rankings, from the user's outputs and back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.learners.problem import risk_problem
from skstruct.losses import Footrule, Kendall, RankLoss, Spearman, resolve_loss
from skstruct.smoothing import Forest, Neighbors
from skstruct.spaces import Rankings
from strategies import total_orders


def problem(n=60, d=4, seed=0):
    """Items whose scores are linear in two features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    scores = X @ rng.standard_normal((2, d))
    return X, np.argsort(np.argsort(-scores, axis=1), axis=1) + 1


@pytest.mark.parametrize("loss", [Kendall(), Footrule(), Spearman(), RankLoss(), Footrule(top=1)])
def test_predictions_minimize_the_estimated_risk(loss):
    """The weights of the smoother, the definition of the loss, and every order there is."""
    X, Y = problem()
    model = ConditionalRiskMinimizer(Rankings(), loss, alpha=0.1).fit(X[:40], Y[:40])
    decoded = model.decode(X[40:])
    weights = model.smoother_.weights(X[40:])
    orders = total_orders(4)
    risk = weights @ loss.pairwise(orders, Y[:40].astype(float)).T
    # Costs are rounded to 2**-30 of their scale, which is about 100 here.
    np.testing.assert_allclose(decoded.values, risk.min(axis=1), atol=1e-6)
    np.testing.assert_allclose(decoded.bounds, decoded.values, atol=1e-12)


def test_the_loss_picks_the_embedding():
    X, Y = problem()
    model = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(X, Y)
    assert isinstance(model.loss_, Kendall)
    wanted = {"kendall": "pairs", "spearman": "ranks", "footrule": "positions",
              "rank": "complete rating differences"}  # fmt: skip
    for loss, embedding in wanted.items():
        assert model._problem(resolve_loss(loss)).space.embedding == embedding
        fresh = ConditionalRiskMinimizer(Rankings(), loss, alpha=0.1).fit(X, Y)
        np.testing.assert_array_equal(fresh.predict(X), model.predict(X, loss=loss))


def test_it_learns():
    X, Y = problem(200)
    model = ConditionalRiskMinimizer(Rankings(), smoother="kernel_ridge").fit(X[:150], Y[:150])
    assert -model.score(X[150:], Y[150:]) < 0.5  # of 6 pairs; a constant order has about 3
    assert model.alpha_ > 0


@pytest.mark.slow
@given(st.sampled_from(["kendall", "footrule", "spearman", "rank"]), st.integers(0, 100))
def test_partial_rankings_are_enough(loss, seed):
    X, Y = problem(seed=seed)
    partial = np.where(np.random.default_rng(seed).random(Y.shape) < 0.3, np.nan, Y)
    partial[np.isnan(partial).all(axis=1), 0] = 1
    model = ConditionalRiskMinimizer(Rankings(), loss, alpha=0.1).fit(X, partial)
    predicted = model.predict(X)
    assert (np.sort(predicted, axis=1) == np.arange(1, 5)).all()
    assert Kendall()(predicted, Y).mean() < 2.0


def test_names_frames_and_index_come_back():
    X, Y = problem()
    items = ["ale", "beer", "cider", "dew"]
    frame = pd.DataFrame(Y, columns=items)
    rows = pd.DataFrame(X, columns=["u", "v"], index=[f"r{i}" for i in range(len(X))])
    model = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(rows, frame)
    predicted = model.predict(rows)
    assert list(predicted.columns) == items
    assert list(predicted.index) == list(rows.index)
    lists = [[items[j] for j in np.argsort(y)] for y in Y]
    by_name = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(X, lists)
    expected = [[items[j] for j in np.argsort(y)] for y in predicted.to_numpy()]
    assert by_name.predict(X).tolist() == expected
    assert [len(row) for row in by_name.predict(X, restrict={"top": 2})] == [2] * len(X)
    first = by_name.predict(X, restrict={"positions": {"dew": 1}, "before": [("cider", "ale")]})
    assert all(row[0] == "dew" and row.index("cider") < row.index("ale") for row in first)


def test_wide_embeddings_go_by_weights():
    """More pairs than rows: the same answers as from regression on all the pairs."""
    X, Y = problem(n=12, d=7)
    for loss in (Kendall(), Footrule()):
        model = ConditionalRiskMinimizer(Rankings(), loss, alpha=0.1).fit(X, Y)
        assert model.problem_.by_weights
        plain = risk_problem(model.space_, loss, model.outputs_)
        expected = plain.decode(model.smoother_.with_targets(plain.targets()).predict(X))
        decoded = model.decode(X)
        np.testing.assert_allclose(decoded.values, expected.values, atol=1e-9)
        np.testing.assert_array_equal(decoded.outputs, expected.outputs)
        assert (
            ConditionalRiskMinimizer(Rankings(), loss, smoother="kernel_ridge").fit(X, Y).alpha_ > 0
        )
    np.testing.assert_array_equal(
        model.predict(X, loss="kendall"),
        ConditionalRiskMinimizer(Rankings(), "kendall", alpha=0.1).fit(X, Y).predict(X),
    )
    narrow = model.predict(X, loss="spearman")  # seven targets again
    assert (np.sort(narrow, axis=1) == np.arange(1, 8)).all()


@pytest.mark.slow
@pytest.mark.parametrize("smoother", [Neighbors(5), Forest(20, random_state=0)])
def test_other_smoothers(smoother):
    X, Y = problem()
    model = ConditionalRiskMinimizer(Rankings(), "kendall", smoother=smoother).fit(X, Y)
    assert Kendall()(model.predict(X), Y).mean() < 1.5


def test_ratings_with_gaps():
    rng = np.random.default_rng(0)
    X, Y = problem(80, 5)
    ratings = np.where(rng.random(Y.shape) < 0.5, np.nan, 6.0 - Y)
    ratings[np.isnan(ratings).all(axis=1), 0] = 3.0
    model = ConditionalRiskMinimizer(Rankings(scores=True), "rank", alpha=1.0).fit(X, ratings)
    scores = model.predict(X)
    assert (np.sort(scores, axis=1) == np.arange(1, 6)).all()
    assert np.corrcoef(scores.ravel(), -Y.ravel())[0, 1] > 0.5  # larger is better, as given


def test_the_k_best_are_listed():
    X, Y = problem()
    model = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(X, Y)
    for loss in ("kendall", "footrule", "spearman"):
        best = model.kbest(X[:5], 3, loss=loss)
        assert (np.diff(best.values, axis=1) >= 0).all()
        np.testing.assert_array_equal(best.outputs[0], model.predict(X[:5], loss=loss))


def test_what_explains_a_ranking():
    X, Y = problem()
    explanation = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(X, Y).explain(X[:3])
    assert explanation.weights.shape == explanation.losses.shape == (3, 60)


def test_the_k_best_of_blocks_with_fewer_outputs():
    X, Y = problem(d=3)
    model = ConditionalRiskMinimizer(Rankings(range(3)), alpha=0.1, n_jobs=2).fit(X, Y)
    fixed = [{0: 1, 1: 2}] * 3 + [{}] * 3  # one ranking each, then six each
    best = model.kbest(X[:6], 6, restrict={"positions": fixed})
    assert best.values.shape == (6, 6)
    assert np.isfinite(best.values[:3, 0]).all()
    assert np.isinf(best.values[:3, 1:]).all()
    assert np.isfinite(best.values[3:]).all()


def test_a_failed_fit_changes_nothing():
    X, Y = problem()
    model = ConditionalRiskMinimizer(Rankings(), alpha=0.1).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1.0).fit(X, problem(d=6)[1])
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_kernel_may_keep_its_matrix():
    X, Y = problem()
    kept = {}

    def kernel(A, B):
        return kept.setdefault((len(A), len(B)), np.exp(-((A[:, None] - B) ** 2).sum(axis=2)))

    first = ConditionalRiskMinimizer(Rankings(), kernel=kernel, alpha=0.1).fit(X, Y).predict(X)
    again = ConditionalRiskMinimizer(Rankings(), kernel=kernel, alpha=0.1).fit(X, Y).predict(X)
    np.testing.assert_array_equal(first, again)


def test_the_impossible_row_is_counted_from_the_beginning():
    X, Y = problem(d=3)
    model = ConditionalRiskMinimizer(Rankings(range(3)), alpha=0.1, n_jobs=2).fit(X, Y)
    constraints = {"positions": [{}] * 35 + [{0: 1}] + [{}] * 4, "before": [[(1, 0)]] * 40}
    for loss in ("kendall", "footrule", "zero_one"):
        for decide in (model.decode, lambda *a, **k: model.kbest(a[0], 2, **k)):
            with pytest.raises(InfeasibleError, match="row 35") as caught:
                decide(X[:40], loss=loss, restrict=constraints)
            assert caught.value.row == 35
            assert pickle.loads(pickle.dumps(caught.value)).row == 35


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_ratings_on_any_scale(gaps, normalize):
    """Stars, euros or seconds since 1970: only differences matter, and those in proportion."""
    X, Y = problem(d=5)
    ratings = 6.0 - Y
    if gaps:
        ratings[np.random.default_rng(1).random(Y.shape) < 0.6] = np.nan
        ratings[np.isnan(ratings).all(axis=1), 0] = 3.0
    loss = RankLoss(normalize)
    model = ConditionalRiskMinimizer(Rankings(range(5), scores=True), loss, alpha=1.0)
    plain = model.fit(X, ratings).decode(X)
    for factor, shift in ((1e9, 0.0), (1e-4, 0.0), (1.0, 1e6)):
        scaled = model.fit(X, factor * ratings + shift).decode(X)
        expected = plain.values if normalize else plain.values * factor
        np.testing.assert_allclose(scaled.values, expected, rtol=1e-5, atol=1e-5 * factor)
        np.testing.assert_array_equal(scaled.outputs, plain.outputs)
