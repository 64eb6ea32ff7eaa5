# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from skstruct.exceptions import InfeasibleError
from skstruct.losses import Huber
from skstruct.spaces.quantities.separable import relaxations
from skstruct.spaces.quantities.separable.envelopes import implied_ranges, minimize_over_polytope
from skstruct.spaces.solvers.curves.base import QuadraticCurves
from skstruct.spaces.solvers.curves.global_search import SmoothCurves
from skstruct.spaces.solvers.curves.piecewise import PiecewiseCurves
from skstruct.spaces.solvers.linear_constraints import read_constraints


def absolute(weights, outputs):
    """Curves sum_i w_i |t - y_i|."""
    return PiecewiseCurves(
        weights,
        outputs,
        rho=lambda t, y: abs(t - y),
        slope=lambda t, y: np.where(t < y, -1.0, 1.0),
        knots=lambda y: (y[None], np.full((1, *y.shape), 2.0), np.zeros((1, *y.shape))),
        convex=True,
    )


def cauchy(weights, outputs):
    """Curves sum_i w_i log(1 + (t - y_i)^2) / 2; the second derivative lies in [-1/8, 1]."""
    return SmoothCurves(
        weights,
        outputs,
        rho=lambda t, y: np.log1p((t - y) ** 2) / 2,
        slope=lambda t, y: (t - y) / (1 + (t - y) ** 2),
        curvature_range=lambda low, high, y: (np.float64(-1 / 8), np.float64(1.0)),
    )


def min_cost(curves, constraints, low, high):
    """The optimum of one piecewise linear row: a linear program for every choice of cells."""
    d = curves.shape[1]
    samples = curves.sample(low, high, 1)
    points, values = samples.points.reshape(-1, d, samples.points.shape[-1])[0], samples.values[0]
    cells = [[k for k in range(len(t) - 1) if t[k + 1] > t[k]] or [0] for t in points]
    best, j = np.inf, np.arange(d)
    for choice in product(*cells):
        k = np.array(choice)
        left, right = points[j, k], points[j, k + 1]
        width = np.where(right > left, right - left, 1.0)
        slope = (values[j, k + 1] - values[j, k]) / width
        answer = linprog(
            slope,
            A_eq=constraints.A_eq if len(constraints.b_eq) else None,
            b_eq=constraints.b_eq if len(constraints.b_eq) else None,
            A_ub=constraints.A_ub if len(constraints.b_ub) else None,
            b_ub=constraints.b_ub if len(constraints.b_ub) else None,
            bounds=np.column_stack([left, right]),
        )
        if answer.status == 0:
            best = min(best, answer.fun + (values[j, k] - slope * left).sum())
    return best


@st.composite
def polytopes(draw, n_rows, d):
    """Constraints met by a point of its own in every row, and bounds."""
    whole = st.integers(-2, 2).map(float)
    m_eq, m_ub = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    A_eq = draw(hnp.arrays(np.float64, (m_eq, d), elements=whole))
    A_ub = draw(hnp.arrays(np.float64, (m_ub, d), elements=whole))
    inner = draw(hnp.arrays(np.float64, (n_rows, d), elements=st.floats(-2, 2, width=16)))
    low = np.floor(inner.min(axis=0)) - draw(st.integers(0, 2))
    high = np.ceil(inner.max(axis=0)) + draw(st.integers(0, 2))
    spare = draw(hnp.arrays(np.float64, (n_rows, m_ub), elements=st.integers(0, 2).map(float)))
    sides = inner @ A_eq.T, inner @ A_ub.T + spare
    return read_constraints(A_eq, sides[0], A_ub, sides[1], n_columns=d), low, high


def weight_arrays(n_rows, n, least=-3):
    entries = st.one_of(st.integers(least, 3).map(float), st.floats(least, 3, width=16))
    return hnp.arrays(np.float64, (n_rows, n), elements=entries)


