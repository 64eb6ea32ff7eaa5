# SPDX-License-Identifier: BSD-3-Clause
"""Cycles in the way of a path: what is told apart, searched, and bounded."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from path_cases import as_graph, as_rows, costs_of, graphs, paths_one_by_one
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import ShortestPaths, Solving
from skstruct.spaces.paths import decoding, integer_programs
from skstruct.spaces.paths.integer_programs import HardPath, min_simple_path


def n_searched(monkeypatch, space, costs):
    """How many rows of a batch were searched, and what came out."""
    seen = []
    search = decoding._search
    monkeypatch.setattr(decoding, "_search", lambda *a: (seen.append(len(a[1])), search(*a))[1])
    return space.argmin(costs), sum(seen)


def test_rows_are_told_apart(monkeypatch):
    arcs = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("a", "t"), ("t", "s"), ("x", "s")]
    space = ShortestPaths([*arcs, ("b", "x"), ("y", "z"), ("z", "y")], "s", "t")
    costs = np.ones((5, 10))
    costs[1, 1] = -0.5  # no cycle below zero
    costs[2, 1] = -2.0  # a, b, a
    costs[3, 8:] = -1.0  # y, z, y is not in the way
    costs[4, 5:7] = -9.0  # neither are cycles through the ends
    best, n_hard = n_searched(monkeypatch, space, costs)
    assert n_hard == 1
    assert_allclose(best.values, [2.0, 1.5, 0.0, 2.0, 2.0])
    assert_array_equal(best.bounds, best.values)


def test_cycles_of_no_cost_do_not_come_along():
    rng = np.random.default_rng(0)
    space = ShortestPaths(nx.complete_graph(8).to_directed(), 0, 7)
    price = rng.integers(-3, 4, (20, 8))  # cycles cost p_u - p_v + p_v - ... = 0
    u, v = np.array(space.labels_).T
    best = space.argmin((price[:, u] - price[:, v]).astype(float))
    assert space.contains(best.outputs).all()
    assert_array_equal(best.values, price[:, 0] - price[:, 7])


@given(graphs(["cyclic", "undirected"]), st.integers(0, 2**16))
def test_integer_programs_find_what_lists_do(graph, seed):
    space = ShortestPaths(as_graph(*graph), 0, 1)
    table, d = space._table, len(space.labels_)
    rows = as_rows(
        paths_one_by_one(space.labels_, table.directed, 0, 1), space.labels_, table.directed
    )
    cost, rng = costs_of(seed, 1, d, "whole")[0], np.random.default_rng(seed)
    low, longest = np.zeros(d, bool), int(rng.integers(1, 6))
    low[rng.integers(d)] = rng.random() < 0.5
    visited = np.arange(len(table.nodes)) == rng.integers(len(table.nodes))
    reached = np.array([[v in p for v in table.nodes] for p in
                        paths_one_by_one(space.labels_, table.directed, 0, 1)])  # fmt: skip
    kept = (
        (rows >= low).all(axis=1) & (reached >= visited).all(axis=1) & (rows.sum(axis=1) <= longest)
    )
    found, value, bound = min_simple_path(HardPath(table, cost, 0, 1, low, visited, longest), None)
    if not kept.any():
        assert found is None
        assert value == bound == np.inf
    else:
        assert value == bound == (rows[kept] @ cost).min()
        assert (rows[kept] == found).all(axis=1).any()


def test_larger_graphs_by_integer_programs():
    rng = np.random.default_rng(1)
    graph = nx.gnp_random_graph(14, 0.3, seed=1, directed=True)
    space = ShortestPaths(graph, 0, 13)
    costs = rng.normal(size=(3, len(space.labels_)))
    listed = space.enumerate()
    best = space.argmin(costs)
    assert_allclose(best.values, (costs @ listed.T).min(axis=1), atol=1e-9)
    assert_allclose(best.bounds, best.values, atol=1e-9)
    assert space.contains(best.outputs).all()


def test_time_that_is_up_leaves_a_bound(monkeypatch):
    monkeypatch.setattr(
        decoding, "min_simple_path", lambda p, known: min_simple_path(p, known, 0.0)
    )
    graph = nx.gnp_random_graph(14, 0.3, seed=1, directed=True)
    space = ShortestPaths(graph, 0, 13)
    costs = np.random.default_rng(1).normal(size=(1, len(space.labels_)))
    best = space.argmin(costs)
    assert space.contains(best.outputs).all()
    least = (costs @ space.enumerate().T).min()
    assert np.isfinite(best.bounds).all()
    assert best.bounds[0] <= least <= best.values[0]
    with pytest.raises(UndecidableError, match="the k best need proven paths"):
        space.kbest(costs, 2)
    with pytest.raises(UndecidableError, match="was not shown"):
        space.restrict(via=list(range(14))).argmin(costs)


def test_no_way_at_all():
    space = ShortestPaths([("s", "a"), ("a", "s"), ("t", "a")], "s", "t")
    for costs in (np.ones((2, 3)), -np.ones((2, 3))):
        with pytest.raises(InfeasibleError, match="no path from 's' to 't'") as error:
            space.argmin(costs)
        assert error.value.row == 0
    assert space.size() == 0
    with pytest.raises(InfeasibleError):
        space.sample(3, 0)


def test_few_nodes_need_no_programs(monkeypatch):
    monkeypatch.setattr(integer_programs, "min_simple_path", None)
    monkeypatch.setattr(decoding, "min_simple_path", None)
    space = ShortestPaths(nx.complete_graph(7).to_directed(), 0, 6)
    costs = np.random.default_rng(0).normal(size=(20, 42))
    assert_allclose(space.argmin(costs).values, (costs @ space.enumerate().T).min(axis=1))


@given(data=st.data(), n=st.integers(13, 15))
@settings(max_examples=15)
def test_in_a_hurry_rows_with_negative_cycles_have_a_path_and_a_bound(data, n):
    """Beyond the tables over sets of nodes: a path of the space, and bounds that hold."""
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    arcs = [(i, j) for i in range(n) for j in range(n) if i != j and rng.random() < 0.3]
    arcs += [(i, i + 1) for i in range(n - 1) if (i, i + 1) not in arcs]
    space = ShortestPaths(arcs, 0, n - 1)
    costs = rng.normal(0.5, 1.0, (4, len(space.labels_)))
    hurried, proven = Solving.of(space).quick().argmin(costs), space.argmin(costs)
    assert space.contains(hurried.outputs).all()
    assert_allclose(hurried.values, (hurried.outputs * costs).sum(axis=1))
    assert (hurried.values >= proven.values - 1e-9).all()
    assert (hurried.bounds <= proven.values + 1e-9).all()
