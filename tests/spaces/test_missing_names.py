# SPDX-License-Identifier: BSD-3-Clause
"""None, NaN and NA stand for what is not known: no space takes them for a name."""

import numpy as np
import pandas as pd
import pytest

from skstruct import ConditionalRiskMinimizer, CountingRidge, OutputKernelRegressor
from skstruct.rankings import ranks_from_orders
from skstruct.spaces import (
    BinaryPolytope,
    Box,
    Candidates,
    Classes,
    Cliques,
    Cycles,
    Flows,
    GraphNodes,
    Graphs,
    Hierarchy,
    Interval,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Polytope,
    Poset,
    Rankings,
    Sequences,
    Simplex,
    SpanningTrees,
    Sphere,
    Strings,
    Tournaments,
)
from skstruct.spaces.common.formats import is_missing_name

MISSING = [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT]
PATH = np.array([[0, 1], [1, 0]])
# By space: outputs of which row 1 holds something missing.
OUTPUTS = {
    "classes": lambda bad: (Classes(), ["a", bad, "b"]),
    "classes, array": lambda bad: (Classes(), np.array(["a", bad, "b"], dtype=object)),
    "classes, series": lambda bad: (Classes(), pd.Series(["a", bad, "b"], dtype=object)),
    "classes, given": lambda bad: (Classes(["a", "b"]), ["a", bad]),
    "candidates": lambda bad: (Candidates(["a", "b"]), ["a", bad]),
    "nodes": lambda bad: (GraphNodes(PATH, labels=["a", "b"]), ["a", bad]),
    "labels": lambda bad: (LabelSets(), [["a"], [bad, "a"]]),
    "labels, sets": lambda bad: (LabelSets(), [{"a"}, {bad}]),
    "labels, series": lambda bad: (LabelSets(), pd.Series([["a"], ["a", bad]])),
    "labels, given": lambda bad: (LabelSets(["a"]), [["a"], [bad, "a"]]),
    "labels, no row": lambda bad: (LabelSets(), [["a"], bad]),
    "hierarchy": lambda bad: (Hierarchy([("a", "b")]), [["a"], [bad]]),
    "polytope of labels": lambda bad: (BinaryPolytope([[1, 1]], [1], labels="ab"), [["a"], [bad]]),
    "pairwise": lambda bad: (PairwiseLabels("full"), [["a"], ["b", bad]]),
    "states": lambda bad: (PairwiseStates("full"), [["a", "b"], ["b", bad]]),
    "cliques": lambda bad: (Cliques(), [{"a", "b"}, {"b", bad}]),
    "rankings": lambda bad: (Rankings(), [["a", "b"], ["b", bad]]),
    "rankings, ties": lambda bad: (Rankings(), [["a", "b"], ["a", ["b", bad]]]),
    "rankings, series": lambda bad: (Rankings(), pd.Series([["a", "b"], ["b", bad]])),
    "rankings, no row": lambda bad: (Rankings(), [["a", "b"], bad]),
    "sequences": lambda bad: (Sequences(), [["a", "b"], ["b", bad]]),
    "sequences, given": lambda bad: (Sequences("ab"), [["a", "b"], ["b", bad]]),
    "sequences, array": lambda bad: (Sequences(), np.array([["a", "b"], ["b", bad]], dtype=object)),
    "strings": lambda bad: (Strings(), [["a", "b", "c"], ["b", bad, "c"]]),
    "ordinal": lambda bad: (Ordinal(), [1, bad, 2]),
    "ordinal, given": lambda bad: (Ordinal(["low", "high"]), ["low", bad]),
    "poset": lambda bad: (Poset([("a", "b")]), ["a", bad]),
    "matchings": lambda bad: (Matchings(), [[("a", "b")], [("a", bad)]]),
    "trees": lambda bad: (SpanningTrees(), [[("a", "b")], [("a", bad)]]),
    "cycles": lambda bad: (Cycles(), [["a", "b", "c"], ["a", "b", bad]]),
    "cycles, arcs": lambda bad: (
        Cycles(),
        [[("a", "b"), ("b", "c"), ("c", "a")], [("a", "b"), ("b", bad), (bad, "a")]],
    ),
    "graphs": lambda bad: (Graphs(), [[("a", "b")], [("a", bad)]]),
    "tournaments": lambda bad: (Tournaments(), [[("a", "b")], [("a", bad)]]),
    "partial orders": lambda bad: (PartialOrders(), [[("a", "b")], [("a", bad)]]),
    "partial orders, ranked": lambda bad: (PartialOrders(), [["a", "b"], ["a", bad]]),
    "interval": lambda bad: (Interval(), [1.0, bad]),
    "box": lambda bad: (Box(), [[1.0, 2.0], [1.0, bad]]),
    "simplex": lambda bad: (Simplex(), [[1.0, 0.0], [1.0, bad]]),
    "sphere": lambda bad: (Sphere(), [[1.0, 0.0], [1.0, bad]]),
    "polytope": lambda bad: (Polytope([[1, 1]], [1]), [[1.0, 0.0], [1.0, bad]]),
    "flows": lambda bad: (
        Flows([("s", "t")], {"s": 1, "t": -1}),
        [{("s", "t"): 1.0}, {("s", "t"): bad}],
    ),
}
NAMES = {
    "classes": lambda bad: Classes(["a", bad]),
    "candidates": lambda bad: Candidates(["a", bad]),
    "nodes": lambda bad: GraphNodes(PATH, labels=["a", bad]),
    "labels": lambda bad: LabelSets(["a", bad]),
    "hierarchy": lambda bad: Hierarchy([("a", bad)]),
    "hierarchy, labels": lambda bad: Hierarchy([("a", "b")], labels=["a", "b", bad]),
    "polytope of labels": lambda bad: BinaryPolytope(labels=["a", bad]),
    "pairwise": lambda bad: PairwiseLabels("full", ["a", bad]),
    "states": lambda bad: PairwiseStates("full", ["a", bad], ["x", "y"]),
    "labels of states": lambda bad: PairwiseStates("full", ["a", "b"], ["x", bad]),
    "cliques": lambda bad: Cliques(["a", bad]),
    "rankings": lambda bad: Rankings(["a", bad]),
    "sequences": lambda bad: Sequences(["a", bad], length=2),
    "strings": lambda bad: Strings(["a", bad], length=2),
    "ordinal": lambda bad: Ordinal(["a", bad]),
    "poset": lambda bad: Poset([("a", bad)]),
    "matchings": lambda bad: Matchings(["a", bad]),
    "trees": lambda bad: SpanningTrees(["a", bad]),
    "cycles": lambda bad: Cycles(["a", "b", bad]),
    "graphs": lambda bad: Graphs(["a", bad]),
    "tournaments": lambda bad: Tournaments(["a", bad]),
    "partial orders": lambda bad: PartialOrders(["a", bad]),
    "box": lambda bad: Box(0, 1, labels=["a", bad]),
    "simplex": lambda bad: Simplex(labels=["a", bad]),
    "sphere": lambda bad: Sphere(labels=["a", bad]),
    "polytope": lambda bad: Polytope([[1, 1]], [1], labels=["a", bad]),
    "flows": lambda bad: Flows([("s", bad)], {"s": 0}),
}


