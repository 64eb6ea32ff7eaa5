# SPDX-License-Identifier: BSD-3-Clause
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import ZeroOne, pair
from skstruct.spaces.graph_nodes.space import GraphNodes
from skstruct.testing import check_space

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])


@pytest.mark.parametrize(
    "graph",
    [
        PATH,
        sparse.coo_array(PATH),
        nx.grid_2d_graph(2, 2),
        nx.Graph([("a", "b")]),
        nx.MultiGraph([(1, 2), (1, 2)]),
        pd.DataFrame(PATH, index=["x", "y", "z"], columns=["x", "y", "z"]),
        np.zeros((2, 2)),
    ],
)
def test_graph_nodes(graph):
    names = list(graph.nodes) if hasattr(graph, "nodes") else None
    names = (
        list(getattr(graph, "columns", range(np.shape(graph)[0] if names is None else 0))) or names
    )
    space = GraphNodes(graph).fit(names[:1])
    assert list(space.restore(np.arange(len(names)))) == names
    check_space(space, np.arange(len(names)), n_draws=2000)


def test_weights_of_networkx_are_read():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", weight=9.0)  # self-loops are left out
    graph.add_node("alone")
    adjacency = GraphNodes(graph).fit(["a"]).adjacency_.toarray()
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 2.5
    expected[1, 2] = expected[2, 1] = 1.0
    assert_array_equal(adjacency, expected)
    twice = nx.MultiGraph([(0, 1), (0, 1)])
    assert_array_equal(GraphNodes(twice).fit([0]).adjacency_.toarray(), [[0, 2], [2, 0]])


def test_own_names_and_types_come_back():
    space = GraphNodes(nx.grid_2d_graph(2, 2)).fit([(0, 0)])
    Y = [(1, 1), (0, 1)]
    assert space.restore(space.validate(Y)).tolist() == Y
    series = pd.Series(["b", "a"], index=[5, 6], name="where", dtype="category")
    space = GraphNodes(nx.Graph([("a", "b")])).fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)
    numbers = GraphNodes(PATH).fit(np.array([[2], [0]]))
    assert_array_equal(numbers.restore(numbers.validate(np.array([2, 0]))), [2, 0])


def test_nodes_never_seen_in_training_may_be_predicted():
    space = GraphNodes(PATH).fit([0])
    assert space.argmin(np.array([[0.0, 0.0, -1.0]])).outputs.tolist() == [2]
    view, _ = pair(ZeroOne(candidates=[0, 1]), space, np.array([0]))
    assert view.argmin(np.array([[0.0, -0.5, -1.0]])).outputs.tolist() == [1]


def test_clone_and_learn():
    model = ConditionalRiskMinimizer(GraphNodes(nx.path_graph(4)), "zero_one", alpha=1e-3)
    X = np.arange(4.0)[:, None]
    assert_array_equal(clone(model).fit(X, [3, 2, 1, 0]).predict(X), [3, 2, 1, 0])


def test_mesh_of_a_regular_triangle_and_an_obtuse_pair():
    triangle = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
    space = GraphNodes.from_mesh(triangle, [[0, 1, 2]]).fit([0])
    assert_allclose(space.adjacency_.toarray(), (1 - np.eye(3)) / np.tan(np.pi / 3) / 2)
    kite = np.array([[0, 0, 0], [4, 0, 0], [2, 1, 0], [2, -1, 0]])  # angles above 90 degrees
    weights = GraphNodes.from_mesh(kite, [[0, 1, 2], [1, 0, 3]]).fit([0]).adjacency_.toarray()
    assert weights[0, 1] == 0
    assert_allclose(weights[0, 2], 1.0)  # (cot(angle at 1) = 2) / 2, one triangle only


@pytest.mark.parametrize(
    ("points", "faces", "message"),
    [
        ([[0, 0], [1, 1], [2, 2]], [[0, 1, 2]], "Face 0 .* without area"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 3]], r"Face 0 is \[0, 1, 3\]; there are 3 points"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1]], "triples"),
        ([0, 1], [[0, 1, 2]], "finite points"),
    ],
)
def test_bad_meshes(points, faces, message):
    with pytest.raises(ValueError, match=message):
        GraphNodes.from_mesh(points, faces)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1)]), "directed; give graph.to_undirected"),
        ([[0, 1], [2, 0]], r"not symmetric: entry \[0, 1\] is 1 and \[1, 0\] is 2"),
        ([[0, -1], [-1, 0]], r"that of \(0, 1\) is -1"),
        ([[0, np.nan], [np.nan, 0]], r"that of \(0, 1\) is nan"),
        (np.zeros((2, 3)), r"square adjacency matrix; got shape \(2, 3\)"),
        (nx.Graph(), r"shape \(0, 0\)"),
        (nx.Graph([("u", "v", {"weight": -2.0})]), r"that of \('u', 'v'\) is -2"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=["a", "b"]), "name different nodes"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        GraphNodes(graph).fit([0])


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (["left", "midle"], r"Y\[1\] is the node 'midle'.*'middle'"),
        ([], "no rows"),
        ([["left"], ["right"]], r"Y\[0\] is the node \['left'\]"),
        (np.zeros((2, 2)), r"one node per sample; Y has shape \(2, 2\)"),
    ],
)
def test_bad_nodes(Y, message):
    with pytest.raises(ValueError, match=message):
        GraphNodes(PATH, labels=["left", "middle", "right"]).fit(Y)


def test_bad_labels():
    with pytest.raises(ValueError, match="each of 3 nodes; got 2"):
        GraphNodes(PATH, labels=["a", "b"]).fit(["a"])
    with pytest.raises(ValueError, match="'a' is listed twice"):
        GraphNodes(PATH, labels=["a", "b", "a"]).fit(["a"])
    with pytest.raises(ValueError, match="leave out labels"):
        GraphNodes(nx.path_graph(2), labels=[1, 2]).fit([1])
    assert GraphNodes(PATH).validate([0]).tolist() == [0]  # the graph names its nodes
