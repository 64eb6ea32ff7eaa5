# SPDX-License-Identifier: BSD-3-Clause
"""Any cost of scenarios: decisions against all there are, and solvers that are not believed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, LinearConstraint, milp

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError, ModelFileError
from skstruct.losses import Scenarios
from skstruct.persistence import save_model
from skstruct.smoothing import KernelRidge, Neighbors
from skstruct.spaces import Box, Interval, LabelSets
from skstruct.spaces.solvers.tail_risk import probabilities

SITES = LabelSets(["north", "south", "west"])
OPENING, FINE = np.array([4.0, 3.0, 6.0]), 7.0
SHIPPING = np.array([[1.0, 5.0], [4.0, 1.5], [2.0, 2.5]])  # from sites to customers
CAPACITY = 5.0


def recourse(z, y):
    """The least cost of serving demands y from open sites z: shipping, or a fine a unit."""
    n_sites, n_customers = SHIPPING.shape
    cost = np.append(SHIPPING.ravel(), np.full(n_customers, FINE))
    sent = np.hstack([np.kron(np.eye(n_sites), np.ones(n_customers)), np.zeros((n_sites, 2))])
    met = np.hstack([np.tile(np.eye(n_customers), n_sites), np.eye(n_customers)])
    limits = [
        LinearConstraint(sent, -np.inf, CAPACITY * np.asarray(z)),
        LinearConstraint(met, y, y),
    ]
    return milp(cost, constraints=limits, bounds=Bounds(0, np.inf)).fun


def facility_cost(z, Y):
    return OPENING @ z + np.array([recourse(z, y) for y in Y])


def facility_solve(weights, Y):
    """The extensive form: which sites are open, and what each scenario ships."""
    m, (s, k) = len(weights), SHIPPING.shape
    later = np.append(SHIPPING.ravel(), np.full(k, FINE))
    cost = np.concatenate([OPENING, *(w * later for w in weights)])
    sent = np.hstack([np.kron(np.eye(s), np.ones(k)), np.zeros((s, k))])
    met = np.hstack([np.tile(np.eye(k), s), np.eye(k)])
    each = np.eye(m)
    capacity = np.hstack([np.tile(-CAPACITY * np.eye(s), (m, 1)), np.kron(each, sent)])
    demand = np.hstack([np.zeros((m * k, s)), np.kron(each, met)])
    whole = np.zeros(len(cost))
    whole[:s] = 1
    high = np.where(whole, 1, np.inf)
    limits = [
        LinearConstraint(capacity, -np.inf, 0),
        LinearConstraint(demand, Y.ravel(), Y.ravel()),
    ]
    found = milp(cost, integrality=whole, constraints=limits, bounds=Bounds(0, high),
                 options={"mip_rel_gap": 0.0})  # fmt: skip
    return np.rint(found.x[:s]).astype(int), found.mip_dual_bound


def demands(n=24):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 1))
    return X, np.hstack([4 * X, 3 - 3 * X]) + rng.uniform(0, 2, size=(n, 2))


def test_a_stochastic_program_opens_the_sites_that_all_subsets_say():
    X, Y = demands()
    loss = Scenarios(facility_cost, facility_solve)
    model = ConditionalRiskMinimizer(SITES, loss, smoother=Neighbors(4)).fit(X, Y)
    found = model.decode(X[:4])
    every = SITES.enumerate()
    weights = model.explain(X[:4]).weights
    weights = probabilities(weights.toarray() if hasattr(weights, "toarray") else weights)
    table = np.array([facility_cost(z, Y) for z in every])
    risks = weights @ table.T
    assert_allclose(found.values, risks.min(axis=1), rtol=1e-6)
    assert_allclose(found.bounds, found.values, rtol=1e-6)
    assert (found.bounds <= found.values).all()
    compared = model.decode(X[:4], loss=Scenarios(facility_cost))
    assert_allclose(compared.values, risks.min(axis=1))
    assert_array_equal(compared.outputs, every[risks.argmin(axis=1)])
    paid = [facility_cost(z, y[None])[0] for z, y in zip(model.predict(X[:4]), Y)]
    assert_allclose(model.score(X[:4], Y[:4]), -np.mean(paid))


def power(z, Y):
    return np.abs(np.asarray(z).sum() - Y[:, 0]) ** 1.5 + 0.1 * np.asarray(z) @ [1, 2, 3]


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_lists_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    Y, W = rng.uniform(0, 3, size=(7, 1)), rng.normal(0.1, 1, size=(3, 7))
    every = SITES.enumerate()
    found = Scenarios(power).bind(SITES).minimize(W, Y, SITES)
    risks = np.array([[w @ power(z, Y) for z in every] for w in probabilities(W)])
    assert_allclose(found.values, risks.min(axis=1))
    some = every[[1, 4, 6]]
    found = Scenarios(power, candidates=some).bind(SITES).minimize(W, Y, SITES)
    assert_allclose(found.values, risks[:, [1, 4, 6]].min(axis=1))
    low = np.eye(3, dtype=int)
    narrow = SITES.restrict(include=low)
    found = Scenarios(power).bind(SITES).minimize(W, Y, narrow)
    allowed = (every[None] >= low[:, None]).all(axis=2)
    assert_allclose(found.values, np.where(allowed, risks, np.inf).min(axis=1))


def test_only_scenarios_of_weight_come_to_the_solver():
    seen = []

    def solve(weights, Y):
        seen.append((weights, Y))
        return float(weights @ Y[:, 0])

    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    loss = Scenarios(lambda z, Y: (z - Y[:, 0]) ** 2, solve)
    for smoother in (Neighbors(3), KernelRidge(alpha=0.1)):
        model = ConditionalRiskMinimizer(Interval(0, 9), loss, smoother=smoother).fit(X, y)
        found = model.decode(X)
        assert np.isneginf(found.bounds).all()
        assert_allclose(found.values, [w @ (w @ Y[:, 0] - Y[:, 0]) ** 2 for w, Y in seen[-6:]])
        for weights, _ in seen:
            assert (weights > 0).all()
            assert_allclose(weights.sum(), 1.0)
    assert max(len(w) for w, _ in seen[:6]) == 3


def test_penalties_are_chosen_by_what_decisions_cost():
    X, y = np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 30) ** 2
    loss = Scenarios(lambda z, Y: np.abs(z - Y[:, 0]), candidates=np.linspace(0, 1, 21))
    model = ConditionalRiskMinimizer(Interval(0, 1), loss, alpha=[1e3, 1e-3]).fit(X, y)
    assert model.alpha_ == 1e-3
    assert -model.score(X, y) < 0.05


def bad(answer):
    return Scenarios(lambda z, Y: (z[0] - Y[:, 0]) ** 2, lambda w, Y: answer)


@pytest.mark.parametrize(
    ("answer", "words"),
    [([7.0, 0.0], "row 0.*above 1"), ([1.0], "expects 2 numbers"), (([0.5, 0.5], 9.0), "bound"),
     (([0.5, 0.5], np.nan), "bound")],
)  # fmt: skip
def test_solvers_are_not_believed(answer, words):
    space = Box(0, [1.0, 1.0])
    with pytest.raises(ValueError, match=words):
        bad(answer).bind(space).minimize(np.ones((1, 2)) / 2, np.zeros((2, 1)), space)


def test_constraints_of_rows_bind_solvers():
    space = Box(0, [1.0, 1.0]).restrict(high=[[1.0, 1.0], [0.2, 1.0]])
    with pytest.raises(ValueError, match=r"row 1.*not in Box"):
        bad(np.array([0.5, 0.5])).bind(space).minimize(np.ones((2, 2)) / 2, np.zeros((2, 1)), space)


def test_what_makes_no_sense_is_said(tmp_path):
    X, Y = demands()
    shapeless = Scenarios(lambda z, Y: 1.0)
    with pytest.raises(ValueError, match="each of 24 rows"):
        ConditionalRiskMinimizer(SITES, shapeless, smoother=Neighbors()).fit(X, Y).predict(X)
    with pytest.raises(ValueError, match="give solve"):
        ConditionalRiskMinimizer(Box(0, [1.0, 1.0]), Scenarios(power)).fit(X, Y)
    with pytest.raises(ValueError, match="cost is a function"):
        ConditionalRiskMinimizer(SITES, Scenarios("cost")).fit(X, Y)
    with pytest.raises(ValueError, match=r"y\[3\], column 1, is nan"):
        ConditionalRiskMinimizer(SITES, Scenarios(power)).fit(X, np.where(Y[3, 1] == Y, np.nan, Y))
    model = ConditionalRiskMinimizer(SITES, Scenarios(power), smoother=Neighbors()).fit(X, Y)
    with pytest.raises(ValueError, match="fitted to scenarios"):
        model.predict(X, loss="hamming")
    lists, narrow = Scenarios(power, candidates=[[1, 0, 0]]), SITES.restrict(exclude=["north"])
    with pytest.raises(InfeasibleError, match="row 0"):
        lists.bind(SITES).minimize(np.ones((1, 24)), Y, narrow)
    with pytest.raises((ModelFileError, TypeError, ValueError), match="function"):
        save_model(model, tmp_path / "model")
