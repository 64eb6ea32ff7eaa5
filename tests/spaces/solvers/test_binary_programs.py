# SPDX-License-Identifier: BSD-3-Clause
"""What a solver says is checked, not believed."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.spaces.solvers import binary_programs
from skstruct.spaces.solvers.binary_programs import BinaryProgram

PROGRAM = BinaryProgram(
    sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
    np.ones(3),
    sparse.csr_array((0, 3)),
    np.zeros(0),
)


def test_an_infeasible_answer_is_caught(monkeypatch):
    lie = SimpleNamespace(
        status=0, x=np.ones(3), mip_dual_bound=-3.0, mip_node_count=1, message="Optimal"
    )
    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **kwargs: lie)
    monkeypatch.setattr(binary_programs, "MORE_WORK", 0)  # no search of our own
    with pytest.raises(UnverifiedAnswerError, match="breaks a constraint by 1"):
        PROGRAM.solve(-np.ones(3))


def test_a_poor_answer_cannot_hide_behind_a_claimed_bound(monkeypatch):
    true = scipy.optimize.linprog

    def lie(*args, **kwargs):
        answer = true(*args, **kwargs)
        answer.x = np.array([0.0, 0.0, 0.0])  # feasible and integral, not optimal
        return answer

    monkeypatch.setattr(scipy.optimize, "linprog", lie)
    point, bound = PROGRAM.solve(-np.ones(3))
    assert point.sum() == 0
    assert bound <= -1.0  # rebuilt from dual variables: the gap shows


def test_a_silent_solver_is_an_error(monkeypatch):
    gone = SimpleNamespace(status=4, x=None, message="numerical difficulties")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **kwargs: gone)
    with pytest.raises(UnverifiedAnswerError, match="numerical difficulties"):
        PROGRAM.solve(-np.ones(3))


# ------------------------------------------------------------------- many rows at once
D = 6
POINTS = np.array(np.meshgrid(*[[0, 1]] * D)).reshape(D, -1).T
small = st.integers(-3, 3)


@st.composite
def programs(draw):
    """A program, costs of three rows with many ties, masks, and right-hand sides by row."""
    m, e = draw(st.integers(0, 3)), draw(st.integers(0, 1))
    A_ub, A_eq = (draw(arrays(float, (k, D), elements=small)) for k in (m, e))
    b_ub, b_eq = (draw(arrays(float, k, elements=st.integers(-2, 5))) for k in (m, e))
    unit = draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    program = BinaryProgram(
        sparse.csr_array(A_ub * unit), b_ub * unit, sparse.csr_array(A_eq), b_eq
    )
    costs = draw(arrays(float, (3, D), elements=small)) * draw(st.sampled_from([1.0, 0.1]))
    masks = [draw(arrays(bool, (3, D), elements=st.integers(0, 9).map(bool))) for _ in range(2)]
    by_row = draw(st.none() | arrays(float, (3, m), elements=st.integers(-2, 5)))
    return program, costs, ~masks[0], masks[1], None if by_row is None else by_row * unit


def least(program, cost, low, high, b_ub):
    """Smallest cost over a list of all 0/1 points."""
    inside = (low <= POINTS).all(axis=1) & (high >= POINTS).all(axis=1)
    inside &= (b_ub + 1e-9 >= POINTS @ program.A_ub.toarray().T).all(axis=1)
    inside &= (np.abs(POINTS @ program.A_eq.toarray().T - program.b_eq) < 1e-9).all(axis=1)
    return np.min(POINTS[inside] @ cost, initial=np.inf), POINTS[inside]


@given(programs())
def test_rows_against_all_points(case):
    program, costs, low, high, b_ub = case
    points, values, bounds = program.solve_rows(costs, low, high, b_ub)
    for i in range(3):
        right = program.b_ub if b_ub is None else b_ub[i]
        best, inside = least(program, costs[i], low[i], high[i], right)
        np.testing.assert_allclose([values[i], bounds[i]], best, atol=1e-12)
        assert np.isinf(best) or (inside == points[i]).all(axis=1).any()


@pytest.mark.parametrize("work", [(0, 0), (0, 2**20), (200, 2**20)])
def test_rows_that_the_search_leaves_are_solved_too(monkeypatch, work):
    monkeypatch.setattr(binary_programs, "FIRST_WORK", work[0])
    monkeypatch.setattr(binary_programs, "MORE_WORK", work[1])
    rng = np.random.default_rng(0)
    weights, costs = rng.integers(1, 9, (2, 12)).astype(float), rng.normal(size=(6, 12))
    none = sparse.csr_array((0, 12)), np.zeros(0)
    program = BinaryProgram(sparse.csr_array(weights), np.array([15.0, 17.0]), *none)
    b_ub = rng.integers(-1, 30, (6, 2)).astype(float)
    b_ub[2] = -1.0
    points, values, bounds = program.solve_rows(costs, False, True, b_ub)
    everything = np.array(np.meshgrid(*[[0, 1]] * 12)).reshape(12, -1).T
    for i in range(6):
        fits = (everything @ weights.T <= b_ub[i]).all(axis=1)
        expected = np.min(everything[fits] @ costs[i], initial=np.inf)
        np.testing.assert_allclose([values[i], bounds[i]], expected, atol=1e-9)
    assert np.isinf(values[2])
    assert not points[2].any()


@pytest.mark.parametrize(("d", "m"), [(40, 2), (80, 1)])
def test_larger_programs_against_highs(d, m):
    """Weights of few sizes, so that many points cost the same; more than 64 columns, too."""
    rng = np.random.default_rng(d)
    weights = rng.choice([3.0, 5.0, 7.0], size=(m, d))
    costs = np.round(rng.normal(size=(4, d)), 1)
    b = np.full(m, 1.3 * d)
    none = sparse.csr_array((0, d)), np.zeros(0)
    values = BinaryProgram(sparse.csr_array(weights), b, *none).solve_rows(costs)[1]
    for cost, value in zip(costs, values):
        answer = scipy.optimize.milp(
            cost,
            integrality=np.ones(d),
            bounds=scipy.optimize.Bounds(0, 1),
            constraints=scipy.optimize.LinearConstraint(weights, -np.inf, b),
            options={"mip_rel_gap": 0.0},
        )
        np.testing.assert_allclose(value, answer.fun, atol=1e-7)
