# SPDX-License-Identifier: BSD-3-Clause
"""The structured SVM against a general solver that knows all rivals."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from skstruct.learners.max_margin.problem import MarginProblem, dense
from skstruct.learners.max_margin.structured_svm import StructuredSVM
from skstruct.losses import (
    F1,
    Hamming,
    HierarchicalLoss,
    Kendall,
    Listed,
    RankLoss,
    SequenceHamming,
    ZeroOne,
)
from skstruct.spaces import Classes, Hierarchy, LabelSets, Rankings, Sequences
from skstruct.spaces.pairwise.labels import PairwiseLabels
from strategies import dags, forests

CASES = {
    "classes": (Classes(list("abc")).fit(list("abc")), ZeroOne()),
    "classes, any loss": (
        Classes(list("abc")).fit(list("abc")),
        Listed(lambda z, y: abs(ord(z) - ord(y)) ** 1.5),
    ),
    "sets, hamming": (LabelSets(range(3)), Hamming()),
    "sets, weights": (LabelSets(range(3)), Hamming([0.5, 1.0, 2.0])),
    "sets, zero-one": (LabelSets(range(3)), ZeroOne()),
    "sets, f1": (LabelSets(range(3)), F1()),
    "tree": (Hierarchy([(0, 1), (0, 2)]), HierarchicalLoss()),
    "tree, f1": (Hierarchy([(0, 1), (0, 2)]), F1()),
    "dag": (Hierarchy([(0, 2), (1, 2)]), HierarchicalLoss()),
    "dag, hamming": (Hierarchy([(0, 2), (1, 2)]), Hamming()),
    "rankings": (Rankings(range(3)).fit([[1, 2, 3]]), Kendall()),
    "rankings by the share of pairs": (
        Rankings(range(3)).fit([[1, 2, 3]]),
        Kendall(normalize=True),
    ),
    "rankings by ratings": (Rankings(range(3)).fit([[1, 2, 3]]), RankLoss()),
    "words": (Sequences("ab", 2).fit(["ab"]), Hamming()),
    "words, bigrams": (Sequences("ab", 2).fit(["ab"]), SequenceHamming(bigrams=0.5)),
    "pairs": (PairwiseLabels("full", labels=range(2)), Hamming()),
}


def draw(space, rng, n=6, p=2):
    Z = space.enumerate()
    return rng.standard_normal((n, p)), Z[rng.integers(len(Z), size=n)]


def all_vertices(space, loss, Z, rescaling):
    """Directions (n, outputs, q) and losses (n, outputs) of every output for every truth."""
    problem = MarginProblem(space, loss, Z)
    everything = space.enumerate()
    psi, true = dense(problem.scored.embed(everything)), dense(problem.scored.embed(Z))
    losses = problem.loss.pairwise(everything, Z).T
    directions = psi[None] - true[:, None]
    if rescaling == "slack":
        directions = losses[:, :, None] * directions
    return directions, losses


def primal(W, X, directions, losses, lam, share):
    hinges = (losses + np.einsum("nq,naq->na", X @ W, directions)).max(axis=1)
    return 0.5 * lam * (W**2).sum() + share @ hinges


def optimum(X, directions, losses, lam, share=None, intercept=True):
    """Epigraph form: minimize lam/2 |W|^2 + share' xi with xi above every vertex."""
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    n, p, q = len(X), X.shape[1], directions.shape[2]
    share = np.full(n, 1.0 / n) if share is None else share
    rows = np.einsum("np,naq->napq", X, directions).reshape(-1, p * q)
    number = np.repeat(np.arange(n), losses.shape[1])
    matrix = np.hstack([-rows, np.eye(n)[number]])
    scale = np.concatenate([np.full(p * q, lam), np.zeros(n)])
    start = np.concatenate([np.zeros(p * q), losses.max(axis=1)])
    cost = np.concatenate([np.zeros(p * q), share])
    solved = minimize(
        lambda v: 0.5 * scale @ v**2 + cost @ v, start, method="SLSQP",
        jac=lambda v: scale * v + cost, options={"maxiter": 500, "ftol": 1e-13},
        constraints={"type": "ineq", "fun": lambda v: matrix @ v - losses.ravel(),
                     "jac": lambda v: matrix},
    )  # fmt: skip
    # Whatever the solver says, the value of its weights is no lower than the optimum.
    return primal(solved.x[: p * q].reshape(p, q), X, directions, losses, lam, share)


