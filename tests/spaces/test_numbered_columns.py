# SPDX-License-Identifier: BSD-3-Clause
"""Labels that are whole numbers, beside arrays whose columns have none but their positions."""

import pickle

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.persistence import load_model, save_model
from skstruct.spaces import (
    Cliques,
    Flows,
    GraphNodes,
    Graphs,
    Hierarchy,
    Knapsacks,
    Matchings,
    PairwiseLabels,
    Poset,
    SpanningTrees,
)

EDGES = [(3, 1), (3, 0), (1, 2)]
Y = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]])
ABOVE = {child: parent for parent, child in EDGES}
GRAPHS = [EDGES, EDGES[::-1], networkx.DiGraph(EDGES), {3: None, **ABOVE}]
OTHERS = [[(7, 5), (7, 3), (5, 4)], {3: 7, 5: 7, 4: 5}, [(1, 2), (1, 3)], [(-1, 0)]]


@pytest.mark.parametrize("graph", GRAPHS, ids=["edges", "turned", "networkx", "mapping"])
def test_numbers_from_zero_are_the_columns(graph):
    space = Hierarchy(graph)
    assert space.labels_ == (0, 1, 2, 3)
    assert np.array_equal(space.fit_validate(Y), Y)
    closed = Hierarchy(graph, close=True).fit_validate(np.eye(4, dtype=int))
    assert closed.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1]]
    assert Poset(graph).labels_ == (0, 1, 2, 3)
    assert np.array_equal(Poset(graph).fit(Y[:3]).validate(Y[:3]), Y[:3])


@pytest.mark.parametrize("edges", OTHERS, ids=str)
@pytest.mark.parametrize("kind", [Hierarchy, Poset])
def test_other_numbers_ask_for_labels_beside_an_array(kind, edges):
    space = kind(edges)
    root = space.labels_[space.dag_.roots[0]]
    frame = pd.DataFrame([[int(name == root) for name in space.labels_]], columns=space.labels_)
    for again in (space, pickle.loads(pickle.dumps(space))):
        with pytest.raises(ValueError, match=r"say which column is which, labels=\[...\]"):
            again.fit(frame.to_numpy())
    expected = space.fit(frame).validate(frame)
    assert np.array_equal(space.validate(frame.iloc[:, ::-1]), expected)
    assert np.array_equal(space.validate([{root}]), expected)
    labels = sorted(space.labels_)
    table = frame[labels].to_numpy()
    assert np.array_equal(kind(edges, labels=labels).fit(table).validate(table), table)


def test_a_model_file_keeps_that_nobody_said_which_column_is_which(tmp_path):
    model = ConditionalRiskMinimizer(Hierarchy(OTHERS[0]), smoother="kernel_ridge", alpha=1.0)
    save_model(model.fit(np.eye(6), [{7}, {7, 5}] * 3), tmp_path / "tree.model")
    with pytest.raises(ValueError, match="say which column is which"):
        load_model(tmp_path / "tree.model").score(np.eye(6), np.ones((6, 4), int))


@pytest.mark.parametrize("kind", [Graphs, SpanningTrees, Matchings])
def test_rows_of_adjacency_are_those_of_the_numbers_of_nodes(kind):
    """In whatever order a graph mentions its nodes."""
    adjacency = np.zeros((1, 4, 4), int)
    edges = [(0, 1), (2, 3)] if kind is Matchings else [(0, 1), (1, 2), (2, 3)]
    for u, v in edges:
        adjacency[0, u, v] = adjacency[0, v, u] = 1
    graph = networkx.Graph([(3, 1), (2, 0), (1, 0), (2, 1), (3, 2), (3, 0)])
    space = kind(graph).fit(adjacency)
    [row] = space.validate(adjacency)
    assert {space.labels_[j] for j in np.flatnonzero(row)} == set(edges)
    assert np.array_equal(space.restore(row[None]), adjacency)


def test_nodes_of_a_graph_that_are_columns():
    graph = networkx.Graph([(2, 1), (1, 0)])
    for space in (Cliques(graph), PairwiseLabels(graph)):
        assert space.fit(np.array([[1, 1, 0]])).labels_ == (0, 1, 2)


