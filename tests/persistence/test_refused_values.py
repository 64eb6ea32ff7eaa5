# SPDX-License-Identifier: BSD-3-Clause
"""Single values of a model file: what is none of ours is refused in words, all else comes back."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.exceptions import ModelFileError
from skstruct.persistence.budget import Budget
from skstruct.persistence.decoding import DEEPEST, LONGEST, MOST_DIGITS, Decoder
from skstruct.persistence.encoding import Encoder

ARRAYS = {
    "floats": np.array([0.5, 1.5]),
    "words": np.array(["a", "b"]),
    "table": np.zeros((2, 2)),
    "letters": np.frombuffer(b"abcd", np.uint8),
    "long": np.array([1, 4]),
    "back": np.array([5, -1]),
    "turning": np.array([2**62, 2**62, 2**62, 2**62 + 4]),
    "columns": np.array([0, 1], np.int32),
    "outside": np.array([0, 7], np.int32),
    "starts": np.array([0, 1, 2], np.int32),
    "falling": np.array([0, 3, 2], np.int32),
    "short": np.array([0, 1], np.int16),
}


def read(node, objects=()):
    return Decoder(list(objects), ARRAYS, Budget(10**6, 10**9)).value(node)


def back(value):
    encoder = Encoder()
    node = encoder.node(value, "model")
    return Decoder(encoder.objects, encoder.arrays, Budget(10**6, 10**9)).value(node)


def nested(depth):
    node = 1
    for _ in range(depth):
        node = {"list": [node]}
    return node


@pytest.mark.parametrize(("node", "said"), [
    (float("inf"), "a number that is too large"),
    ([1, 2], "a value of an unknown form"),
    ({"list": [], "tuple": []}, "a value of an unknown form"),
    (nested(DEEPEST + 2), "a value of an unknown form"),
    ({"pickle": "gANLAS4="}, "a value of the unknown kind 'pickle'"),
    ({"list": {"things": "floats"}}, "items of an unknown form"),
    ({"list": {"numbers": "words"}}, "a list of numbers that is none"),
    ({"list": {"numbers": "table"}}, "a list of numbers that is none"),
    ({"list": {"texts": ["floats", "long"]}}, "texts that are none"),
    ({"list": {"texts": ["letters", "floats"]}}, "texts that are none"),
    ({"list": {"texts": ["letters", "back"]}}, "texts that are none"),
    ({"list": {"texts": ["letters", "long"]}}, "texts that do not add up"),
    ({"list": {"texts": ["letters", "turning"]}}, "texts that do not add up"),
    ({"array": "missing"}, "an array 'missing' that is not there"),
    ({"array": ["floats"]}, "that is not there"),
    ({"ref": 0}, "a reference to an object that has not come yet"),
    ({"ref": -1}, "a reference to an object that has not come yet"),
    ({"ref": True}, "a reference to an object that has not come yet"),
    ({"objects": {"items": [1, 2], "shape": [-1]}}, "an array of an impossible shape"),
    ({"objects": {"items": [1, 2], "shape": [2.0]}}, "an array of an impossible shape"),
    ({"objects": {"items": [], "shape": [0], "later": 1}}, "objects with other fields"),
    ({"objects": {"items": [1]}}, "objects with other fields"),
    ({"range": [0, "9", 1]}, "a range that is none"),
    ({"range": [0, 2 * LONGEST, 1]}, "a range that is too long"),
    ({"range": [2 * LONGEST, 0, -1]}, "a range that is too long"),
    ({"scalar": ["|O", 1]}, "a number of no kind"),
    ({"times": ["floats", "<M8[s]"]}, "times that are none"),
    ({"times": ["long", "<i8"]}, "times that are none"),
    ({"dtype": "V8"}, "a dtype that is none"),
    ({"dtype": ["<f8"]}, "a dtype that is none"),
    ({"int": 12}, "a whole number that is none"),
    ({"int": "f" * (MOST_DIGITS + 1)}, "a whole number that is none"),
    ({"float": "1.5"}, "a number that is none"),
    ({"slice": [0, 1.5, None]}, "a slice that is none"),
])  # fmt: skip
def test_values_that_are_none(node, said):
    with pytest.raises(ModelFileError, match=said):
        read(node)


@pytest.mark.parametrize("node", [
    {"scalar": ["<f8", 1.5, {"later": 1}]}, {"times": ["long", "<M8[s]", {"later": 1}]},
])  # fmt: skip
def test_nothing_stands_behind_the_last_part(node):
    with pytest.raises(ValueError, match="too many values to unpack"):  # load_model says it
        read(node)


@pytest.mark.parametrize("entry", [
    {"class": "LabelSets"}, {"class": "LabelSets", "state": []}, {"value": 1, "state": {}}, {},
])  # fmt: skip
def test_entries_that_are_none(entry):
    with pytest.raises(ModelFileError, match="an entry of the table that is none"):
        Decoder([entry], {}, Budget(10**6, 10**9))


def test_a_table_of_objects_is_a_list():
    with pytest.raises(ModelFileError, match="a table of objects that is none"):
        Decoder({"value": 1}, {}, Budget(10**6, 10**9))


@pytest.mark.parametrize("value", [
    np.datetime64("2024-02-29T12", "h"), np.timedelta64(-3, "D"), np.datetime64("NaT", "s"),
])  # fmt: skip
def test_times_come_back(value):
    found = back(value)
    assert found.dtype == value.dtype
    assert_array_equal(found, value)


# ------------------------------------------------------------------ of other libraries
def compressed(**changes):
    return {"sparse": {
        "array": True, "format": "csr", "kept": "csr", "shape": [2, 2],
        "data": {"array": "floats"}, "indices": {"array": "columns"},
        "indptr": {"array": "starts"}, **changes,
    }}  # fmt: skip


def series(**changes):
    return {"pandas": {
        "kind": "Series", "values": {"list": [1, 2]}, "dtype": {"dtype": "<i8"}, "name": None,
        "index": {"pandas": {"kind": "RangeIndex", "range": {"range": [0, 2, 1]}, "name": None}},
        **changes,
    }}  # fmt: skip


def graph(**changes):
    return {"graph": {
        "kind": "Graph", "nodes": {"list": [{"tuple": ["a", {"dict": [[], []]}]}]},
        "edges": {"list": []}, "attributes": {"dict": [[], []]}, **changes,
    }}  # fmt: skip


def test_what_is_broken_below_is_whole_without_that():
    assert_array_equal(read(compressed()).toarray(), [[0.5, 0.0], [0.0, 1.5]])
    assert read(series()).tolist() == [1, 2]
    assert list(read(graph()).nodes) == ["a"]


@pytest.mark.parametrize(("node", "said"), [
    (compressed(kept="coo"), "a sparse array of an unknown form"),
    (compressed(array={"later": {"ref": 0}}), "neither array nor matrix: got {'later'"),
    (compressed(array=1), "neither array nor matrix: got 1"),
    (compressed(format={"later": 1}), "a sparse array of an unknown form"),
    (compressed(later=1), r"a sparse array with other fields than it has: .*got \[.*'later'"),
    (compressed(shape=[2, 2, 2]), "a sparse array of an unknown form"),
    (compressed(format="npz"), "a sparse array of an unknown form"),
    (compressed(shape=[2, -2]), "a sparse array of an impossible shape"),
    (compressed(shape=[2, 2.0]), "a sparse array of an impossible shape"),
    (compressed(data={"array": "words"}), "a sparse array that is not one"),
    (compressed(data={"array": "table"}), "a sparse array that is not one"),
    (compressed(indices={"list": [0, 1]}), "a sparse array that is not one"),
    (compressed(indices={"array": "short"}), "no 32 or 64 bit numbers"),
    (compressed(indices={"array": "outside"}), "indices outside of it"),
    (compressed(indptr={"array": "falling"}), "indices outside of it"),
    (compressed(shape=[3, 2]), "indices outside of it"),
    (series(kind="ExcelFile"), "a thing of pandas, 'ExcelFile', that is not known"),
    (series(index={"pandas": {"kind": "RangeIndex", "range": {"list": [0, 1]}, "name": None}}),
     "an index of a range that is none"),
    (series(later=1), "a Series of pandas with other fields than it has"),
    (series(index={"list": [0, 1]}), "a table whose index does not fit"),
    (series(values={"list": [1]}), "a table whose index does not fit"),
    (series(values={"tuple": [1, 2]}), "a list that is none"),
    (series(dtype={"pandas": {"kind": "CategoricalDtype", "categories": {"list": ["a"]},
                              "ordered": False}}), "categories that are none"),
    (series(dtype={"dtype": "<U99"}), "a dtype of a column that is none"),
    (series(dtype="int64"), "a dtype of a column that is none"),
    ({"pandas dtype": "period[D]"}, r"a dtype of pandas, 'period\[D\]', that is not known"),
    (graph(later=1), "a graph with other fields than it has"),
    (graph(kind="MultiGraph"), "a graph 'MultiGraph' that is not known"),
    (graph(nodes={"list": [{"tuple": ["a"]}]}), "nodes or edges that are none"),
    (graph(edges={"list": [{"tuple": ["a", "b", 1.0]}]}), "nodes or edges that are none"),
])  # fmt: skip
def test_things_of_other_libraries_that_are_none(node, said):
    with pytest.raises(ModelFileError, match=said):
        read(node)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "dok", "lil"])
def test_sparse_forms_come_back(form):
    value = sparse.coo_array(([1.0, 2.0], ([0, 2], [1, 0])), shape=(3, 4)).asformat(form)
    found = back(value)
    assert found.format == form
    assert_array_equal(found.toarray(), value.toarray())


def test_tables_and_graphs_come_back():
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["letter", None])
    pd.testing.assert_index_equal(back(index), index, exact=True)
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan], "y": ["u", "v", "u"]}, index=index)
    frame["y"] = frame["y"].astype("category")
    pd.testing.assert_frame_equal(back(frame), frame)
    value = nx.DiGraph([("a", "b", {"weight": 2})], name="pair")
    found = back(value)
    assert type(found) is nx.DiGraph
    assert nx.utils.graphs_equal(found, value)
