# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skstruct.spaces.cycles import decoding as proofs
from skstruct.spaces.cycles.decoding import MOST_NODES, _min_cost, is_exact, min_cost_cycles
from skstruct.spaces.cycles.search import Problem, disjoint_cycles


def all_cycles(N, directed):
    """Every cycle once, as a tuple in canonical form, straight from the definition."""
    return [
        (nodes[0], *rest)
        for k in range(3, N + 1)
        for nodes in combinations(range(N), k)
        for rest in permutations(nodes[1:])
        if directed or rest[0] < rest[-1]
    ]


def total(cost, cycle):
    return sum(cost[u, v] for u, v in zip(cycle, (*cycle[1:], cycle[0])))


def best_value(cost, directed, low, high, smallest, largest):
    return min(
        (
            total(cost, cycle)
            for cycle in all_cycles(len(cost), directed)
            if smallest <= len(cycle) <= largest
            and set(np.flatnonzero(low)) <= set(cycle) <= set(np.flatnonzero(high))
        ),
        default=np.inf,
    )


@st.composite
def problems(draw, most=6, rows=2):
    """Costs of any sign with ties, missing arcs and large scales; nodes and sizes limited."""
    N, directed = draw(st.integers(3, most)), draw(st.booleans())
    numbers = draw(st.sampled_from([st.integers(-2, 2).map(float), st.floats(-1e6, 1e6, width=32)]))
    if draw(st.booleans()):
        numbers = st.one_of(numbers, st.just(np.inf))
    costs = draw(hnp.arrays(np.float64, (rows, N, N), elements=numbers))
    if not directed:
        costs = np.triu(costs, 1) + np.tril(costs.swapaxes(1, 2), -1)
    elif draw(st.booleans()) and np.isfinite(costs).all():
        costs = costs - costs.swapaxes(1, 2)
    shape = draw(st.sampled_from([1, rows])), N
    often, seldom = (
        st.sampled_from([True, True, True, False]),
        st.integers(0, 5).map(lambda k: not k),
    )
    constraints = {
        "low": draw(hnp.arrays(bool, shape, elements=seldom)),
        "high": draw(hnp.arrays(bool, shape, elements=often)),
        "smallest": draw(hnp.arrays(np.int64, rows, elements=st.integers(0, N))),
        "largest": draw(hnp.arrays(np.int64, rows, elements=st.integers(2, N + 1))),
    }
    free = {"low": None, "high": None, "smallest": 3, "largest": None}
    return costs, directed, draw(st.sampled_from([constraints, free]))


def enumerated(costs, directed, constraints):
    n, N, _ = costs.shape
    low = np.broadcast_to(False if constraints["low"] is None else constraints["low"], (n, N))
    high = np.broadcast_to(True if constraints["high"] is None else constraints["high"], (n, N))
    smallest = np.broadcast_to(constraints["smallest"], n)
    largest = np.broadcast_to(N if constraints["largest"] is None else constraints["largest"], n)
    rows = zip(costs, low, high, smallest, largest)
    best = [best_value(cost, directed, *row) for cost, *row in rows]
    return np.array(best), low, high, smallest, largest


def check_tours(costs, directed, tours, values, low, high, smallest, largest):
    """Tours are canonical, obey all constraints and cost what is said."""
    for row, tour in enumerate(tours):
        cycle = tour[tour >= 0]
        assert (tour[len(cycle) :] == -1).all()
        if np.isinf(values[row]):
            assert not len(cycle)
            continue
        assert max(3, smallest[row]) <= len(cycle) <= largest[row]
        assert len(set(cycle)) == len(cycle)
        assert cycle[0] == cycle.min()
        assert directed or cycle[1] < cycle[-1]
        assert set(np.flatnonzero(low[row])) <= set(cycle) <= set(np.flatnonzero(high[row]))
        np.testing.assert_allclose(values[row], total(costs[row], cycle), rtol=1e-9, atol=1e-9)


def slack_of(costs):
    return 1e-6 * (1 + np.where(np.isfinite(costs), np.abs(costs), 0).max())


@pytest.mark.slow
@given(problems())
def test_the_table_against_enumeration(problem):
    costs, directed, constraints = problem
    tours, values, bounds = min_cost_cycles(costs, directed=directed, **constraints)
    best, *masks = enumerated(costs, directed, constraints)
    np.testing.assert_allclose(values, best, rtol=1e-9, atol=1e-3 * slack_of(costs))
    np.testing.assert_array_equal(values, bounds)
    check_tours(costs, directed, tours, values, *masks)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems())
