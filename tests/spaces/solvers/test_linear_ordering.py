# SPDX-License-Identifier: BSD-3-Clause
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skstruct.spaces.rankings.partial import tied_behind
from skstruct.spaces.rankings.positions import min_cost_by_program
from skstruct.spaces.solvers import linear_ordering
from skstruct.spaces.solvers.linear_ordering import (
    components,
    improve_tops,
    linear_orders,
    min_cost_orders,
    packed_bound,
    pair_matrix,
    pair_signs,
    ranks_of,
    set_sizes,
    solve_triangles,
    triangle_order,
)
from strategies import total_orders


def pair_costs(d, n=4):
    entries = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3, width=32))
    return hnp.arrays(np.float64, (n, d * (d - 1) // 2), elements=entries)


def noisy_votes(n, d, seed, noise=3.0):
    """Signed votes of noisy rankings: what kernel ridge weights make of rankings."""
    rng = np.random.default_rng(seed)
    costs = np.zeros((n, d * (d - 1) // 2))
    for row in costs:
        base = rng.permutation(d)
        for weight in rng.normal(1, 0.7, 50):
            row -= weight * pair_signs((base + rng.normal(0, noise * d, d))[None])[0]
    return costs


def best_value(costs, d):
    return (costs @ pair_signs(total_orders(d)).T).min(axis=1)


@given(st.integers(1, 5).flatmap(pair_costs))
def test_linear_orders_against_enumeration(costs):
    d = 1 + round((np.sqrt(8 * costs.shape[1] + 1) - 1) / 2) if costs.shape[1] else 1
    orders, values, bounds = linear_orders(costs, d)
    slack = 1e-9 * (1 + np.abs(costs).sum())
    np.testing.assert_allclose(values, best_value(costs, d), atol=slack)
    np.testing.assert_allclose(
        (costs * pair_signs(ranks_of(orders))).sum(axis=1), values, atol=slack
    )
    np.testing.assert_array_equal(bounds, values)


@pytest.mark.slow
@given(pair_costs(5))
def test_every_route_agrees(costs):
    """Table, linear program, branch and bound and local search, on the same problems."""
    d, best = 5, best_value(costs, 5)
    slack = 1e-6 * (1 + np.abs(costs).max())
    pairs = pair_matrix(costs, d)
    np.testing.assert_allclose(min_cost_orders(4, d, pairs=pairs)[1], best, atol=slack)
    for row in range(4):
        order, bound = triangle_order(pairs[row])
        assert bound <= best[row] + slack
        assert np.triu(pairs[row][np.ix_(order, order)], 1).sum() >= best[row] - slack
        order, bound = triangle_order(pairs[row], prove=True)
        np.testing.assert_allclose(bound, best[row], atol=slack)
        assert packed_bound(costs[row], order) <= best[row] + slack


def test_split_parts_are_the_strong_components():
    from scipy.sparse.csgraph import connected_components

    for seed in range(20):
        d = 9
        costs = noisy_votes(1, d, seed)
        pair = pair_matrix(costs, d)[0]
        (order,), ends = components(costs, d)
        _, label = connected_components(pair < 0, connection="strong")
        parts = np.split(order, np.unique(ends)[:-1])
        assert sorted(map(len, parts)) == sorted(np.bincount(label))
        assert all(len(set(label[part])) == 1 for part in parts)
        for earlier, later in itertools.pairwise(parts):
            assert (pair[np.ix_(earlier, later)] < 0).all()


def test_ties_do_not_join_parts():
    """Equal costs may point either way: a row of zeros needs no search at all."""
    _, ends = components(np.zeros((1, 780)), 40)
    np.testing.assert_array_equal(ends, np.arange(1, 41)[None])
    _, values, bounds = linear_orders(np.zeros((1, 780)), 40)
    assert values[0] == bounds[0] == 0.0


def test_rows_with_small_and_large_components_side_by_side():
    """Each way of ordering a component leaves those of the other alone."""
    d, rng = 20, np.random.default_rng(0)
    ahead = np.where(rng.random((12, d * (d - 1) // 2)) < 0.1, -1.0, 1.0)
    noise = rng.normal(size=(12, 1)) * rng.normal(size=ahead.shape)
    costs = np.vstack([-ahead + noise, noisy_votes(4, d, seed=1), -np.ones((1, ahead.shape[1]))])
    orders, values, bounds = linear_orders(costs, d)
    for row, cost in enumerate(costs):
        order, value, bound = linear_orders(cost[None], d)
        np.testing.assert_array_equal(orders[row], order[0])
        assert (values[row], bounds[row]) == (value[0], bound[0])
        ranks = ranks_of(orders[row : row + 1])
        np.testing.assert_allclose(values[row], (pair_signs(ranks) * cost).sum(), rtol=1e-12)
    np.testing.assert_array_equal(set_sizes(5), [bin(S).count("1") for S in range(32)])


@pytest.mark.parametrize("d", [13, 16])
def test_search_and_bounds_bracket_the_optimum(d, monkeypatch):
    costs = noisy_votes(4, d, seed=d)
    _, exact = min_cost_orders(4, d, pairs=pair_matrix(costs, d))
    _, values, bounds = linear_orders(costs, d)
    np.testing.assert_allclose(values, exact)
    np.testing.assert_array_equal(bounds, values)
    monkeypatch.setattr(linear_ordering, "MOST_LP_ITEMS", 0)
    _, values, bounds = linear_orders(costs, d)  # local search and packed cycles alone
    assert (values >= exact - 1e-9).all()
    assert (bounds <= exact + 1e-9).all()


@pytest.mark.parametrize("d", [22, 30])
def test_many_items_have_a_gap_or_a_proof(d):
    costs = noisy_votes(2, d, seed=1)
    _orders, values, bounds = linear_orders(costs, d)
    assert (bounds <= values).all()
    assert (values <= 0).all()  # no worse than its own reverse
    _, proven, proof = linear_orders(costs, d, prove=True)
    assert (proven <= values + 1e-9).all()
    np.testing.assert_allclose(proven, proof, atol=1e-6 * np.abs(costs).sum(axis=1).max())


def test_hundreds_of_items():
    d = 300
    costs = noisy_votes(1, d, seed=2, noise=0.3)
    orders, values, bounds = linear_orders(costs, d)
    assert (np.sort(orders, axis=1) == np.arange(d)).all()
    size = np.abs(costs).sum()
    assert -size <= bounds[0] <= values[0] <= 0
    assert values[0] - bounds[0] < values[0] + size  # better than all pairs at their of least cost


def test_the_triangle_program_is_a_relaxation():
    costs = noisy_votes(1, 12, seed=5)
    pair = pair_matrix(costs, 12)[0]
    matrix, bound, _ = solve_triangles(pair)
    np.testing.assert_allclose(matrix + matrix.T + np.eye(12), np.ones((12, 12)), atol=1e-7)
    assert bound <= min_cost_orders(1, 12, pairs=pair[None])[1][0] + 1e-7


@given(st.data())
def test_the_table_under_all_constraints(data):
    d = data.draw(st.integers(1, 5))
    numbers = st.integers(-3, 3).map(float)
    positions = data.draw(hnp.arrays(np.float64, (2, d, d), elements=numbers))
    pairs = pair_matrix(data.draw(pair_costs(d, 2)), d)
    before = np.zeros((1, d, d), bool)
    if d > 1:
        p, q = data.draw(st.permutations(range(d)))[:2]
        before[0, p, q] = data.draw(st.booleans())
    allowed = data.draw(hnp.arrays(bool, (2, d, d)))
    stop = data.draw(st.integers(1, d))
    orders, values = min_cost_orders(
        2, d, positions=positions, pairs=pairs, before=before, allowed=allowed, stop=stop
    )
    every = np.argsort(total_orders(d), axis=1)
    for row in range(2):
        best = min(
            (_total(order, positions[row], pairs[row], before[0], allowed[row], stop)
             for order in every),
        )  # fmt: skip
        if np.isinf(best):
            assert np.isinf(values[row])
        else:
            total = _total(orders[row], positions[row], pairs[row], before[0], allowed[row], stop)
            np.testing.assert_allclose([values[row], total], best, atol=1e-6)


def _total(order, positions, pairs, before, allowed, stop):
    """Cost of an order from the definition; infinite where it breaks a constraint."""
    cost = 0.0
    for t in range(stop):
        item, later = order[t], order[t + 1 :]
        if not allowed[t, item] or before[later, item].any():
            return np.inf
        cost += positions[item, t] + pairs[item, later].sum()
    return cost


@pytest.mark.slow
@given(st.data())
def test_the_program_against_the_table(data):
    d = data.draw(st.integers(2, 5))
    positions = data.draw(hnp.arrays(np.float64, (2, d, d), elements=st.integers(-3, 3).map(float)))
    before = np.zeros((1, d, d), bool)
    order = data.draw(st.permutations(range(d)))
    before[0, order[0], order[1]] = True
    allowed = data.draw(hnp.arrays(bool, (1, d, d), elements=st.sampled_from([True, True, False])))
    _, expected = min_cost_orders(2, d, positions=positions, before=before, allowed=allowed)
    orders, values, bounds = min_cost_by_program(positions, before=before, allowed=allowed)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    for row in np.flatnonzero(np.isfinite(values)):
        assert bounds[row] <= values[row]
        assert ranks_of(orders)[row, order[0]] < ranks_of(orders)[row, order[1]]


def test_tops_are_improved_and_bounded():
    better = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(4, 11))
        top = int(rng.integers(1, d))
        costs = rng.standard_normal((1, d * (d - 1) // 2))
        orders, _, _ = linear_orders(costs, d)
        before = (costs * pair_signs(tied_behind(orders, top))).sum()
        bound = improve_tops(costs, orders, top)[0]
        after = (costs * pair_signs(tied_behind(orders, top))).sum()
        _, best = min_cost_orders(1, d, pairs=pair_matrix(costs, d), stop=top)
        assert (np.sort(orders[0]) == np.arange(d)).all()
        assert bound - 1e-9 <= best[0] <= after + 1e-9 <= before + 2e-9
        better += after < before - 1e-9
    assert better > 5


def test_rows_that_are_proven_are_not_looked_at_again(monkeypatch):
    """The compiled loop settles these: nothing is left for Python, row by row."""
    monkeypatch.setattr(linear_ordering, "_close_gap", None)
    for d in (3, 8, 12):
        _, values, bounds = linear_orders(noisy_votes(5, d, seed=d), d)
        np.testing.assert_array_equal(values, bounds)