def value_of(model, X, directions, losses, share=None):
    """The objective of a model's weights, from the definition."""
    W = np.vstack([model.coef_.T, model.intercept_]) if model.fit_intercept else model.coef_.T
    X = np.column_stack([X, np.ones(len(X))]) if model.fit_intercept else X
    share = np.full(len(X), 1.0 / len(X)) if share is None else share
    return primal(W, X, directions, losses, model.alpha_, share)


@pytest.mark.slow
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", CASES)
def test_objective_is_that_of_a_general_solver(name, rescaling):
    space, loss = CASES[name]
    for seed, lam in ((0, 0.02), (1, 0.3)):
        X, Z = draw(space, np.random.default_rng(seed))
        vertices = all_vertices(space, loss, Z, rescaling)
        best = optimum(X, *vertices, lam)
        model = StructuredSVM(space, loss, rescaling=rescaling, alpha=lam, tol=1e-5, random_state=0)
        model.fit(X, space.restore(Z))
        assert_allclose(model.objective_, value_of(model, X, *vertices), rtol=1e-9)
        assert_allclose(model.objective_, best, rtol=1e-4)
        assert model.dual_objective_ <= best + 1e-9
        assert model.gap_ <= 1e-5 * model.objective_
        assert_allclose(model.objective_ - model.gap_, model.dual_objective_)


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from(sorted(CASES)), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_gap_is_never_too_small(seed, max_iter, name, slack):
    space, loss = CASES[name]
    rng, rescaling = np.random.default_rng(seed), "slack" if slack else "margin"
    X, Z = draw(space, rng, n=int(rng.integers(1, 7)))
    lam = 10 ** rng.uniform(-2, 0)
    vertices = all_vertices(space, loss, Z, rescaling)
    best = optimum(X, *vertices, lam)
    model = StructuredSVM(space, loss, rescaling=rescaling, alpha=lam, tol=1e-9, max_iter=max_iter)
    model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, space.restore(Z))
    value = value_of(model, X, *vertices)
    assert model.objective_ >= value - 1e-9
    assert model.dual_objective_ <= best + 1e-9
    assert value - model.gap_ <= best + 1e-9


@given(st.one_of(forests(max_nodes=3), dags(max_nodes=3)), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_any_small_hierarchy(space, seed):
    X, Z = draw(space, np.random.default_rng(seed))
    vertices = all_vertices(space, HierarchicalLoss(), Z, "margin")
    model = StructuredSVM(space, "hierarchical", alpha=0.1, tol=1e-5, random_state=0).fit(X, Z)
    assert_allclose(model.objective_, optimum(X, *vertices, 0.1), rtol=1e-4)


def test_without_intercept_and_with_weights():
    space, loss = LabelSets(range(3)), Hamming()
    X, Z = draw(space, np.random.default_rng(3))
    weight = np.array([2.0, 1.0, 0.0, 1.0, 3.0, 1.0])
    share, vertices = weight / weight.sum(), all_vertices(space, loss, Z, "margin")
    model = StructuredSVM(space, loss, alpha=0.1, tol=1e-6, fit_intercept=False, random_state=0)
    model.fit(X, Z, sample_weight=weight)
    best = optimum(X, *vertices, 0.1, share, intercept=False)
    assert_allclose(model.objective_, best, rtol=1e-5)
    assert_allclose(value_of(model, X, *vertices, share), model.objective_)
    assert (model.intercept_ == 0).all()
