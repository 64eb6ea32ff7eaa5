# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression by functional gradients, batch by batch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skstruct import CountingRidge
from skstruct.kernels import RBF
from skstruct.learners import StochasticGradient
from skstruct.learners.counting_ridge import learner as ridge
from skstruct.learners.counting_ridge.online import OnlineState
from skstruct.spaces import LabelSets


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X @ rng.standard_normal((3, 4)) > 0).astype(int)


def objective(model, X, Y, alpha):
    """J of a model at (X, Y) by its definition over free sets of four labels."""
    listed = LabelSets(range(4)).enumerate()
    f = model.decision_function(X)
    gaps = 1.0 - (f * Y).sum(axis=1)[:, None] + f @ listed.T
    norm = np.vdot(model.coef_, model.coef_)  # linear without an intercept
    return alpha * norm + 0.5 * (gaps**2).mean(axis=1).sum() - len(X) / 2


def test_single_steps_are_those_of_the_formula(data):
    """f <- (1 - 2 eta lam/n) f - eta (S a + (psi'a - 1) psi) k(x, .), with psi centred."""
    X, Y = data
    alpha, eta = 0.7, 0.2
    model = CountingRidge(LabelSets(range(4)), kernel=RBF(0.4), alpha=alpha, fit_intercept=False)
    steps = StochasticGradient("constant", eta0=eta, batch_size=1, n_total=60, budget=100)
    model.partial_fit(X, Y, steps=steps)
    K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))
    A = np.zeros((60, 4))
    for t in range(60):
        a, psi = K[t] @ A, Y[t] - 0.5
        A *= 1 - 2 * eta * alpha / 60
        A[t] = -eta * (0.25 * a + (psi @ a - 1) * psi)
    assert_allclose(model.coef_.T, A, atol=1e-12)


@pytest.mark.parametrize("learning_rate", ["optimal", "invscaling", "constant", "meta"])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_features_and_kernel_take_the_same_steps(data, learning_rate, batch_size):
    X, Y = data
    steps = StochasticGradient(learning_rate, batch_size=batch_size, budget=1000)
    linear = CountingRidge(kernel="linear", alpha=0.5)
    kernel = CountingRidge(kernel=lambda A, B: A @ B.T, alpha=0.5)
    for model in (linear, kernel):
        model.partial_fit(X[:30], Y[:30], steps=steps).partial_fit(X[30:], Y[30:])
    assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("learning_rate", ["optimal", "invscaling", "meta"])
def test_many_passes_come_near_the_minimum(data, learning_rate):
    X, Y = data
    model = CountingRidge(kernel="linear", alpha=1.0, fit_intercept=False)
    steps = StochasticGradient(learning_rate, batch_size=4, n_total=60)
    batch = CountingRidge(kernel="linear", alpha=1.0, fit_intercept=False).fit(X, Y)
    assert_allclose(objective(batch, X, Y, 1.0), batch.objective_)
    for _ in range(60):
        model.partial_fit(X, Y, steps=steps)
    reached = objective(model, X, Y, 1.0)
    assert batch.objective_ <= reached <= 0.98 * batch.objective_  # both are negative


def test_the_oldest_terms_are_dropped(data):
    X, Y = data
    few, enough = (StochasticGradient(budget=budget, batch_size=10) for budget in (25, 60))
    model = CountingRidge(alpha=1.0, kernel=RBF(0.5)).partial_fit(X, Y, steps=few)
    whole = CountingRidge(alpha=1.0, kernel=RBF(0.5)).partial_fit(X, Y, steps=enough)
    assert model.coef_.shape == (4, 25)
    assert whole.coef_.shape == (4, 60)
    assert_array_equal(model.function_.X_, X[-25:])
    assert np.isfinite(model.decision_function(X)).all()
    meta = clone(few).set_params(learning_rate="meta")
    model = CountingRidge(alpha=1.0).partial_fit(X, Y, steps=meta)
    assert model.online_.trace.shape == (25, 4)


