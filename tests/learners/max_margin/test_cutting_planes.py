# SPDX-License-Identifier: BSD-3-Clause
"""Cutting planes: the dual of the cuts by enumeration, the optimum by an independent solver."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.margin_cases import ListedVertices

from skstruct.learners.max_margin import cutting_planes
from skstruct.learners.max_margin.cutting_planes import CuttingPlanes, largest_on_simplex
from skstruct.spaces.quantities.quadratic_programs import minimize_quadratic
from skstruct.spaces.solvers.linear_constraints import read_constraints


def value(Q, b, weights):
    return b @ weights - 0.5 * weights @ Q @ weights


def largest_by_supports(Q, b):
    """The largest value over all supports, of the stationary points that are in the simplex."""
    m, best = len(b), -np.inf
    for used in chain.from_iterable(combinations(range(m), k) for k in range(1, m + 1)):
        used = list(used)
        system = np.block(
            [[Q[np.ix_(used, used)], np.ones((len(used), 1))], [np.ones(len(used)), 0]]
        )
        found = np.linalg.lstsq(system, np.append(b[used], 1.0), rcond=None)[0][:-1]
        weights = np.zeros(m)
        weights[used] = found
        if weights.min() >= -1e-12 and abs(weights.sum() - 1) < 1e-9:
            best = max(best, value(Q, b, weights))
    return best


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    m=st.integers(1, 5),
    rank=st.integers(0, 5),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    seed=st.integers(0, 10**6),
)
def test_the_dual_of_the_cuts_is_the_best_of_all_supports(m, rank, scale, seed):
    rng = np.random.default_rng(seed)
    R = rng.integers(-3, 4, size=(m, rank)).astype(float)
    Q, b = scale * R @ R.T, rng.integers(0, 4, size=m).astype(float)
    start = rng.dirichlet(np.ones(m)) * (rng.random(m) < 0.5)
    start = start / start.sum() if start.sum() > 0 else np.eye(m)[0]
    found = largest_on_simplex(Q, b, start)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    size = max(np.abs(b).max(), np.abs(Q).max(), 1e-3)
    assert_allclose(value(Q, b, found), largest_by_supports(Q, b), atol=1e-9 * size)


@pytest.mark.parametrize("seed", range(5))
def test_the_dual_of_the_cuts_is_that_of_the_quadratic_programs(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(40) + 0.01, rng.normal(size=40)
    simplex = read_constraints([np.ones(40)], [1.0])
    points, values, _ = minimize_quadratic(a / 2, -b[None], simplex, np.zeros(40), np.ones(40))
    found = largest_on_simplex(np.diag(a), b, np.eye(40)[0])
    assert_allclose(found, points[0], atol=1e-7)
    assert_allclose(value(np.diag(a), b, found), -values[0], rtol=1e-9)


def solved(case, alpha, tol, most=2000):
    """Planes of examples whose vertices are listed, and all bounds on the way."""
    p, q, r = case.sizes
    planes, bounds = CuttingPlanes(p * q + r, alpha), []
    examples = np.arange(len(case.share))
    for _ in range(most):
        W, w = planes.weights[: p * q].reshape(p, q), planes.weights[p * q :]
        found = case(case.X @ W, w, examples)
        share = np.repeat(case.share, np.diff(case.starts))
        cut = np.append((case.X.T @ (share[:, None] * found.directions)).ravel(),
                        case.share @ found.constants)  # fmt: skip
        planes.add(cut, float(case.share @ found.losses), float(case.share @ found.bounds))
        bounds.append((planes.lower, planes.objective))
        if planes.gap <= tol * planes.objective:
            break
        planes.move()
    return planes, np.array(bounds)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 3), min_size=1, max_size=8),
    alpha=st.sampled_from([1e-3, 0.1, 10.0]),
)
def test_the_optimum_is_between_the_bounds_and_reached(seed, lengths, alpha):
    case = ListedVertices.random(seed, lengths)
    planes, bounds = solved(case, alpha, 1e-4)
    nothing = np.zeros(case.sizes[2])
    optimum = case.optimum(alpha, nothing, nothing)
    lower, upper = bounds.T
    assert (lower <= optimum + 1e-6).all()
    assert (upper >= optimum - 1e-6).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert planes.gap <= 1e-4 * planes.objective
    assert len(planes.history) == planes.n_iter == len(bounds)


def test_few_cuts_are_enough(monkeypatch):
    case = ListedVertices.random(3, [1, 2, 1, 3, 1, 1, 2, 2, 1, 1] * 4, p=4, q=3)
    expected, _ = solved(case, 1e-3, 1e-3)
    monkeypatch.setattr(cutting_planes, "MOST_CUTS", 24)
    planes, _ = solved(case, 1e-3, 1e-3)
    assert len(planes.cuts) <= 24 < planes.n_iter
    assert planes.gap <= 1e-3 * planes.objective
    assert_allclose(planes.objective, expected.objective, rtol=1e-3)
    assert_allclose(planes.products, planes.cuts @ planes.cuts.T, atol=1e-12)


def test_a_state_is_all_that_there_is():
    case = ListedVertices.random(1, [1] * 20, p=3)
    planes, _ = solved(case, 0.01, 1e-9, most=6)
    other = CuttingPlanes(len(planes.weights), 0.01).restore(planes.state())
    for each in (planes, other):
        each.add(np.arange(len(each.weights)) / 10.0, 0.3, 5.0)
        each.move()
    for name, part in planes.state().items():
        assert_array_equal(other.state()[name], part)


def test_bounds_that_do_not_hold_are_an_error():
    planes = CuttingPlanes(2, 1.0)
    with pytest.raises(ValueError, match="bounds that do not hold"):
        planes.add(np.zeros(2), 2.0, 1.0)
