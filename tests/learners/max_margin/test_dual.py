"""The optimiser of all margin learners, against an independent solver over listed vertices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margin_cases import ListedVertices
from skstruct.learners.max_margin._numba import best_step
from skstruct.learners.max_margin.dual import HingeDual
from skstruct.learners.max_margin.scores import KernelRows, LinearRows

problems = st.builds(
    ListedVertices.random,
    st.integers(0, 10**6),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    r=st.integers(0, 3),
)
penalties = st.sampled_from([(0.0, 0.0), (0.1, 0.0), (0.3, 0.2), (np.inf, 0.0)])


def penalty_arrays(problem, data):
    r = problem.sizes[2]
    pairs = data.draw(st.lists(penalties, min_size=r, max_size=r))
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problem=problems, lam=st.sampled_from([0.05, 0.5]), data=st.data())
def test_optimum_is_reached_and_the_gap_never_lies(problem, lam, data):
    l1, shift = penalty_arrays(problem, data)
    optimum = problem.optimum(lam, l1, shift)
    rows = LinearRows(problem.X, problem.starts)
    dual = HingeDual(rows, *problem.sizes[1:], lam, problem.share).penalise(l1=l1, shift=shift)
    for passes in (1, 1, 2, 400):
        dual.solve(problem, 1e-7, range(passes), 0)
        at_weights = problem.objective(dual.weights, dual.constants, lam, l1, shift)
        assert dual.objective == pytest.approx(at_weights, abs=1e-9)
        assert dual.objective - optimum <= dual.gap + 1e-7
        assert dual.dual_objective <= optimum + 1e-7
    assert dual.objective == pytest.approx(optimum, abs=1e-5)
    assert (dual.constants[np.isinf(l1)] == 0).all()


@settings(max_examples=30, deadline=None)
@given(problem=problems, lam=st.sampled_from([0.05, 0.5]))
def test_kernel_values_and_features_are_the_same_problem(problem, lam):
    sizes = problem.sizes[1:]
    linear = HingeDual(LinearRows(problem.X, problem.starts), *sizes, lam, problem.share)
    kernel = HingeDual(
        KernelRows(problem.X @ problem.X.T, problem.starts), *sizes, lam, problem.share
    )
    for dual in (linear, kernel):
        dual.solve(problem, 1e-8, range(2000), 0)
    np.testing.assert_allclose(kernel.objective, linear.objective, atol=1e-7)
    np.testing.assert_allclose(problem.X.T @ kernel.coefficients, linear.weights, atol=1e-2)


@pytest.mark.parametrize("l1", [0.0, 0.05, np.inf])
def test_dual_weights_stay_so_and_weights_follow_from_them(l1):
    problem = ListedVertices.random(3, [2, 1, 1, 3], r=3)
    dual = HingeDual(LinearRows(problem.X, problem.starts), 2, 3, 0.05, problem.share)
    dual.penalise(l1=l1)
    dual.solve(problem, 1e-12, range(30), 1)
    np.testing.assert_allclose(dual.dual_weights.sum(axis=1), 1.0, atol=1e-12)
    assert (dual.dual_weights >= 0).all()
    weights, constants = dual.weights.copy(), dual.constants.copy()
    dual._settle()
    np.testing.assert_allclose(dual.weights, weights, atol=1e-10)
    np.testing.assert_allclose(dual.constants, constants, atol=1e-10)


def test_two_slots_are_enough():
    """With room for one vertex besides the mixture the steps are those of plain Frank-Wolfe."""
    problem = ListedVertices.random(5, [1] * 6, n_vertices=5)
    rows = LinearRows(problem.X, problem.starts)
    tight = HingeDual(rows, 2, 2, 0.1, problem.share, memory=1)
    roomy = HingeDual(rows, 2, 2, 0.1, problem.share)
    assert (tight.stamps.shape[1], roomy.stamps.shape[1]) == (2, 10)
    for dual in (tight, roomy):
        dual.solve(problem, 1e-2, range(3000), 0)
        assert dual.gap <= 1e-2 * dual.objective
    assert tight.objective == pytest.approx(roomy.objective, rel=2e-2)


def test_a_fork_goes_its_own_way():
    problem = ListedVertices.random(7, [1, 2, 1])
    dual = HingeDual(LinearRows(problem.X, problem.starts), 2, 2, 0.1, problem.share)
    dual.solve(problem, 1e-6, range(3), 0)
    before = dual.weights.copy(), dual.dual_weights.copy()
    fork = dual.fork().penalise(lam=1.0)
    fork.solve(problem, 1e-8, range(50), 0)
    np.testing.assert_array_equal(dual.weights, before[0])
    np.testing.assert_array_equal(dual.dual_weights, before[1])
    none = np.zeros(2)
    assert fork.objective == pytest.approx(problem.optimum(1.0, none, none), abs=1e-5)


def test_a_dual_of_more_rows_begins_where_another_stopped():
    many = ListedVertices.random(11, [1, 2, 1, 1])
    few_rows = LinearRows(many.X[:3], many.starts[:3])
    few = HingeDual(few_rows, 2, 2, 0.1)
    few.solve(many, 1e-6, range(20), 0)
    for memory in (2**28, 1):  # the same slots, or those of the first as a mixture
        rows = LinearRows(many.X, many.starts)
        all_ = HingeDual(rows, 2, 2, 0.1, many.share, memory).take_over(few)
        np.testing.assert_allclose(all_.means(all_.points)[:3], few.means(few.points), atol=1e-12)
        all_.solve(many, 1e-2, range(3000), 0)
        none = np.zeros(2)
        assert all_.objective == pytest.approx(many.optimum(0.1, none, none), rel=1e-2)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6), r=st.integers(0, 5))
def test_line_search_is_exact(seed, r):
    """No step of a fine grid climbs higher on the concave dual of one direction."""
    rng = np.random.default_rng(seed)
    direction, z, shift = rng.normal(size=(3, r))
    l1 = rng.choice([0.0, 0.5, np.inf], size=r)
    share, lam, longest = rng.random(3) + 0.1
    rise, curve = rng.normal(), rng.random() * rng.integers(0, 2)

    def climb(step):
        moved = z - step * share * direction + shift
        kept = np.where(np.abs(moved) > l1, np.abs(moved) - np.minimum(l1, 1e9), 0.0)
        return rise * step - curve * step**2 / 2 - (kept**2).sum() / (2 * lam)

    step = best_step(longest, rise, curve, direction, z, shift, l1, share, lam)
    assert 0.0 <= step <= longest
    assert climb(step) >= max(map(climb, np.linspace(0.0, longest, 2001))) - 1e-9
