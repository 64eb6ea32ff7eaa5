# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families of best decisions, and perturbed maxima in place of sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from skstruct import ExponentialFamily, load_model, save_model
from skstruct._arrays.rows import dense
from skstruct.learners import Perturbations
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.learners.exponential_family.perturbations import PerturbedMaximum, PerturbedSpace
from skstruct.model_selection import regrets
from skstruct.spaces import BinaryPolytope, Hierarchy, LabelSets, Matchings, ShortestPaths

SPACES = {
    "label sets": LabelSets(range(4)),
    "hierarchy": Hierarchy([("r", "a"), ("r", "b"), ("a", "c")]),
    "matchings": Matchings(graph=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]),
    "paths": ShortestPaths.grid(3, 3),
    "knapsack": BinaryPolytope(A_ub=[[3, 2, 2, 1]], b_ub=[4]),
}
RNG = np.random.default_rng(0)


def test_of_one_label_the_perturbed_maximum_is_known():
    """E max(0, u + sigma Z) = u F(u / sigma) + sigma f(u / sigma), F the normal distribution.

    Means of 200,000 draws are within five standard errors, which fails with probability 6e-7 for
    each of six numbers.
    """
    u, sigma, m = np.array([[-1.0], [0.2], [1.5]]), 0.7, 200_000
    noise = np.random.default_rng(1).standard_normal((3, m, 1))
    found = PerturbedMaximum(LabelSets("a"), u, noise, sigma)
    value = u * norm.cdf(u / sigma) + sigma * norm.pdf(u / sigma)
    assert_allclose(found.log_partition, value[:, 0], atol=5 * (1.5 + sigma) / np.sqrt(m))
    assert_allclose(found.marginals(), norm.cdf(u / sigma), atol=5 * 0.5 / np.sqrt(m))


@pytest.mark.parametrize("name", SPACES)
def test_maxima_and_means_are_those_of_a_list(name):
    space = SPACES[name]
    listed = dense(space.embed(np.asarray(space.enumerate())))
    u = RNG.normal(size=(5, listed.shape[1]))
    noise = RNG.standard_normal((5, 7, listed.shape[1]))
    found = PerturbedMaximum(space, u, noise, 0.5)
    totals = (u[:, None] + 0.5 * noise) @ listed.T
    assert_allclose(found.log_partition, totals.max(axis=2).mean(axis=1), atol=1e-10)
    assert_allclose(found.marginals(), listed[totals.argmax(axis=2)].mean(axis=1), atol=1e-12)


@pytest.mark.parametrize("name", SPACES)
def test_gradients_are_those_of_the_objective(name):
    """Central differences, away from kinks: these have probability zero."""
    space = SPACES[name]
    d = dense(space.embed(np.asarray(space.enumerate())[:1])).shape[1]
    F, psi = RNG.normal(size=(6, 3)), RNG.random((6, d))
    around = PerturbedSpace(space, Perturbations(5, 0.8), seed=3)
    model = RowModel(around, F, psi, np.full(6, 1 / 6), 0.1, "100MB")
    theta = RNG.normal(size=model.size)
    _, gradient = model.value_and_gradient(theta)
    step = 1e-7
    for k in RNG.integers(model.size, size=6):
        ahead, behind = theta.copy(), theta.copy()
        ahead[k] += step
        behind[k] -= step
        rise = model.value_and_gradient(ahead)[0] - model.value_and_gradient(behind)[0]
        assert_allclose(rise / (2 * step), gradient[k], atol=1e-5)


def data(n=200):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 4))
    C = (X @ rng.normal(size=(4, 12)) / 2 + 1) ** 3 + rng.normal(0, 0.2, (n, 12))
    return X, C


@pytest.mark.parametrize("solver", ["exact", "perturbed"])
def test_decisions_are_learned_from_costs(solver, tmp_path):
    X, C = data()
    space = ShortestPaths.grid(3, 3)
    model = ExponentialFamily(space, "regret", solver=solver, random_state=0)
    model.fit(X[:120], C[:120])
    lost = regrets(space, model.predict(X[120:]), C[120:])
    assert_allclose(model.score(X[120:], C[120:]), -lost.mean())
    constant = space.argmin(C[:120].mean(axis=0)[None]).outputs.repeat(80, axis=0)
    assert lost.mean() < 0.8 * regrets(space, constant, C[120:]).mean()
    marginals = model.predict_marginals(X[:3], raw=True)
    assert_allclose(marginals[:, [0, 2]].sum(axis=1), 1.0)  # one arc leaves the first corner
    assert model.predict(X[:1], restrict={"exclude": [((0, 0), (0, 1))]})[0][1] == (1, 0)
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").decode(X).values, model.decode(X).values)


def test_the_same_truths_give_the_same_likelihood():
    X, C = data(60)
    space = ShortestPaths.grid(3, 3)
    best = space.restore(space.argmin(C).outputs)
    by_costs = ExponentialFamily(space, "regret", alpha=0.01).fit(X, C)
    by_paths = ExponentialFamily(space, alpha=0.01).fit(X, best)
    assert_allclose(by_costs.coef_, by_paths.coef_, atol=1e-6)


def test_what_perturbed_models_cannot_say_is_said():
    X, C = data(60)
    space = ShortestPaths.grid(3, 3)
    model = ExponentialFamily(space, "regret", alpha=0.01, solver=Perturbations(5)).fit(X, C)
    with pytest.raises(ValueError, match="no partition function"):
        model.partition(X[:2])
    drawn = model.sample(X[:2], 4, rng=0)
    assert all(space.contains(space.validate(paths)).all() for paths in drawn)
    with pytest.raises(ValueError, match="sigma is a positive number; got 0"):
        ExponentialFamily(space, solver=Perturbations(sigma=0)).fit(X, C)
