# SPDX-License-Identifier: BSD-3-Clause
"""Cheapest, random and all spanning trees against sets of edges tried one by one."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from skstruct.spaces.edge_sets.spanning_trees import (
    are_trees,
    list_trees,
    min_cost_trees,
    sample_trees,
)
from skstruct.spaces.spanning_trees.counting import count_trees


@st.composite
def multigraphs(draw, max_nodes=5, max_edges=8):
    """Number of nodes and edges, which may join the same nodes twice, or a node with itself."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=max_edges))
    return n, np.array(pairs, dtype=np.int64).reshape(-1, 2)


def trees_one_by_one(n_nodes, edges):
    """All spanning trees as 0/1 rows, straight from the definition."""
    rows = []
    for chosen in combinations(range(len(edges)), n_nodes - 1):
        graph = nx.MultiGraph(edges[list(chosen)].tolist())
        graph.add_nodes_from(range(n_nodes))
        if nx.is_connected(graph):
            rows.append(np.isin(np.arange(len(edges)), chosen))
    return np.array(rows, dtype=np.int8).reshape(len(rows), len(edges))


@pytest.mark.slow
@given(multigraphs(), st.data())
def test_min_cost_against_all(graph, data):
    n_nodes, edges = graph
    shape = 3, len(edges)
    entries = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3, width=32))
    costs = data.draw(hnp.arrays(np.float64, shape, elements=entries))
    rare = st.integers(0, 5).map(lambda k: k == 0)
    low = data.draw(hnp.arrays(bool, shape, elements=rare))
    high = ~data.draw(hnp.arrays(bool, (1, len(edges)), elements=rare))
    found, values = min_cost_trees(costs, edges, n_nodes, low, high)
    listed = trees_one_by_one(n_nodes, edges)
    allowed = ((listed >= low[:, None]) & (listed <= high[:, None])).all(axis=2)
    best = np.where(allowed, costs @ listed.T, np.inf).min(axis=1, initial=np.inf)
    assert_allclose(values, best, atol=1e-9)
    exists = np.isfinite(best)
    assert are_trees(found[exists], edges, n_nodes).all()
    assert (found[exists] >= low[exists]).all()
    assert (found[exists] <= high).all()


@given(multigraphs())
def test_all_trees_and_what_is_one(graph):
    n_nodes, edges = graph
    expected = trees_one_by_one(n_nodes, edges)
    assert count_trees(n_nodes, edges) == len(expected)
    if len(expected):
        listed = list_trees(edges, n_nodes, len(expected))
        assert_array_equal(np.unique(listed, axis=0), np.unique(expected, axis=0))
    every = np.array([[k >> e & 1 for e in range(len(edges))] for k in range(1 << len(edges))])
    is_listed = [tuple(row) in set(map(tuple, expected.tolist())) for row in every.tolist()]
    assert_array_equal(are_trees(every, edges, n_nodes), is_listed)


def test_the_first_of_equal_edges_is_taken():
    complete = np.column_stack(np.triu_indices(5, 1))
    trees, values = min_cost_trees(np.zeros((1, 10)), complete, 5)
    assert_array_equal(trees[0].nonzero()[0], np.arange(4))  # the star of node 0
    assert values[0] == 0


def test_large_graphs_against_networkx():
    rng = np.random.default_rng(0)
    edges = np.column_stack(np.triu_indices(40, 1))
    edges = edges[rng.random(len(edges)) < 0.3]
    costs = rng.standard_normal((5, len(edges)))
    _, values = min_cost_trees(np.asfortranarray(costs), edges, 40)
    for row, value in zip(costs, values):
        graph = nx.Graph()
        graph.add_weighted_edges_from((*edge, cost) for edge, cost in zip(edges.tolist(), row))
        assert_allclose(value, nx.minimum_spanning_tree(graph).size(weight="weight"))


def test_samples_are_uniform():
    # A square with a diagonal and a doubled side. Fails for a right sampler with probability 1e-4.
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [0, 1]])
    listed = trees_one_by_one(4, edges)
    drawn = sample_trees(20_000, edges, 4, np.random.default_rng(0))
    assert are_trees(drawn, edges, 4).all()
    counts = (drawn[:, None] == listed).all(axis=2).sum(axis=0)
    assert chisquare(counts).pvalue > 1e-4
    again = sample_trees(20_000, edges, 4, np.random.default_rng(0))
    assert_array_equal(drawn, again)