def test_search_and_bounds_against_enumeration(problem):
    """The way of many nodes, on few: no table."""
    costs, directed, constraints = problem
    best, *masks = enumerated(costs, directed, constraints)
    slack = slack_of(costs)
    for prove in (False, True):
        tours, values, bounds = _min_cost(
            costs, directed, *constraints.values(), prove=prove, most_nodes=2
        )
        check_tours(costs, directed, tours, values, *masks)
        np.testing.assert_array_equal(np.isinf(values), np.isinf(best))
        finite = np.isfinite(best)
        assert (bounds[finite] <= best[finite] + slack).all()
        assert (values[finite] >= best[finite] - slack).all()
        assert (bounds <= values).all()
    np.testing.assert_allclose(values, best, atol=slack)
    np.testing.assert_array_equal(values, bounds)


@given(st.integers(3, 6), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=40, deadline=None)
def test_antisymmetric_costs_have_a_guarantee(N, seed, whole):
    """The best of at most floor(N / 3) disjoint cycles, whatever the search does."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(-3, 4, (1, N, N)) if whole else rng.standard_normal((1, N, N))
    costs = (costs - costs.swapaxes(1, 2)).astype(float)
    problem = Problem(costs[0] + np.diag(np.full(N, np.inf)), True, np.zeros(N, bool), 3, N)
    _, relaxed = disjoint_cycles(problem)
    best = best_value(costs[0], True, np.zeros(N, bool), np.ones(N, bool), 3, N)
    _, values, _ = _min_cost(costs, True, None, None, 3, None, False, most_nodes=2)
    assert relaxed <= best + 1e-9
    assert values[0] <= relaxed / (N // 3) + 1e-9
    assert values[0] <= 1e-9


def random_costs(kind, n, N, seed):
    """Costs of four kinds, and whether they have directions."""
    rng = np.random.default_rng(seed)
    costs = rng.standard_normal((n, N, N))
    if kind == "antisymmetric":
        return costs - costs.swapaxes(1, 2), True
    if kind == "general":
        return costs, True
    if kind == "symmetric":
        return costs + costs.swapaxes(1, 2), False
    at, prize = rng.random((n, N, 2)), rng.random((n, N, 1)) * 1.7 / np.sqrt(N)
    far = np.linalg.norm(at[:, :, None] - at[:, None], axis=-1)
    return far - (prize + prize.swapaxes(1, 2)) / 2, False


KINDS = ["antisymmetric", "general", "symmetric", "prizes"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [18, 25])
def test_many_nodes_have_a_gap_or_a_proof(kind, N):
    costs, directed = random_costs(kind, 3, N, seed=N)
    tours, values, bounds = min_cost_cycles(costs, directed=directed)
    again = min_cost_cycles(costs, directed=directed)
    for one, other in zip((tours, values, bounds), again):
        np.testing.assert_array_equal(one, other)
    free = np.zeros((3, N), bool), np.ones((3, N), bool), np.full(3, 3), np.full(3, N)
    check_tours(costs, directed, tours, values, *free)
    assert (bounds <= values).all()
    assert (values - bounds <= 0.2 * np.abs(values)).all()
    _, proven, proof = min_cost_cycles(costs, directed=directed, prove=True)
    np.testing.assert_array_equal(proven, proof)
    assert (bounds <= proven + 1e-6).all()
    assert (proven <= values + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_agree_with_the_table(kind):
    """Both ways at a size where the table is large and programs need many rounds."""
    costs, directed = random_costs(kind, 3, 13, seed=3)
    rng = np.random.default_rng(4)
    low, high = rng.random((3, 13)) < 0.2, rng.random((3, 13)) < 0.9
    constraints = low & high, high, np.array([3, 5, 4]), np.array([13, 6, 8])
    for given_constraints in (constraints, (None, None, 3, None)):
        _, best, _ = _min_cost(costs, directed, *given_constraints, False, MOST_NODES)
        _, _, bounds = _min_cost(costs, directed, *given_constraints, False, 2)
        assert (bounds <= best + 1e-9).all()
        _, values, proof = _min_cost(costs, directed, *given_constraints, True, 2)
        np.testing.assert_allclose(values, best, atol=1e-7)
        np.testing.assert_array_equal(values, proof)


@pytest.mark.parametrize("directed", [True, False])
def test_sparse_arcs_and_rows_without_a_cycle(directed):
    """A ring, a path and a star of 20 nodes: one cycle, none, none."""
    N = 20
    costs = np.full((3, N, N), np.inf)
    ring = np.random.default_rng(0).permutation(N)
    costs[0, ring, np.roll(ring, -1)] = 1.0
    costs[1, ring[:-1], ring[1:]] = -1.0
    costs[2, 0, 1:] = costs[2, 1:, 0] = -1.0
    if not directed:
        costs = np.minimum(costs, costs.swapaxes(1, 2))
    tours, values, bounds = min_cost_cycles(costs, directed=directed)
    np.testing.assert_array_equal(values, [N, np.inf, np.inf])
    np.testing.assert_array_equal(bounds, values)
    assert (tours[1:] == -1).all()
    assert set(tours[0]) == set(range(N))


def test_few_nodes_among_many_go_to_the_table():
    costs, _ = random_costs("general", 2, 30, seed=1)
    high = np.zeros((2, 30), bool)
    high[0, [3, 7, 11, 20, 29]] = high[1, [0, 1, 2]] = True
    tours, values, bounds = min_cost_cycles(costs, directed=True, high=high)
    for row in range(2):
        nodes = np.flatnonzero(high[row])
        small = costs[row][np.ix_(nodes, nodes)]
        every = np.ones(len(nodes), bool)
        best = best_value(small, True, ~every, every, 3, len(nodes))
        np.testing.assert_allclose(values[row], best)
        assert set(tours[row][tours[row] >= 0]) <= set(nodes)
    np.testing.assert_array_equal(values, bounds)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scales_change_nothing(scale):
    costs, directed = random_costs("symmetric", 2, 18, seed=5)
    tours, values, bounds = min_cost_cycles(costs, directed=directed)
    scaled = min_cost_cycles(scale * costs, directed=directed)
    np.testing.assert_array_equal(scaled[0], tours)
    np.testing.assert_allclose(scaled[1] / scale, values)
    np.testing.assert_allclose(scaled[2] / scale, bounds, rtol=1e-6)


def test_a_limit_on_time_leaves_an_honest_bound(monkeypatch):
    monkeypatch.setattr(proofs, "SECONDS", 0.0)
    costs, directed = random_costs("prizes", 2, 25, seed=8)
    _, values, bounds = min_cost_cycles(costs, directed=directed, prove=True)
    monkeypatch.undo()
    _, best, _ = min_cost_cycles(costs, directed=directed, prove=True)
    assert (bounds <= best + 1e-9).all()
    assert (best <= values + 1e-9).all()


def test_forced_arcs():
    """Both ends must be visited, and no other arc leaves the one or enters the other."""
    costs, _ = random_costs("general", 1, 6, seed=2)
    forced = costs.copy()
    forced[0, 4, np.arange(6) != 1] = forced[0, np.arange(6) != 4, 1] = np.inf
    low = np.isin(np.arange(6), [1, 4])[None]
    _, values, _ = min_cost_cycles(forced, directed=True, low=low)
    arcs = [set(zip(cycle, (*cycle[1:], cycle[0]))) for cycle in all_cycles(6, True)]
    every = zip(arcs, all_cycles(6, True))
    best = min(total(costs[0], cycle) for used, cycle in every if (4, 1) in used)
    np.testing.assert_allclose(values, best)


def test_few_shapes_are_accepted():
    tours, values, bounds = min_cost_cycles(np.zeros((0, 5, 5)), directed=True)
    assert tours.shape == (0, 5)
    assert values.shape == bounds.shape == (0,)
    assert is_exact(16)
    assert not is_exact(17)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"costs": np.zeros((1, 2, 2))}, "needs three nodes"),
        ({"costs": np.zeros((4, 4))}, "shape \\(n, N, N\\)"),
        ({"costs": np.where(np.arange(32).reshape(2, 4, 4) == 17, np.nan, 0.0)}, "row 1 .* 0 to 1"),
        ({"costs": np.full((1, 4, 4), -np.inf)}, "row 0 .* -inf"),
        ({"directed": False, "costs": np.arange(16.0).reshape(1, 4, 4)}, "symmetric; in row 0"),
        ({"low": np.zeros((3, 4), bool)}, "low has shape"),
        ({"high": np.zeros(4, bool)}, "high has shape"),
        ({"smallest": 3.5}, "smallest is a whole number"),
        ({"largest": np.array([3, 4, 5])}, "largest is a whole number"),
    ],
)
def test_bad_input(changes, message):
    arguments = {"costs": np.zeros((2, 4, 4)), "directed": True} | changes
    with pytest.raises(ValueError, match=message):
        min_cost_cycles(**arguments)