@pytest.mark.slow
@pytest.mark.parametrize("bad", MISSING, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("name", OUTPUTS)
def test_the_row_of_something_missing_is_named(name, bad):
    space, outputs = OUTPUTS[name](bad)
    with pytest.raises(ValueError, match=r"Y\[1[,\]]"):
        space.fit(outputs).validate(outputs)


@pytest.mark.parametrize("bad", MISSING, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_missing_is_given_as_a_name(name, bad):
    with pytest.raises(ValueError, match=r"missing value|equals nothing|cannot be|not labels"):
        NAMES[name](bad).argmin(np.zeros((1, 2)))


def test_what_is_missing():
    assert all(map(is_missing_name, [*MISSING, np.datetime64("NaT")]))
    there = ["", "nan", "None", 0, 0.0, False, np.int64(0), np.float64(1), (), (None,), object()]
    assert not any(map(is_missing_name, [*there, np.str_("a"), np.zeros(2), pd.Series([1, 2])]))


def test_numbers_of_numpy_are_labels():
    """In an array of objects they were taken for missing: their == gives no bool of Python."""
    labels = np.array([np.int64(1), "a", np.float64(2.5)], dtype=object)
    space = Classes().fit(labels)
    assert space.restore(space.validate(labels)).tolist() == [1, "a", 2.5]


def test_rankings_without_a_rank_are_still_partial():
    """A rank that is missing says that the item was not ranked: that is no name."""
    ranks = Rankings().fit([[1, 2, None], [2, 1, 3]]).validate([[1, 2, None]])
    np.testing.assert_array_equal(ranks, [[1, 2, np.nan]])
    with pytest.raises(ValueError, match="missing value"):
        ranks_from_orders([["a", None]])


GAPS = {
    "table": (LabelSets("abc"), [[0, 1, 0], [1, 1, 0]], [[0.0, np.nan, 0.0], [1.0, 1.0, 0.0]]),
    "names": (LabelSets("abc"), [["a"], ["b"]], [None, ["b"]]),
    "classes": (Classes(["a", "b"]), ["a", "b"], [None, "b"]),
    "levels": (Ordinal([1, 2]), [1, 2], [None, 2]),
    "symbols": (Sequences("abc"), [["a", "b"], ["b", "c"]], [["a", None], ["b", "c"]]),
    "numbers": (Box(), [[0.5, 1.0], [1.0, 0.0]], [[np.nan, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("case", GAPS)
@pytest.mark.parametrize("door", ["certify", "CountingRidge", "OutputKernelRegressor", "includes"])
def test_every_door_says_that_values_are_missing(case, door):
    """Or learns from what there is; nobody is sent to another space."""
    space, whole, gaps = GAPS[case]
    X, y, gaps = np.arange(20.0)[:, None], whole * 10, np.array(gaps * 10, dtype=object).tolist()
    gaps = np.array(gaps, dtype=float) if case in ("table", "numbers") else gaps
    y = np.array(y) if case in ("table", "numbers") else y
    gaps = [list(row) for row in gaps] if case == "symbols" else gaps
    model = ConditionalRiskMinimizer(space, alpha=1.0).fit(X, y)
    doors = {
        "certify": lambda: model.certify(X, gaps),
        "CountingRidge": lambda: CountingRidge(space).fit(X, gaps),
        "OutputKernelRegressor": lambda: OutputKernelRegressor(space).fit(X, gaps),
        "includes": lambda: model.space_.validate(gaps),  # as PredictionSets reads them
    }
    with pytest.raises(
        ValueError, match=r"missing in 10 rows of Y \(0, 2, 4, ...\): leave"
    ) as told:
        doors[door]()
    assert "Use Classes" not in str(told.value)
