# SPDX-License-Identifier: BSD-3-Clause
"""Costs of too much and too little against quantiles, dense grids and linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import Absolute, Newsvendor, PiecewiseLinear, Pinball
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import KernelRidge, Neighbors
from skstruct.spaces import Box, Interval, Polytope, Simplex

seeds = st.integers(0, 10**6)


def quantile(y, w, level):
    """The least output up to which the weights reach the level."""
    order = np.argsort(y)
    return y[order][np.searchsorted(np.cumsum(w[order]), level - 1e-12)]


def test_the_definition():
    loss = Newsvendor([3.0, 1.0], [1.0, 2.0])
    assert_allclose(loss([[0, 0], [5, 5]], [[1, 2], [4, 2]]), [3 + 2, 1 + 6])
    assert_allclose(loss.pairwise([[0, 0]], [[1, 2], [4, 2]]), [[5, 14]])
    P, T = np.random.default_rng(0).normal(size=(2, 9, 2))
    assert_allclose(Newsvendor(0.3, 0.7)(P, T), Pinball(0.3)(P, T))


@given(seeds)
def test_the_best_order_is_a_quantile(seed):
    rng = np.random.default_rng(seed)
    Y, w = rng.normal(size=(15, 3)), rng.dirichlet(np.ones(15))
    under, over = rng.uniform(0.2, 3, size=(2, 3))
    space = Box(-9, 9).fit(Y)
    found = Newsvendor(under, over).bind(space).minimize(w[None], Y, space)
    expected = [quantile(Y[:, j], w, under[j] / (under[j] + over[j])) for j in range(3)]
    assert_allclose(found.outputs[0], expected)
    assert_allclose(found.values[0], w @ Newsvendor(under, over).pairwise([expected], Y)[0])
    assert_allclose(found.bounds, found.values)


@settings(max_examples=20)
@given(seeds)
def test_weights_of_any_sign_and_limits(seed):
    rng = np.random.default_rng(seed)
    Y, W = rng.normal(size=(8, 2)), rng.normal(size=(3, 8))
    space = Box([-1, -0.5], [0.5, 1]).fit(np.zeros((2, 2)))
    loss = Newsvendor([2.0, 0.5], [1.0, 3.0]).bind(space)
    found = loss.minimize(W, Y, space)
    points = [
        np.append(np.clip(Y[:, j], *ends), ends) for j, ends in enumerate(((-1, 0.5), (-0.5, 1)))
    ]
    grid = np.array([[a, b] for a in points[0] for b in points[1]])
    assert_allclose(found.values, (W @ loss.pairwise(grid, Y).T).min(axis=1), atol=1e-12)


@settings(max_examples=10)
@given(seeds)
def test_a_shared_budget_is_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    m, d = 6, 3
    Y, w = rng.uniform(0, 4, size=(m, d)), rng.dirichlet(np.ones(m))
    under, over = rng.uniform(0.2, 3, size=(2, d))
    # z, and for every scenario and coordinate u >= under (y - z), u >= over (z - y)
    eye = np.eye(m * d)
    A = np.vstack([
        np.hstack([-np.tile(np.diag(under), (m, 1)), -eye]),
        np.hstack([np.tile(np.diag(over), (m, 1)), -eye]),
    ])  # fmt: skip
    b = np.concatenate([-(under * Y).ravel(), (over * Y).ravel()])
    budget = np.concatenate([np.ones(d), np.zeros(m * d)])
    cost = np.concatenate([np.zeros(d), np.repeat(w, d)])
    bounds = [(0, 4)] * d + [(0, None)] * (m * d)
    space = Polytope(A_ub=np.ones((1, d)), b_ub=[5.0], bounds=(0, 4))
    loss = Newsvendor(under, over).bind(space)
    found = loss.minimize(w[None], Y, space)
    least = linprog(cost, np.vstack([A, budget]), np.append(b, 5.0), bounds=bounds).fun
    assert_allclose([found.values[0], found.bounds[0]], least, atol=1e-7)
    shares = Simplex(5.0, labels=range(d))
    least = linprog(cost, A, b, budget[None], [5.0], bounds=[(0, None)] * len(cost)).fun
    assert_allclose(loss.minimize(w[None], Y, shares).values[0], least, atol=1e-7)


def test_costs_by_name_and_models(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(50, 1))
    Y = pd.DataFrame(rng.gamma(2.0, size=(50, 2)), columns=["bread", "milk"])
    named = Newsvendor({"milk": 4.0}, {"bread": 2.0})
    model = ConditionalRiskMinimizer(Box(0, 20), named, smoother=Neighbors(20)).fit(X, Y)
    plain = model.predict(X, loss=Newsvendor([1.0, 4.0], [2.0, 1.0]))
    assert_array_equal(model.predict(X), plain)
    more = model.predict(X, loss=Newsvendor({"milk": 9.0}, {"bread": 2.0}))
    assert (more["milk"] >= plain["milk"]).all()
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict(X), plain)
    with pytest.raises(ValueError, match="'beer'"):
        ConditionalRiskMinimizer(Box(0, 20), Newsvendor({"beer": 1.0})).fit(X, Y)
    with pytest.raises(ValueError, match="not negative"):
        Newsvendor(-1.0)([[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="bind"):
        named([[0.0, 0.0]], [[1.0, 1.0]])
    ridge = ConditionalRiskMinimizer(Box(0, 20), named, smoother=KernelRidge(alpha=0.1)).fit(X, Y)
    found = ridge.decode(X[:5])
    assert_allclose(found.values, found.bounds)


SHAPES = {
    "convex": ([-2.0, -0.5, 1.0, 3.0], [-1.0, 0.5, 2.0]),
    "capped": ([0.0, -2.0, 1.0, 0.0], [-1.5, 0.0, 2.0]),
    "two valleys": ([-1.0, 1.0, -2.0, 1.0], [-2.0, -0.5, 1.0]),
}


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=15)
@given(seed=seeds)
def test_lines_against_a_dense_grid(name, seed):
    slopes, breaks = SHAPES[name]
    rng = np.random.default_rng(seed)
    Y, W = rng.integers(-8, 9, size=(6, 1)) / 4, rng.normal(size=(4, 6))
    W[0] = np.abs(W[0])
    loss, space = PiecewiseLinear(slopes, breaks), Interval(-3.0, 3.0)
    found = loss.bind(space).minimize(W, Y, space)
    grid = np.linspace(-3, 3, 25)[:, None]  # holds all knots, which are multiples of 1/4
    assert_allclose(found.values, (W @ loss.pairwise(grid, Y).T).min(axis=1), atol=1e-12)
    assert_allclose(found.bounds, found.values, atol=1e-12)
    assert loss._convex == (name == "convex")


@pytest.mark.parametrize("name", SHAPES)
def test_lines_by_hand(name):
    slopes, breaks = SHAPES[name]
    loss, r = PiecewiseLinear(slopes, breaks, weights=[2.0]), np.linspace(-6, 6, 1201)
    values = loss(r[:, None], np.zeros((1201, 1))) / 2
    middle = (r[1:] + r[:-1]) / 2
    assert_allclose(np.diff(values) / np.diff(r), np.array(slopes)[np.searchsorted(breaks, middle)])
    assert values.min() == pytest.approx(0.0, abs=1e-12)
    assert_array_equal(loss.slope(np.array(breaks), 0.0), slopes[1:])


def test_one_break_is_the_absolute_error():
    P, T = np.random.default_rng(0).normal(size=(2, 9, 2))
    assert_allclose(PiecewiseLinear([-1, 1], [0])(P, T), Absolute()(P, T))


def test_lines_share_a_budget_and_are_saved(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(30, 1)), rng.dirichlet(np.ones(3), size=30)
    loss = PiecewiseLinear([0.0, -2.0, 1.0, 0.0], [-0.4, 0.0, 0.3])
    model = ConditionalRiskMinimizer(Simplex(), loss, smoother=Neighbors(8)).fit(X, Y)
    found = model.decode(X[:4])
    grid = np.array([[i, j, 12 - i - j] for i in range(13) for j in range(13 - i)]) / 12
    risks = model.explain(X[:4]).weights @ loss.pairwise(grid, Y).T
    assert (found.values <= risks.min(axis=1) + 1e-9).all()
    assert (found.bounds <= found.values).all()
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict(X[:4]), found.outputs)


@pytest.mark.parametrize(
    ("slopes", "breaks", "words"),
    [([1, 2], [0], "at most 0"), ([-1, 1], [0, 1], "one slope more"),
     ([-1, 0, 1], [1, 0], "increase"), ([-1, np.inf], [0], "finite"), (["a", 1], [0], "numbers")],
)  # fmt: skip
def test_lines_that_make_no_sense(slopes, breaks, words):
    with pytest.raises(ValueError, match=words):
        PiecewiseLinear(slopes, breaks)([[0.0]], [[1.0]])
