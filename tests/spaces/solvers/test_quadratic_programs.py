# SPDX-License-Identifier: BSD-3-Clause
"""Projections against listed active sets; linear programs against listed vertices."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.quantities.quadratic_programs import minimize_quadratic
from skstruct.spaces.solvers.linear_constraints import read_constraints

seeds = st.integers(0, 10**6)
SLACK = 1e-8  # by which a candidate of the slow method may break a constraint


def polytope(rng, n, *, finite=False):
    """Constraints with a right-hand side per row, each met by some point; and limits."""
    d, n_eq, n_ub = rng.integers(1, 4), rng.integers(0, 3), rng.integers(0, 3)
    whole = rng.random() < 0.5  # small whole numbers make degenerate vertices

    def matrix(m):
        return rng.integers(-2, 3, (m, d)).astype(float) if whole else rng.normal(size=(m, d))

    A_eq, A_ub = matrix(n_eq), matrix(n_ub)
    low = rng.integers(-2, 1, d).astype(float)
    high = low + rng.integers(0, 4, d)
    if not finite:
        low[rng.random(d) < 0.2], high[rng.random(d) < 0.2] = -np.inf, np.inf
    inside = np.clip(rng.normal(size=(n, d)), low, high)
    inside = np.round(inside) if whole else inside
    b_ub = inside @ A_ub.T + rng.integers(0, 2, (n, n_ub))
    constraints = read_constraints(A_eq, inside @ A_eq.T, A_ub, b_ub, n_columns=d)
    return constraints, low, high


def slow_projection(a, b, constraints, low, high):
    """The best point over all ways to say which limits and inequalities bind."""
    A_eq, A_ub = constraints.A_eq.toarray(), constraints.A_ub.toarray()
    d, best, least = len(a), None, np.inf
    for sides in product((0, 1, 2), repeat=d):
        fixed = np.choose(sides, [np.zeros(d), low, high])
        if not np.isfinite(fixed).all():
            continue
        free = np.array(sides) == 0
        for binding in product((False, True), repeat=len(A_ub)):
            A = np.vstack([A_eq, A_ub[list(binding)]])
            right = np.concatenate([constraints.b_eq, constraints.b_ub[list(binding)]])
            z = fixed.copy()
            z[free] = _stationary(a[free], b[free], A[:, free], right - A @ fixed)
            outside = max((low - z).max(), (z - high).max(), constraints.violation(z[None])[0])
            value = (a * z**2 + b * z).sum()
            if outside <= SLACK and value < least:
                best, least = z, value
    return best, least


def _stationary(a, b, A, right):
    """Where sum a z^2 + b z is stationary among A z = right (least squares where singular)."""
    n = len(a)
    matrix = np.block([[np.diag(2 * a), A.T], [A, np.zeros((len(A), len(A)))]])
    return np.linalg.lstsq(matrix, np.concatenate([-b, right]), rcond=1e-12)[0][:n]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seeds)
def test_projections_equal_the_best_of_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    constraints, low, high = polytope(rng, n=3)
    shape = (3, len(low))
    a = rng.choice([0.5, 1.0, 4.0], size=shape)
    b = rng.normal(size=shape) * rng.choice([0.1, 1.0, 10.0])
    points, values, bounds = minimize_quadratic(a, b, constraints, low, high)
    assert (constraints.relative_violation(points) <= 1e-9).all()
    assert ((low <= points) & (points <= high)).all()
    for i in range(3):
        best, least = slow_projection(a[i], b[i], constraints.row(i), low, high)
        size = 1 + np.abs(a[i] * best**2).sum() + np.abs(b[i] * best).sum()
        np.testing.assert_allclose(points[i], best, atol=1e-6 * (1 + np.abs(best).max()))
        assert bounds[i] <= least + 1e-7 * size
        assert abs(values[i] - least) <= 1e-7 * size
        assert values[i] - bounds[i] <= 1e-9 * size


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seeds)
def test_linear_programs_equal_the_best_vertex(seed):
    rng = np.random.default_rng(seed)
    constraints, low, high = polytope(rng, n=3, finite=True)
    costs = rng.normal(size=(3, len(low)))
    points, values, bounds = constraints.minimize_linear(costs, low, high)
    assert (constraints.relative_violation(points) <= 1e-9).all()
    for i in range(3):
        least = min(costs[i] @ z for z in vertices(constraints.row(i), low, high))
        assert values[i] == pytest.approx(least, abs=1e-7)
        assert bounds[i] <= least + 1e-9
        assert values[i] - bounds[i] <= 1e-8


def vertices(constraints, low, high):
    """All feasible points where d independent constraints are met with equality."""
    d = len(low)
    A = np.vstack([constraints.A_eq.toarray(), constraints.A_ub.toarray(), np.eye(d), np.eye(d)])
    b = np.concatenate([constraints.b_eq, constraints.b_ub, low, high])
    for rows in combinations(range(len(A)), d):
        part = A[list(rows)]
        if abs(np.linalg.det(part)) > 1e-9:
            z = np.linalg.solve(part, b[list(rows)])
            outside = max((low - z).max(), (z - high).max())
            if max(outside, constraints.violation(z[None])[0]) <= SLACK:
                yield z


def network(n_nodes, n_arcs, rng):
    """A ring with random chords: incidence matrix of all nodes, one row of it redundant."""
    tail = np.concatenate([np.arange(n_nodes), rng.integers(n_nodes, size=n_arcs - n_nodes)])
    shift = np.concatenate([np.ones(n_nodes), rng.integers(1, n_nodes, size=n_arcs - n_nodes)])
    A = np.zeros((n_nodes, n_arcs))
    A[tail, np.arange(n_arcs)] = 1.0
    A[(tail + shift.astype(int)) % n_nodes, np.arange(n_arcs)] = -1.0
    return A


@pytest.mark.parametrize(("n_nodes", "n_arcs"), [(8, 20), (60, 150), (200, 600)])
def test_flows_are_feasible_and_proven_whatever_their_number(n_nodes, n_arcs):
    rng = np.random.default_rng(n_arcs)
    A = network(n_nodes, n_arcs, rng)
    flows = rng.exponential(size=(5, n_arcs)) * (rng.random((5, n_arcs)) < 0.5)
    constraints = read_constraints(A, flows @ A.T)
    targets = flows + rng.normal(size=flows.shape)
    points, values, bounds = minimize_quadratic(
        np.ones(n_arcs), -2 * targets, constraints, np.zeros(n_arcs), np.full(n_arcs, np.inf)
    )
    assert (points >= 0).all()
    assert (constraints.relative_violation(points) <= 1e-9).all()
    assert (values - bounds <= 1e-9 * np.abs(values)).all()
    assert (bounds <= (flows**2 - 2 * targets * flows).sum(axis=1)).all()


@pytest.mark.parametrize("seed", range(3))
def test_many_inequalities_through_one_point_are_no_obstacle(seed):
    rng = np.random.default_rng(seed)
    d = 30
    A_ub = np.sign(rng.normal(size=(2 * d, d)) * (rng.random((2 * d, d)) < 0.3))
    inside = rng.random(d) * (rng.random(d) < 0.5)
    constraints = read_constraints(None, None, A_ub, A_ub @ inside)
    a, b = 10 ** rng.normal(size=(4, d)), 10 * rng.normal(size=(4, d))
    points, values, bounds = minimize_quadratic(a, b, constraints, np.zeros(d), np.ones(d))
    assert (constraints.relative_violation(points) <= 1e-9).all()
    assert (values - bounds <= 1e-8 * (a * points**2 + np.abs(b * points)).sum(axis=1)).all()


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_rows_do_not_depend_on_those_before(seed):
    rng = np.random.default_rng(seed)
    constraints, low, high = polytope(rng, n=12)
    b = 3 * rng.normal(size=(12, len(low)))
    order = rng.permutation(12)
    points = minimize_quadratic(np.ones(len(low)), b, constraints, low, high)[0]
    shuffled = minimize_quadratic(np.ones(len(low)), b[order], constraints.rows(order), low, high)
    np.testing.assert_allclose(points[order], shuffled[0], atol=1e-8)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_units_do_not_matter(unit):
    constraints = read_constraints([[1, 1, -1]], [unit], [[1, -1, 0]], [0.5 * unit])
    target = np.array([[3.0, 0.2, 0.1], [-5.0, 2.0, 7.0]]) * unit
    a = np.array([1.0, 2.0, 0.5])
    low, high = np.zeros(3), np.array([unit, np.inf, np.inf])
    points, values, bounds = minimize_quadratic(a, -2 * a * target, constraints, low, high)
    unscaled = minimize_quadratic(
        a, -2 * a * target / unit, read_constraints([[1, 1, -1]], [1], [[1, -1, 0]], [0.5]),
        low, high / unit,
    )[0]  # fmt: skip
    np.testing.assert_allclose(points / unit, unscaled, atol=1e-9)
    assert (values - bounds <= 1e-9 * np.abs(values)).all()


def test_a_polytope_of_one_point_gives_that_point():
    constraints = read_constraints([[1, 1], [1, -1], [2, 2]], [1.0, 0.0, 2.0])
    b = np.array([[4.0, -3.0], [0.0, 100.0]])
    points, values, bounds = minimize_quadratic(np.ones(2), b, constraints, np.zeros(2), np.ones(2))
    np.testing.assert_allclose(points, 0.5, atol=1e-12)
    assert (values - bounds <= 1e-9).all()


@pytest.mark.parametrize(
    "solve",
    [
        lambda costs, system, *limits: system.minimize_linear(costs, *limits),
        lambda costs, system, *limits: minimize_quadratic(np.ones(3), costs, system, *limits),
    ],
    ids=["linear", "quadratic"],
)
def test_rows_without_a_point_are_named_with_what_conflicts(solve):
    constraints = read_constraints([[1, 1, 0]], [[1.0], [5.0]], [[0, 0, 1]], [9.0])
    low, high = np.zeros(3), np.array([2.0, 2.0, 1.0])
    told = "row 1: A_eq row 0, the upper bound of column 0 and the upper bound of column 1 conflict"
    with pytest.raises(InfeasibleError, match=told) as caught:
        solve(np.ones((2, 3)), constraints, low, high)
    assert caught.value.row == 1


def test_crossed_bounds_and_rows_of_zeros_conflict_with_themselves():
    nothing = read_constraints([[0.0, 0.0]], [1.0])
    with pytest.raises(InfeasibleError, match="A_eq row 0 cannot hold"):
        minimize_quadratic(np.ones(2), np.zeros((1, 2)), nothing, np.zeros(2), np.ones(2))
    with pytest.raises(InfeasibleError, match="lower bound of column 1 is above its upper bound"):
        minimize_quadratic(
            np.ones(2), np.zeros((1, 2)), read_constraints([[1, 1]], [1]), [0, 3], [1, 2]
        )


def test_costs_that_fall_for_ever_name_the_column():
    constraints = read_constraints([[1, -1, 0]], [0.0])
    with pytest.raises(ValueError, match="row 1 falls for ever as column 2 grows"):
        constraints.minimize_linear(
            np.array([[0.0, 0, 1], [0, 0, -1]]), np.zeros(3), np.full(3, np.inf)
        )


def test_the_worst_constraint_is_told():
    constraints = read_constraints([[1, 1]], [1.0], [[1, 0], [0, 1]], [0.5, 0.5])
    assert constraints.worst(np.array([0.1, 0.9])) == "A_ub row 1: 0.9, above 0.5"
    assert constraints.worst(np.array([3.0, 0.1])) == "A_ub row 0: 3, above 0.5"
    np.testing.assert_allclose(
        constraints.violation(np.array([[0.1, 0.9], [0.4, 0.4]])), [0.4, 0.2]
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[1, 1]], None), "A_eq was given without b_eq"),
        ((None, [1.0], [[1, 1]], [1.0]), "b_eq was given without A_eq"),
        (([[1, 1]], [1.0, 2.0]), r"A_eq has shape \(1, 2\) and b_eq 2 entries"),
        (([1, 1], [1.0]), "have a row per constraint"),
        (([[1, np.nan]], [1.0]), "A_eq and b_eq must be finite"),
        (([[1, 1]], [[1.0], [np.nan]]), r"b_eq\[1\]\[0\] is not"),
        (([[1, 1]], [[1.0], [2.0]], [[1, 0]], [[1.0]]), "b_eq is for 2 rows and b_ub for 1"),
        ((), "give A_eq or A_ub"),
    ],
)
def test_constraints_are_checked(given, message):
    with pytest.raises(ValueError, match=message):
        read_constraints(*given)
