# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families against the list of all outputs, and against what they generalise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from distribution_cases import SPACES, dense
from skstruct import ExponentialFamily
from skstruct.kernels import RBF
from skstruct.learners import AnnealedChains, PersistentChains
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.losses import resolve_loss
from skstruct.spaces import (
    Classes,
    Cycles,
    Hierarchy,
    Inference,
    LabelSets,
    Ordinal,
    PairwiseLabels,
    Rankings,
    Sequences,
    SpanningTrees,
    Targets,
)


def data_of(space, n=30, p=2, seed=0):
    """Inputs, and outputs drawn from some model; all outputs of the space and their psi."""
    rng = np.random.default_rng(seed)
    outputs = space.enumerate()
    psi = dense(space.embed(outputs))
    X = rng.normal(size=(n, p))
    u = X @ rng.normal(size=(p, psi.shape[1]))
    probabilities = np.exp(u @ psi.T - logsumexp(u @ psi.T, axis=1, keepdims=True))
    chosen = [rng.choice(len(psi), p=row) for row in probabilities]
    return X, outputs[chosen], outputs, psi


@pytest.mark.slow
@given(st.sampled_from(SPACES), st.integers(0, 100), st.sampled_from([0.01, 1.0]))
@settings(max_examples=40, deadline=None)
def test_objective_and_gradient_are_those_of_the_definition(space, seed, lam):
    X, Z, _, psi = data_of(space, 6, seed=seed)
    rng = np.random.default_rng(seed)
    share = rng.random(6)
    share /= share.sum()
    model = RowModel(space, X, Targets.of(space).targets(Z), share, lam, "1MB")
    theta = rng.normal(size=model.size)

    def objective(theta):
        scores = X @ theta.reshape(model.shape)
        truth = (scores * dense(space.embed(Z))).sum(axis=1)
        return lam * theta @ theta + share @ (logsumexp(scores @ psi.T, axis=1) - truth)

    value, gradient = model.value_and_gradient(theta)
    assert_allclose(value, objective(theta), rtol=1e-10)
    assert_allclose(gradient, approx_fprime(theta, objective, 1e-6), atol=2e-5)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_probabilities_are_those_of_the_list(space):
    X, Z, _, psi = data_of(space)
    Y = space.restore(Z)
    model = ExponentialFamily(clone(space), alpha=0.05, fit_intercept=False).fit(X, Y)
    assert model.solver_ == "exact"
    scores = model.decision_function(X)
    values = scores @ psi.T
    log_partition = logsumexp(values, axis=1)
    probabilities = np.exp(values - log_partition[:, None])
    assert_allclose(model.partition(X).values, log_partition)
    assert_allclose(model.predict_marginals(X, raw=True), probabilities @ psi, atol=1e-9)
    expected = (scores * dense(space.embed(Z))).sum(axis=1) - log_partition
    assert_allclose(model.log_proba(X, Y), expected)
    best = model.space_.validate(model.predict(X))
    assert_allclose((scores * dense(space.embed(best))).sum(axis=1), values.max(axis=1))
    objective = 0.05 * (model.coef_**2).sum() - expected.mean()
    assert_allclose(model.objective_, objective)


@pytest.mark.parametrize(
    ("space", "loss"),
    [
        (LabelSets(range(3)), "hamming"),
        (LabelSets(range(3)), "f1"),
        (Hierarchy([(0, 1), (0, 2), (2, 3)]), "hierarchical"),
        (Hierarchy([(0, 1), (0, 2), (2, 3)]), "hamming"),
        (Rankings(range(4), "pairs"), "kendall"),
        (Rankings(range(4), "positions"), "spearman"),
        (Rankings(range(4), "positions"), "kendall"),  # means of another embedding
        (PairwiseLabels([(0, 1), (1, 2)], range(3)), "hamming"),  # of a part of it
        (Sequences("ab", 3, "bigrams"), "hamming"),
        (Ordinal(["low", "mid", "high"]).fit(["low"]), "hamming"),
        (SpanningTrees(range(4)), "hamming"),
    ],
)
def test_predictions_of_least_risk(space, loss):
    X, Z, outputs, psi = data_of(space)
    model = ExponentialFamily(
        clone(space),
        loss=loss,
        alpha=0.02,
        random_state=0,
        solver=PersistentChains(n_draws=4000, prefer_exact=True),
        fit_intercept=False,
    )
    model.fit(X, space.restore(Z))
    values = model.decision_function(X) @ psi.T
    probabilities = np.exp(values - logsumexp(values, axis=1, keepdims=True))
    risks = probabilities @ resolve_loss(loss).bind(model.space_).pairwise(outputs, outputs).T
    found = model.decode(X)
    decided = model.space_.validate(found.outputs)
    at = [np.flatnonzero((outputs == z).all(axis=1))[0] for z in decided]
    exact = not (loss in ("f1", "kendall") and space.embedding in ("indicators", "positions"))
    slack = 1e-9 if exact else 0.1  # 4,000 draws
    assert_allclose(found.values, risks.min(axis=1), atol=slack)
    assert_allclose(risks[np.arange(len(X)), at], risks.min(axis=1), atol=slack)
    values = model.decode(X, loss="zero_one").values, -values.max(axis=1)
    assert_allclose(*values, atol=1e-8)  # scores are rounded, so that ties are ties


