# SPDX-License-Identifier: BSD-3-Clause
"""Curves against fine grids, SciPy's polish and lists of all candidates."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from skstruct.losses.piecewise import Absolute, EpsilonInsensitive, Hinge, Huber, Pinball
from skstruct.losses.smooth import L2L1, Cauchy, Fair, GemanMcClure, Logistic
from skstruct.spaces.solvers.curves.base import QuadraticCurves
from skstruct.spaces.solvers.curves.global_search import Cells, SmoothCurves

PIECEWISE = [Absolute(), Pinball(0.2), EpsilonInsensitive(0.7), EpsilonInsensitive(0.0),
             Huber(0.5), Huber(20.0), Hinge()]  # fmt: skip
SMOOTH = [Cauchy(), Cauchy(0.2), Cauchy(30.0), GemanMcClure(), Fair(), Fair(0.05), L2L1(),
          Logistic()]  # fmt: skip


def named(losses):
    return [pytest.param(loss, id=repr(loss)) for loss in losses]


@st.composite
def problems(draw):
    """Signed weights, outputs with ties and zeros, a slope, and ends that differ by row."""
    B, n, d = draw(st.integers(1, 4)), draw(st.integers(1, 12)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.standard_normal((B, n)) * 10.0 ** draw(st.integers(-3, 3))
    if draw(st.booleans()):
        weights = np.rint(weights)
    outputs = rng.standard_normal((n, d)) * draw(st.sampled_from([0.01, 1.0, 5.0, 100.0]))
    if draw(st.booleans()):
        outputs = np.rint(outputs)
    around = 1.5 * np.abs(outputs).max() + 0.1
    low, high = np.sort(rng.uniform(-around, around, (2, B, d)), axis=0)
    if draw(st.booleans()):
        low, high = np.full((B, d), -around), np.full((B, d), around)
    if draw(st.booleans()):
        high[:, 0] = low[:, 0]
    slope = rng.standard_normal((B, d)) * np.abs(weights).mean() if draw(st.booleans()) else None
    return weights, outputs, low, high, slope


def direct(loss, weights, y, t):
    """F at the points t, straight from the definition, for one row and coordinate."""
    return loss.rho(np.asarray(t)[:, None], y) @ weights


def each(problem):
    weights, outputs, low, high, slope = problem
    for b in range(len(weights)):
        for j in range(outputs.shape[1]):
            tilt = 0.0 if slope is None else slope[b, j]
            yield b, j, weights[b], outputs[:, j], low[b, j], high[b, j], tilt


def size(loss, weights, y, low, high, tilt):
    at_ends = np.maximum(loss.rho(low, y), loss.rho(high, y))
    return np.abs(weights) @ at_ends + abs(tilt) * max(abs(low), abs(high)) + 1e-300


# ------------------------------------------------------------------ piecewise
def all_candidates(loss, weights, y, low, high, tilt):
    """Ends, knots, and where the slope of a piece is zero: the slow, obvious list."""
    knots = loss.knots(y[:, None])[0].ravel()
    knots = np.unique(np.concatenate([knots[(knots > low) & (knots < high)], [low, high]]))
    candidates = [*knots]
    for left, right in pairwise(knots):
        thirds = left + (right - left) * np.array([1 / 3, 2 / 3])
        first, last = loss.slope(thirds[:, None], y) @ weights + tilt
        bend = (last - first) / (thirds[1] - thirds[0])
        if bend > 0 and left < thirds[0] - first / bend < right:
            candidates.append(thirds[0] - first / bend)
    return np.array(sorted(candidates))


@pytest.mark.slow
@pytest.mark.parametrize("loss", named(PIECEWISE))
@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_piecewise_minima_are_exact(loss, problem):
    weights, outputs, low, high, slope = problem
    curves = loss.curves(weights, outputs)
    points, values, bounds = curves.minimize(low, high, slope)
    assert ((low <= points) & (points <= high)).all()
    np.testing.assert_array_equal(bounds, values)
    for b, j, w, y, lo, hi, tilt in each(problem):
        candidates = all_candidates(loss, w, y, lo, hi, tilt)
        slack = 1e-11 * size(loss, w, y, low[:, j].min(), high[:, j].max(), tilt)
        best = (direct(loss, w, y, candidates) + tilt * candidates).min()
        np.testing.assert_allclose(values[b, j], best, atol=slack, rtol=0)
        fresh = direct(loss, w, y, points[b, j : j + 1])[0] + tilt * points[b, j]
        np.testing.assert_allclose(values[b, j], fresh, atol=slack, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("loss", named([Absolute(), Pinball(0.5), EpsilonInsensitive(0.5)]))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_smallest_minimizer_wins_whatever_the_rounding(loss, seed):
    rng = np.random.default_rng(seed)
    outputs = rng.integers(-3, 4, (9, 1)).astype(float)
    whole = rng.integers(-2, 3, (5, 9)).astype(float)
    thirds = whole / 3 * (1 + 1e-15 * rng.standard_normal((5, 9)))  # ties no longer exact
    points, _, _ = loss.curves(whole, outputs).minimize(-4.0, 4.0)
    candidates = np.arange(-8, 9) / 2
    values = loss.rho(candidates[:, None], outputs[:, 0]) @ whole.T  # exact: small halves
    np.testing.assert_array_equal(points[:, 0], candidates[values.argmin(axis=0)])
    np.testing.assert_array_equal(loss.curves(thirds, outputs).minimize(-4.0, 4.0)[0], points)


@pytest.mark.parametrize("loss", named(PIECEWISE))
def test_ends_on_knots(loss):
    rng = np.random.default_rng(6)
    weights, outputs = rng.standard_normal((30, 6)), rng.standard_normal((6, 1))
    knots = np.sort(loss.knots(outputs)[0].ravel())
    for low, high in [(knots[0], knots[-1]), (knots[1], knots[3]), (knots[2], knots[2] + 5)]:
        points, values, _ = loss.curves(weights, outputs).minimize(low, high)
        samples = loss.curves(weights, outputs).sample(low, high, 4)
        for b, w in enumerate(weights):
            candidates = all_candidates(loss, w, outputs[:, 0], low, high, 0.0)
            best = direct(loss, w, outputs[:, 0], candidates).min()
            np.testing.assert_allclose(values[b, 0], best, atol=1e-10 * (1 + abs(best)))
            exact = direct(loss, w, outputs[:, 0], samples.points[0])
            np.testing.assert_allclose(samples.values[b, 0], exact, atol=1e-10)
        assert ((low <= points) & (points <= high)).all()


def test_zero_weights_give_the_lower_end():
    for loss in [*PIECEWISE, *SMOOTH]:
        points, values, bounds = loss.curves(np.zeros((2, 3)), np.ones((3, 1))).minimize(-1.0, 2.0)
        np.testing.assert_array_equal(points, -1.0)
        np.testing.assert_array_equal(values, 0.0)
        np.testing.assert_array_equal(bounds, 0.0)


def test_large_outputs_of_small_spread_keep_their_digits():
    rng = np.random.default_rng(0)
    weights, outputs = rng.standard_normal((40, 50)), rng.standard_normal((50, 1))
    for loss in (Absolute(), Huber(0.3)):
        points, values, _ = loss.curves(weights, outputs).minimize(-2.0, 2.0)
        moved, same, _ = loss.curves(weights, outputs + 2.0**30).minimize(2.0**30 - 2, 2.0**30 + 2)
        np.testing.assert_allclose(moved - 2.0**30, points, atol=1e-5)
        np.testing.assert_allclose(same, values, atol=1e-5)


# ------------------------------------------------------------------ smooth
@pytest.mark.slow
@pytest.mark.parametrize("loss", named(SMOOTH))
@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_smooth_minima_are_certified(loss, problem):
    weights, outputs, low, high, slope = problem
    points, values, bounds = loss.curves(weights, outputs).minimize(low, high, slope)
    assert ((low <= points) & (points <= high)).all()
    assert (bounds <= values).all()
    for b, j, w, y, lo, hi, tilt in each(problem):
        scale = size(loss, w, y, low[:, j].min(), high[:, j].max(), tilt)
        scale += abs(tilt) * (high[:, j].max() - low[:, j].min())
        best = polished(loss, w, y, lo, hi, tilt)
        assert bounds[b, j] <= best + 1e-13 * scale
        assert values[b, j] <= best + 1e-8 * scale
        assert values[b, j] - bounds[b, j] <= 1e-8 * scale
        fresh = direct(loss, w, y, points[b, j : j + 1])[0] + tilt * points[b, j]
        np.testing.assert_allclose(values[b, j], fresh, atol=1e-12 * scale, rtol=0)


def polished(loss, w, y, low, high, tilt):
    """The best of a fine grid, improved by SciPy between its neighbours."""
    grid = np.unique(np.concatenate([np.linspace(low, high, 2001), y[(y > low) & (y < high)]]))
    values = direct(loss, w, y, grid) + tilt * grid
    k = values.argmin()
    around = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    if around[0] == around[1]:
        return values[k]
    found = minimize_scalar(lambda t: w @ loss.rho(t, y) + tilt * t, bounds=around,
                            method="bounded", options={"xatol": 1e-10})  # fmt: skip
    return min(values[k], found.fun)


@pytest.mark.slow
@pytest.mark.parametrize("loss", named(SMOOTH))
@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize("spread", [0.0, 6.0])
def test_many_outputs(loss, n, spread):
    """Also the way of many outputs, which cuts cells by matrix products; ends that differ."""
    rng = np.random.default_rng(n)
    weights, outputs = rng.standard_normal((60, n)), 3 * rng.standard_normal((n, 1))
    low, high = -9 + spread * rng.random((60, 1)), 9 - spread * rng.random((60, 1))
    points, values, bounds = loss.curves(weights, outputs).minimize(low, high)
    grid = np.linspace(-9, 9, 6001)
    inside = (low <= grid) & (grid <= high)
    best = np.where(inside, weights @ loss.rho(grid, outputs), np.inf).min(axis=1)
    ends = np.maximum(loss.rho(-9.0, outputs), loss.rho(9.0, outputs))
    scale = np.abs(weights) @ ends[:, 0]
    assert ((low <= points) & (points <= high)).all()
    assert (values[:, 0] <= best + 1e-8 * scale).all()
    assert (bounds[:, 0] <= best).all()
    assert (values[:, 0] - bounds[:, 0] <= 1e-8 * scale).all()
    # An interior minimum is flat: the polish is worth more than the certificate needs.
    inner = ((low < points) & (points < high))[:, 0]
    slopes = loss.curves(weights, outputs).slopes(points)[inner, 0]
    assert (np.abs(slopes) <= 1e-3 * np.abs(weights).sum(axis=1)[inner]).all()


@pytest.mark.parametrize("loss", named([Cauchy(), GemanMcClure(), Fair(), Logistic()]))
@pytest.mark.parametrize("reach", [1e-6, 1.0, 1e4, 1e8])
def test_ranges_of_all_sizes(loss, reach):
    rng = np.random.default_rng(1)
    weights, outputs = rng.standard_normal((20, 8)), rng.standard_normal((8, 1))
    _, values, bounds = loss.curves(weights, outputs).minimize(-reach, reach)
    ends = np.maximum(loss.rho(-reach, outputs), loss.rho(reach, outputs))
    scale = np.abs(weights) @ ends[:, 0]
    inner = np.linspace(-1, 1, 4001) * min(reach, 10.0)
    grid = np.concatenate([inner, np.linspace(-reach, reach, 101)])
    best = (weights @ loss.rho(grid, outputs)).min(axis=1)
    assert (bounds[:, 0] <= best + 1e-13 * scale).all()
    assert (values[:, 0] <= best + 1e-8 * scale).all()
    assert (values - bounds)[:, 0].max() <= 1e-8 * scale.max()


def test_equal_outputs_and_an_unhelpful_curvature():
    """All outputs the same; and a range of rho'' that never shrinks with the cell."""
    points, values, _ = Cauchy().curves([[1.0, 2.0]], [[3.0], [3.0]]).minimize(0.0, 10.0)
    np.testing.assert_allclose((points, values), ([[3.0]], [[0.0]]), atol=1e-9)

    def wide(low, high, y):
        shape = np.broadcast(low, high, y).shape
        return np.full(shape, -0.125), np.ones(shape)

    rng = np.random.default_rng(2)
    weights, outputs = rng.standard_normal((10, 5)), 3 * rng.standard_normal((5, 1))
    loss = Cauchy()
    curves = SmoothCurves(weights, outputs, loss.rho, loss.slope, wide, tolerance=1e-6)
    _, values, bounds = curves.minimize(-8.0, 8.0)
    best = (weights @ loss.rho(np.linspace(-8, 8, 9001), outputs)).min(axis=1)
    assert (bounds[:, 0] <= best).all()
    assert (values[:, 0] <= best + 1e-4).all()


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_bounds_of_cells(seed):
    """Quartics with exact second derivatives at hand: no point of a cell is below its bound."""
    rng = np.random.default_rng(seed)
    poly = np.polynomial.Polynomial(rng.standard_normal(5))
    left, right = np.sort(rng.uniform(-2, 2, 2))
    t = np.linspace(left, right, 2001)
    slope, bend = poly.deriv(), poly.deriv(2)
    roots = bend.deriv().roots()
    turns = [root.real for root in roots if abs(root.imag) < 1e-12 and left <= root.real <= right]
    least = bend(np.array([left, right, *turns])).min()
    numbers = left, right, poly(left), poly(right), slope(left), slope(right), least
    cell = Cells(np.zeros(1, int), *(np.array([number]) for number in numbers))
    assert cell.bounds()[0] <= poly(t).min() + 1e-12
    assert left <= cell.bottoms()[0] <= right


# ------------------------------------------------------------------ samples, rows, quadratics
@pytest.mark.slow
@pytest.mark.parametrize("loss", named([*PIECEWISE, *SMOOTH]))
@given(problem=problems(), n_cells=st.integers(1, 20))
@settings(max_examples=25, deadline=None)
def test_samples_underestimate(loss, problem, n_cells):
    weights, outputs, low, high, _ = problem
    curves = loss.curves(weights, outputs)
    samples = curves.sample(low, high, n_cells)
    points = np.broadcast_to(samples.points, samples.values.shape)
    assert (np.diff(points) >= 0).all()
    assert (samples.slack >= 0).all()
    np.testing.assert_array_equal(points[..., 0], low)
    np.testing.assert_array_equal(points[..., -1], high)
    if isinstance(loss, (Absolute, Pinball, EpsilonInsensitive, Hinge)):
        assert (samples.slack == 0).all()
    for b, j, w, y, lo, hi, _ in each(problem):
        scale = size(loss, w, y, low[:, j].min(), high[:, j].max(), 0.0)
        np.testing.assert_allclose(
            samples.values[b, j], direct(loss, w, y, points[b, j]), atol=1e-12 * scale, rtol=0
        )
        t = np.linspace(lo, hi, 301)
        F = direct(loss, w, y, t)
        at, chord = points[b, j], np.interp(t, points[b, j], samples.values[b, j])
        cell = np.clip(np.searchsorted(at, t, side="right") - 1, 0, len(at) - 2)
        floor = chord - samples.slack[b, j][cell]
        assert (F[at[cell] < at[cell + 1]] >= floor[at[cell] < at[cell + 1]] - 1e-11 * scale).all()


@pytest.mark.parametrize("loss", named([*PIECEWISE, *SMOOTH]))
def test_values_slopes_rows_and_scale(loss):
    rng = np.random.default_rng(4)
    weights, outputs = rng.standard_normal((6, 7)), rng.standard_normal((7, 3))
    weights[0] = np.abs(weights[0])
    scale = np.array([2.0, 0.0, 0.5])
    loss = loss.__class__(**{**loss.get_params(), "weights": scale})
    curves, T = loss.curves(weights, outputs), rng.standard_normal((6, 3))
    assert curves.shape == (6, 3)
    expected = np.einsum("bi,bij->bj", weights, loss.rho(T[:, None], outputs)) * scale
    np.testing.assert_allclose(curves.at(T), expected, atol=1e-12)
    step = 1e-6
    central = (curves.at(T + step) - curves.at(T - step)) / (2 * step)
    np.testing.assert_allclose(curves.slopes(T), central, atol=1e-7)
    assert curves.convex.tolist() == [loss._convex] + [False] * 5
    points, values, bounds = curves.minimize(-2.0, 2.0)
    risks = (weights * loss.pairwise(points, outputs)).sum(axis=1)
    np.testing.assert_allclose(values.sum(axis=1), risks, atol=1e-12)
    assert (bounds <= values).all()
    for index in (slice(1, 3), np.array([4, 0, 4]), np.array([], dtype=int)):
        some = curves.rows(index).minimize(-2.0, 2.0)
        np.testing.assert_allclose(some[1], values[index], atol=1e-9)
        assert some[0].shape == points[index].shape


@given(seed=st.integers(0, 2**32 - 1), sign=st.sampled_from([-1.0, 0.0, 1.0]))
@settings(max_examples=100, deadline=None)
def test_quadratic_curves(seed, sign):
    rng = np.random.default_rng(seed)
    a, b, constant = rng.standard_normal((3, 4, 2))
    a = sign * np.abs(a)
    low, high = np.sort(rng.uniform(-3, 3, (2, 4, 2)), axis=0)
    slope = rng.standard_normal((4, 2))
    curves = QuadraticCurves(a, b, constant)
    points, values, bounds = curves.minimize(low, high, slope)
    t = np.linspace(low, high, 501)
    F = a * t**2 + (b + slope) * t + constant
    assert (values <= F.min(axis=0) + 1e-12).all()
    np.testing.assert_allclose(values, curves.at(points) + slope * points, atol=1e-12)
    np.testing.assert_array_equal(bounds, values)
    assert ((low <= points) & (points <= high)).all()
    assert (curves.convex == (a >= 0).all(axis=1)).all()
    np.testing.assert_allclose(curves.slopes(points), 2 * a * points + b)
    samples = curves.sample(low, high, 3)
    for row, column in np.ndindex(4, 2):
        at = samples.points[row, column]
        chord = np.interp(t[:, row, column], at, samples.values[row, column])
        cell = np.clip(np.searchsorted(at, t[:, row, column]) - 1, 0, 2)
        below = chord - samples.slack[row, column][cell]
        inner = a[row, column] * t[:, row, column] ** 2 + b[row, column] * t[:, row, column]
        assert (inner + constant[row, column] >= below - 1e-12).all()


def test_samples_share_points_where_ends_are_shared():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 4, 3))
    assert QuadraticCurves(a, b).sample(0.0, [1.0, 2.0, 3.0], 5).points.shape == (3, 6)
    weights, outputs = rng.standard_normal((4, 6)), rng.random((6, 3))
    assert Cauchy().curves(weights, outputs).sample(0.0, 1.0, 5).points.shape == (3, 6)
    assert Absolute().curves(weights, outputs).sample(0.0, 1.0, 5).points.shape == (3, 8)


def test_ends_must_be_finite_and_ordered():
    curves = Absolute().curves(np.ones((2, 3)), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="row 0, coordinate 0 has"):
        curves.minimize(1.0, 0.0)
    with pytest.raises(ValueError, match="finite"):
        curves.minimize(0.0, np.inf)