def test_an_interrupted_call_leaves_the_old_terms(data, monkeypatch):
    X, Y = data
    model = CountingRidge(LabelSets(range(4)), alpha=1.0)
    model.partial_fit(X, Y, steps=StochasticGradient(budget=20))
    before = model.function_.X_.copy(), model.coef_.copy()
    step, n_steps = OnlineState.step, []

    def stop_at_the_third(self, *batch):
        step(self, *batch)
        n_steps.append(1)
        if len(n_steps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(OnlineState, "step", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    assert_array_equal(model.function_.X_, before[0])
    assert_array_equal(model.coef_, before[1])


def test_many_batches_embedded_at_once_are_the_same(data, monkeypatch):
    X, Y = data
    model = CountingRidge(LabelSets(range(4)), alpha=1.0)
    steps = StochasticGradient(batch_size=7)
    together = clone(model).partial_fit(X, Y, steps=steps).coef_
    monkeypatch.setattr(ridge, "EMBEDDED", 2 * 7 * 4)
    assert_array_equal(clone(model).partial_fit(X, Y, steps=steps).coef_, together)


def test_it_goes_on_from_a_fit(data):
    X, Y = data
    model = CountingRidge(alpha=0.1, kernel=RBF(0.5)).fit(X[:40], Y[:40])
    before = model.decision_function(X)
    model.partial_fit(X[40:], Y[40:], steps=StochasticGradient(eta0=1e-9))
    assert_allclose(model.decision_function(X), before, atol=1e-6)
    assert model.coef_.shape == (4, 60)


def test_meta_descent_changes_its_step(data):
    X, Y = data
    model = CountingRidge(kernel="linear", alpha=1.0)
    for _ in range(5):
        model.partial_fit(X, Y, steps=StochasticGradient("meta", eta0=1e-4))
    assert model.online_.eta0 > 1e-4  # gradients agree: steps grow


def test_sparse_rows_and_several_outputs(data):
    X, Y = data
    dense = CountingRidge(alpha=1.0, kernel=RBF(0.3)).partial_fit(X, Y)
    csr = CountingRidge(alpha=1.0, kernel=RBF(0.3))
    csr.partial_fit(sparse.csr_array(X[:32]), Y[:32]).partial_fit(sparse.csr_array(X[32:]), Y[32:])
    assert_allclose(csr.decision_function(sparse.csr_array(X)), dense.decision_function(X))
    one = CountingRidge(alpha=1.0, kernel=RBF(0.3))
    one.partial_fit(X, Y[:, None], several_outputs=True)
    assert_allclose(one.decision_function(X), dense.decision_function(X))


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "cosine", "sigmoid", "rbf+linear"])
def test_every_kernel_starts_from_nothing(data, kernel):
    X, Y = data
    model = CountingRidge(kernel=kernel, alpha=1.0).partial_fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


def test_dense_and_sparse_rows_may_follow_each_other(data):
    X, Y = data
    dense = (
        CountingRidge(alpha=0.1, kernel=RBF(0.5)).fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    )
    for first, then in ((X, sparse.csr_array(X)), (sparse.csr_array(X), X)):
        mixed = CountingRidge(alpha=0.1, kernel=RBF(0.5)).fit(first[:30], Y[:30])
        mixed.partial_fit(then[30:], Y[30:])
        assert_allclose(mixed.decision_function(X), dense.decision_function(X), atol=1e-9)


@pytest.mark.slow
def test_short_batches_count_for_as_much_less(data):
    X, Y = data
    batch = CountingRidge(kernel="linear", alpha=0.1).fit(X[:9], Y[:9]).decision_function(X)
    model = CountingRidge(kernel="linear", alpha=0.1)
    steps = StochasticGradient("constant", batch_size=4, eta0=0.01, n_total=9)
    for _ in range(3000):
        model.partial_fit(X[:9], Y[:9], steps=steps)
    distance = np.linalg.norm(model.decision_function(X) - batch) / np.linalg.norm(batch)
    assert distance < 0.02