# ------------------------------------------------------------------ what it generalises
LAM, N = 0.01, 200


def logistic(X, y, lam=LAM):
    model = LogisticRegression(
        C=1 / (2 * lam * len(X)), fit_intercept=False, tol=1e-12, max_iter=10_000
    )
    return model.fit(X, y)


def test_over_classes_it_is_multinomial_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = np.array(list("abc"))[(X[:, :3] + rng.normal(size=(N, 3))).argmax(axis=1)]
    model = ExponentialFamily(Classes(), alpha=LAM, tol=1e-9, fit_intercept=False).fit(X, y)
    expected = logistic(X, y)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    assert_allclose(model.predict_marginals(X), expected.predict_proba(X), atol=1e-7)
    assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_over_label_sets_it_is_one_logistic_regression_per_label(as_sparse):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4)) * (rng.random((N, 4)) < 0.7)
    Y = (X[:, :3] + rng.normal(size=(N, 3)) > 0).astype(int)
    inputs = sparse.csr_array(X) if as_sparse else X
    model = ExponentialFamily(LabelSets(), alpha=LAM, tol=1e-9, fit_intercept=False).fit(inputs, Y)
    for j in range(3):
        assert_allclose(model.coef_[j], logistic(X, Y[:, j]).coef_[0], atol=1e-6)


def test_weights_and_an_intercept():
    rng = np.random.default_rng(2)
    X, weight = rng.normal(size=(N, 3)), rng.integers(1, 4, size=N)
    y = (X[:, :1] + rng.normal(size=(N, 1)) > 0.5).astype(int)
    model = ExponentialFamily(LabelSets(["far"]), alpha=LAM, tol=1e-10, fit_intercept=True)
    model.fit(X, y, sample_weight=weight)
    expected = LogisticRegression(C=1 / (2 * LAM * weight.sum()), tol=1e-12, max_iter=10_000)
    expected.fit(X, y[:, 0], sample_weight=weight)
    assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    assert_allclose(model.intercept_, expected.intercept_, atol=1e-5)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0))
    assert_allclose(repeated.predict_marginals(X), model.predict_marginals(X), atol=1e-7)
    rough = clone(model).set_params(solver="contrastive", tol=1e-4, random_state=0).fit(X, y)
    exact = clone(model).fit(X, y)
    assert_allclose(rough.intercept_, exact.intercept_, atol=0.1)


def test_sampling_goes_by_the_parameters_as_they_are():
    X, Z, *_ = data_of(SPACES[5], 40)
    model = ExponentialFamily(
        clone(SPACES[5]),
        alpha=1e-3,
        solver="contrastive",
        random_state=0,
        max_iter=20,
        tol=10.0,
        fit_intercept=False,
    ).fit(X, SPACES[5].restore(Z))
    assert model.partition(X[:1]).method == "annealed"
    model.set_params(solver="exact")
    assert model.partition(X[:1]).method == "exact"
    model.set_params(solver="guess")
    with pytest.raises(ValueError, match="solver is one of"):
        model.predict(X[:1])


