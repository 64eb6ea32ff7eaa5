# SPDX-License-Identifier: BSD-3-Clause
"""Graphs in the user's own format, what is wrong with them, and learners that take them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.learners import StructuredSVM
from skstruct.losses import F1
from skstruct.spaces.edge_sets.table import complete_edges
from skstruct.spaces.graphs.space import Graphs

NODES = ["a", "b", "c"]
UNDIRECTED = [[("b", "a"), ("a", "c")], [("c", "b")]]
DIRECTED = [[("b", "a"), ("a", "c")], [("c", "b")]]
EDGES = np.array([[1, 1, 0], [0, 0, 1]])
ARCS = np.array([[0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]])  # ab ac ba bc ca cb


def test_order_of_edges():
    assert complete_edges(3, False).tolist() == [[0, 1], [0, 2], [1, 2]]
    arcs = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    assert complete_edges(3, True).tolist() == arcs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("container", [set, frozenset, list, tuple])
def test_pairs_come_back(directed, container):
    Y = [container(row) for row in (DIRECTED if directed else UNDIRECTED)]
    space = Graphs(directed=directed).fit(Y)
    assert space.nodes_ == ("a", "b", "c")
    Z = ARCS if directed else EDGES
    assert_array_equal(space.validate(Y), Z)
    again = space.restore(Z)
    assert [type(row) for row in again] == [container, container]
    assert_array_equal(space.validate(again), Z)
    if directed:
        assert [set(row) for row in again] == [set(row) for row in DIRECTED]


def test_edges_as_lists_and_as_sets():
    for pair in (list, frozenset):
        Y = [[pair(edge) for edge in row] for row in UNDIRECTED]
        space = Graphs().fit(Y)
        assert_array_equal(space.validate(Y), EDGES)
        assert space.restore(EDGES)[1] == [pair(("b", "c"))]


def test_networkx_graphs_come_back():
    graphs = [nx.Graph(row) for row in UNDIRECTED]
    space = Graphs().fit(graphs)
    again = space.restore(EDGES)
    assert all(nx.utils.graphs_equal(graph, nx.Graph(graph.edges)) for graph in again[:1])
    assert set(again[1].nodes) == set(NODES)
    assert_array_equal(space.validate(again), EDGES)
    arcs = [nx.DiGraph(row) for row in DIRECTED]
    space = Graphs(directed=True).fit(arcs)
    assert isinstance(space.restore(ARCS)[0], nx.DiGraph)
    assert_array_equal(space.validate(arcs), ARCS)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64])
def test_arrays_come_back(directed, dtype):
    Z = (ARCS if directed else EDGES).astype(dtype)
    space = Graphs(directed=directed).fit(Z)
    assert space.nodes_ == (0, 1, 2)
    assert space.restore(Z).dtype == dtype
    adjacency = np.zeros((2, 3, 3), dtype)
    adjacency[:, *space.edges_.T] = Z
    if not directed:
        adjacency = (
            adjacency | adjacency.swapaxes(1, 2)
            if dtype is bool
            else adjacency + np.swapaxes(adjacency, 1, 2)
        )
    for Y in (adjacency, list(adjacency)):
        space = Graphs(directed=directed).fit(Y)
        assert_array_equal(space.validate(Y), Z)
        assert_array_equal(space.restore(Z), adjacency)
        assert space.restore(Z).dtype == dtype


def test_series_come_back():
    index = pd.Index([7, 8], name="molecule")
    for rows in (UNDIRECTED, [nx.Graph(row) for row in UNDIRECTED]):
        series = pd.Series(rows, index=index, name="bonds")
        again = Graphs().fit(series).restore(EDGES, index=index)
        assert again.index.equals(index)
        assert again.name == "bonds"
        assert type(again.iloc[0]) is type(rows[0])


def test_names_of_any_kind():
    grid = [[((0, 0), (0, 1)), ((1, 0), (0, 0))]]
    space = Graphs().fit(grid)
    assert space.nodes_ == ((0, 0), (0, 1), (1, 0))
    assert_array_equal(space.validate(grid), [[1, 1, 0]])
    assert space.restrict(include=[((1, 0), (0, 0))]).size() == 4
    mixed = Graphs().fit([[("a", 1), (2, "a")]])
    assert_array_equal(mixed.validate([[(1, "a")]]).sum(), 1)
    numbers = Graphs().fit([[(np.int64(3), np.int64(1))]])
    assert numbers.nodes_ == (1, 3)
    assert type(numbers.nodes_[0]) is int


@given(st.data())
def test_round_trip(data):
    directed = data.draw(st.booleans())
    n = data.draw(st.integers(2, 4))
    space = Graphs(n, directed)
    d = len(space.edges_)
    row = st.lists(st.integers(0, 1), min_size=d, max_size=d)
    Z = np.array(data.draw(st.lists(row, min_size=1, max_size=3)))
    pairs = [[space.labels_[j] for j in np.flatnonzero(z)] for z in Z]
    kind = nx.DiGraph if directed else nx.Graph
    for Y in (Z, pairs, [set(p) for p in pairs], [kind(p) for p in pairs]):
        assert_array_equal(space.fit(Y).validate(Y), Z)
        assert_array_equal(space.validate(space.restore(Z)), Z)


# ------------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[("a", "b")], [("a", "bb")]], r"Y\[1\] holds the node 'bb'.*Did you mean 'b'"),
        ([[("a", "a")]], r"Y\[0\] holds the self-loop \('a', 'a'\)"),
        ([[("a", "b"), ("b", "a")]], r"Y\[0\] holds the edge \('b', 'a'\) twice"),
        ([[("a", "b", "c")]], "not a pair of nodes"),
        ([["ab"]], "not a pair of nodes"),
        ([[frozenset("a")]], "a self-loop"),
        (["ab"], r"collection of pairs of nodes in each row; Y\[0\] is 'ab'"),
        ([3, 4], "collection of pairs"),
        ([], "no rows"),
        (np.zeros((0, 3)), "shape"),
        (np.array([[1, 0]]), r"shape \(n_samples, 3\)"),
        (np.array([[1, 0, 2]]), r"expects 0 or 1; Y\[0, 2\] is"),
        (np.array([[1, 0, np.nan]]), "expects 0 or 1"),
        (np.zeros((1, 4, 4)), r"shape \(n_samples, 3, 3\)"),
        (np.triu(np.ones((1, 3, 3)), 1), "not symmetric"),
        (np.eye(3)[None], "self-loop"),
        (nx.path_graph(NODES), "one graph per sample"),
        (pd.DataFrame([[1, 0, 0]]), "one graph per sample"),
        ([nx.DiGraph([("a", "b")])], r"Y\[0\] is directed"),
        ([nx.Graph([("a", "z")])], "the node 'z'"),
        ([nx.Graph([("a", "b")]), [("a", "b")]], "is a networkx graph, others are not"),
        ([nx.MultiGraph([("a", "b"), ("a", "b")])], "twice"),
    ],
)
def test_what_is_wrong_with_Y(Y, message):
    for space in (Graphs(NODES), Graphs(NODES).fit([[("a", "b")]])):
        with pytest.raises(ValueError, match=message):
            space.validate(Y)
    with pytest.raises(ValueError, match=message):
        Graphs(NODES).fit(Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.ones((2, 4)), "no number of nodes has 4 pairs"),
        ([[], []], "at least two nodes; got 0"),
        ([["ab"]], "not a pair of nodes"),
        ([[("a", "b"), 3]], "not a pair of hashable nodes"),
        ([[([1], [2])]], "not a pair of hashable nodes"),
    ],
)
def test_nodes_that_cannot_be_learned(Y, message):
    with pytest.raises(ValueError, match=message):
        Graphs().fit(Y)


def test_wrong_nodes():
    for nodes, message in [
        ("abc", "sequence of names"),
        (1, "at least two nodes; got 1"),
        (["a", "b", "a"], "listed twice"),
        (True, "sequence of names"),
        (2.5, "sequence of names"),
    ]:
        with pytest.raises(ValueError, match=message):
            Graphs(nodes).size()
    with pytest.raises(NotFittedError, match="learns its nodes"):
        Graphs().size()
    with pytest.raises(ValueError, match="restricted for 3 edges; Y has 1"):
        Graphs(constraints=Graphs(3).constraints_).fit([[("a", "b")]])


# ------------------------------------------------------------------- constraints
def test_edges_known_beforehand():
    space = Graphs(NODES)
    for include in (
        [("b", "a"), ("c", "a")],
        {("a", "b"), ("a", "c")},
        [["b", "a"], ["a", "c"]],
        [frozenset("ab"), frozenset("ac")],
        nx.star_graph(["a", "b", "c"]),
        np.array([True, True, False]),
        np.array([[1, 1, 0]]),
    ):
        assert_array_equal(space.restrict(include=include).constraints_.low, [[True, True, False]])
    by_row = space.restrict(exclude=[[("b", "a")], []])
    assert_array_equal(by_row.constraints_.high, [[False, True, True], [True, True, True]])
    graphs = space.restrict(exclude=[nx.Graph([("b", "a")]), nx.Graph()])
    assert_array_equal(graphs.constraints_.high, by_row.constraints_.high)
    assert space.restrict(include=[], exclude=None).size() == 8


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ([("a", "z")], "include holds the node 'z'"),
        ([[("a", "z")], []], r"include\[0\] holds the node 'z'"),
        (("a", "b"), "include is a list of pairs of nodes"),
        ([("a", "a")], "include holds the self-loop"),
        ("ab", "got the text 'ab'"),
        (3, "got 3"),
    ],
)
def test_unknown_edges(include, message):
    with pytest.raises(ValueError, match=message):
        Graphs(NODES).restrict(include=include)


# ------------------------------------------------------------------- learners
FORMS = {
    "sets": lambda pairs: [set(row) for row in pairs],
    "lists": lambda pairs: pairs,
    "networkx": lambda pairs: [nx.Graph(row) for row in pairs],
    "array": lambda pairs: Graphs(NODES).validate(pairs),
    "adjacency": lambda pairs: np.array(
        [nx.to_numpy_array(nx.Graph([*row, *row]), nodelist=NODES) for row in pairs], dtype=int
    ),
}


@pytest.mark.parametrize("format", FORMS)
@pytest.mark.parametrize("learner", [ConditionalRiskMinimizer, StructuredSVM])
def test_learners(format, learner):
    """Trees that change with the sign of x are learned, and come back in the user's format."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 1, (30, 1)) * np.where(np.arange(30) % 2, 1.0, -1.0)[:, None]
    left, right = [("a", "b"), ("b", "c")], [("a", "c"), ("b", "c")]
    Y = FORMS[format]([right if x > 0 else left for x in X[:, 0]])
    model = learner(space=Graphs(NODES, property="acyclic"), kernel="linear").fit(X, Y)
    found = model.predict(np.array([[0.8], [-0.8]]))
    assert_array_equal(model.space_.validate(found), [[0, 1, 1], [1, 0, 1]])
    assert type(found[0]) is type(Y[0])
    assert model.score(X, Y) == 0
    fixed = model.predict(np.array([[0.8]]), restrict={"exclude": [("c", "a")]})
    assert_array_equal(model.space_.validate(fixed)[0, 1], 0)


