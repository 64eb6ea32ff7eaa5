# SPDX-License-Identifier: BSD-3-Clause
"""Missing cells of outputs: parts that are not known, read, described, written and learned."""

import numpy as np
import pytest

from skstruct.datasets import read_data, write_data
from skstruct.datasets.dataset import description
from skstruct.exceptions import DataFormatError
from skstruct.spaces import Known
from skstruct.spaces.partial import are_partial


def read(folder, text, name="t.csv", **options):
    (folder / name).write_text(text)
    return read_data(folder / name, **options)


TABLE = "x,a,b,y\n1,1,?,0.5\n2,0,1,\n3,NA,,2.5\n4,0,0,1.5\n"


@pytest.mark.parametrize("word", ["?", "NA", "", "null"])
def test_classes(tmp_path, word):
    data = read(tmp_path, f"x,class\n1,p\n2,{word}\n3,q\n")
    assert data.outputs.tolist() == ["p", None, "q"]
    assert data.labels == ("p", "q")
    assert any("1 of 3 cells of the outputs is missing (33%)" in said for said in data.remarks)
    assert description(data)["missing_outputs"] == 1
    assert are_partial(data.y)


def test_whole_numbers_stay_so(tmp_path):
    assert read(tmp_path, "x,class\n1,1.0\n2,?\n3,2\n").outputs.tolist() == ["1", None, "2"]


def test_label_columns(tmp_path):
    data = read(tmp_path, TABLE, targets=("a", "b"))
    assert data.task == "labels"
    assert data.outputs[0] == {"include": ("a",), "exclude": ()}
    assert data.outputs[1:] == [("b",), None, ()]
    assert description(data)["missing_outputs"] == 3
    partial = Known.of(data.space()).read(data.y)
    assert partial.observed.tolist() == [[1, 0], [1, 1], [0, 0], [1, 1]]


def test_sets_in_one_cell(tmp_path):
    data = read(tmp_path, "x,labels\n1,a;b\n2,?\n3,\n4,b\n")
    assert data.outputs == [("a", "b"), None, (), ("b",)]
    data = read(tmp_path, "x,labels\n1,a/b;c\n2,NA\n3,a\n", task="hierarchy")
    assert data.outputs == [("a/b", "c"), None, ("a",)]


def test_quantities(tmp_path):
    data = read(tmp_path, TABLE, targets=("y",))
    np.testing.assert_array_equal(data.y, [0.5, np.nan, 2.5, 1.5])
    data = read(tmp_path, "x,u,v\n1,0.5,2\n2,?,3\n3,1,\n", targets=("u", "v"))
    assert data.task == "regression"
    np.testing.assert_array_equal(data.outputs, [[0.5, 2], [np.nan, 3], [1, np.nan]])


def test_sequences(tmp_path):
    data = read(tmp_path, "x,tags\n1,u ? v\n2,\\? v ?\n")
    assert data.outputs == [("u", None, "v"), ("?", "v", None)]
    assert data.labels == ("?", "u", "v")


def test_tokens_without_tags(tmp_path):
    data = read(tmp_path, "he O\nsaw ?\nParis B\n\nyes \\?\n", "t.conll")
    assert data.outputs == [("O", None, "B"), ("?",)]
    assert "1 of 4 cells" in data.remarks[-1]
    with pytest.raises(DataFormatError, match="no token has a tag"):
        read(tmp_path, "he ?\nsaw ?\n", "t.conll")


ARFF = """@relation t: -C -2
@attribute x numeric
@attribute a {0,1}
@attribute b {0,1}
@data
1,1,?
2,0,1
3,?,?
"""


def test_arff(tmp_path):
    data = read(tmp_path, ARFF, "t.arff")
    assert data.outputs == [{"include": ("a",), "exclude": ()}, ("b",), None]
    data = read(tmp_path, ARFF, "t.arff", targets=("x",), task="regression")
    assert not np.isnan(data.outputs).any()
    numbers = ARFF.replace("3,?,?", "?,0,0")
    data = read(tmp_path, numbers, "u.arff", targets=("x",), task="regression")
    np.testing.assert_array_equal(data.y, [1, 2, np.nan])


def test_nulls_of_parquet_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2, 3], "labels": ["a;b", None, ""]})
    frame["u"], frame["v"] = pandas.array([1, None, 0], "Int8"), [True, False, None]
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_data(tmp_path / "t.parquet", targets="labels").outputs == [("a", "b"), None, ()]
    data = read_data(tmp_path / "t.parquet", targets=("u", "v"))
    assert data.outputs[0] == ("u", "v")
    assert data.outputs[1] == {"include": (), "exclude": ("v",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,a,b\n1,?,1\n2,0,7\n", "line 3, column 3: a label is 0 or 1, got '7'"),
        ("x,a,b\n1,?,1\n2,0,seven\n", "line 3, column 3: a label is 0 or 1, got 'seven'"),
        ("x,a,b\n1,?,?\n2,,NA\n", "line 2, column 2: .*2 rows have no output"),
    ],
)
def test_what_is_wrong_is_named_as_ever(tmp_path, text, message):
    with pytest.raises(DataFormatError, match=message):
        read(tmp_path, text, targets=("a", "b"), task="labels")


def test_rows_with_gaps_may_be_left_out(tmp_path):
    data = read(tmp_path, TABLE, targets=("a", "b"), skip_unlabelled=True)
    assert data.outputs == [("b",), ()]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arff"])
@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("x,class\n1,p\n2,?\n3,q\n", "class"),
        (TABLE, ("a", "b")),
        ("x,labels\n1,a;b\n2,?\n3,\n", "labels"),
        ("x,u,v\n1,0.5,2\n2,?,3\n3,1,\n", ("u", "v")),
    ],
)
def test_what_is_written_is_read(tmp_path, text, targets, ending):
    data = read(tmp_path, text, targets=targets)
    write_data(data, tmp_path / f"again{ending}")
    names = None if ending == ".arff" or len(data.labels) > 3 else targets
    again = read_data(tmp_path / f"again{ending}", targets=names)
    assert again.labels == data.labels
    np.testing.assert_equal(list(again.outputs), list(data.outputs))


def test_sequences_are_written(tmp_path):
    data = read(tmp_path, "he O\nsaw ?\nParis B\n\nyes \\?\n", "t.conll")
    write_data(data, tmp_path / "again.conll")
    assert read_data(tmp_path / "again.conll").outputs == data.outputs
    data = read(tmp_path, "x,tags\n1,u ? v\n2,\\? v ?\n")
    write_data(data, tmp_path / "again.csv")
    assert read_data(tmp_path / "again.csv").outputs == data.outputs
