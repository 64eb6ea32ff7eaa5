# SPDX-License-Identifier: BSD-3-Clause
"""Portfolios against grids, conditions of optimality and a solver of conic programs."""

import clarabel
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import InfeasibleError
from skstruct.losses import Regret
from skstruct.spaces import Portfolios, Targets
from skstruct.testing import check_space


def reference(c, w, S, low, high, max_risk=None):
    """The least cost by an interior-point method, in units in which all numbers are about one;
    NaN where it does not say that it has solved the problem.
    """
    d, unit, spread = len(c), np.abs(c).max() + w * np.abs(S).max() or 1.0, np.abs(S).max() or 1.0
    c, w, S = c / unit, w * spread / unit, S / spread
    A, b = [np.ones((1, d)), np.eye(d), -np.eye(d)], [[1.0], high, -low]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * d)]
    if max_risk is not None:
        values, vectors = np.linalg.eigh(S)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        A, b = [*A, np.zeros((1, d)), -root], [*b, [max_risk / np.sqrt(spread)], np.zeros(d)]
        cones.append(clarabel.SecondOrderConeT(d + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    quadratic, linear = sparse.csc_matrix(np.triu(w * S)), sparse.csc_matrix(np.vstack(A))
    solver = clarabel.DefaultSolver(quadratic, c, linear, np.concatenate(b), cones, settings)
    answer = solver.solve()
    return unit * answer.obj_val if str(answer.status) == "Solved" else np.nan


def agree(found, best, size):
    """No value is above the least cost, and no bound; of rows in which that is known."""
    known = np.isfinite(best)
    off = 1e-6 * size + 1e-300
    assert (np.abs(found.values - best) <= off)[known].all()
    assert (found.bounds <= best + off)[known].all()


@st.composite
def problems(draw):
    """Covariances of any rank, some with an asset that has none, and limits of weights."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    d = draw(st.sampled_from([2, 3, 6, 20]))
    factors = rng.normal(size=(draw(st.integers(1, d)), d))
    factors = np.round(factors) if draw(st.booleans()) else factors
    factors[:, 0] *= draw(st.sampled_from([0.0, 1.0]))
    S = factors.T @ factors * 10.0 ** draw(st.integers(-4, 4))
    low, high = np.zeros(d), np.ones(d)
    if draw(st.booleans()):
        low = -rng.uniform(0, 0.3, d) * (rng.random(d) < 0.5)
        high = low + rng.uniform(0, 1, d)
        high += max(0.0, 1 - high.sum()) / d + 1e-3
    c = rng.normal(size=(4, d)) * 10.0 ** draw(st.integers(-4, 4))
    c[0], c[1] = 0.0, np.round(c[1])
    return c, S, low, high, draw(st.sampled_from([0.0, 0.1, 1.0, 100.0]))


@given(problems())
@settings(max_examples=60, deadline=None)
def test_convex_programs_against_an_interior_point_method(problem):
    c, S, low, high, w = problem
    space = Portfolios(S, low=low, high=high)
    costs = np.column_stack([c, np.full(len(c), w)])
    found = space.argmin(costs)
    size = np.abs(c).max(axis=1) + w * np.abs(S).max()
    best = np.array([reference(row, w, S, low, high) for row in c])
    assert space.contains(found.outputs).all()
    assert_allclose(found.values, (costs * space.embed(found.outputs)).sum(axis=1))
    assert (found.bounds <= found.values).all()
    assert (found.values - found.bounds <= 1e-11 * size + 1e-300).all()
    agree(found, best, size)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_conditions_of_optimality(problem):
    """Between its limits every weight has the same slope, at the lower ones no smaller a slope."""
    c, S, low, high, w = problem
    space = Portfolios(S, low=low, high=high)
    Z = space.argmin(np.column_stack([c, np.full(len(c), w)])).outputs
    for z, slopes in zip(Z, c + w * Z @ space.covariance_):
        size = 1e-11 * (np.abs(c).max() + w * np.abs(S).max()) + 1e-300
        takes, gives = slopes[z < high], slopes[z > low]
        if len(takes) and len(gives):
            assert gives.max() - takes.min() <= size


@given(problems(), st.floats(0.0, 0.9))
@settings(max_examples=60, deadline=None)
def test_limits_of_risk_against_an_interior_point_method(problem, share):
    c, S, low, high, w = problem
    w = min(w, 1.0)
    plain = Portfolios(S, low=low, high=high)
    least = plain.argmin(np.append(np.zeros(len(S)), 1.0)[None]).values[0]
    most = plain.argmin(np.column_stack([c, np.zeros(len(c))])).outputs
    risks = np.sqrt(2 * np.maximum([least, plain.embed(most)[:, -1].max()], 0.0))
    max_risk = (1 - share) * risks[1] + share * risks[0]
    if max_risk <= 1.01 * risks[0] or max_risk == 0:
        return
    space = Portfolios(S, low=low, high=high, max_risk=max_risk, risk_aversion=w)
    costs = np.column_stack([c, np.full(len(c), w)])
    found = space.argmin(costs)
    size = np.abs(c).max(axis=1) + w * np.abs(S).max()
    best = np.array([reference(row, w, S, low, high, max_risk) for row in c])
    assert space.contains(found.outputs).all()
    assert (np.sqrt(2 * space.embed(found.outputs)[:, -1]) <= max_risk * (1 + 1e-9)).all()
    assert (found.values - found.bounds <= 1e-9 * size + 1e-300).all()
    agree(found, best, size)


def grid(d, m):
    """Weights in multiples of 1 / m."""
    counts = np.stack(np.meshgrid(*[np.arange(m + 1)] * (d - 1), indexing="ij"), -1)
    counts = counts.reshape(-1, d - 1)
    counts = np.column_stack([counts, m - counts.sum(axis=1)])
    return counts[counts[:, -1] >= 0] / m


@pytest.mark.parametrize("sign", [1.0, 0.0, -1.0])
@pytest.mark.parametrize("limits", [{}, {"low": 0.1, "high": 0.6}, {"max_risk": 0.9}])
def test_values_and_bounds_against_a_grid(limits, sign):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(3, 3))
    space = Portfolios(F.T @ F, **limits)
    costs = np.column_stack([rng.normal(size=(30, 3)), sign * rng.random(30)])
    found = space.argmin(costs)
    every = grid(3, 200)
    every = every[space.contains(every)]
    totals = costs @ space.embed(every).T
    assert space.contains(found.outputs).all()
    assert (found.bounds <= totals.min(axis=1) + 1e-9).all()
    assert (found.bounds <= found.values + 1e-12).all()
    if sign >= 0 or not limits:
        assert (found.values <= totals.min(axis=1) + 1e-9).all()
        assert_allclose(found.bounds, found.values, atol=1e-9)
    else:  # risk is rewarded: what is left open stands in the bounds
        assert space.guarantee.kind == "bound only"
        assert (found.values <= np.quantile(totals, 0.5, axis=1)).all()


def test_the_checks_of_spaces():
    """Two assets of which a mixture is never better: all optima are vertices."""
    space = Portfolios(np.ones((2, 2)))
    check_space(space, np.eye(2))
    assert space.guarantee.kind == "exact"


def test_limits_of_rows():
    S = np.diag([1.0, 2.0, 3.0])
    space = Portfolios(pd.DataFrame(S, columns=list("abc"), index=list("abc")))
    costs = np.random.default_rng(0).normal(size=(3, 4))
    costs[:, -1] = 1.0
    low = np.array([[0.5, 0, 0], [0, 0.2, 0], [0, 0, 0]])
    each = space.restrict(low=low, high={"a": 0.8, "b": 0.7, "c": 1.0})
    for i in range(3):
        one = Portfolios(S, low=low[i], high=[0.8, 0.7, 1.0]).argmin(costs[i : i + 1])
        assert_array_equal(each.argmin(costs).outputs[i], one.outputs[0])
        assert_array_equal(each.rows(i).argmin(costs[i : i + 1]).outputs, one.outputs)
    found = space.restrict(exclude=[["a"], ["b", "c"], []]).argmin(costs).outputs
    assert_array_equal(found[0, 0], 0)
    assert_array_equal(found[1], [1, 0, 0])
    assert_array_equal(found[2], space.argmin(costs).outputs[2])
    with pytest.raises(InfeasibleError, match=r"in row 0: they add up to .* 0.5 at most"):
        space.restrict(high=[[0.5, 0, 0], [1, 1, 1]])
    with pytest.raises(InfeasibleError, match="in row 0"):
        space.restrict(low={"a": 0.2, "b": 0, "c": 0}).restrict(exclude=["a"])


def test_risks_that_no_portfolio_has():
    space = Portfolios(np.eye(2), max_risk=0.5)
    with pytest.raises(InfeasibleError, match=r"at most 0.5 in row 0; the least is 0.707107"):
        space.argmin(np.zeros((1, 3)))
    rewarded = Portfolios(np.eye(2), max_risk=0.8)
    with pytest.raises(InfeasibleError, match="in row 1; the least is 1"):
        rewarded.restrict(high=[[1.0, 1.0], [1.0, 0.0]]).argmin(np.array([[0, 0, 1.0], [0, 0, -1]]))


WRONG = {
    "shape": ({"covariance": np.ones((2, 3))}, r"has shape \(2, 2\); got \(2, 3\)"),
    "NaN": ({"covariance": [[1, np.nan], [0, 1]]}, r"covariance\[0, 1\] is nan"),
    "skew": ({"covariance": [[1, 0.5], [0, 1]]}, r"symmetric; got 0.5 at \[0, 1\]"),
    "indefinite": ({"covariance": [[1, 2], [2, 1]]}, "no negative eigenvalue; got -1"),
    "aversion": ({"covariance": np.eye(2), "risk_aversion": -1}, "number from 0 on; got -1"),
    "risk": ({"covariance": np.eye(2), "max_risk": 0}, "positive number; got 0"),
    "limits": ({"covariance": np.eye(2), "high": 0.4}, "add up to 0 at least and 0.8 at most"),
    "none": ({"covariance": np.eye(2), "low": None}, "low and high are finite"),
    "names": ({"covariance": np.eye(2), "labels": ["a"]}, r"1 assets has shape \(1, 1\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be(name):
    given, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        Portfolios(**given).argmin(np.zeros((1, 3)))


def test_portfolios_that_are_none():
    space = Portfolios(np.eye(2), max_risk=0.9)
    assert space.contains(np.array([[0.5, 0.5], [1, 0], [0.5, 0.4], [1.1, -0.1]])).tolist() == [
        True, False, False, False
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"Y\[1\] is no portfolio .* have risk 1"):
        space.validate([[0.5, 0.5], [1.0, 0.0]])


# ------------------------------------------------------------------- models
def returns(n=150):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    F = rng.normal(size=(4, 4))
    R = X @ rng.normal(size=(2, 4)) + rng.multivariate_normal(np.zeros(4), 0.1 * F.T @ F, n)
    return X, R, F.T @ F


def utility(Z, R, S, aversion):
    return (Z * R).sum(axis=1) - 0.5 * aversion * np.einsum("ij,jk,ik->i", Z, S, Z)


@pytest.mark.parametrize("given", [{"risk_aversion": 0.7}, {"max_risk": 1.1}])
def test_models_learn_from_returns(given):
    X, R, S = returns()
    aversion = given.get("risk_aversion", 0.0)
    model = ConditionalRiskMinimizer(Portfolios(S, **given), Regret("max"), alpha=1.0)
    model.fit(X[:100], R[:100])
    Z = model.predict(X[100:])
    observed = model.observation_space_
    best = Targets.of(observed).outputs_of(observed.validate(R[100:]))
    regrets = utility(best, R[100:], S, aversion) - utility(Z, R[100:], S, aversion)
    assert (regrets >= -1e-9).all()
    assert_allclose(model.score(X[100:], R[100:]), -regrets.mean())
    uniform = utility(np.full_like(Z, 0.25), R[100:], S, aversion)
    assert utility(Z, R[100:], S, aversion).mean() > uniform.mean()
    if "max_risk" in given:
        assert (np.einsum("ij,jk,ik->i", Z, S, Z) <= 1.1**2 * (1 + 1e-9)).all()


def test_frames_limits_and_files(tmp_path):
    X, R, S = returns(60)
    names = ["cash", "bonds", "shares", "gold"]
    space = Portfolios(pd.DataFrame(S, index=names, columns=names))
    model = ConditionalRiskMinimizer(space, Regret("max"), alpha=1.0)
    model.fit(X, pd.DataFrame(R[:, ::-1], columns=names[::-1]))
    found = model.predict(X)
    assert sorted(found.columns) == sorted(names)
    plain = ConditionalRiskMinimizer(Portfolios(S), Regret("max"), alpha=1.0).fit(X, R).predict(X)
    assert_allclose(found[names].to_numpy(), plain)
    assert (model.predict(X, restrict={"exclude": ["gold"]})["gold"] == 0).all()
    assert (model.predict(X, restrict={"high": 0.4}).to_numpy() <= 0.4 + 1e-12).all()
    save_model(model, tmp_path / "model.skstruct")
    assert_array_equal(load_model(tmp_path / "model.skstruct").predict(X), found)
