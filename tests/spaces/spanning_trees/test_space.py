# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees against all sets of edges tried one by one."""

import math
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Uniform
from skstruct.spaces.spanning_trees.counting import count_trees
from skstruct.spaces.spanning_trees.space import SpanningTrees
from skstruct.testing import check_space


def trees_one_by_one(space):
    """All trees of the space without its constraints."""
    n, d = len(space.nodes_), len(space.edges_)
    rows = []
    for chosen in combinations(range(d), n - 1):
        graph = nx.Graph(space.edges_[list(chosen)].tolist())
        if len(graph) == n and nx.is_connected(graph):
            rows.append(np.isin(np.arange(d), chosen))
    return np.array(rows, dtype=np.int8)


@st.composite
def connected_graphs(draw, max_nodes=5):
    """Pairs of a connected graph on 0, 1, ...: a random tree and some more."""
    n = draw(st.integers(2, max_nodes))
    pairs = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    pairs |= {(u, v) for v in range(n) for u in range(v) if draw(st.booleans())}
    return draw(st.permutations(sorted(pairs)))


# ------------------------------------------------------------------- the contract
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_complete_graphs(n):
    space = SpanningTrees(n)
    listed = trees_one_by_one(space)
    assert len(listed) == n ** (n - 2)
    check_space(space, listed)
    assert_allclose(Uniform.of(space).covariance().dense(), np.cov(listed.T, bias=True), atol=1e-12)


@given(connected_graphs())
def test_given_graphs(pairs):
    space = SpanningTrees(graph=pairs)
    listed = trees_one_by_one(space)
    check_space(space, listed, n_costs=5, n_draws=500)
    S = np.cov(listed.T, bias=True).reshape(len(pairs), len(pairs))
    assert_allclose(Uniform.of(space).covariance().dense(), S, atol=1e-12)


@given(connected_graphs(), st.data())
def test_constraints(pairs, data):
    space = SpanningTrees(graph=pairs)
    some = st.lists(st.sampled_from(pairs), max_size=2, unique=True)
    include, exclude = data.draw(some), data.draw(some)
    narrowed = space.restrict(include=include, exclude=exclude)
    listed = trees_one_by_one(space)
    column = {pair: j for j, pair in enumerate(space.labels_)}
    keep = np.ones(len(listed), bool)
    for edges, value in ((include, 1), (exclude, 0)):
        for edge in edges:
            keep &= listed[:, column[edge]] == value
    if keep.any():
        check_space(narrowed, listed[keep], n_costs=5, n_draws=500)
        return
    assert narrowed.size() == 0
    assert Uniform.of(narrowed).log_size() == -math.inf
    assert len(narrowed.enumerate()) == 0
    for ask in (
        lambda: narrowed.argmin(np.zeros((1, len(column)))),
        Uniform.of(narrowed).mean_embedding,
        Uniform.of(narrowed).second_moment,
        Uniform.of(narrowed).covariance,
        lambda: narrowed.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()


def test_constraints_row_by_row():
    space = SpanningTrees(list("abcd")).restrict(include=[[("b", "a")], [("c", "d"), ("a", "d")]])
    costs = np.random.default_rng(0).standard_normal((2, 6))
    together = space.argmin(costs)
    for i in range(2):
        alone = space.rows([i]).argmin(costs[i : i + 1])
        assert_array_equal(together.outputs[i], alone.outputs[0])
    with pytest.raises(ValueError, match="row by row for 2 rows; got 3"):
        space.argmin(np.zeros((3, 6)))
    with pytest.raises(ValueError, match="differs from row to row"):
        space.size()


# ------------------------------------------------------------------- counting
def test_counts_by_formula():
    assert SpanningTrees(200).size() == 200**198
    bipartite = nx.complete_bipartite_graph(30, 40)
    assert SpanningTrees(graph=bipartite).size() == 30**39 * 40**29
    assert SpanningTrees(graph=nx.cycle_graph(57)).size() == 57
    wheel = SpanningTrees(graph=nx.wheel_graph(101))  # Lucas number 200, minus 2
    lucas = [2, 1]
    while len(lucas) <= 200:
        lucas.append(lucas[-1] + lucas[-2])
    assert wheel.size() == lucas[200] - 2
    assert_allclose(Uniform.of(wheel).log_size(), math.log(lucas[200] - 2), rtol=1e-13)


def test_counts_within_constraints_add_up():
    # 60 nodes: with the edge, and without it.
    space = SpanningTrees(60)
    edge = [(3, 7)]
    inside, outside = space.restrict(include=edge), space.restrict(exclude=edge)
    assert inside.size() + outside.size() == space.size() == 60**58
    assert Fraction(inside.size(), space.size()) == Fraction(2, 60)
    assert_allclose(Uniform.of(inside).log_size(), math.log(2 * 60**57), rtol=1e-13)


def test_large_complete_graph():
    space = SpanningTrees(200)
    d = 199 * 100
    assert_allclose(Uniform.of(space).mean_embedding(), np.full(d, 0.01))
    assert_allclose(Uniform.of(space).mean_embedding().sum(), 199)
    S, e = Uniform.of(space).covariance(), np.zeros((1, d))
    e[0, 0] = 1  # column of the edge (0, 1): itself, edges that share a node, others
    expected = np.zeros(d)
    expected[(np.column_stack(np.triu_indices(200, 1)) <= 1).any(axis=1)] = -1 / 200**2
    expected[0] = 0.01 * 0.99
    assert_allclose(S.apply(e)[0], expected, atol=1e-15)
    assert_allclose(Uniform.of(space).log_size(), 198 * math.log(200))
    with pytest.raises(
        UndecidableError, match=r"10\*\*456 trees, more than the limit of 1,000,000"
    ):
        space.enumerate()


def test_complete_and_general_route_agree():
    space = SpanningTrees(30)
    assert count_trees(30, space.edges_) == space.size()
    general = SpanningTrees(31, graph=[*space.labels_, (0, 30)])  # one leaf that is always in
    assert_allclose(Uniform.of(general).mean_embedding()[:29], 2 / 30)
    inner = np.delete(np.arange(len(general.edges_)), 29)  # without the column of (0, 30)
    S = Uniform.of(general).covariance().dense()[np.ix_(inner, inner)]
    assert_allclose(S, Uniform.of(space).covariance().dense(), atol=1e-13)
    assert general.size() == space.size()


@pytest.mark.parametrize("limited", [False, True])
def test_samples_are_uniform(limited):
    # Chi-square over all trees: a right sampler fails with probability 1e-4.
    space = SpanningTrees(5) if limited else SpanningTrees(4)
    if limited:
        space = space.restrict(include=[(0, 3)], exclude=[(1, 2), (2, 4)])
    listed, drawn = space.enumerate(), space.sample(20_000, 3)
    counts = (drawn[:, None] == listed).all(axis=2).sum(axis=0)
    assert counts.sum() == 20_000
    assert chisquare(counts).pvalue > 1e-4
    assert_array_equal(drawn, space.sample(20_000, np.random.default_rng(3)))


# ------------------------------------------------------------------- forms and messages
def test_forms_come_back():
    rows = [{("a", "b"), ("c", "b")}, {("a", "c"), ("b", "c")}]
    space = SpanningTrees().fit(rows)
    assert space.nodes_ == ("a", "b", "c")
    Z = space.validate(rows)
    assert_array_equal(Z, [[1, 0, 1], [0, 1, 1]])
    assert list(space.restore(Z)) == [{("a", "b"), ("b", "c")}, {("a", "c"), ("b", "c")}]
    graphs = [nx.path_graph(4), nx.star_graph(3)]
    space = SpanningTrees().fit(graphs)
    for graph, back in zip(graphs, space.restore(space.validate(graphs))):
        assert nx.utils.graphs_equal(graph, back)
    series = pd.Series(rows, index=["u", "v"], name="trees")
    back = SpanningTrees().fit(series).restore(Z, series.index)
    assert (back.index == series.index).all()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], r"Y\[1\] is no tree: it has a cycle through '.', '"),
        ([("a", "b"), ("b", "c")], r"Y\[1\] is not connected: it has no way from 'a' to 'd'"),
        ([("a", "b"), ("d", "c")], "no way from 'a' to 'c'"),
        ([("a", "b"), ("b", "x")], "'x'"),
    ],
)
def test_what_is_no_tree_says_why(row, message):
    space = SpanningTrees(list("abcd"))
    good = [("a", "b"), ("b", "c"), ("c", "d")]
    with pytest.raises(ValueError, match=message):
        space.fit([good, row])


