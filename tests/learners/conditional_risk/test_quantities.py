# SPDX-License-Identifier: BSD-3-Clause
"""Quantities from end to end: the same weights, whatever is asked of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeRegressor

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.kernels import RBF
from skstruct.losses import Absolute, Cauchy, Listed, Pinball, Squared
from skstruct.smoothing import Forest, KernelRidge, NadarayaWatson, Neighbors
from skstruct.spaces import Box, Interval


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 1))
    return X, np.sin(3 * X[:, 0]) + rng.normal(0, 0.3, 60)


LOSSES = ["squared", "absolute", "pinball", "epsilon_insensitive", "huber", "cauchy",
          "geman_mcclure", "fair", "l2_l1", "logistic", "hinge"]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_by_its_name_against_a_grid(waves, loss):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), loss, alpha=0.01, kernel=RBF(2.0)).fit(X, y)
    x = np.linspace(-1, 1, 15)[:, None]
    decoded = model.decode(x)
    grid = np.linspace(y.min(), y.max(), 2001)[:, None]
    risks = model.smoother_.weights(x) @ model.loss_.pairwise(grid, y[:, None]).T
    assert (decoded.bounds <= risks.min(axis=1) + 1e-9).all()
    assert (decoded.values <= risks.min(axis=1) + 1e-8).all()
    assert (decoded.values - decoded.bounds <= 1e-8).all()


def test_another_loss_without_fitting_again(waves):
    X, y = waves
    first = ConditionalRiskMinimizer(Interval(), "squared", alpha=0.1, kernel=RBF(2.0)).fit(X, y)
    second = ConditionalRiskMinimizer(Interval(), Pinball(0.9), alpha=0.1, kernel=RBF(2.0)).fit(
        X, y
    )
    np.testing.assert_allclose(first.predict(X, loss=Pinball(0.9)), second.predict(X), atol=1e-9)
    np.testing.assert_allclose(second.predict(X, loss="squared"), first.predict(X), atol=1e-9)
    low, high = (second.predict(X, loss=Pinball(tau)) for tau in (0.05, 0.95))
    assert (low <= high).mean() > 0.9


def test_squared_is_kernel_ridge_then_clipping(waves):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), alpha=0.01, kernel=RBF(2.0)).fit(X, y)
    ridge = KernelRidge(RBF(2.0), alpha=0.01).fit(X, y)
    expected = np.clip(ridge.predict(X), y.min(), y.max())
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "smoother", [Neighbors(5), NadarayaWatson(RBF(10.0)), Forest(n_estimators=10, random_state=0)]
)
def test_smoothers_of_positive_weights_predict_weighted_medians(waves, smoother):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), "absolute", smoother=smoother).fit(X, y)
    x = np.linspace(-1, 1, 9)[:, None]
    W = model.smoother_.weights(x)
    W = W.toarray() if hasattr(W, "toarray") else W
    order = np.argsort(y)
    passed = np.cumsum(W[:, order], axis=1)
    expected = y[order][(passed >= 0.5 - 1e-9).argmax(axis=1)]
    np.testing.assert_allclose(model.predict(x), expected)


def test_a_regressor_without_weights_serves_the_squared_loss_and_says_what_else(waves):
    X, y = waves
    forest = RandomForestRegressor(5, random_state=0)
    ConditionalRiskMinimizer(Interval(), smoother=forest).fit(X, y).predict(X)
    with pytest.raises(ValueError, match=r"needs the weights .* RandomForestRegressor has not"):
        ConditionalRiskMinimizer(Interval(), "absolute", smoother=forest).fit(X, y)
    tree = ConditionalRiskMinimizer(Interval(), smoother=DecisionTreeRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="Absolute needs the weights"):
        tree.predict(X, loss="absolute")
    listed = ConditionalRiskMinimizer(Interval(), Listed(Absolute()), smoother=forest).fit(X, y)
    assert np.isin(listed.predict(X), y).all()


@pytest.mark.slow
def test_penalty_and_width_are_chosen_by_the_loss_itself(waves):
    X, y = waves
    y = y.copy()
    y[::9] += 8.0
    whole = ConditionalRiskMinimizer(Interval(), Cauchy(0.5), kernel=RBF("auto"))
    with config_context(memory="40kB"):
        model = clone(whole).fit(X, y)
        by_blocks = model.predict(X)
    whole.fit(X, y)
    assert (model.alpha_, model.gamma_) == (whole.alpha_, whole.gamma_)
    np.testing.assert_allclose(by_blocks, whole.predict(X), atol=1e-7)
    best = whole.search_.best
    refit = ConditionalRiskMinimizer(
        Interval(), Cauchy(0.5), alpha=best["alpha"], kernel=RBF(best["gamma"])
    )
    losses = []
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        refit.set_params(space=Interval(y.min(), y.max())).fit(X[keep], y[keep])
        losses.append(-refit.score(X[[i]], y[[i]]))
    np.testing.assert_allclose(np.mean(losses), best["risk"], rtol=1e-5)


def test_what_is_inferred(waves):
    X, y = waves
    assert isinstance(ConditionalRiskMinimizer(alpha=1.0).fit(X, y).space_, Interval)
    assert isinstance(ConditionalRiskMinimizer(alpha=1.0).fit(X, np.c_[y, y]).space_, Box)
    whole = np.rint(y).astype(int)
    assert isinstance(
        ConditionalRiskMinimizer(None, "huber", alpha=1.0).fit(X, whole).space_, Interval
    )


def test_frames_and_their_index_come_back(waves):
    X, y = waves
    Y = pd.DataFrame({"a": y, "b": -y}, index=np.arange(60) + 7)
    model = ConditionalRiskMinimizer(Box(), Absolute(weights={"a": 1, "b": 2}), alpha=0.1)
    model.fit(pd.DataFrame(X, columns=["x"]), Y)
    predicted = model.predict(pd.DataFrame({"x": [0.1, 0.2]}, index=["p", "q"]))
    assert list(predicted.columns) == ["a", "b"]
    assert list(predicted.index) == ["p", "q"]


def test_constraints_at_prediction(waves):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(-2, 2), "absolute", alpha=0.1).fit(X, y)
    constraints = {"low": np.linspace(0.5, 1.0, 60)}
    with config_context(memory="20kB"):
        narrowed = model.predict(X, restrict=constraints)
    assert (narrowed >= constraints["low"] - 1e-12).all()
    with pytest.raises(ValueError, match="for 60 rows; got 3"):
        model.predict(X[:3], restrict=constraints)


def test_all_outputs_equal_and_single_rows():
    X = np.arange(5.0)[:, None]
    for loss in LOSSES:
        model = ConditionalRiskMinimizer(Interval(), loss, alpha=1.0).fit(X, np.full(5, 2.5))
        np.testing.assert_allclose(model.predict(X), 2.5)
    one = ConditionalRiskMinimizer(Interval(), "absolute", smoother="kernel_ridge").fit(
        [[0.0]], [1.5]
    )
    np.testing.assert_allclose(one.predict([[3.0]]), [1.5])


def test_grid_search_and_scores(waves):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), "absolute", kernel=RBF(2.0))
    search = GridSearchCV(model, {"alpha": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > -1
    assert (cross_val_score(model.set_params(alpha=0.1), X, y, cv=3) < 0).all()
    fitted = model.fit(X, y)
    assert fitted.score(X, y) == pytest.approx(-np.abs(fitted.predict(X) - y).mean())


def test_clear_errors(waves):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), "absolute", alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="no second best"):
        model.kbest(X, 2)
    with pytest.raises(ValueError, match="tau"):
        model.predict(X, loss=Pinball(1.5))
    with pytest.raises(ValueError, match="embeds its outputs"):
        model.predict(X, loss="hamming")
    broken = y.copy()
    broken[3] = np.inf
    with pytest.raises(ValueError, match=r"Y\[3\] is inf"):
        ConditionalRiskMinimizer(Interval(), "absolute", smoother="kernel_ridge").fit(X, broken)
    with pytest.raises(ValueError, match="embeds its outputs by"):
        ConditionalRiskMinimizer(loss=Squared(), smoother="kernel_ridge").set_params(
            space=None
        ).fit(X, y).predict(X, loss="kendall")


def test_explanations(waves):
    X, y = waves
    model = ConditionalRiskMinimizer(Interval(), "absolute", alpha=0.1).fit(X, y)
    explained = model.explain(X[:2])
    decoded = model.decode(X[:2])
    np.testing.assert_allclose((explained.weights * explained.losses).sum(axis=1), decoded.values)