def test_a_kernel_is_a_kernel():
    """Kernel logistic regression by its dual: f = K a with penalty a'Ka."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 2))
    Y = (np.abs(X[:, :1]) > 0.7).astype(int)
    K = rbf_kernel(X, X, gamma=0.5)

    def objective(a):
        f = K @ a
        return LAM * a @ f + np.mean(np.logaddexp(0, f) - Y[:, 0] * f)

    best = minimize(objective, np.zeros(25), method="BFGS", options={"gtol": 1e-9})
    model = ExponentialFamily(
        LabelSets(["far"]), kernel=RBF(0.5), alpha=LAM, tol=1e-9, fit_intercept=False
    )
    assert_allclose(model.fit(X, Y).objective_, best.fun, rtol=1e-6)
    given = ExponentialFamily(
        LabelSets(["far"]), kernel="precomputed", alpha=LAM, tol=1e-9, fit_intercept=False
    )
    new = rng.normal(size=(4, 2))
    assert_allclose(
        given.fit(K, Y).decision_function(rbf_kernel(new, X, gamma=0.5)),
        model.decision_function(new), atol=1e-5,
    )  # fmt: skip
    few = ExponentialFamily(
        LabelSets(["far"]),
        kernel=RBF(0.5),
        alpha=LAM,
        n_landmarks=24,
        random_state=0,
        fit_intercept=False,
    )
    assert few.fit(X, Y).objective_ == pytest.approx(best.fun, abs=0.02)


# ------------------------------------------------------------------ stochastic gradients
@pytest.mark.slow
@pytest.mark.parametrize("solver", ["contrastive", "annealed"])
@pytest.mark.parametrize(
    "space",
    [LabelSets(range(4)), Rankings(range(4), "pairs"), Cycles(range(5)), SpanningTrees(range(4))],
    ids=lambda space: type(space).__name__,
)
def test_stochastic_gradients_come_close_to_the_exact_solution(space, solver):
    """The objective, of the order of 1, within 0.01 of its minimum; the seed is fixed."""
    X, Z, _, psi = data_of(space, 150)
    Y = space.restore(Z)
    exact = ExponentialFamily(clone(space), alpha=0.02, fit_intercept=False).fit(X, Y)
    chains = PersistentChains() if solver == "contrastive" else AnnealedChains(n_sweeps=1)
    settings = {"tol": 1e-4, "max_iter": 500, "fit_intercept": False, "random_state": 0}
    rough = ExponentialFamily(clone(space), alpha=0.02, solver=chains, **settings).fit(X, Y)
    assert rough.solver_ == solver
    assert rough.converged_
    model = RowModel(space, X, Targets.of(space).targets(Z), np.full(150, 1 / 150), 0.02, "1GB")
    there = model.value_and_gradient(rough.coef_.T.ravel())[0]
    assert exact.objective_ <= there <= exact.objective_ + 0.01
    found = rough.partition(X[:5])
    truth = logsumexp(rough.decision_function(X[:5]) @ psi.T, axis=1)
    assert ((found.lower <= truth) & (truth <= found.upper)).sum() >= 4  # 9 of 10 each
    means = rough.predict_marginals(X[:5], raw=True)
    assert_allclose(
        means,
        Inference.of(space).distribution(rough.decision_function(X[:5])).marginals(),
        atol=0.2,
    )


@pytest.mark.slow
def test_training_by_chains_where_nothing_else_is_possible():
    """Rankings of 30 items: the order of the weights is found, and all answers are there."""
    rng = np.random.default_rng(0)
    X = np.ones((60, 1))
    noise = rng.gumbel(size=(60, 30)) - 0.3 * np.arange(30)
    ranks = np.argsort(np.argsort(-noise, axis=1), axis=1) + 1
    model = ExponentialFamily(
        Rankings(embedding="ranks"), alpha=1e-3, random_state=0, tol=0.01, fit_intercept=False
    )
    model.fit(X, ranks)
    assert model.solver_ == "contrastive"
    assert np.corrcoef(model.coef_[:, 0], np.arange(30))[0, 1] > 0.9
    assert model.predict_marginals(X[:2]).shape == (2, 30, 30)  # of pairs
    assert model.predict_marginals(X[:2], raw=True).shape == (2, 30)
    drawn = model.sample(X[:2], 3, rng=0)
    assert model.space_.contains(model.space_.validate(drawn[0])).all()
    values, errors = model.log_proba(X[:1], ranks[:1], return_std=True)
    assert values[0] < 0
    assert errors[0] > 0


@pytest.mark.slow
def test_the_same_seed_and_any_number_of_threads_give_the_same_model():
    X, Z, *_ = data_of(SPACES[5], 80)
    Y = SPACES[5].restore(Z)
    shared = {
        "alpha": 1e-3,
        "fit_intercept": False,
        "solver": "contrastive",
        "random_state": 1,
        "max_iter": 20,
        "tol": 10.0,
    }
    models = [
        ExponentialFamily(Rankings(range(3), "pairs"), n_jobs=jobs, **shared).fit(X, Y)
        for jobs in (1, 2)
    ]
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert_array_equal(models[0].predict_marginals(X), models[1].predict_marginals(X))
