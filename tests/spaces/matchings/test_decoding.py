# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost matchings against all of them, and against networkx on larger graphs."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from skstruct.spaces.matchings.decoding import min_cost_matchings, min_cost_pairings


def matchings_one_by_one(n_nodes, edges, perfect):
    """All matchings as 0/1 rows, straight from the definition."""
    rows = []
    for row in product((0, 1), repeat=len(edges)):
        ends = edges[np.array(row, bool)].ravel()
        if len(set(ends.tolist())) == len(ends) and (not perfect or len(ends) == n_nodes):
            rows.append(row)
    return np.array(rows, dtype=np.int8).reshape(len(rows), len(edges))


@st.composite
def problems(draw, d, rows=4):
    """Costs with ties or of any size and sign, and edges that must and may be in."""
    entries = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3, width=32))
    rare = st.integers(0, 7).map(lambda k: k == 0)
    costs = draw(hnp.arrays(np.float64, (rows, d), elements=entries))
    low = draw(hnp.arrays(bool, (draw(st.sampled_from([1, rows])), d), elements=rare))
    high = ~draw(hnp.arrays(bool, (draw(st.sampled_from([1, rows])), d), elements=rare))
    return costs, low, high


def check(found, values, listed, costs, low, high):
    low, high = (np.broadcast_to(mask, costs.shape) for mask in (low, high))
    allowed = ((listed >= low[:, None]) & (listed <= high[:, None])).all(axis=2)
    best = np.where(allowed, costs @ listed.T, np.inf).min(axis=1, initial=np.inf)
    assert_allclose(values, best, atol=1e-8)
    for row in np.flatnonzero(np.isfinite(best)):
        same = (listed == found[row]).all(axis=1)
        assert same.any()
        assert allowed[row][same].all()


@given(st.data(), st.booleans())
def test_graphs_against_all_matchings(data, perfect):
    n_nodes = data.draw(st.integers(2, 6))
    pairs = [(u, v) for u in range(n_nodes) for v in range(u + 1, n_nodes)]
    kept = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=9, unique=True))
    edges = np.array(kept)
    costs, low, high = data.draw(problems(len(edges)))
    answer = min_cost_matchings(costs, edges, n_nodes, low, high, perfect=perfect)
    check(*answer, matchings_one_by_one(n_nodes, edges, perfect), costs, low, high)


@given(st.data(), st.booleans())
def test_two_groups_against_all_matchings(data, perfect):
    n = data.draw(st.integers(1, 3))
    m = n if perfect else data.draw(st.integers(1, 3))
    pairs = list(product(range(n), range(m)))
    kept = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    rows, columns = np.array(kept).T
    costs, low, high = data.draw(problems(len(rows)))
    answer = min_cost_pairings(costs, rows, columns, (n, m), low, high, perfect=perfect)
    edges = np.column_stack([rows, columns + n])
    check(*answer, matchings_one_by_one(n + m, edges, perfect), costs, low, high)


@pytest.mark.slow
@pytest.mark.parametrize("n_nodes", [9, 16, 31])
@pytest.mark.parametrize("kind", ["gaussian", "ties", "scales", "sparse"])
def test_blossoms_against_networkx(n_nodes, kind):
    rng = np.random.default_rng(n_nodes)
    edges = np.column_stack(np.triu_indices(n_nodes, 1))
    if kind == "sparse":
        edges = edges[rng.random(len(edges)) < 3 / n_nodes]
    costs = rng.standard_normal((8, len(edges)))
    if kind == "ties":
        costs = rng.integers(-3, 2, costs.shape).astype(float)
    if kind == "scales":
        costs *= 10.0 ** rng.integers(-6, 7, costs.shape)
    free = np.ones((1, len(edges)), bool)
    for perfect in (False, True):
        found, values = min_cost_matchings(costs, edges, n_nodes, ~free, free, perfect=perfect)
        for i, row in enumerate(costs):
            graph = nx.Graph()
            graph.add_weighted_edges_from((*e, -c) for e, c in zip(edges.tolist(), row))
            best = nx.max_weight_matching(graph, maxcardinality=perfect)
            if perfect and 2 * len(best) < n_nodes:
                assert values[i] == np.inf
                continue
            expected = -sum(graph.edges[edge]["weight"] for edge in best)
            assert_allclose(values[i], expected, atol=1e-9 * (1 + np.abs(row).sum()))
            assert np.bincount(edges[found[i] == 1].ravel(), minlength=n_nodes).max() <= 1


def test_nested_blossoms():
    # Odd circles within odd circles, all edges of the same weight: every round shrinks some.
    rng = np.random.default_rng(1)
    for n_nodes in (15, 25, 35):
        triangles = [(3 * k + i, 3 * k + j) for k in range(n_nodes // 3) for i, j in
                     ((0, 1), (1, 2), (0, 2))]  # fmt: skip
        links = [(3 * k + 2, 3 * k + 3) for k in range(n_nodes // 3 - 1)]
        edges = np.array([*triangles, *links, (0, n_nodes - 1)])
        edges = rng.permutation(n_nodes)[np.unique(np.sort(edges, axis=1), axis=0)]
        free = np.ones((1, len(edges)), bool)
        costs = -np.ones((1, len(edges)))
        _, values = min_cost_matchings(costs, edges, n_nodes, ~free, free, perfect=False)
        expected = len(nx.max_weight_matching(nx.Graph(edges.tolist()), maxcardinality=True))
        assert values[0] == -expected


def test_no_edges_and_no_costs():
    free = np.ones((1, 0), bool)
    found, values = min_cost_matchings(
        np.zeros((2, 0)), np.zeros((0, 2), int), 3, free, free, perfect=False
    )
    assert found.shape == (2, 0)
    assert (values == 0).all()
