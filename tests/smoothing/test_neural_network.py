# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LinearRegression

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.learners.conditional_risk.part_plan import PartPlan
from skstruct.smoothing import CrossFitted, NeuralNetwork
from skstruct.smoothing.folds import folds_of, rank_by_content
from skstruct.spaces import LabelSets

HIDDEN = (30, 20)


def bent(n, seed, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    T = np.column_stack([np.abs(X[:, 0]), 1e4 * X[:, 0] * X[:, 1], np.full(n, 7.0)])
    return X, T + np.array([noise, 1e4 * noise, 0.0]) * rng.standard_normal(T.shape)


@pytest.fixture(scope="module")
def fitted():
    return NeuralNetwork(HIDDEN, random_state=0).fit(*bent(1000, 0))


def test_targets_of_any_scale_are_learned(fitted):
    X, T = bent(300, 1, noise=0.0)
    error = ((fitted.predict(X) - T) ** 2).mean(axis=0) / T.var(axis=0).clip(min=1e-300)
    assert (error[:2] < 0.03).all()
    assert_allclose(fitted.predict(X)[:, 2], 7.0, rtol=1e-6)
    single = (
        NeuralNetwork(HIDDEN, random_state=0)
        .fit(bent(1000, 0)[0], bent(1000, 0)[1][:, 0])
        .predict(X)
    )
    assert single.shape == (300,)
    assert np.mean((single - T[:, 0]) ** 2) < 0.03 * T[:, 0].var()


def test_predictions_are_those_of_the_layers(fitted, monkeypatch):
    monkeypatch.setattr("skstruct.smoothing.neural_network.CACHE", "1kB")
    X, _ = bent(50, 2)
    values = X
    for weight, bias in zip(fitted.weights_[:-1], fitted.biases_[:-1]):
        values = np.maximum(values @ weight.astype(float) + bias, 0.0)
    values = values @ fitted.weights_[-1].astype(float) + fitted.biases_[-1]
    expected = fitted.center_ + fitted.scale_ * values
    assert [weight.shape for weight in fitted.weights_] == [(2, 30), (30, 20), (20, 3)]
    assert_allclose(fitted.predict(X) / [1, 1e4, 1], expected / [1, 1e4, 1], atol=1e-5)
    assert_allclose(fitted.predict(sparse.csr_matrix(X)), fitted.predict(X), rtol=1e-4, atol=1e-4)


def test_order_of_rows_does_not_matter(fitted):
    X, T = bent(1000, 0)
    order = np.random.default_rng(3).permutation(len(X))
    again = NeuralNetwork(HIDDEN, random_state=0).fit(X[order], T[order])
    assert_allclose(again.predict(X), fitted.predict(X))


def test_rows_without_weight_teach_nothing():
    X, T = bent(600, 0)
    wrong = np.arange(600) % 3 == 0
    poisoned = np.where(wrong[:, None], 1e6, T)
    model = NeuralNetwork(HIDDEN, max_iter=100, random_state=0).fit(
        X, poisoned, sample_weight=np.where(wrong, 0.0, 2.0)
    )
    fresh, truth = bent(300, 1, noise=0.0)
    assert ((model.predict(fresh) - truth) ** 2).mean(axis=0)[0] < 0.1 * truth[:, 0].var()


def test_few_rows():
    X, T = bent(5, 0)
    assert NeuralNetwork((3,)).fit(X, T).predict(X).shape == (5, 3)


def test_saved_and_loaded(tmp_path):
    X, _ = bent(80, 0)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    model = ConditionalRiskMinimizer(
        LabelSets(), smoother=NeuralNetwork((5,), max_iter=5, random_state=0)
    ).fit(X, Y)
    save_model(model, tmp_path / "model.skstruct")
    again = load_model(tmp_path / "model.skstruct")
    assert_allclose(again.smoother_.predict(X), model.smoother_.predict(X))


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 17), st.booleans())
@settings(max_examples=30, deadline=None)
def test_some_rows_are_left_out_by_few_fits(seed, cv, k, grouped):
    """Left-out means are those of refits without the row's fold, at most a fold at a time."""
    rng = np.random.default_rng(seed)
    X, T, n = rng.standard_normal((18, 2)), rng.standard_normal((18, 2)), 18
    groups = rng.permutation(n) // 2 if grouped else None
    rows = np.sort(rng.choice(n, k, replace=False))
    if grouped:
        rows = np.flatnonzero(np.isin(groups, groups[rows]) & (groups > 0))
        if not len(rows):
            return
    model = CrossFitted(LinearRegression(), cv).fit(X, T)
    left = model.loo(groups, rows)
    number = np.unique(rows if groups is None else groups[rows], return_inverse=True)[1]
    n_folds = int(np.ceil(cv * len(rows) / n))
    fold = folds_of(number, n_folds, rank_by_content(X, T)[rows])
    assert len(np.unique(fold)) <= n_folds
    for i, row in enumerate(rows):
        others = np.setdiff1d(np.arange(n), rows[fold == fold[i]])
        if groups is not None:
            assert groups[row] not in groups[others]
        expected = LinearRegression().fit(X[others], T[others]).predict(X[[row]])[0]
        assert_allclose(left[i], expected, atol=1e-8)


def test_networks_have_a_part_with_many_rows():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((5001, 3)), (rng.random((5001, 2)) > 0.5).astype(float)
    assert "network" in [part.name for part in PartPlan(X, T).parts]
    assert "network" not in [part.name for part in PartPlan(X[:-1], T[:-1]).parts]
    assert "network" not in [part.name for part in PartPlan(X, T, classify=False).parts]
    wide = np.zeros((5001, 20_000))  # no time for so many targets
    assert "network" not in [part.name for part in PartPlan(X, wide) if part.name == "network"]