def test_numbers_that_a_table_with_gaps_makes_floats():
    """Parents are floats where the root has none: they are whole numbers all the same."""
    table = pd.DataFrame({"parent": [3.0, 3.0, 1.0, np.nan], "child": [1, 0, 2, 3]})
    known = table.dropna().to_numpy().tolist()
    assert Hierarchy(known).labels_ == (0, 1, 2, 3)
    assert np.array_equal(Hierarchy(known).fit_validate(Y), Y)
    others = [(parent + 4, child + 4) for parent, child in known]
    with pytest.raises(ValueError, match=r"say which column is which, labels=\[...\]"):
        Hierarchy(others).fit(Y)
    assert Hierarchy([(1.5, 0.5)]).fit(np.array([[1, 0]])).labels_ == (1.5, 0.5)


@pytest.mark.parametrize("kind", [Hierarchy, Poset])
@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_of_edges_are_read_by_rows(kind, package):
    """Two edges of two columns were once taken for two columns of two edges."""
    for edges in ([("b", "a"), ("a", "c")], [*EDGES]):
        frame = pd.DataFrame(edges, columns=["parent", "child"])
        made = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
        space = kind(made[package](frame))
        assert space.labels_ == kind(edges).labels_
        assert space.dag_.parents.tolist() == kind(edges).dag_.parents.tolist()
    with pytest.raises(ValueError, match="a frame of edges has two columns"):
        assert kind(made[package](frame.assign(weight=1))).labels_


def test_texts_are_columns_in_the_order_in_which_they_appear():
    assert Hierarchy([("b", "a")]).fit(np.array([[1, 0]])).labels_ == ("b", "a")


def test_items_nodes_and_supplies_are_in_the_order_of_their_numbers():
    assert Knapsacks({2: 1.0, 0: 3.0, 1: 2.0}, 3).weights_.tolist() == [[3.0, 2.0, 1.0]]
    graph = networkx.Graph([(2, 1), (1, 0)])
    assert GraphNodes(graph, masses=[1.0, 2.0, 3.0]).fit([0]).labels_.tolist() == [0, 1, 2]
    arcs = [(2, 1), (1, 0)]
    for network in (arcs, networkx.DiGraph(arcs)):
        flow = Flows(network, [-1.0, 0.0, 1.0]).argmin(np.ones((1, 2)))  # from node 2 to node 0
        assert flow.outputs.tolist() == [[1.0, 1.0]]


def test_other_numbers_of_nodes_ask_for_names_beside_lists():
    """Their order would be that of appearance, which is nobody's."""
    arcs = [(7, 5), (5, 3)]
    flows = [Flows(network, [1.0, 0.0, -1.0]) for network in (arcs, networkx.DiGraph(arcs))]
    masses = GraphNodes(networkx.Graph(arcs), masses=[1.0, 2.0, 3.0])
    for space, remedy in [*((flow, "{node: amount}") for flow in flows), (masses, "{node: mass}")]:
        with pytest.raises(ValueError, match=f"numbers other than 0 to 2 .* give {remedy}"):
            space.fit([5] if space is masses else [[1.0, 1.0]])
    named = Flows(arcs, {7: 1.0, 3: -1.0})
    with pytest.raises(ValueError, match="supply has no names"):
        named.restrict(supply=np.array([[1.0, 0.0, -1.0]]))
    for supply in ({7: 1.0, 3: -1.0}, pd.DataFrame([[-1.0, 0.0, 1.0]], columns=[3, 5, 7])):
        assert named.restrict(supply=supply).argmin(np.ones((1, 2))).outputs.tolist() == [[1, 1]]
    demand = networkx.DiGraph(arcs)
    demand.nodes[7]["demand"], demand.nodes[3]["demand"] = -1, 1
    assert Flows(demand).argmin(np.ones((1, 2))).outputs.tolist() == [[1, 1]]
    heavy = GraphNodes(networkx.Graph(arcs), masses={3: 3.0, 5: 2.0, 7: 1.0}).fit([5])
    assert dict(zip(heavy.labels_.tolist(), heavy.masses_.tolist())) == {7: 1, 5: 2, 3: 3}


@pytest.mark.parametrize("kind", [Cliques, Graphs, SpanningTrees, Matchings])
def test_other_numbers_of_nodes_ask_for_their_order_beside_arrays(kind):
    graph = networkx.Graph([(7, 5), (5, 3), (3, 7)])
    array = np.array([[1, 0, 0] if kind is Matchings else [1, 1, 0]])
    with pytest.raises(ValueError, match=r"numbers other than 0 to 2 .* give nodes=\[...\]"):
        kind(graph).fit(array)
    said = kind([7, 5, 3])
    assert np.array_equal(said.fit(array).validate(array), array)
    named = {Cliques: [{7, 5}], Matchings: [[(7, 5)]]}.get(kind, [[(7, 5), (5, 3)]])
    assert set(kind(graph).fit(named).nodes_) == {3, 5, 7}
