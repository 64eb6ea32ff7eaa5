# SPDX-License-Identifier: BSD-3-Clause
"""Independence systems, siblings, forests and connected graphs, against all sets."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.spaces.edge_sets.spanning_trees import (
    are_bipartite,
    count_components,
    min_cost_connected,
    min_cost_forests,
)
from skstruct.spaces.graphs import independence_systems as independence
from skstruct.spaces.graphs.hereditary import better_of_siblings
from skstruct.spaces.graphs.independence_systems import min_cost_members, n_blocks
from strategies import subsets


@st.composite
def systems(draw, max_elements=8):
    """Sets closed under taking subsets, by some maximal ones; as a 0/1 list and a test."""
    d = draw(st.integers(1, max_elements))
    tops = draw(st.lists(st.integers(0, 2**d - 1), min_size=1, max_size=6))
    numbers = np.array([sum(1 << e for e in np.flatnonzero(row)) for row in subsets(d)])
    inside = np.array([any(number & ~top == 0 for top in tops) for number in numbers])
    members = set(numbers[inside].tolist())
    return subsets(d)[inside], lambda chosen: sum(1 << int(e) for e in chosen) in members


def costs_of(seed, n, d):
    """Of any sign, with ties and zeros in half of the rows."""
    rng = np.random.default_rng(seed)
    costs = rng.standard_normal((n, d)) - 0.3
    return np.where(rng.random((n, 1)) < 0.5, np.round(costs), costs)


def test_blocks():
    assert [n_blocks(n) for n in (0, 1, 2, 3, 4, 5, 8, 9, 100)] == [1, 1, 2, 2, 2, 3, 3, 3, 16]
    for n in range(2, 200):  # no block has more than ceil(log2 n) elements
        assert math.ceil(n / n_blocks(n)) <= math.ceil(math.log2(n))


@given(systems(), st.integers(0, 10**6), st.booleans())
@settings(deadline=None)
def test_members_against_enumeration(system, seed, with_exchanges):
    members, holds = system
    d = members.shape[1]
    costs = costs_of(seed, 6, d)
    swaps = independence.MOST_TESTS
    independence.MOST_TESTS = swaps if with_exchanges else 0
    try:
        outputs, values, bounds = min_cost_members(costs, holds)
    finally:
        independence.MOST_TESTS = swaps
    assert all(holds(np.flatnonzero(row)) for row in outputs)
    assert_allclose(values, (costs * outputs).sum(axis=1))
    totals = costs @ members.T
    best, worst = totals.min(axis=1), totals.max(axis=1)
    assert (bounds <= best + 1e-9).all()
    assert (worst - values >= (worst - best) / n_blocks(d) - 1e-9).all()
    most = members.sum(axis=1).max()
    tighter = min_cost_members(costs, holds, most=most)[2]
    assert (bounds <= tighter + 1e-9).all()
    assert (tighter <= best + 1e-9).all()


@given(systems(), st.integers(0, 10**6))
@settings(deadline=None)
def test_members_within_constraints(system, seed):
    members, holds = system
    d = members.shape[1]
    rng = np.random.default_rng(seed)
    low, high = rng.random((5, d)) < 0.2, rng.random((5, d)) < 0.8
    costs = costs_of(seed, 5, d)
    outputs, values, bounds = min_cost_members(costs, holds, low=low, high=high)
    for i in range(5):
        rows = members[((members >= low[i]) & (members <= high[i])).all(axis=1)]
        assert np.isfinite(values[i]) == (len(rows) > 0)
        if len(rows):
            totals = rows @ costs[i]
            assert (rows == outputs[i]).all(axis=1).any()
            assert bounds[i] <= totals.min() + 1e-9
            gained = totals.max() - values[i]
            assert gained >= (totals.max() - totals.min()) / n_blocks(d) - 1e-9


def some_of(*tops):
    """Membership in a system with these maximal sets."""
    return lambda chosen: any({int(e) for e in chosen} <= top for top in tops)


def test_blocks_keep_the_ratio_where_greed_has_none(monkeypatch):
    monkeypatch.setattr(independence, "MOST_TESTS", 0)
    costs = np.full((1, 16), -0.9)
    costs[0, 0] = -1.0
    _, values, _ = min_cost_members(costs, some_of({0}, set(range(1, 16))))
    assert_allclose(values, [-0.9 * 15])


def test_exchanges(monkeypatch):
    costs, holds = np.array([[-3.0, -2.0, -2.0]]), some_of({0}, {1, 2})
    assert_allclose(min_cost_members(costs, holds)[1], [-4.0])
    monkeypatch.setattr(independence, "MOST_TESTS", 0)
    assert_allclose(min_cost_members(costs, holds)[1], [-3.0])


def test_starts():
    """Four small gains go together, three large ones with nothing."""
    costs = np.array([[-3.0, -3.0, -3.0, -1.1, -1.0, -1.0, -1.0]])
    holds = some_of({0}, {1}, {2}, {3, 4, 5, 6})
    assert_allclose(min_cost_members(costs, holds)[1], [-3.0])
    start = np.array([[0, 0, 0, 1, 1, 1, 1]])
    assert_allclose(min_cost_members(costs, holds, starts=[start])[1], [-4.1])


def test_bounds():
    costs = -np.ones((1, 4))
    assert_allclose(min_cost_members(costs, lambda chosen: len(chosen) <= 1)[2], [-2.0])  # 2 blocks
    low = np.array([[True, True, False, False]])
    for most, bound in ((3, -3.0), (None, -4.0)):
        found = min_cost_members(costs, lambda chosen: len(chosen) <= 3, low=low, most=most)
        assert_allclose(found[1:], [[-3.0], [bound]])


# ------------------------------------------------------------------- siblings
@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(-3, 3))
def test_better_of_siblings(d, seed, shift):
    """Complements of 0/1 sets and of signs, from any start, costs of any sign."""
    rng = np.random.default_rng(seed)
    everything = subsets(d).astype(float)
    starts = everything[rng.integers(len(everything), size=8)]
    costs = costs_of(seed, 8, d) + shift
    for outputs, scale in ((everything, (0.0, 1.0)), (2 * everything - 1, (-1.0, 1.0))):
        totals = costs @ outputs.T
        best, worst = totals.min(axis=1), totals.max(axis=1)
        psi = np.where(starts > 0, scale[1], scale[0])
        other = np.where(starts > 0, scale[0], scale[1])
        swapped, values = better_of_siblings(costs, psi, other)
        assert_allclose(
            values, (costs * np.where(swapped[:, None], other, psi)).sum(axis=1), atol=1e-9
        )
        assert (worst - values >= (worst - best) / 2 - 1e-9).all()


def test_the_sign_rule_is_worse():
    """Keeping an output of no positive cost loses the guarantee; comparing does not."""
    costs, psi = np.array([[-0.1, -10.0]]), np.array([[1.0, 0.0]])
    assert (costs * psi).sum() <= 0  # so that the rule keeps it, at a ratio of 1/101
    assert_array_equal(better_of_siblings(costs, psi, 1 - psi)[1], [-10.0])


# ------------------------------------------------------------------- components
@st.composite
def multigraphs(draw, max_nodes=5, max_edges=7):
    n = draw(st.integers(2, max_nodes))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    return n, np.array(draw(st.lists(pair, min_size=1, max_size=max_edges)))


def slow_components(row, edges, n):
    part = list(range(n))
    for u, v in edges[row > 0]:
        old, new = part[v], part[u]
        part = [new if p == old else p for p in part]
    return len(set(part))


@given(multigraphs(), st.integers(0, 10**6))
@settings(deadline=None)
def test_forests_and_connected_graphs(graph, seed):
    n, edges = graph
    d, Z = len(edges), subsets(len(edges))
    parts = np.array([slow_components(row, edges, n) for row in Z])
    assert_array_equal(count_components(Z, edges, n), parts)
    colorable = [
        any((row * (color[edges[:, 0]] == color[edges[:, 1]])).sum() == 0 for color in subsets(n))
        for row in Z
    ]
    assert_array_equal(are_bipartite(Z, edges, n), colorable)
    rng = np.random.default_rng(seed)
    low, high = rng.random((6, d)) < 0.15, rng.random((6, d)) < 0.85
    costs = costs_of(seed, 6, d)
    smallest, largest = sorted(rng.integers(0, d + 1, 2).tolist())
    size = Z.sum(axis=1)
    forest = (parts == n - size) & (smallest <= size) & (size <= largest)
    forests = min_cost_forests(costs, edges, n, low, high, smallest, largest)
    connected = min_cost_connected(costs, edges, n, low, high)
    for kind, (outputs, values) in ((forest, forests), (parts == 1, connected)):
        for i in range(6):
            allowed = kind & (low[i] <= Z).all(axis=1) & (high[i] >= Z).all(axis=1)
            if not allowed.any():
                assert values[i] == np.inf
                continue
            assert_allclose(values[i], (Z[allowed] @ costs[i]).min(), atol=1e-9)
            assert (Z[allowed] == outputs[i]).all(axis=1).any()


@pytest.mark.parametrize("n", [300])
def test_many_nodes(n):
    edges = np.column_stack(np.triu_indices(n, 1))
    costs = costs_of(0, 2, len(edges))
    free = np.zeros((1, len(edges)), bool)
    outputs, values = min_cost_forests(costs, edges, n, free, ~free)
    assert_array_equal(count_components(outputs, edges, n), n - outputs.sum(axis=1))
    assert np.isfinite(values).all()