def check(answer, curves, constraints, low, high):
    """Outputs are members, values their costs, bounds not above."""
    outputs, values, bounds = answer
    assert (constraints.relative_violation(outputs) <= 1e-8).all()
    assert ((outputs >= low) & (outputs <= high)).all()
    np.testing.assert_allclose(values, curves.at(outputs).sum(axis=1), rtol=1e-12, atol=1e-12)
    assert (bounds <= values).all()


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_signed_absolute_losses_against_all_choices_of_cells(data):
    n_rows, d, n = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3)), 3
    constraints, low, high = data.draw(polytopes(n_rows, d))
    outputs = data.draw(
        hnp.arrays(np.float64, (n, d), elements=st.integers(-8, 8).map(lambda i: i / 4))
    )
    curves = absolute(data.draw(weight_arrays(n_rows, n)), outputs)
    best = np.array(
        [
            min_cost(curves.rows(slice(i, i + 1)), constraints.row(i), low, high)
            for i in range(n_rows)
        ]
    )
    quick = minimize_over_polytope(curves, constraints, low, high)
    check(quick, curves, constraints, low, high)
    assert (quick[1] >= best - 1e-6).all()
    assert (quick[2] <= best + 1e-6).all()
    proven = minimize_over_polytope(curves, constraints, low, high, max_boxes=None)
    check(proven, curves, constraints, low, high)
    np.testing.assert_allclose(proven[1], best, atol=1e-6)
    np.testing.assert_allclose(proven[2], best, atol=1e-6)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_convex_rows_have_no_gap(data):
    n_rows, d = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    constraints, low, high = data.draw(polytopes(n_rows, d))
    outputs = data.draw(hnp.arrays(np.float64, (4, d), elements=st.floats(-4, 4, width=16)))
    curves = absolute(data.draw(weight_arrays(n_rows, 4, least=0)), outputs)
    answer = minimize_over_polytope(curves, constraints, low, high)
    check(answer, curves, constraints, low, high)
    np.testing.assert_allclose(answer[1], answer[2], rtol=1e-9, atol=1e-9)


def network(n_nodes, n_arcs, n, rng):
    """A strongly connected network: incidence, divergence and n flows that have it."""
    arcs = {(i, (i + 1) % n_nodes) for i in range(n_nodes)}
    while len(arcs) < n_arcs:
        i, j = rng.integers(0, n_nodes, 2)
        if i != j:
            arcs.add((int(i), int(j)))
    A = np.zeros((n_nodes, n_arcs))
    for k, (i, j) in enumerate(sorted(arcs)):
        A[i, k], A[j, k] = 1.0, -1.0
    flow = rng.gamma(2.0, 3.0, n_arcs)
    noise = rng.normal(size=(n, n_arcs))
    noise -= noise @ np.linalg.pinv(A) @ A
    noise *= 0.9 * flow.min() / np.abs(noise).max()
    return A, A @ flow, flow + noise * rng.uniform(0.2, 1.0, (n, 1))


@pytest.mark.slow
@pytest.mark.parametrize("signed", [False, True])
def test_networks_by_the_simplex_and_by_linear_programs(signed, monkeypatch):
    rng = np.random.default_rng(0)
    A, b, flows = network(12, 30, 40, rng)  # one of the 12 equations is implied by the others
    weights = rng.dirichlet(np.full(40, 0.3), 6)
    if signed:
        weights += rng.normal(0, 0.02, weights.shape)
    curves, constraints = absolute(weights, flows), read_constraints(A, b)
    answer = minimize_over_polytope(curves, constraints, 0.0, 60.0)
    check(answer, curves, constraints, 0.0, 60.0)
    monkeypatch.setattr(relaxations, "DENSE", 0)
    other = minimize_over_polytope(curves, constraints, 0.0, 60.0)
    check(other, curves, constraints, 0.0, 60.0)
    np.testing.assert_allclose(answer[2], other[2], rtol=1e-8)
    gap = (answer[1] - answer[2]) / np.abs(answer[1])
    assert gap.max() <= (0.01 if signed else 0.0)
    monkeypatch.undo()
    if signed:
        proven = minimize_over_polytope(curves, constraints, 0.0, 60.0, max_boxes=None)
        np.testing.assert_allclose(proven[1], proven[2], rtol=1e-8)
        assert (proven[1] <= answer[1]).all()
        assert (proven[2] >= answer[2]).all()


def test_proofs_that_run_out_of_boxes_keep_valid_bounds():
    rng = np.random.default_rng(5)
    A, b, flows = network(20, 60, 40, rng)
    weights = rng.dirichlet(np.full(40, 0.3), 1) + rng.normal(0, 0.03, (1, 40))
    curves, constraints = absolute(weights, flows), read_constraints(A, b)
    quick = minimize_over_polytope(curves, constraints, 0.0, 60.0)
    short = minimize_over_polytope(curves, constraints, 0.0, 60.0, max_boxes=3)
    check(short, curves, constraints, 0.0, 60.0)
    assert short[2] >= quick[2]
    assert short[1] <= quick[1]


