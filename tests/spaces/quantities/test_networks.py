# SPDX-License-Identifier: BSD-3-Clause
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skstruct.spaces.quantities.networks import read_network, read_supply, tight_cut

DIAMOND = [("s", "a", 1.0), ("s", "b"), ("a", "t"), ("b", "t", 0.5)]


def test_lists_and_graphs_are_read_alike():
    graph = nx.DiGraph()
    for tail, head, *capacity in DIAMOND:
        graph.add_edge(tail, head, **({"capacity": capacity[0]} if capacity else {}))
    listed, drawn = read_network(DIAMOND), read_network(graph)
    assert set(listed.arcs) == set(drawn.arcs)
    by_arc = dict(zip(drawn.arcs, drawn.capacity))
    assert [by_arc[arc] for arc in listed.arcs] == listed.capacity.tolist()
    expected = -nx.incidence_matrix(graph, nodelist=drawn.nodes, edgelist=drawn.arcs, oriented=True)
    np.testing.assert_array_equal(drawn.incidence.toarray(), expected.toarray())


def test_parallel_arcs_have_keys():
    graph = nx.MultiDiGraph([("a", "b"), ("a", "b")])
    assert read_network(graph).arcs == (("a", "b", 0), ("a", "b", 1))
    assert read_network([("a", "b"), ("a", "b", 2.0)]).arcs == (("a", "b", 0), ("a", "b", 1))


def test_demands_of_nodes_are_read():
    graph = nx.DiGraph([("s", "t")])
    graph.nodes["s"]["demand"] = -3
    np.testing.assert_array_equal(read_network(graph).demand, [-3, 0])


def test_supplies_in_every_format():
    network = read_network(DIAMOND)
    expected = np.array([1.0, 0, 0, -1])  # s a b t, as they come
    assert network.nodes == ("s", "a", "b", "t")
    np.testing.assert_array_equal(read_supply({"t": -1, "s": 1}, network), expected)
    np.testing.assert_array_equal(read_supply(pd.Series({"t": -1, "s": 1}), network), expected)
    np.testing.assert_array_equal(read_supply(expected, network), expected)
    frame = pd.DataFrame([expected, 2 * expected], columns=network.nodes)[["t", "s", "b", "a"]]
    np.testing.assert_array_equal(read_supply(frame, network), [expected, 2 * expected])


@pytest.mark.parametrize(
    ("graph", "supply", "message"),
    [
        (nx.Graph([("a", "b")]), None, "give a directed graph"),
        ([], None, "no arcs"),
        (["ab"], None, "arc 0 is 'ab'"),
        ([("a", "b", -1)], None, r"capacity of arc \('a', 'b'\) is -1"),
        ([("a", "b", np.nan)], None, "is nan"),
        ([("a", "b", "much")], None, "capacities are numbers"),
        (DIAMOND, {"x": 1}, "supply names 'x'; known are"),
        (DIAMOND, {"s": 1, "t": -2}, "row 0 add up to -1, not to zero"),
        (DIAMOND, [1.0, 0, 0], "got shape .3,."),
        (DIAMOND, {"s": np.nan}, "supply of 's' is nan"),
        ([("a", "b"), ("c", "d")], {"a": 1, "d": -1}, r"add up to 1 in the part .* 'a', 'b'"),
    ],
)
def test_clear_errors(graph, supply, message):
    with pytest.raises(ValueError, match=message):
        read_supply(supply, read_network(graph))


def test_the_cut_that_is_too_narrow_is_named():
    network = read_network(DIAMOND)
    supply = read_supply({"s": 2, "t": -2}, network)
    capacity = np.minimum(network.capacity, 2.0)
    said = tight_cut(network, supply, capacity)
    assert (
        said == "the nodes 's', 'b' must send out 2, and the arcs that leave them carry at most 1.5"
    )
    assert tight_cut(network, supply / 2, capacity) is None