def test_rows_of_no_weight_and_rows_of_growing_size(data):
    X, Y = data
    weight = np.r_[np.zeros(4), np.ones(56)]
    model = CountingRidge(kernel="linear", alpha=1.0)
    for size in (1.0, 1.0, 10.0, 1000.0):
        model.partial_fit(X * size, Y, sample_weight=weight)
        assert np.abs(model.coef_).max() < 100


def test_steps_that_grow_without_end_are_an_error(data):
    X, Y = data
    model = CountingRidge(kernel="linear", alpha=1.0)
    twenty = np.tile(np.arange(60), 20)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="grew without end"):
        model.partial_fit(X[twenty], Y[twenty], steps=StochasticGradient("constant", eta0=1e9))


@pytest.mark.slow
@pytest.mark.parametrize("learning_rate", ["constant", "meta", "optimal", "invscaling"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_large_penalties_do_not_overshoot(data, learning_rate, kernel):
    X, Y = data
    model = CountingRidge(kernel=kernel, alpha=1e4)
    for _ in range(30):
        model.partial_fit(X, Y, steps=StochasticGradient(learning_rate))
    assert np.abs(model.coef_).max() < 1


def test_rates_may_change_to_meta_and_back(data):
    X, Y = data
    model = CountingRidge(alpha=0.1)
    for learning_rate in ("meta", "constant", "meta", "optimal", "meta"):
        model.partial_fit(X, Y, steps=StochasticGradient(learning_rate, budget=40))
        assert model.online_.steps.learning_rate == learning_rate
    assert np.isfinite(model.decision_function(X)).all()


def test_the_alpha_that_fit_chose_is_kept(data):
    X, Y = data
    for alpha in ("auto", [0.001, 1e3]):
        model = CountingRidge(alpha=alpha).fit(X, Y)
        chosen = model.alpha_
        assert model.partial_fit(X, Y).alpha_ == chosen
    assert CountingRidge(alpha=[0.1, 2.0]).partial_fit(X, Y).alpha_ == 2.0


def test_parameters_may_change_between_calls(data):
    X, Y = data
    model = CountingRidge(alpha=1.0)
    model.partial_fit(X[:40], Y[:40], steps=StochasticGradient(budget=50))
    steps = StochasticGradient("constant", eta0=1e-3, budget=10)
    model.set_params(alpha=2.0).partial_fit(X[40:], Y[40:], steps=steps)
    assert model.coef_.shape == (4, 10)
    assert (model.alpha_, model.online_.eta0) == (2, 1e-3)
    assert model.online_.steps.get_params() == steps.get_params()


def test_steps_are_those_of_the_call_before_unless_given(data):
    X, Y = data
    steps = StochasticGradient("invscaling", eta0=0.05, batch_size=3, budget=10)
    told, once = CountingRidge(alpha=1.0), CountingRidge(alpha=1.0)
    told.partial_fit(X[:30], Y[:30], steps=steps).partial_fit(X[30:], Y[30:], steps=steps)
    once.partial_fit(X[:30], Y[:30], steps=steps)
    steps.budget = 1000  # of the user's own, who may use it again
    once.partial_fit(X[30:], Y[30:])
    assert_array_equal(told.coef_, once.coef_)
    anew = once.fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])  # a fit begins again
    assert anew.online_.steps.get_params() == StochasticGradient().get_params()


@pytest.mark.parametrize("alpha", [-1.0, 0.0, np.nan, "most", None, [1.0, -1.0]])
def test_alphas_are_checked(data, alpha):
    X, Y = data
    with pytest.raises(ValueError, match="alpha"):
        CountingRidge(alpha=alpha).partial_fit(X, Y)


def test_what_it_refuses(data):
    X, Y = data
    with pytest.raises(ValueError, match="not a precomputed kernel"):
        CountingRidge(kernel="precomputed").partial_fit(X @ X.T, Y)
    model = CountingRidge(alpha=1.0).partial_fit(X, Y)
    with pytest.raises(ValueError, match="expects Y of shape"):
        model.partial_fit(X, Y[:, :2])
    with pytest.raises(ValueError, match="closed-form"):
        model.predict(X, loss="hamming")