def grid_minimum(curves, total, high, n):
    """Least cost over a grid of {0 <= z <= high, sum z = total}, for one row with d <= 3."""
    d = curves.shape[1]
    grid = np.linspace(0, high, n)
    axes = np.meshgrid(*[grid] * (d - 1), indexing="ij")
    last = total - sum(axes)
    points = np.stack([*axes, last], axis=-1).reshape(-1, d)
    points = points[(points[:, -1] >= 0) & (points[:, -1] <= high)]
    many = curves.rows(np.zeros(len(points), dtype=np.int64))
    return many.at(points).sum(axis=1).min()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [2, 3])
def test_smooth_losses_against_a_grid(seed, d):
    rng = np.random.default_rng(seed)
    outputs, weights = rng.uniform(0, 8, (5, d)), rng.normal(0.2, 1.0, (1, 5))
    curves, constraints = cauchy(weights, outputs), read_constraints(np.ones((1, d)), [6.0])
    n = 20001 if d == 2 else 401
    best = grid_minimum(curves, 6.0, 6.0, n)
    quick = minimize_over_polytope(curves, constraints, 0.0, 6.0)
    check(quick, curves, constraints, 0.0, 6.0)
    assert quick[2].item() <= best + 1e-9
    proven = minimize_over_polytope(curves, constraints, 0.0, 6.0, max_boxes=None)
    check(proven, curves, constraints, 0.0, 6.0)
    assert quick[2].item() - 1e-9 <= proven[2].item() <= best + 1e-9
    # Slopes are below sum |w| / 2, so the grid may miss the optimum by that times its step.
    assert proven[1].item() >= best - np.abs(weights).sum() * d * 6.0 / (n - 1)
    assert proven[1].item() <= best + 1e-6
    assert (proven[1] - proven[2]).item() <= 1e-8


def test_smooth_convex_rows_are_solved_to_rounding():
    rng = np.random.default_rng(1)
    A, b, flows = network(8, 18, 5, rng)
    curves = QuadraticCurves(rng.uniform(0.5, 2.0, (5, 18)), -3 * flows)
    constraints = read_constraints(A, b)
    answer = minimize_over_polytope(curves, constraints, 0.0, 40.0)
    check(answer, curves, constraints, 0.0, 40.0)
    np.testing.assert_allclose(answer[1], answer[2], rtol=1e-8)
    # Where no bound is active the optimum solves a linear system.
    for i, output in enumerate(answer[0]):
        if (output > 1e-3).all():
            system = np.block([[np.diag(2 * curves.a[i]), A.T], [A, np.zeros((8, 8))]])
            expected = np.linalg.lstsq(system, np.append(-curves.b[i], b), rcond=None)[0][:18]
            np.testing.assert_allclose(output, expected, atol=1e-3)


def test_every_row_has_its_own_right_hand_side():
    outputs = np.array([[0.0, 3.0], [2.0, 1.0], [4.0, 4.0]])
    weights = np.tile([1.0, -0.4, 1.0], (3, 1))
    totals = np.array([[1.0], [5.0], [8.0]])
    constraints = read_constraints([[1.0, 1.0]], totals, [[1.0, -1.0]], totals - 1)
    curves = absolute(weights, outputs)
    answer = minimize_over_polytope(curves, constraints, 0.0, 4.0, max_boxes=None)
    check(answer, curves, constraints, 0.0, 4.0)
    for i in range(3):
        best = min_cost(curves.rows([i]), constraints.row(i), 0.0, 4.0)
        np.testing.assert_allclose([answer[1][i], answer[2][i]], best, atol=1e-9)


def test_a_row_without_points_is_named():
    curves = absolute(np.ones((3, 2)), np.zeros((2, 2)))
    constraints = read_constraints([[1.0, 1.0]], np.array([[1.0], [2.0], [9.0]]))
    with pytest.raises(InfeasibleError, match="row 2") as caught:
        minimize_over_polytope(curves, constraints, 0.0, 4.0)
    assert caught.value.row == 2