def test_graphs_that_are_wrong():
    with pytest.raises(ValueError, match="not connected; it has no way from 'a' to 'c'"):
        SpanningTrees(graph=[("a", "b"), ("c", "d")]).size()
    with pytest.raises(ValueError, match=r"graph\[1\] holds the node 'x'"):
        SpanningTrees(["a", "b"], graph=[("a", "b"), ("b", "x")]).size()
    with pytest.raises(ValueError, match="joins the node 'a' with itself"):
        SpanningTrees(graph=[("a", "a"), ("a", "b")]).size()
    with pytest.raises(ValueError, match="have no direction"):
        SpanningTrees(graph=nx.DiGraph([("a", "b")])).size()
    with pytest.raises(ValueError, match="list of pairs of nodes or a networkx graph; got 7"):
        SpanningTrees(graph=7).size()
    with pytest.raises(ValueError, match="not one of the 2 possible edges"):
        SpanningTrees(graph=[("a", "b"), ("b", "c")]).fit([[("a", "c"), ("a", "b")]])
    with pytest.raises(NotFittedError, match="call fit, or give nodes"):
        SpanningTrees().size()


def test_nodes_of_a_graph_keep_their_order():
    graph = nx.Graph([("z", "y"), ("y", "a")])
    assert SpanningTrees(graph=graph).nodes_ == ("z", "y", "a")
    space = SpanningTrees(graph=graph).fit([[("y", "a"), ("z", "y")]])
    assert space.labels_ == (("z", "y"), ("y", "a"))
    assert clone(space).size() == 1
    assert space.set_params(graph=None, nodes=5).size() == 125


def test_with_a_learner():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    space = SpanningTrees(5)
    Y = space.argmin(X @ rng.standard_normal((3, 10))).outputs
    # A given penalty: left-out losses of many tie, and a search then takes the largest of them.
    model = ConditionalRiskMinimizer(space, "hamming", smoother="kernel_ridge", alpha=0.2).fit(X, Y)
    assert space.contains(model.predict(X)).all()
    assert model.score(X, Y) > -0.1


@pytest.mark.parametrize("graph", ["full", "empty", "abc", b"ab"])
@pytest.mark.parametrize("nodes", [None, list("abc")])
def test_text_is_no_graph(graph, nodes):
    with pytest.raises(ValueError, match="graph is a list of pairs of nodes or a networkx graph"):
        SpanningTrees(nodes, graph=graph).size()
