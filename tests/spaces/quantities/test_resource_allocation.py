# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from skstruct.losses import Absolute
from skstruct.spaces.quantities.resource_allocation import (
    best_vertices,
    quadratic_on_simplex,
    roots_on_simplex,
    separable_on_simplex,
)
from skstruct.spaces.solvers.curves.base import QuadraticCurves
from skstruct.spaces.solvers.curves.chi_square import ChiSquareCurves
from skstruct.spaces.solvers.curves.piecewise import PiecewiseCurves
from skstruct.spaces.solvers.curves.roots import LinearRootCurves, RootCurves

STEPS = {1: 1, 2: 600, 3: 60}  # of the grids: 601 and 1891 points


def grid(d):
    """All histograms of multiples of 1 / STEPS[d]."""
    m = STEPS[d]
    counts = [(*p, m - sum(p)) for p in product(range(m + 1), repeat=d - 1) if sum(p) <= m]
    return np.array(counts) / m


def numbers(d, n=3):
    """Small whole numbers (many ties and zeros) or any of moderate size."""
    entries = st.one_of(st.integers(-2, 2).map(float), st.floats(-50, 50, width=32))
    return hnp.arrays(np.float64, (n, d), elements=entries)


def on_the_simplex(z, total):
    np.testing.assert_allclose(z.sum(axis=1), total, rtol=1e-9)
    assert (z >= 0).all()


@given(st.data())
@settings(deadline=None)
def test_quadratic_of_any_sign_against_a_grid(data):
    d, total = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1.0, 2.5]))
    a, b = data.draw(numbers(d)), data.draw(numbers(d))
    z, values = quadratic_on_simplex(a, b, total)
    on_the_simplex(z, total)
    Z = total * grid(d)
    costs = a @ Z.T**2 + b @ Z.T
    size = 1e-9 * (1 + np.abs(a).max() + np.abs(b).max())
    np.testing.assert_allclose((a * z**2 + b * z).sum(axis=1), values, atol=size)
    assert (values <= costs.min(axis=1) + size).all()