@pytest.mark.parametrize("max_boxes", [0, None])
def test_degenerate_cases(max_boxes):
    one_in_all = read_constraints([[1.0, 1.0, 1.0]], [3.0])
    same = np.full((4, 3), 1.0)
    cases = {
        "all outputs equal": absolute([[1.0, -0.5, 1.0, 0.2]], same),
        "negative total": absolute([[-1.0, -0.5, -1.0, 0.2]], same),
        "no weight at all": absolute(np.zeros((1, 4)), same),
    }
    for name, curves in cases.items():
        answer = minimize_over_polytope(curves, one_in_all, 0.0, 3.0, max_boxes=max_boxes)
        check(answer, curves, one_in_all, 0.0, 3.0)
        best = min_cost(curves, one_in_all, 0.0, 3.0)
        np.testing.assert_allclose(answer[1], best, atol=1e-9, err_msg=name)
        if max_boxes is None or curves.convex.all():
            np.testing.assert_allclose(answer[2], best, atol=1e-9, err_msg=name)
    # a single point; bounds that leave no room; no constraints; no rows
    curves = absolute([[1.0, -2.0]], np.array([[0.0, 1.0], [2.0, 2.0]]))
    point = read_constraints(np.eye(2), [1.0, 0.5])
    outputs, values, bounds = minimize_over_polytope(curves, point, 0.0, 3.0, max_boxes=max_boxes)
    np.testing.assert_allclose(outputs, [[1.0, 0.5]])
    np.testing.assert_allclose(bounds, values)
    outputs, values, bounds = minimize_over_polytope(curves, point, [[1.0, 0.5]], [[1.0, 0.5]])
    np.testing.assert_allclose(outputs, [[1.0, 0.5]])
    free = read_constraints(n_columns=2)
    outputs, values, bounds = minimize_over_polytope(curves, free, 0.0, 3.0, max_boxes=max_boxes)
    np.testing.assert_allclose(values, curves.minimize(0.0, 3.0)[1].sum())
    nothing = minimize_over_polytope(curves.rows(slice(0, 0)), point, 0.0, 3.0)
    assert nothing[0].shape == (0, 2)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_any_unit(size):
    rng = np.random.default_rng(4)
    A, b, flows = network(6, 14, 8, rng)
    weights = rng.dirichlet(np.full(8, 0.5), 4) + rng.normal(0, 0.1, (4, 8))
    curves, scaled = absolute(weights, flows), absolute(weights / size, flows * size)
    plain = minimize_over_polytope(curves, read_constraints(A, b), 0.0, 40.0, max_boxes=None)
    constraints = read_constraints(A, b * size)
    answer = minimize_over_polytope(scaled, constraints, 0.0, 40.0 * size, max_boxes=None)
    np.testing.assert_allclose(answer[1], plain[1], rtol=1e-7)
    np.testing.assert_allclose(answer[2], plain[2], rtol=1e-7)


@pytest.mark.slow
@given(st.data())
def test_implied_ranges_hold_and_are_tight_for_one_constraint(data):
    d = data.draw(st.integers(1, 4))
    constraints, low, high = data.draw(polytopes(2, d))
    ends = np.broadcast_to(low, (2, d)), np.broadcast_to(high, (2, d))
    narrow = implied_ranges(constraints, *ends)
    for j, sign in product(range(d), (1.0, -1.0)):
        costs = np.zeros((2, d))
        costs[:, j] = sign
        extreme = sign * constraints.minimize_linear(costs, *ends)[1]
        assert (narrow[0][:, j] <= extreme + 1e-7).all()
        assert (narrow[1][:, j] >= extreme - 1e-7).all()
        if len(constraints.b_eq[0]) + len(constraints.b_ub[0]) == 1:
            side = narrow[0] if sign > 0 else narrow[1]
            np.testing.assert_allclose(side[:, j], extreme, atol=1e-4)  # ranges have a margin


@pytest.mark.slow
def test_polytopes_that_are_single_points_have_an_answer():
    rng = np.random.default_rng(0)
    for a, b, c in rng.random((40, 3)):
        A = [[1, -1, 0, 1.0], [0, 1, 0, -1], [-1, 0, 1, 0], [0, 0, -1, 0]]
        point = np.array([a + b, b, c * (a + b), 0.0])
        constraints = read_constraints(A, A @ point)
        curves = Huber(0.2).curves([[0.9]], point[None])
        high = np.array([a + b, b + 0.1, a + b, a + b])
        outputs, _, bounds = minimize_over_polytope(curves, constraints, 0.0, high)
        np.testing.assert_allclose(outputs[0], point, atol=1e-5)
        assert bounds[0] <= 1e-9
