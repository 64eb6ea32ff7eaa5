# SPDX-License-Identifier: BSD-3-Clause
"""Paths as users write them: what came in comes back."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal, assert_series_equal
from scipy import sparse

from skstruct.spaces import Description, ShortestPaths

ARCS = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
NODES = [["s", "a", "t"], ["s", "a", "b", "t"]]
ROWS = np.array([[1, 0, 0, 1, 0], [1, 0, 1, 0, 1]])


@pytest.fixture
def space():
    return ShortestPaths(ARCS, "s", "t")


def pairs(path):
    return list(itertools.pairwise(path))


@pytest.mark.parametrize("Y", [NODES, [tuple(p) for p in NODES], [pairs(p) for p in NODES]])
def test_lists_of_nodes_and_of_arcs(space, Y):
    Z = space.fit_validate(Y)
    assert_array_equal(Z, ROWS)
    assert Z.dtype == np.int8
    assert list(space.restore(Z)) == Y


def test_nodes_come_out_where_nothing_came_in(space):
    assert space.restore(ROWS).tolist() == NODES


def test_tables(space):
    assert_array_equal(space.fit(ROWS).restore(ROWS), ROWS)
    assert_array_equal(space.validate(ROWS.tolist()), ROWS)
    back = space.fit(sparse.csr_array(ROWS)).restore(ROWS)
    assert_array_equal(back.toarray(), ROWS)
    frame = pd.DataFrame(ROWS[:, ::-1], columns=ARCS[::-1], index=["x", "y"])
    Z = space.fit_validate(frame)
    assert_array_equal(Z, ROWS)
    assert_frame_equal(space.restore(Z, index=frame.index), frame)
    series = pd.Series(NODES, name="way", index=[3, 4])
    Z = space.fit_validate(series)
    assert_series_equal(space.restore(Z, index=series.index), series)


def test_nodes_that_are_numbers_or_pairs():
    numbers = ShortestPaths([(0, 1), (1, 2), (0, 2)], 0, 2)
    assert_array_equal(numbers.validate([[0, 1, 2], [0, 2]]), [[1, 1, 0], [0, 0, 1]])
    assert_array_equal(numbers.validate([[1, 1, 0], [0, 0, 1]]), [[1, 1, 0], [0, 0, 1]])
    assert_array_equal(numbers.validate(np.array([[0, 0, 1]])), [[0, 0, 1]])
    grid = ShortestPaths.grid(2, 2)
    path = [(0, 0), (0, 1), (1, 1)]
    assert_array_equal(grid.validate([path]), grid.validate([pairs(path)]))
    assert grid.fit([pairs(path)]).restore(grid.validate([path]))[0] == pairs(path)


def test_edges_without_direction_are_read_in_either():
    space = ShortestPaths(nx.Graph([("t", "a"), ("a", "s")]), "s", "t")
    assert_array_equal(space.validate([[("s", "a"), ("a", "t")]]), [[1, 1]])
    assert space.restore(np.array([[1, 1]]))[0] == ["s", "a", "t"]


@pytest.mark.parametrize(
    ("Y", "says"),
    [
        ([["s", "x", "t"]], r"Y\[0\] holds the node 'x'"),
        ([["s", "t"]], r"Y\[0\] holds \('s', 't'\), which is no arc"),
        ([["s", "a", "t"], ["a", "t"]], r"Y\[1\] is no simple path from 's' to 't' \(1 such row\)"),
        ([["s", "a", "s"]], r"Y\[0\] visits 's' twice"),
        ([[("s", "a"), ("s", "a")]], r"Y\[0\] takes \('s', 'a'\) twice"),
        ([{"s", "t"}], "expects a list of nodes, or of arcs"),
        ("sat", "expects a list of paths"),
        ([[], ["s", "a", "t"]], r"Y\[0\] has no nodes"),
        ([], "Y has no rows"),
        (np.array([[1, 0, 0, 1, 1]]), "is no simple path"),
        (np.array([[1, 0, 0, 2, 0]]), r"Y\[0, 3\] is"),
        (np.array([[1, 0, 0]]), r"\(n_samples, 5\)"),
    ],
)
def test_outputs_that_are_refused(space, Y, says):
    with pytest.raises(ValueError, match=says):
        space.validate(Y)


def test_parts_are_arcs_in_order_of_travel(space):
    parts = Description.of(space).parts_of(ROWS[1]).parts
    assert [part.name for part in parts] == [("s", "a"), ("a", "b"), ("b", "t")]
    assert Description.of(space).part_names() == tuple(ARCS)
