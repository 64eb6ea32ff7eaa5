# SPDX-License-Identifier: BSD-3-Clause
"""Rankings of neighbors, joined under a loss: against all orders, and against refitting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise_distances

from skstruct.learners import NeighborLabelRanker
from skstruct.losses import Footrule, Kendall, Spearman
from strategies import total_orders

RNG = np.random.default_rng(0)
X, X_NEW = RNG.standard_normal((40, 2)), RNG.standard_normal((15, 2))
Z = total_orders(4)[RNG.integers(24, size=40)]
PARTIAL = np.where(RNG.uniform(size=Z.shape) < 0.2, np.nan, Z)
PARTIAL[np.isnan(PARTIAL).all(axis=1)] = [1, 2, 3, 4]
FOUR = total_orders(4)
LOSSES = [Kendall(), Kendall(normalize=True), Spearman(), Footrule()]


def weights(X_new, k, weighting):
    """Of all training rows for each new one, from the definition."""
    distances = pairwise_distances(X_new, X)
    W = np.zeros_like(distances)
    for row, near in zip(W, distances):
        nearest = np.argsort(near)[:k]
        row[nearest] = 1.0 if weighting == "uniform" else 1.0 / near[nearest]
    return W / W.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighting", ["uniform", "distance"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("Y", [Z, PARTIAL], ids=["total", "partial"])
def test_predictions_have_the_least_loss_to_the_neighbors(loss, weighting, Y):
    model = NeighborLabelRanker(n_neighbors=6, loss=loss, weights=weighting).fit(X, Y)
    risks = weights(X_NEW, 6, weighting) @ loss.pairwise(FOUR, model.outputs_).T
    chosen = (model.predict(X_NEW)[:, None] == FOUR[None]).all(axis=2)
    assert_allclose(risks[chosen], risks.min(axis=1), atol=1e-7)
    assert_allclose(model.model_.predict_risk(X_NEW), risks.min(axis=1), atol=1e-7)


def test_the_reduction_gives_the_same():
    model = NeighborLabelRanker(n_neighbors=6).fit(X, PARTIAL)
    inputs, targets = model.reduction_.apply(X, model.outputs_)
    smoother = model.model_.smoother_
    assert_array_equal(targets, smoother.targets_)
    assert_array_equal(inputs, X)
    assert_array_equal(model.reduction_.invert(smoother.predict(X_NEW)), model.predict(X_NEW))


def test_scores_are_mean_positions():
    model = NeighborLabelRanker(n_neighbors=6, weights="uniform").fit(X, Z)
    assert_allclose(model.decision_function(X_NEW), -weights(X_NEW, 6, "uniform") @ Z)


def test_another_loss_at_prediction_time():
    model = NeighborLabelRanker(n_neighbors=6).fit(X, Z)
    other = NeighborLabelRanker(n_neighbors=6, loss="footrule").fit(X, Z)
    assert_array_equal(model.predict(X_NEW, loss="footrule"), other.predict(X_NEW))
    assert (model.predict(X_NEW) != other.predict(X_NEW)).any()


def left_out_loss(k, Y):
    """Mean Kendall loss of each row, predicted from the others."""
    losses = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = NeighborLabelRanker(n_neighbors=k, weights="uniform").fit(X[rest], Y[rest])
        losses.append(Kendall()(model.predict(X[[i]]), Y[[i]])[0])
    return np.mean(losses)


@pytest.mark.slow
def test_the_number_is_chosen_by_leaving_out():
    smooth = np.argsort(np.argsort(-X @ RNG.standard_normal((2, 4)), axis=1), axis=1) + 1
    model = NeighborLabelRanker(n_neighbors=[2, 9, 30], weights="uniform").fit(X, smooth)
    risks = {trial["n_neighbors"]: trial["risk"] for trial in model.search_.trials}
    assert_allclose([risks[k] for k in (2, 9, 30)], [left_out_loss(k, smooth) for k in (2, 9, 30)])
    assert model.n_neighbors_ == min(risks, key=risks.get)
    fixed = NeighborLabelRanker(n_neighbors=model.n_neighbors_, weights="uniform").fit(X, smooth)
    assert_array_equal(fixed.predict(X_NEW), model.predict(X_NEW))
    automatic = NeighborLabelRanker(weights="uniform").fit(X, smooth)
    assert automatic.search_.best["risk"] <= risks[2]
    assert max(trial["n_neighbors"] for trial in automatic.search_.trials) < len(X)


def test_distances_may_be_given():
    model = NeighborLabelRanker(n_neighbors=5).fit(X, Z)
    by_distance = NeighborLabelRanker(n_neighbors=5, metric="precomputed").fit(
        pairwise_distances(X), Z
    )
    assert_array_equal(by_distance.predict(pairwise_distances(X_NEW, X)), model.predict(X_NEW))


def test_one_row():
    model = NeighborLabelRanker().fit(X[:1], Z[:1])
    assert_array_equal(model.predict(X_NEW[:2]), Z[[0, 0]])


def test_of_equal_numbers_the_larger_is_taken():
    same = np.tile([2, 1, 3], (40, 1))
    assert NeighborLabelRanker(n_neighbors=[3, 30, 10]).fit(X, same).n_neighbors_ == 30