def test_f_measure_of_edges():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    model = ConditionalRiskMinimizer(space=Graphs(3), loss=F1(), kernel="rbf").fit(X, Y)
    assert model.predict(X).shape == (4, 3)
    with pytest.raises(ValueError, match="sized indicators"):
        ConditionalRiskMinimizer(
            space=Graphs(3, property="acyclic"), loss="f1", smoother="kernel_ridge"
        ).fit(X, Y)


@pytest.mark.parametrize("directed", [True, False])
def test_edges_as_arrays_of_pairs(directed):
    """Numbers of nodes, and texts; one list of edges for all rows, or one for each."""
    for names in (range(4), "abcd"):
        space = Graphs(list(names), directed)
        pairs = [(names[0], names[1]), (names[2], names[3])]
        expected = space.restrict(include=pairs).constraints_
        found = space.restrict(include=np.array(pairs)).constraints_
        assert_array_equal(found.low, expected.low)
        by_row = space.restrict(exclude=np.array([pairs[:1], pairs[1:]])).constraints_
        assert_array_equal(
            by_row.high, space.restrict(exclude=[pairs[:1], pairs[1:]]).constraints_.high
        )
    bits = np.eye(len(Graphs(4, directed).labels_), dtype=int)
    assert_array_equal(Graphs(4, directed).restrict(include=bits).constraints_.low, bits)


def test_one_pair_is_no_list_of_pairs():
    for pair in (("a", "b"), ["b", "a"], {"a", "b"}):
        with pytest.raises(ValueError, match=r"exclude is a list of pairs of nodes; .*\[\('"):
            Graphs(list("abc")).restrict(exclude=pair)
    squares = [(0, 1), (1, 0), (0, 0)]
    space = Graphs(squares).restrict(include=[(squares[0], squares[1])])
    assert space.constraints_.low.tolist() == [[True, False, False]]


def test_adjacency_lists_of_lists():
    rows = [[[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]]]
    space = Graphs().fit(rows)
    assert space.nodes_ == (0, 1, 2)
    assert_array_equal(space.restore(space.validate(rows)), rows)
    edges = [[[0, 1], [1, 2]]]  # two lists of two: edges
    assert Graphs().fit(edges).nodes_ == (0, 1, 2)
    for Y in (None, 3):
        with pytest.raises(ValueError, match=f"expects a list of graphs, one per sample; got {Y}"):
            Graphs(3).fit(Y)
