# SPDX-License-Identifier: BSD-3-Clause
"""Margins learned from costs: the hinge under the regret is the SPO+ loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct import StructuredSVM, load_model, save_model
from skstruct._arrays.rows import dense
from skstruct.learners.max_margin.problem import MarginProblem
from skstruct.losses import Observed, Regret
from skstruct.model_selection import regrets
from skstruct.spaces import BinaryPolytope, Hierarchy, LabelSets, Matchings, ShortestPaths

SPACES = {
    "two of five": LabelSets(range(5)).restrict(min_size=2, max_size=2),
    "hierarchy": Hierarchy([("r", "a"), ("r", "b"), ("a", "c"), ("a", "d")]),
    "matchings": Matchings(graph=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]),
    "paths": ShortestPaths.grid(3, 3),
    "one of three": BinaryPolytope(A_eq=[[1, 1, 1, 0, 0]], b_eq=[1]),
}
RNG = np.random.default_rng(0)


def spo_plus(listed, predicted, costs):
    """max_z (c - 2 p) z + 2 p z* - c z*, from a list of all decisions; shape (n,)."""
    best = listed[(costs @ listed.T).argmin(axis=1)]
    largest = ((costs - 2 * predicted) @ listed.T).max(axis=1)
    return largest + (2 * predicted * best).sum(axis=1) - (costs * best).sum(axis=1)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_the_hinge_under_the_regret_is_spo_plus(name, sense):
    space = SPACES[name]
    listed = dense(space.embed(np.asarray(space.enumerate())))
    n, d = 15, listed.shape[1]
    costs, predicted = RNG.normal(size=(n, d)), RNG.normal(size=(n, d))
    sign = 1 if sense == "min" else -1
    loss = Regret(sense)
    problem = MarginProblem(space, loss, Observed.of(loss).space_of(space).validate(costs))
    scores = -2.0 * sign * predicted
    found = problem.vertices(scores, np.zeros(0), np.arange(n))
    hinge = found.losses + (scores * found.directions).sum(axis=1)
    expected = spo_plus(listed, sign * predicted, sign * costs)
    assert_allclose(hinge, expected, atol=1e-9)
    assert_allclose(found.bounds, expected, atol=1e-9)
    decided = space.argmin(-scores).outputs
    lost = regrets(space, space.restore(decided), costs, sense=sense)
    assert (expected >= lost - 1e-9).all()  # an upper bound of the regret


def data(n=150):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    C = (X @ rng.normal(size=(4, 12)) / 2 + 1) ** 3 + rng.normal(0, 0.2, (n, 12))
    return X, C


def test_training_minimizes_spo_plus():
    X, C = data()
    space = SPACES["paths"]
    model = StructuredSVM(space, "regret", alpha=0.01, tol=1e-3).fit(X, C)
    listed = np.asarray(space.enumerate(), dtype=float)
    predicted = -model.decision_function(X) / 2
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    primal = spo_plus(listed, predicted, C).mean() + 0.005 * squares
    assert_allclose(primal, model.objective_, rtol=1e-6)
    assert model.gap_ <= 1e-3 * abs(model.objective_) + 1e-12


def test_models_are_judged_saved_and_searched(tmp_path):
    X, C = data()
    model = StructuredSVM(SPACES["paths"], "regret", alpha=[0.1, 0.001]).fit(X[:100], C[:100])
    lost = regrets(SPACES["paths"], model.predict(X[100:]), C[100:])
    assert_allclose(model.score(X[100:], C[100:]), -lost.mean())
    constant = SPACES["paths"].argmin(C[:100].mean(axis=0)[None]).outputs.repeat(50, axis=0)
    assert lost.mean() < regrets(SPACES["paths"], constant, C[100:]).mean()
    save_model(model, tmp_path / "svm")
    assert load_model(tmp_path / "svm").score(X[100:], C[100:]) == model.score(X[100:], C[100:])
