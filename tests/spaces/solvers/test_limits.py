# SPDX-License-Identifier: BSD-3-Clause
"""Searches that end before they are done: outputs stay in the space, and bounds stay bounds."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from skstruct import config_context
from skstruct.exceptions import Cancelled, InfeasibleError, UndecidableError
from skstruct.losses import Cauchy
from skstruct.spaces import (
    BinaryPolytope,
    Cliques,
    Cycles,
    PairwiseLabels,
    PartialOrders,
    Polytope,
    ShortestPaths,
    Strings,
)
from skstruct.spaces.cycles import decoding as cycle_decoding
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.linear_ordering import linear_orders, triangle_order
from skstruct.spaces.solvers.pairwise.branch_and_bound import all_pairs, best_by_branching
from skstruct.spaces.solvers.pairwise.roof_duality import evaluate_points

LIMITS = [{"node_limit": n} for n in (0, 1, 2, 5, 20, 200)] + [{"time_limit": 1e-9}]
NODES = [next(iter(limit.values())) for limit in LIMITS]
ROUNDING = 1e-9


def within(limit, decode):
    with config_context(**limit):
        return decode()


def check(outputs, values, bounds, space, costs, least):
    """Outputs are of the space and cost what is said; nothing costs less than the bounds."""
    assert space.contains(outputs).all()
    size = ROUNDING * np.abs(costs).sum(axis=1)
    assert (np.abs((space.embed(outputs) * costs).sum(axis=1) - values) <= size).all()
    assert (values >= least - size).all()
    assert (bounds <= least + size).all()


def least_of(space, costs, limit=10**6):
    return (costs @ np.asarray(space.embed(space.enumerate(limit))).T).min(axis=1)


def knapsacks(d, m, seed):
    A = np.random.default_rng(seed).integers(1, 30, (m, d)).astype(float)
    return BinaryPolytope(A, A.sum(axis=1) // 2)


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
@pytest.mark.parametrize("searched", [True, False], ids=["search", "HiGHS"])
def test_binary_polytopes(limit, searched, monkeypatch):
    if not searched:  # as where there are too many columns
        monkeypatch.setattr(BinaryProgram, "_system", None)
    space = knapsacks(14, 4, 0)
    costs = -np.random.default_rng(1).random((6 if searched else 2, 14))
    decoded = within(limit, lambda: space.argmin(costs))
    check(decoded.outputs, decoded.values, decoded.bounds, space, costs, least_of(space, costs))


def test_a_tiny_limit_leaves_a_gap_and_a_large_one_does_not():
    space, costs = knapsacks(16, 5, 2), -np.random.default_rng(1).random((8, 16))
    few = within({"node_limit": 20}, lambda: space.argmin(costs))
    many = within({"node_limit": 10**6}, lambda: space.argmin(costs))
    assert (few.values > few.bounds).any()
    np.testing.assert_array_equal(many.values, space.argmin(costs).values)
    np.testing.assert_array_equal(many.values, many.bounds)


def test_the_k_best_are_known_or_refused():
    space, costs = knapsacks(12, 4, 3), -np.random.default_rng(1).random((2, 12))
    with config_context(node_limit=10), pytest.raises(UndecidableError, match="node_limit"):
        space.kbest(costs, 4)
    enough = within({"node_limit": 10**6}, lambda: space.kbest(costs, 4))
    np.testing.assert_array_equal(enough.outputs, space.kbest(costs, 4).outputs)


def test_where_no_point_is_found_that_is_said():
    rng = np.random.default_rng(0)
    A = rng.integers(1, 1000, (3, 24)).astype(float)
    space = BinaryPolytope(A_eq=A, b_eq=A @ (rng.random(24) < 0.5))  # a point there is
    costs = rng.random((1, 24))
    with config_context(node_limit=1), pytest.raises(UndecidableError, match="In row 0"):
        space.argmin(costs)


@cache
def pair_problem(kind, d=15):
    """A space of more labels than are tried in all ways, costs, and the least."""
    space = {"labels": PairwiseLabels(labels=range(d), exact=True), "sets": Cliques(d, exact=True)}
    width = d * (d - 1) // 2 + (d if kind == "labels" else 0)
    costs = np.random.default_rng(1).normal(size=(2, width))
    return space[kind], costs, least_of(space[kind], costs)


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
@pytest.mark.parametrize("kind", ["labels", "sets"])
def test_costs_of_pairs_of_labels(limit, kind):
    space, costs, least = pair_problem(kind)
    decoded = within(limit, lambda: space.argmin(costs))
    check(decoded.outputs, decoded.values, decoded.bounds, space, costs, least)


@pytest.mark.parametrize("nodes", [0, 1, 3, 10, 100, 10**6])
def test_branching_by_roof_duality(nodes):
    rng, k = np.random.default_rng(4), 18
    node_cost, edge_cost = rng.normal(size=k), rng.normal(size=k * (k - 1) // 2)
    limit = {"node_limit": nodes}
    found, bound = within(
        limit, lambda: best_by_branching(node_cost, edge_cost, np.zeros(k, np.int8))
    )
    best, least = best_by_branching(node_cost, edge_cost, np.zeros(k, np.int8))
    value = evaluate_points(found[None], node_cost[None], edge_cost[None], all_pairs(k))[0]
    assert bound <= least + ROUNDING <= value + 2 * ROUNDING
    if nodes == 10**6:
        np.testing.assert_array_equal(found, best)
        assert bound == least


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_orders_of_items_by_pairs(limit):
    rng, d = np.random.default_rng(0), 7
    for _ in range(3):
        pair = np.triu(rng.normal(size=(d, d)), 1)
        pair -= pair.T
        orders = np.array(list(permutations(range(d))))
        least = min(np.triu(pair[np.ix_(order, order)], 1).sum() for order in orders)
        order, bound = within(limit, lambda pair=pair: triangle_order(pair, prove=True))
        assert sorted(order.tolist()) == list(range(d))
        assert np.triu(pair[np.ix_(order, order)], 1).sum() >= least - ROUNDING
        assert bound <= least + ROUNDING


@pytest.mark.slow
def test_long_orders_have_a_bound_and_stay_orders():
    costs = np.random.default_rng(0).normal(size=(1, 24 * 23 // 2))
    few = within({"node_limit": 1}, lambda: linear_orders(costs, 24, prove=True))
    _, values, bounds = linear_orders(costs, 24, prove=True)
    assert sorted(few[0][0].tolist()) == list(range(24))
    assert few[2][0] <= values[0] + ROUNDING <= few[1][0] + 2 * ROUNDING
    assert values[0] == bounds[0]


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_partial_orders(limit):
    space = PartialOrders(list("abcde"))
    costs = np.random.default_rng(2).normal(size=(5, 20))
    decoded = within(limit, lambda: space.argmin(costs))
    check(decoded.outputs, decoded.values, decoded.bounds, space, costs, least_of(space, costs))


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
@pytest.mark.parametrize("directed", [False, True])
def test_cycles(limit, directed, monkeypatch):
    monkeypatch.setattr(cycle_decoding, "MOST_NODES", 0)  # as where the table is too large
    N = 6
    costs = np.random.default_rng(3).normal(size=(4, N, N))
    costs = costs if directed else costs + costs.swapaxes(1, 2)
    tours = [t for k in range(3, N + 1) for t in permutations(range(N), k) if t[0] == min(t)]
    for row in costs:
        least = min(sum(row[a, b] for a, b in zip(t, t[1:] + t[:1])) for t in tours)
        found, value, bound = within(
            limit,
            lambda row=row: cycle_decoding.min_cost_cycles(
                row[None], directed=directed, prove=True
            ),
        )
        tour = tuple(found[0][found[0] >= 0].tolist())
        assert len(tour) >= 3
        assert len(set(tour)) == len(tour)
        assert value[0] >= least - ROUNDING
        assert bound[0] <= least + ROUNDING


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_round_trips(limit):
    N = 9
    space = Cycles(list(range(N))).restrict(min_size=N)
    costs = np.random.default_rng(0).random((2, N * (N - 1) // 2))
    decoded = within(limit, lambda: space.argmin(costs))
    best = space.argmin(costs)
    check(decoded.outputs, decoded.values, decoded.bounds, space, costs, best.values)


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_simple_paths_around_cycles(limit):
    rows, columns = 3, 5  # more nodes than fit into a table
    nodes = list(product(range(rows), range(columns)))
    arcs = [(a, b) for a in nodes for b in nodes if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    space = ShortestPaths(arcs, (0, 0), (rows - 1, columns - 1))
    costs = np.random.default_rng(5).normal(size=(2, len(arcs)))
    decoded = within(limit, lambda: space.argmin(costs))
    check(decoded.outputs, decoded.values, decoded.bounds, space, costs, least_of(space, costs))


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_strings(limit):
    space = Strings("ab", (2, 9), n=2)
    listed = space.enumerate(2000)
    psi = space.embed(listed).toarray()
    g = np.random.default_rng(0).normal(1.5, 2.0, size=(8, psi.shape[1]))
    least = ((psi**2).sum(axis=1) - 2 * g @ psi.T).min(axis=1)
    decoded = within(limit, lambda: space.nearest(g))
    assert space.contains(decoded.outputs).all()
    assert (decoded.values >= least - ROUNDING).all()
    assert (decoded.bounds <= least + ROUNDING).all()


@pytest.mark.parametrize("limit", LIMITS, ids=map(str, NODES))
def test_curves_of_many_valleys(limit):
    rng = np.random.default_rng(0)
    Y, weights = rng.normal(size=(30, 2)), rng.normal(size=(4, 30))
    space = Polytope(A_ub=[[1.0, 1.0]], b_ub=[0.5], bounds=(-3, 3)).fit(np.zeros((1, 2)))
    loss = Cauchy(0.3)
    curves = loss.curves(weights, Y)
    grid = np.linspace(-3, 3, 121)
    points = np.array([p for p in product(grid, grid) if sum(p) <= 0.5])
    least = (weights @ loss.pairwise(points, Y).T).min(axis=1)
    decoded = within(limit, lambda: space.minimize(curves))
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= least + ROUNDING).all()
    at = (weights * loss.pairwise(decoded.outputs, Y)).sum(axis=1)
    np.testing.assert_allclose(decoded.values, at, atol=1e-8)
    assert (decoded.bounds <= decoded.values + ROUNDING).all()
    single = within(limit, lambda: curves.minimize(-3.0, 3.0))  # each coordinate by itself
    free = (weights @ loss.pairwise(np.array(list(product(grid, grid))), Y).T).min(axis=1)
    assert (single[2].sum(axis=1) <= free + ROUNDING).all()


def test_limits_are_checked():
    for wrong in ({"time_limit": 0}, {"time_limit": "1s"}, {"node_limit": -1}, {"node_limit": 1.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))), config_context(**wrong):
            pass


def test_infeasible_stays_infeasible():
    space = BinaryPolytope([[1.0, 1.0]], [-1.0])
    with config_context(node_limit=0), pytest.raises(InfeasibleError):
        space.argmin(np.ones((1, 2)))


def test_a_search_can_be_cancelled():
    class AfterSome:
        """An event that is set at the tenth look."""

        looks = 0

        def is_set(self):
            self.looks += 1
            return self.looks > 10

    costs = np.random.default_rng(1).normal(size=(20, 120))
    with config_context(cancel=AfterSome()), pytest.raises(Cancelled):
        Cliques(16, exact=True).argmin(costs)
