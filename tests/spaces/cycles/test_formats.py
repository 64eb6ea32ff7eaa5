# SPDX-License-Identifier: BSD-3-Clause
"""Cycles in the user's own formats, and in the hands of learners."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from cycle_cases import steps
from skstruct import ConditionalRiskMinimizer
from skstruct.learners import StructuredSVM
from skstruct.spaces import Uniform
from skstruct.spaces.cycles.space import Cycles

# ----------------------------------------------------------------- the user's formats
TOURS = [["d", "b", "a"], ["c", "a", "b", "d"]]


def written(tours, how):
    return [how(steps(tour)) for tour in tours]


def test_lists_of_nodes_come_back_from_the_first_on():
    space = Cycles().fit(TOURS)
    assert space.nodes_ == tuple("abcd")
    Z = space.validate(TOURS)
    assert space.restore(Z).tolist() == [["a", "d", "b"], ["a", "b", "d", "c"]]
    assert_array_equal(space.tours(Z), [[0, 3, 1, -1], [0, 1, 3, 2]])
    both_ways = Cycles(directed=False).fit([tuple(tour) for tour in TOURS])
    Z = both_ways.validate(TOURS)
    assert both_ways.restore(Z).tolist() == [("a", "b", "d"), ("a", "b", "d", "c")]
    assert_array_equal(Z, both_ways.validate([tour[::-1] for tour in TOURS]))
    ordered = Cycles(list("dcba")).fit(TOURS)
    assert ordered.restore(ordered.validate(TOURS))[0] == ["d", "b", "a"]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("how", [set, frozenset, list, tuple, "networkx", "array", "adjacency"])
def test_edges_come_back_as_edges(directed, how):
    space = Cycles(list("abcd"), directed)
    Z = space.validate(TOURS)
    kind = nx.DiGraph if directed else nx.Graph
    if how == "array":
        Y = Z.astype(np.float32)
    elif how == "adjacency":
        graphs = [kind(steps(tour)) for tour in TOURS]
        Y = np.array([nx.to_numpy_array(g, nodelist="abcd", dtype=int) for g in graphs[1:]])
        Z = Z[1:]
    else:
        Y = written(TOURS, kind if how == "networkx" else how)
    space.fit(Y)
    assert_array_equal(space.validate(Y), Z)
    back = space.restore(Z)
    assert_array_equal(space.validate(back), Z)
    expected = kind if how == "networkx" else np.ndarray if how in ("array", "adjacency") else how
    assert isinstance(back[0], expected)
    if how == "array":
        assert back.dtype == np.float32


def test_numbers_are_nodes_or_indicators():
    space = Cycles().fit([[0, 2, 1], [1, 3, 2]])
    assert space.nodes_ == (0, 1, 2, 3)
    assert space.restore(space.validate(np.array([[2, 0, 3]])))[0] == [0, 3, 2]
    row = [1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]  # (0, 1), (1, 3) and (3, 0)
    assert space.tours(space.validate([row])).tolist() == [[0, 1, 3, -1]]
    assert_array_equal(space.validate([[0, 1, 2]]), space.validate([[1, 2, 0]]))
    triple = Cycles(3, False).fit([[1, 1, 1]])  # as many edges as nodes
    assert_array_equal(triple.validate([[0, 1, 2]]), [[1, 1, 1]])


def test_nodes_may_be_pairs():
    grid = [(0, 0), (0, 1), (1, 0), (1, 1)]
    space = Cycles(grid).fit([[(0, 0), (1, 1), (0, 1)]])
    assert space.restore(space.validate([[(1, 1), (1, 0), (0, 1)]]))[0] == [(0, 1), (1, 1), (1, 0)]
    edges = [[((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (0, 0))]]
    assert space.tours(space.validate(edges))[0].tolist() == [0, 1, 3, -1]


def test_series_come_back_with_name_and_index():
    series = pd.Series(TOURS, index=["x", "y"], name="tour")
    space = Cycles().fit(series)
    back = space.restore(space.validate(series), index=series.index)
    assert back.name == "tour"
    assert back.to_dict() == {"x": ["a", "d", "b"], "y": ["a", "b", "d", "c"]}


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([["a", "b", "c"], ["a", "b", "d", "b"]], r"Y\[1\] visits 'b' twice"),
        ([["a", "b", "c", "a"]], r"Y\[0\] ends at 'a', where it starts"),
        ([["a", "b"]], r"Y\[0\] visits 2 nodes; a cycle has at least 3"),
        ([["a", "b", "c"], []], r"Y\[1\] visits 0 nodes"),
        ([["a", "b", "k"]], r"Y\[0\] holds the node 'k'"),
        ([["a", "b", "c"], "abc"], r"Y\[1\] is 'abc'"),
        ([{"a", "b", "c"}], "no order of travel"),
        ([[("a", "b"), ("b", "a")]], "back and forth between 'a', 'b'"),
        ([[("a", "b"), ("b", "c")]], "comes to 'a' never and leaves it once"),
        ([[("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]], "leaves it twice"),
        ([np.zeros(30)], "has no arcs"),
        ([[("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "f"), ("f", "d")]],
         r"Y\[0\] is more than one cycle; one of them visits 'a', 'b', 'c'"),
        ([[("a", "k"), ("k", "b"), ("b", "a")]], "'k'"),
    ],
)  # fmt: skip
def test_what_is_no_cycle_says_why(Y, message):
    with pytest.raises(ValueError, match=message):
        Cycles(list("abcdef")).validate(Y)


def test_what_is_no_undirected_cycle_says_why():
    space = Cycles(list("abcd"), directed=False)
    star = [[("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")]]
    with pytest.raises(ValueError, match="has 3 edges at 'a'; a cycle has two"):
        space.validate(star)
    with pytest.raises(ValueError, match="has one edge at 'a'"):
        space.fit([[("a", "b")]])


# ----------------------------------------------------------------- learners
@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_margins_of_directions_with_a_loss_of_arcs(loss):
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((40, 3)), rng.standard_normal((3, 10))
    space = Cycles(5)
    Y = space.argmin(X @ W).outputs
    model = StructuredSVM(Cycles(5), loss=loss, alpha=0.001).fit(X, Y)
    # Always predicting the most frequent cycle would be wrong in most rows.
    assert (model.predict(X) == Y).all(axis=1).mean() > 0.8


def test_predictions_within_constraints():
    rng = np.random.default_rng(3)
    X, names = rng.standard_normal((30, 2)), list("abcde")
    space = Cycles(names)
    tours = space.tours(space.sample(30, 0))
    Y = [[names[node] for node in tour if node >= 0] for tour in tours]
    model = ConditionalRiskMinimizer(Cycles(names), alpha=0.1).fit(X, Y)
    found = model.predict(X[:2], restrict={"include": [["b"], ["c", "d"]], "max_size": [3, 4]})
    assert "b" in found[0]
    assert {"c", "d"} <= set(found[1])
    assert len(found[0]) == 3
    assert len(found[1]) <= 4
    assert found[0][0] == min(found[0])


@pytest.mark.parametrize("directed", [True, False])
def test_lists_of_adjacency_arrays(directed):
    space = Cycles(list("abcd"), directed=directed)
    Z = space.enumerate()[:3]
    arrays = Cycles(4, directed=directed).fit(np.zeros((1, 4, 4), int) + cyclic(directed))
    arrays = arrays.restore(Z)
    for Y in (list(arrays), arrays.tolist(), [array.tolist() for array in arrays]):
        for fitted in (clone(space).fit(Y), Cycles(directed=directed).fit(Y)):
            assert_array_equal(fitted.validate(Y), Z)
            assert_array_equal(fitted.restore(Z), arrays)


def cyclic(directed):
    """The adjacency array of a tour through four nodes."""
    there = np.roll(np.eye(4, dtype=int), 1, axis=1)
    return there if directed else there | there.T


def test_nodes_that_are_pairs():
    squares = [(0, 0), (0, 1), (1, 1)]
    with pytest.raises(ValueError, match="If nodes are pairs themselves, give nodes"):
        Cycles().fit([squares])
    with pytest.raises(ValueError, match=r"at least 3 nodes; there are 2\.$"):
        Cycles(2).size()
    space = Cycles([*squares, (1, 0)]).fit([squares])
    assert space.restore(space.validate([squares]))[0] == squares


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([None, ["a", "b", "c"]], r"in order of travel in each row; Y\[0\] is None"),
        ([["a", "b", "c"], 5], r"in order of travel in each row; Y\[1\] is 5"),
        ([["a", "b", "c"], "abc"], r"in order of travel in each row; Y\[1\] is 'abc'"),
        ([[1, 0, 1], [[1], 0, 1]], "a node must be hashable"),
        ([[1, 0, 1], None], r"Y\[1\] is None"),
        (None, "expects a list of graphs, one per sample; got None"),
        (5, "expects a list of graphs, one per sample; got 5"),
    ],
)
def test_what_is_no_list_of_tours(Y, message, directed):
    with pytest.raises(ValueError, match=message):
        Cycles(directed=directed).fit(Y)


def test_rows_that_are_missing_where_nodes_are_numbers():
    for Y, row in (([None, [0, 1, 2]], 0), ([[0, 1, 2], None], 1), ([[0, 1, 1], None], 1)):
        with pytest.raises(ValueError, match=rf"Y\[{row}\] is None"):
            Cycles(4).fit(Y)


@pytest.mark.parametrize("argument", ["min_size", "max_size"])
def test_sizes_of_no_row(argument):
    with pytest.raises(ValueError, match=f"{argument} is a number of nodes, or one per row"):
        Cycles(4).restrict(**{argument: []})


@pytest.mark.parametrize("ask", ["mean_embedding", "covariance", "second_moment"])
def test_moments_of_embeddings_that_are_wrong(ask):
    with pytest.raises(ValueError, match="signed pairs are of directed cycles"):
        getattr(Uniform.of(Cycles(4, directed=False, embedding="signed pairs")), ask)()
    for constraints in ({}, {"include": [0]}):
        with pytest.raises(ValueError, match="'signed pairs' or 'indicators'; got 'x'"):
            getattr(Uniform.of(Cycles(4, embedding="x").restrict(**constraints)), ask)()


def test_constraints_of_another_number_of_edges():
    constraints = Cycles(4).restrict(include=[0]).constraints
    with pytest.raises(ValueError, match="for 12 edges between 4 nodes; there are 6 between 4"):
        Cycles(4, directed=False, constraints=constraints).size()
