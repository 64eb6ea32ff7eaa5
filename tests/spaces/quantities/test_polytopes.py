# SPDX-License-Identifier: BSD-3-Clause
"""Polytopes of quantities against independent solvers, and what users may get wrong."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings
from skstruct.spaces.quantities.polytopes import Polytope
from skstruct.spaces.solvers.curves.base import QuadraticCurves

seeds = st.integers(0, 10**6)


def shares(**changes):
    given = {"A_eq": [[1, 1, 1]], "b_eq": [1.0], "A_ub": [[1, -1, 0]], "b_ub": [0.3]}
    return Polytope(**(given | {"bounds": (0, 0.7)} | changes))


def random_polytope(rng):
    """A polytope around a few training outputs."""
    d = int(rng.integers(2, 5))
    Y = np.clip(rng.normal(size=(3, d)), -1, 1)
    A_eq, A_ub = np.ones((1, d)), rng.normal(size=(2, d))
    Y += (1.0 - Y.sum(axis=1, keepdims=True)) / d
    b_ub = (Y @ A_ub.T).max(axis=0) + rng.random(2)
    return Polytope(A_eq, [1.0], A_ub, b_ub, bounds=(-3, 3)).fit(Y), Y


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seeds)
def test_linear_costs_equal_linprog(seed):
    rng = np.random.default_rng(seed)
    space, _ = random_polytope(rng)
    costs = rng.normal(size=(4, len(space.labels_)))
    found = space.argmin(costs)
    system = {"A_eq": space.A_eq, "b_eq": space.b_eq, "A_ub": space.A_ub, "b_ub": space.b_ub}
    assert space.contains(found.outputs).all()
    for cost, value, bound in zip(costs, found.values, found.bounds):
        least = linprog(cost, **system, bounds=(-3, 3)).fun
        assert value == pytest.approx(least, abs=1e-7)
        assert value - 1e-7 <= bound <= least + 1e-9


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seeds)
def test_squares_with_weights_of_any_sign_are_bounded_and_not_beaten(seed):
    rng = np.random.default_rng(seed)
    space, Y = random_polytope(rng)
    d = len(space.labels_)
    sign = np.array([1.0, 0.0, -1.0])[:, None]
    costs = np.hstack([rng.normal(size=(3, d)), np.broadcast_to(sign, (3, d)).copy()])
    view = Embeddings.of(space).view("squares")
    found = view.argmin(costs)
    assert space.contains(found.outputs).all()
    assert (found.bounds <= found.values + 1e-12).all()
    np.testing.assert_allclose(
        (view.embed(found.outputs) * costs).sum(axis=1), found.values, atol=1e-9
    )
    assert (found.values - found.bounds)[:2] == pytest.approx([0, 0], abs=1e-6)  # convex rows
    for i in range(3):
        for start in Y:
            local = minimize(
                lambda z, i=i: float((view.embed(z[None]) @ costs[i])[0]),
                start,
                method="SLSQP",
                bounds=[(-3, 3)] * d,
                constraints=[
                    {"type": "eq", "fun": lambda z: z.sum() - 1.0},
                    {"type": "ineq", "fun": lambda z: space.b_ub - space.A_ub @ z},
                ],
            )
            if local.success and space.contains(local.x[None])[0]:
                assert found.bounds[i] <= local.fun + 1e-5
                if i < 2:
                    assert found.values[i] <= local.fun + 1e-5


def corners(space):
    """All vertices, from all ways to meet d constraints with equality."""
    d = len(space.labels_)
    A = np.vstack([space.A_eq, space.A_ub, np.eye(d), -np.eye(d)])
    b = np.concatenate([space.b_eq, space.b_ub, np.full(2 * d, 3.0)])
    found = [
        np.linalg.solve(A[list(rows)], b[list(rows)])
        for rows in combinations(range(len(A)), d)
        if abs(np.linalg.det(A[list(rows)])) > 1e-9
    ]
    return np.array(found)[space.contains(np.array(found))]


@pytest.mark.parametrize("seed", range(3))
def test_concave_costs_equal_the_best_vertex(seed):
    rng = np.random.default_rng(seed)
    space, Y = random_polytope(rng)
    proving = Polytope(space.A_eq, space.b_eq, space.A_ub, space.b_ub, (-3, 3), prove=True).fit(Y)
    d = Y.shape[1]
    b = rng.normal(size=(4, d))
    curves = QuadraticCurves(-np.ones((4, d)), b)
    rough, proven = space.minimize(curves), proving.minimize(curves)
    least = np.array(
        [(-(corners(space) ** 2) + row * corners(space)).sum(axis=1).min() for row in b]
    )
    assert (rough.bounds <= least + 1e-7).all()
    assert (rough.values >= least - 1e-5).all()
    np.testing.assert_allclose(proven.values, least, rtol=1e-6)
    assert (proven.bounds <= least + 1e-7).all()
    assert (proven.values - proven.bounds <= 1e-3 * np.abs(least)).all()


def test_right_hand_sides_may_differ_from_row_to_row():
    totals = np.array([[1.0], [2.0], [0.5]])
    Y = totals * [0.4, 0.3, 0.3]
    space = Polytope([[1, 1, 1]], totals, bounds=(0, None)).fit(Y)
    told = space.restrict(b_eq=[[3.0], [5.0]])
    costs = np.array([[1.0, 2, 3], [3, 2, 1]])
    np.testing.assert_allclose(told.argmin(costs).outputs, [[3, 0, 0], [0, 0, 5]], atol=1e-9)
    second = told.rows([1]).argmin(costs[1:])
    np.testing.assert_allclose(second.outputs, [[0, 0, 5]], atol=1e-9)
    with pytest.raises(ValueError, match="for 2 rows; got 3"):
        told.argmin(np.ones((3, 3)))
    with pytest.raises(ValueError, match="given for 3 rows; Y has 2"):
        Polytope([[1, 1, 1]], totals).fit(Y[:2])


def test_bounds_are_implied_where_they_are_not_given():
    space = Polytope([[1, 1, 1]], [1.0], bounds=(0, None)).fit([[0.2, 0.3, 0.5]])
    found = space.minimize(QuadraticCurves([[-1.0, -2.0, -1.5]], [[0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found.outputs, [[0, 1, 0]], atol=1e-6)
    open_ = Polytope([[1, 1, 1]], [1.0]).fit([[0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match="column 0 has no limit below"):
        open_.minimize(QuadraticCurves(-np.ones((1, 3)), np.zeros((1, 3))))
    with pytest.raises(ValueError, match="falls for ever"):
        open_.argmin(np.array([[1.0, 2.0, 3.0]]))


def test_outputs_outside_are_named():
    with pytest.raises(ValueError, match=r"Y\[1\] is 0.8 in column 0, above 0.7"):
        shares().fit([[0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])
    with pytest.raises(ValueError, match=r"Y\[0\] breaks a constraint: A_ub row 0: 0.5, above 0.3"):
        shares().fit([[0.6, 0.1, 0.3]])
    space = shares().fit([[0.3, 0.3, 0.4]])
    with pytest.raises(ValueError, match=r"Y\[0\] breaks a constraint: A_eq row 0: 1.1, not 1"):
        space.validate([[0.3, 0.3, 0.5]])
    space.validate([[0.3, 0.3, 0.4 + 1e-8]])  # rounding of the user's numbers


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"b_eq": [3.0]}, InfeasibleError, "A_eq row 0"),
        ({"b_eq": None}, ValueError, "A_eq was given without b_eq"),
        ({"A_eq": [[1, 1]]}, ValueError, "constraints have 2 columns and the outputs 3"),
        ({"b_eq": [np.nan]}, ValueError, "must be finite"),
        ({"bounds": [(0, 1)]}, ValueError, "one pair .* or 3 of them"),
        ({"bounds": (1, 0)}, ValueError, "bounds of column 0 are 1 and 0"),
    ],
)
def test_constraints_are_checked_in_fit(changes, error, message):
    with pytest.raises(error, match=message):
        shares(**changes).fit([[0.3, 0.3, 0.4]])


def test_a_restriction_without_points_is_refused():
    with pytest.raises(InfeasibleError, match="row 1"):
        shares().fit([[0.3, 0.3, 0.4]]).restrict(b_eq=[[1.0], [9.0]])


def test_the_row_that_has_no_point_is_named_among_rows_of_both_signs():
    Y = np.array([[0.5, 0.5], [0.2, 0.8]])
    space = Polytope(A_eq=[[1, 1]], b_eq=[1.0], bounds=(0, 1)).fit(Y)
    wide = Embeddings.of(space.restrict(b_eq=np.array([[1.0], [1.0], [1.0]]))).view("squares")
    sides = np.array([[1.0], [1.0], [5.0]])
    wide.constraints_ = replace(
        wide.constraints_, constraints=replace(wide.constraints_.constraints, b_eq=sides)
    )
    costs = np.array([[-1.0, -1, -1, -1], [0, 0, 1, 1], [0, 0, 1, 1]])
    with pytest.raises(InfeasibleError, match="row 2") as caught:
        wide.argmin(costs)
    assert caught.value.row == 2