def test_quadratic_finds_what_a_finer_search_finds():
    """The grid only says that nothing is better; here the value itself is compared."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 2)), 2 * rng.standard_normal((200, 2))
    _, values = quadratic_on_simplex(a, b)
    t = np.linspace(0, 1, 20001)
    Z = np.column_stack([t, 1 - t])
    np.testing.assert_allclose(values, (a @ Z.T**2 + b @ Z.T).min(axis=1), atol=1e-7)


def test_projection_is_the_one_of_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0.1, 3, (5, 7)), rng.standard_normal((5, 7))
    z, values = quadratic_on_simplex(a, b, 2.0)
    for row in range(5):
        found = slsqp(lambda s, r=row: a[r] @ s**2 + b[r] @ s, np.full(7, 2 / 7), 2.0)
        np.testing.assert_allclose(values[row], found.fun, atol=1e-6)
        np.testing.assert_allclose(z[row], found.x, atol=1e-3)


def test_projection_onto_itself_and_extreme_sizes():
    y = np.array([[0.2, 0.3, 0.5]])
    for size in (1e-12, 1.0, 1e12):
        z, _ = quadratic_on_simplex(np.full((1, 3), size), -2 * size * y)
        np.testing.assert_allclose(z, y, atol=1e-12)
    z, value = quadratic_on_simplex(np.array([[1e-300, 1.0]]), np.array([[0.0, -1.0]]))
    np.testing.assert_allclose([*z[0], *value], [0.5, 0.5, -0.25])


@given(st.data())
@settings(deadline=None)
def test_roots_of_any_sign_against_a_grid(data):
    d, total = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1.0, 100.0]))
    costs = data.draw(numbers(d))
    z, values = roots_on_simplex(costs, total)
    on_the_simplex(z, total)
    size = 1e-9 * (1 + np.abs(costs).max())
    np.testing.assert_allclose((costs * np.sqrt(z)).sum(axis=1), values, atol=size)
    Z = np.vstack([total * grid(d), z])
    assert (values <= (costs @ np.sqrt(Z).T).min(axis=1) + size).all()


def test_linear_costs_take_the_first_of_equal_vertices():
    z, values = best_vertices(np.array([[1.0, 0.0, 0.0], [-1.0, 5.0, -1.0]]), 3.0)
    np.testing.assert_array_equal(z, [[0, 3, 0], [3, 0, 0]])
    np.testing.assert_array_equal(values, [0, -3])


# ------------------------------------------------------------- any sum over coordinates
def absolute(weights, outputs):
    return Absolute().curves(weights, outputs)


def hellinger(weights, outputs):
    scale = np.linspace(0.5, 2.0, outputs.shape[1])
    linear = 0.5 * scale * weights.sum(axis=1)[:, None]
    return LinearRootCurves(linear, -scale * (weights @ np.sqrt(outputs)))


KINDS = {
    "roots": RootCurves, "chi square": ChiSquareCurves, "absolute": absolute,
    "hellinger": hellinger,
}  # fmt: skip


def risks(curves, z):
    """Costs of the same shares in every row, from the curves themselves."""
    return curves.at(np.broadcast_to(z, curves.shape)).sum(axis=1)


def slsqp(cost, start, total=1.0):
    return minimize(
        cost, start, method="SLSQP", bounds=[(1e-12, total)] * len(start),
        constraints={"type": "eq", "fun": lambda s: s.sum() - total}, options={"ftol": 1e-12},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_no_grid_point_beats_a_bound(kind, data):
    d, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    outputs = rng.dirichlet(np.full(d, data.draw(st.sampled_from([0.3, 1.0]))), n)
    if data.draw(st.booleans()):
        outputs = np.round(outputs, 1)  # zeros and ties
    curves = KINDS[kind](data.draw(numbers(n)), outputs)
    z, values, bounds = separable_on_simplex(curves)
    on_the_simplex(z, 1.0)
    costs = np.array([risks(curves, point) for point in grid(d)])
    size = 1e-9 * (1 + np.abs(costs).max())
    np.testing.assert_allclose(curves.at(z).sum(axis=1), values, atol=size)
    assert (bounds <= values).all()
    assert (bounds <= costs.min(axis=0) + size).all()


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_as_good_as_the_grid(kind):
    """Local steps may stop early; on few coordinates they are expected not to."""
    rng = np.random.default_rng(2)
    for d in (2, 3):
        curves = KINDS[kind](rng.standard_normal((40, 6)), rng.dirichlet(np.full(d, 0.7), 6))
        _, values, _ = separable_on_simplex(curves)
        costs = np.array([risks(curves, point) for point in grid(d)])
        assert (values <= costs.min(axis=0) + 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_and_values_against_many_local_searches(kind):
    rng = np.random.default_rng(3)
    d, n = 5, 12
    outputs = rng.dirichlet(np.full(d, 0.7), n)
    curves = KINDS[kind](rng.standard_normal((4, n)), outputs)
    _, values, bounds = separable_on_simplex(curves)
    for row in range(4):
        one = curves.rows([row])
        starts = np.vstack([rng.dirichlet(np.ones(d), 8), outputs[:4] + 1e-6])
        found = [slsqp(lambda s, c=one: risks(c, np.maximum(s, 0))[0], start) for start in starts]
        fair = [f.x / f.x.sum() for f in found if (f.x >= 0).all()]
        best = min(risks(one, x)[0] for x in fair)
        assert bounds[row] <= best + 1e-9
        assert values[row] <= best + 1e-6


@pytest.mark.parametrize(("kind", "gap"), [("chi square", 1e-8), ("absolute", 1e-10)])
@pytest.mark.parametrize("d", [1, 2, 20])
def test_convex_rows_are_optimal(kind, gap, d):
    rng = np.random.default_rng(d)
    outputs = rng.dirichlet(np.full(d, 0.2), 30)
    outputs[outputs < 1e-3] = 0.0
    curves = KINDS[kind](rng.uniform(0, 1, (20, 30)), outputs / outputs.sum(1, keepdims=True))
    assert curves.convex.all()
    _, values, bounds = separable_on_simplex(curves)
    # By size: the value of a single point is zero but for rounding.
    assert (values - bounds <= gap * np.abs(values)).all()


def test_convex_roots_are_optimal():
    """Costs a t - b sqrt(t): where all b are alike and positive the closed form says the rest."""
    rng = np.random.default_rng(4)
    b = rng.uniform(0.1, 2, (10, 8))
    z, values, bounds = separable_on_simplex(LinearRootCurves(np.ones((10, 8)), -b))
    expected, least = roots_on_simplex(-b)
    np.testing.assert_allclose(z, expected, atol=1e-6)
    np.testing.assert_allclose(values, 1.0 + least, atol=1e-9)
    np.testing.assert_allclose(bounds, values, atol=1e-8)


def test_mixed_quadratics_agree_with_the_exact_solution():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((50, 4)), rng.standard_normal((50, 4))
    _, values, bounds = separable_on_simplex(QuadraticCurves(a, b))
    _, exact = quadratic_on_simplex(a, b)
    assert (bounds <= exact + 1e-9).all()
    assert (values >= exact - 1e-9).all()
    assert np.median(values - exact) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_rows_do_not_depend_on_their_neighbours_or_the_memory(kind):
    rng = np.random.default_rng(6)
    curves = KINDS[kind](rng.standard_normal((40, 5)), rng.dirichlet(np.ones(4), 5))
    z, values, bounds = separable_on_simplex(curves)
    for memory, rows in (("1KB", slice(None)), ("1GB", [3, 38])):
        part = separable_on_simplex(curves.rows(rows), memory=memory)
        for got, expected in zip(part, (z, values, bounds)):
            np.testing.assert_allclose(got, expected[rows], atol=1e-9)


def test_zero_weights_and_equal_outputs():
    y = np.full((4, 3), [0.2, 0.0, 0.8])
    for kind in (RootCurves, ChiSquareCurves):
        z, values, bounds = separable_on_simplex(kind(np.zeros((2, 4)), y))
        on_the_simplex(z, 1.0)
        np.testing.assert_array_equal([values, bounds], 0.0)
        z, values, bounds = separable_on_simplex(kind(np.full((1, 4), 0.5), y))
        np.testing.assert_allclose(z, y[:1], atol=1e-6)
        np.testing.assert_allclose([values, bounds], 0.0, atol=1e-9)


# ------------------------------------------------------------- curves of one number
@pytest.mark.parametrize("kind", [RootCurves, ChiSquareCurves])
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_curves_against_their_definition(kind, data):
    n = data.draw(st.integers(1, 5))
    outputs = data.draw(hnp.arrays(np.float64, (n, 2), elements=st.floats(0, 4, width=32)))
    weights = data.draw(numbers(n, 2))
    curves = kind(weights, outputs, scale=np.array([2.0, 0.5]))
    low, high = np.array([[0.0, 0.25], [0.5, 0.0]]), np.array([[4.0, 3.0], [0.5, 9.0]])
    steps = np.linspace(0, 1, 301)[:, None, None]
    T = low + (high - low) * steps
    if kind is RootCurves:
        each = np.abs(np.sqrt(T)[..., None] - np.sqrt(outputs.T))
    else:
        both = T[..., None] + outputs.T
        each = (T[..., None] - outputs.T) ** 2 / np.where(both > 0, both, 1)
    expected = (each * weights[:, None]).sum(-1) * [2.0, 0.5]
    slack = 1e-9 * (1 + np.abs(weights).sum())
    np.testing.assert_allclose([curves.at(t) for t in T], expected, atol=slack)
    slope = np.array([[3.0, -1.0], [0.0, 2.0]])
    points, values, bounds = curves.minimize(low, high, slope=slope)
    assert ((points >= low) & (points <= high)).all()
    np.testing.assert_allclose(curves.at(points) + slope * points, values, atol=slack)
    assert (values <= (expected + slope * T).min(axis=0) + slack).all()
    assert (values - bounds <= slack).all()
    samples = curves.sample(low, high, 5)
    for k in range(samples.values.shape[-1] - 1):
        for share in (0.0, 0.3, 0.5, 1.0):
            left, right = samples.points[..., k], samples.points[..., k + 1]
            chord = (1 - share) * samples.values[..., k] + share * samples.values[..., k + 1]
            at = curves.at(left + share * (right - left))
            assert (at >= chord - samples.slack[..., k] - slack).all()


def test_slopes_and_curvatures_are_derivatives():
    rng = np.random.default_rng(7)
    outputs, weights = rng.uniform(0, 2, (6, 3)), rng.standard_normal((4, 6))
    T, h = rng.uniform(0.3, 2, (4, 3)), 1e-6
    linear = LinearRootCurves(rng.standard_normal((4, 3)), rng.standard_normal((4, 3)))
    for curves in (RootCurves(weights, outputs), ChiSquareCurves(weights, outputs), linear):
        numeric = (curves.at(T + h) - curves.at(T - h)) / (2 * h)
        np.testing.assert_allclose(curves.slopes(T), numeric, atol=1e-6)
    smooth = ChiSquareCurves(weights, outputs)
    numeric = (smooth.slopes(T + h) - smooth.slopes(T - h)) / (2 * h)
    np.testing.assert_allclose(smooth.curvatures(T), numeric, atol=1e-6)


@pytest.mark.parametrize("kind", [RootCurves, ChiSquareCurves])
def test_ranges_below_zero_are_an_error(kind):
    curves = kind(np.ones((1, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="coordinate 1 begins at -2"):
        curves.minimize([[0.0, -2.0]], 1.0)


def test_sampled_knots_make_piecewise_linear_bounds_exact():
    """With two coordinates the rest is fixed: the best knot of either is the optimum."""
    rng = np.random.default_rng(8)
    outputs = rng.dirichlet(np.ones(2), 9)
    weights = rng.standard_normal((30, 9))
    curves = absolute(weights, outputs)
    assert isinstance(curves, PiecewiseCurves)
    _, values, _ = separable_on_simplex(curves)
    t = np.concatenate([outputs[:, 0], [0.0, 1.0]])
    candidates = np.column_stack([t, 1 - t])
    best = np.min([risks(curves, c) for c in candidates], axis=0)
    np.testing.assert_allclose(values, best, atol=1e-9)
