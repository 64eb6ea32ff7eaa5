# SPDX-License-Identifier: BSD-3-Clause
"""Tables as text: small files by eye, bad files by their message, round trips by chance."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats import csv_files
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.columns import is_missing, sorted_names
from skstruct.datasets.formats.targets import is_row_name
from skstruct.datasets.reading import read_data
from skstruct.datasets.training_blocks import TrainingBlocks
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError


def read(folder, text, name="t.csv", **options):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_data(path, **options)


WEATHER = "warmth,sky,y\n21.5,cloudy,1.5\n,sunny,2\n NA ,?,-1e3\n"


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_weather(tmp_path, mark, end, bom):
    data = read(tmp_path, bom + WEATHER.replace(",", mark).replace("\n", end))
    assert (data.name, data.format, data.task) == ("t", "csv", "regression")
    assert data.inputs.names == ("warmth", "sky")
    assert data.inputs.values == (None, ("cloudy", "sunny"))
    assert_array_equal(data.inputs.data, [[21.5, 0], [np.nan, 1], [np.nan, np.nan]])
    assert_array_equal(data.outputs, [[1.5], [2], [-1000]])
    assert data.labels == ("y",)


def test_quotes(tmp_path):
    text = '"a,""b",c,y\n"1","x\ny",u\n2,"p"\n'
    with pytest.raises(DataFormatError, match=r"line 4, column 3: expected 3 cells, got 2\.$"):
        read(tmp_path, text)  # a quoted line end is no end of a row
    data = read(tmp_path, text.replace('2,"p"', "2,p,v"))
    assert data.inputs.names == ('a,"b', "c")
    assert data.inputs.values == (None, ("p", "x\ny"))
    assert data.outputs.tolist() == ["u", "v"]


def test_numbers_first_and_text_below(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCK", 2)
    rows = ["1,1", "2,2", "3,3", "x,4", "01,5"]
    data = read(tmp_path, "a,y\n" + "\n".join(rows), targets="y", task="regression")
    assert data.inputs.values == (("01", "1", "2", "3", "x"),)
    assert_array_equal(data.inputs.data[:, 0], [1, 2, 3, 4, 0])


def test_numbers_of_other_scripts_are_text(tmp_path):
    data = read(tmp_path, "a,b,c,y\n٣,1_0,\u2028,1\n٤,2_0,1,0\n")
    assert data.inputs.values == (("٣", "٤"), ("1_0", "2_0"), ("1", "\u2028"))


@pytest.mark.parametrize(
    ("text", "task", "outputs", "labels"),
    [
        ("x,class\n1,b\n2,a\n", "classes", ["b", "a"], ("a", "b")),
        ("x,y\n1,10\n2,9\n", "classes", ["10", "9"], ("9", "10")),
        ("x,labels\n1,b;a\n2,\n", "labels", [("b", "a"), ()], ("a", "b")),
        ("x,y\n1,b;a\n2,c\n", "labels", [("b", "a"), ("c",)], ("a", "b", "c")),
        (
            "x,labels\n1,H/K;G/T\n2,H\n",
            "hierarchy",
            [("H/K", "G/T"), ("H",)],
            ("G", "G/T", "H", "H/K"),
        ),
        ("x,y\n1,b>a\n2,a>b\n", "ranking", [[2, 1], [1, 2]], ("a", "b")),
        ("x,ranking\n1,b>a=c\n2,a\n", "ranking", [[2, 1, 2], [1, 0, 0]], ("a", "b", "c")),
        ("x,tags\n1,B I\n2,O\n", "sequence", [("B", "I"), ("O",)], ("B", "I", "O")),
    ],
)
def test_one_column_of_outputs(tmp_path, text, task, outputs, labels):
    data = read(tmp_path, text)
    assert (data.task, data.labels) == (task, labels)
    found = data.outputs.tolist() if isinstance(data.outputs, np.ndarray) else data.outputs
    assert found == outputs
    assert any(repr(task) in remark for remark in data.remarks)


@pytest.mark.parametrize(
    ("cells", "task", "says"),
    [
        ("Home/Kitchen Home/Bath Home", "hierarchy", "paths that begin alike, such as 'Home/Bath'"),
        ("Home/Kitchen;Garden Garden/Tools", "hierarchy", "paths that begin alike"),
        ("AC/DC TCP/IP", "labels", "such as 'AC/DC' (if these are paths"),
        ("rock AC/DC AC/DC;AC", "labels", "such as 'AC/DC' (if these are paths"),
        ("a//b a/c", "labels", "such as 'a//b' (if these are paths"),
        ("drama war;drama", "labels", "the column is called 'labels'."),
    ],
)
def test_labels_with_slashes_are_paths_if_they_begin_alike(tmp_path, cells, task, says):
    """Read as a whole or in blocks; and where a slash is taken for a letter, that is said."""
    text = "x,labels\n" + "".join(f"1,{cell}\n" for cell in cells.split())
    data = read(tmp_path, text)
    blocks = TrainingBlocks(tmp_path / "t.csv", ReadOptions(), rows=1)
    for found in (data, blocks):
        assert found.task == task
        assert any(says in remark for remark in found.remarks)
    assert data.labels == blocks.labels
    one = read(tmp_path, text.replace("labels", "class"))
    assert one.task == ("labels" if ";" in cells else "classes")
    assert ("if these are paths" in " ".join(one.remarks)) == ("/" in cells)


@pytest.mark.parametrize(
    "cells", ["Home > Kitchen\n1,Home > Bath", "Home>Bath\n1,Home", "a>b;c\n1,c"]
)
def test_paths_written_with_another_mark_are_told(tmp_path, cells):
    data = read(tmp_path, f"x,labels\n1,{cells}\n")
    assert data.task == "labels"
    told = "(steps of a path are read where '/' is between them)"
    assert any(told in remark for remark in data.remarks)


@pytest.mark.parametrize(
    ("cells", "task", "outputs"),
    [
        ("0,1\n1,1", "labels", [("b",), ("a", "b")]),
        ("False,True\n1,TRUE", "labels", [("b",), ("a", "b")]),
        ("1,2\n2,1", "ranking", [[1, 2], [2, 1]]),
        ("0.25,0.75\n1,0", "histogram", [[0.25, 0.75], [1, 0]]),
        ("0.25,0.7\n1,0", "regression", [[0.25, 0.7], [1, 0]]),
    ],
)
def test_two_columns_of_outputs(tmp_path, cells, task, outputs):
    data = read(tmp_path, f"a,b\n{cells}\n", targets=("a", "b"))
    assert (data.task, data.labels) == (task, ("a", "b"))
    found = data.outputs.tolist() if isinstance(data.outputs, np.ndarray) else data.outputs
    assert found == outputs
    assert data.inputs.data.shape == (2, 0)


def test_hierarchies(tmp_path):
    text = "x,kind\n1,1/2\n2,3;1/2/1\n"
    data = read(tmp_path, text, targets=["kind"], task="hierarchy")
    assert data.labels == ("1", "1/2", "1/2/1", "3")
    assert data.edges == (("1", "1/2"), ("1/2", "1/2/1"))
    assert data.outputs == [("1/2",), ("3", "1/2/1")]
    (tmp_path / "tree.txt").write_text("# parent child\nall a\nall b\n\n")
    data = read(tmp_path, "x,y\n1,a;c\n2,b\n", edges_file=tmp_path / "tree.txt")
    assert (data.task, data.edges) == ("hierarchy", (("all", "a"), ("all", "b")))
    assert data.labels == ("all", "a", "b", "c")
    assert any("'c'" in remark for remark in data.remarks)
    with pytest.raises(DataFormatError, match="needs a taxonomy"):
        read(tmp_path, "x,y\n1,a;c\n2,b\n", task="hierarchy")
    with pytest.raises(DataFormatError, match="empty step"):
        read(tmp_path, "x,y\n1,a//c\n2,b\n", task="hierarchy")


def test_ordinal_levels_are_in_order_of_numbers(tmp_path):
    data = read(tmp_path, "x,y\n1,10\n2,9\n", task="ordinal")
    assert (data.outputs.tolist(), data.labels) == (["10", "9"], ("9", "10"))


def test_rows_have_names(tmp_path):
    data = read(tmp_path, "who,x,y\nann,1,a\nbob,2,b\n", id_column="who")
    assert data.index == ("ann", "bob")
    assert data.inputs.names == ("x",)


@pytest.mark.parametrize(
    ("text", "index", "inputs"),
    [
        ("id,x,y\n01,1,a\n2,2,b\n", ("01", "2"), ("x",)),
        ("ID,x,y\n7,1,a\n7,2,b\n", ("7", "7"), ("x",)),
        ("row,x,y\n1,1,a\n2,2,b\n", ("1", "2"), ("x",)),
        ("row,x,y\n1,1,a\n1,2,b\n", None, ("row", "x")),
        ("x,id,y\n1,1,a\n2,2,b\n", None, ("x", "id")),
        (",x,y\n0,1,a\n1,2,b\n", ("0", "1"), ("x",)),
    ],
)
def test_the_first_column_may_name_the_rows(tmp_path, text, index, inputs):
    data = read(tmp_path, text)
    assert (data.index, data.inputs.names) == (index, inputs)
    assert any("taken for names of the rows" in remark for remark in data.remarks) == bool(index)
    if index is None:
        assert data.inputs.values == (None, None)
    assert read(tmp_path, text, id_column="").index is None
    assert read(tmp_path, text, nominal=("id", "ID", "row")).index is None
    assert read(tmp_path, text, targets="x").index == index


def test_columns_that_hold_names_whatever_they_look_like(tmp_path):
    text = "code,flag,y\n01,True,a\n02,False,b\n,True,b\n"
    assert read(tmp_path, text).inputs.values == (None, ("False", "True"))
    data = read(tmp_path, text, nominal=("code", "not here"))
    assert data.inputs.values == (("01", "02"), ("False", "True"))
    assert_array_equal(data.inputs.data[:, 0], [0, 1, np.nan])
    assert not any("read as names" in remark for remark in data.remarks)
    assert read(tmp_path, text, nominal="code").inputs.values == data.inputs.values


@pytest.mark.parametrize(
    ("cells", "values", "remark"),
    [
        (["1.5", "N/A", "2"], None, None),
        (["n/a", "null", "NULL", "None", "nan", "3"], None, None),
        (
            ["1", "two", "3"],
            ("1", "3", "two"),
            "'x' is read as names: 'two' in line 3 is no number",
        ),
        (["2", "1,5", "1,25"], ("1,25", "1,5", "2"), "'1,5' in line 3 .* decimal commas: write"),
        (["red", "blue", "7"], ("7", "blue", "red"), None),
    ],
)
def test_numbers_among_names_are_remarked(tmp_path, cells, values, remark):
    rows = "".join(f"{cell};{i}\n" for i, cell in enumerate(cells))
    data = read(tmp_path, f"x;y\n{rows}", task="regression")
    assert data.inputs.values == (values,)
    found = [text for text in data.remarks if "read as names" in text]
    assert bool(found) == bool(remark)
    assert remark is None or re.search(remark, found[0])


def test_numbers_with_commas_are_remarked_in_outputs_too(tmp_path):
    data = read(tmp_path, "x;y\n1;0,5\n2;1,5\n")
    assert data.task == "classes"
    assert any("decimal commas: write points" in remark for remark in data.remarks)


@pytest.mark.parametrize("word", ["NA", "?", " NaN", "N/A", "None"])
@pytest.mark.parametrize(
    ("name", "cell", "what"),
    [("ranking", "a>b", "ranking is"), ("tags", "a b", "sequence is")],
)  # fmt: skip
def test_missing_outputs_are_refused(tmp_path, name, cell, what, word):
    with pytest.raises(DataFormatError, match=f"line 3, column 2: the {what} missing"):
        read(tmp_path, f"x,{name}\n1,{cell}\n2,{word}\n")


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
def test_infinite_inputs_are_refused(tmp_path, cell):
    with pytest.raises(DataFormatError, match=r"line 3, column 1: an infinite number"):
        read(tmp_path, f"x,y\n1,0\n{cell},1\n")
    inputs = Table(("x",), (None,), np.array([[np.inf]]))
    with pytest.raises(DataFormatError, match="an infinite number among the inputs"):
        write_data(Dataset("d", "csv", "classes", inputs, np.array(["a"])), tmp_path / "d.csv")


def test_very_deep_paths_are_refused(tmp_path):
    deep = "/".join("a" * 201)
    with pytest.raises(DataFormatError, match=r"line 3, column 2: .* a path of 201 steps; at most"):
        read(tmp_path, f"x,y\n1,a\n2,{deep}\n", task="hierarchy")
    columns = f"{deep},b\n1,0\n"
    with pytest.raises(DataFormatError, match=r"a path of 201 steps; at most 200"):
        read(tmp_path, columns, task="hierarchy", targets=(deep, "b"))
    data = read(tmp_path, f"x,y\n1,a\n2,{deep[2:]}\n", task="hierarchy")
    assert len(data.labels) == 200


@pytest.mark.parametrize("name", ["y", "labels", "ranking", "tags"])
def test_no_rows(tmp_path, name):
    data = read(tmp_path, f"x,{name}\n")
    assert (len(data), len(data.outputs)) == (0, 0)


def test_no_targets(tmp_path):
    data = read(tmp_path, "x,y\n1,10\n2,9\n", targets=())
    assert data.outputs is None
    assert data.inputs.names == ("x", "y")


def test_headers_of_numbers_are_remarked(tmp_path):
    data = read(tmp_path, "1,2,3\n4,5,6\n", targets="3", format="csv")
    assert "though all of it is numbers" in data.remarks[0]


def test_texts_of_all_kinds_are_remarked(tmp_path):
    rows = "".join(f"name {i},{i % 2}\n" for i in range(60))
    data = read(tmp_path, "who,y\n" + rows)
    assert any("'who' has 60 different texts" in remark for remark in data.remarks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"t\.csv: the file is empty"),
        ("\n", "the file is empty|line 1: the first line holds the names"),
        ("a,y\n1,2\n1,2,3\n", r"line 3, column 3: expected 2 cells, got 3"),
        ("a,y\n1,2\n1\n", r"line 3, column 2: expected 2 cells, got 1"),
        ("a,y\n1,2\n\n3,4\n", "line 3: an empty line between rows"),
        ("a,a\n1,2\n", "line 1, column 2: the name 'a' comes twice"),
        ("a,,y\n1,2,3\n", "line 1, column 2: a column has no name"),
        ('a,y\n"1,2\n', "line 2: unexpected end of data; a quoted cell that begins here"),
        ('a;y\n1;2\n"1"x;2\n', "line 3: ';' expected after '\"'"),
        ('a,y\n"1"x,2\n', "line 2: ',' expected after '\"'"),
        ("a;b,y\n1,2\n1;2\n", "line 1: several of ',', ';' could separate"),
        ("a,b\n1,2\n", "no column has a name that tells the output"),
        ("y,class\n1,2\n", "the columns 'y', 'class' could all be"),
        ("x,class\n1,\n", "line 2, column 2: the class is missing"),
        ("x,labels\n1,a\n2,a;a\n", "line 3, column 2: the label 'a' comes twice"),
        (b"x,y\n\xff,1\n", "line 2: byte 1 .*0xff"),
        (b"x,y\n\x00,1\n", "line 2: a NUL byte"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(DataFormatError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": "z"}, "no column is called 'z'"),
        ({"targets": ("a", "a")}, "comes twice in targets"),
        ({"id_column": "z"}, "no column is called 'z'"),
        ({"id_column": "a", "targets": "a"}, "both id_column"),
        ({"targets": ("a", "b"), "task": "classes"}, "'classes' has one column"),
        ({"targets": ("a", "b")}, r"t\.csv: several .* 'b' holds text: name the task"),
        ({"targets": "b", "task": "regression"}, "line 2, column 2: 'u' is not a number"),
        ({"targets": ("a", "c"), "task": "labels"}, "line 3, column 1: a label is 0 or 1, got '2'"),
        ({"targets": ("a", "e"), "task": "histogram"}, "line 3, column 5: expected a share"),
        ({"targets": ("c", "a"), "task": "ranking"}, "line 4, column 3: .* from 0 .* got '-1'"),
        ({"targets": "d", "task": "ordinal"}, "line 3, column 4: the class is missing"),
        ({"targets": "e", "task": "regression"}, "line 3, column 5: expected a finite number"),
    ],
)
def test_bad_options(tmp_path, options, message):
    text = "a,b,c,d,e\n1,u,0,1,0\n2,v,0,,inf\n1,w,-1,2,0\n"
    with pytest.raises(DataFormatError, match=message):
        read(tmp_path, text, **options)


def test_whole_numbers_are_the_same_classes_however_they_are_written(tmp_path):
    data = read(tmp_path, "x,y\n1,1.0\n2,10.\n3,1\n")
    assert (data.outputs.tolist(), data.labels) == (["1", "10", "1"], ("1", "10"))
    data = read(tmp_path, "x,y\n1,1.0\n2,1.10\n", task="classes")
    assert data.labels == ("1.0", "1.10")


def test_a_ranking_has_an_order(tmp_path):
    assert read(tmp_path, "x,ranking\n1,3\n2,1\n").task == "classes"
    assert read(tmp_path, "x,ranking\n1,3\n2,1\n", task="ranking").task == "ranking"
    assert read(tmp_path, "x,ranking\n1,3=1\n2,1\n").task == "ranking"


def test_shares_add_up_to_one(tmp_path):
    with pytest.raises(DataFormatError, match=r"line 3: the shares .*, these to 0\.75"):
        read(tmp_path, "a,b\n0.5,0.5\n0.5,0.25\n", targets=("a", "b"), task="histogram")


# Round trips

TEXT = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8)
NAMES = TEXT.filter(lambda name: name.strip() and not is_missing(name))
WORDS = NAMES | st.sampled_from(["NA", "?", " NA", "NA ", "\tNA", "N/A\n", "null", "\\NA", "\\"])
NUMBERS = st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 0.1, 1e300, 5e-324])


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES | st.sampled_from(["id", "row"]), max_size=4, unique=True))
    n = draw(st.integers(1, 5))
    columns, values = [], []
    for _ in names:
        if draw(st.booleans()):
            columns.append(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
            values.append(None)
        else:
            kept = draw(st.lists(NAMES, min_size=1, max_size=n, unique=True))
            texts = sorted({f"x{text}" for text in kept})  # not a number
            drawn = [draw(st.sampled_from(range(len(texts)))) for _ in range(n - len(texts))]
            columns.append([*range(len(texts)), *drawn][:n])
            values.append(tuple(texts[: max(columns[-1]) + 1]))
    return Table(tuple(names), tuple(values), np.array(columns, float).reshape(len(names), n).T)


@st.composite
def datasets(draw):
    inputs = draw(tables())
    n = len(inputs)
    task = draw(st.sampled_from(["classes", "labels", "ranking", "sequence", "regression"]))
    some = WORDS if task in ("labels", "ranking", "sequence") else NAMES.map("x".__add__)
    labels = list(sorted_names(draw(st.lists(some, min_size=2, max_size=4, unique=True))))
    if task == "classes":
        outputs = np.array([draw(st.sampled_from(labels)) for _ in range(n)])
        labels = sorted(set(outputs.tolist()))
    elif task == "ranking":
        outputs = np.array([draw(st.permutations(range(1, len(labels) + 1))) for _ in range(n)])
    elif task == "regression":
        labels = [label for label in labels if label not in inputs.names]
        finite = st.floats(allow_nan=False, allow_infinity=False)
        outputs = np.array([[draw(finite) for _ in labels] for _ in range(n)])
    else:
        chosen = st.lists(st.sampled_from(labels), unique=task == "labels", max_size=4)
        outputs = [tuple(draw(chosen)) for _ in range(n)]
        labels = sorted_names({name for row in outputs for name in row})
    index = draw(st.none() | st.lists(TEXT, min_size=n, max_size=n).map(tuple))
    return Dataset("d", "csv", task, inputs, outputs, tuple(labels), index=index)


def same(found, expected):
    counted = expected.index is None and is_row_name("".join(expected.inputs.names[:1]))
    rows = tuple(str(i + 1) for i in range(len(expected)))
    assert found.index == (rows if counted else expected.index)
    assert found.inputs.names == expected.inputs.names
    assert found.inputs.values == expected.inputs.values
    assert_array_equal(found.inputs.data, expected.inputs.data)
    known = ~np.isnan(expected.inputs.data)
    signs = [np.signbit(data.inputs.data[known]) for data in (found, expected)]
    assert_array_equal(*signs)  # -0.0 is not 0.0
    assert (found.task, found.labels) == (expected.task, expected.labels)
    if isinstance(expected.outputs, np.ndarray):
        assert_array_equal(found.outputs, expected.outputs)
    else:
        assert found.outputs == expected.outputs


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.xz", ".parquet"])
@given(data=datasets())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(tmp_path_factory, ending, data):
    path = tmp_path_factory.getbasetemp() / f"table_trip{ending}"
    with np.errstate(invalid="ignore"):
        write_data(data, path)
    n_outputs = len(data.labels) if data.task == "regression" else 1
    names = [*data.inputs.names]
    with_outputs = read_data(path, targets=(), format=None).inputs.names
    targets = with_outputs[len(names) :]
    assert len(targets) == n_outputs
    if targets:
        same(read_data(path, targets=targets, task=data.task), data)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_sparse_rows_in_several_blocks(tmp_path, ending):
    X = sparse.random_array((2500, 3), density=0.1, format="csr", rng=0)
    table = Table(("a", "b", "c"), (None,) * 3, sparse.csr_array(X))
    y = np.arange(2500.0)[:, None]
    write_data(Dataset("d", "csv", "regression", table, y, ("y",)), tmp_path / f"d{ending}")
    found = read_data(tmp_path / f"d{ending}")
    assert_array_equal(found.inputs.data, X.toarray())
    assert_array_equal(found.outputs, y)


def test_names_of_rows_and_taken_names(tmp_path):
    inputs = Table(("id", "class"), (None, None), np.array([[1.0, 2.0]]))
    data = Dataset("d", "csv", "classes", inputs, np.array(["a"]), ("a",), index=("r1",))
    write_data(data, tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text() == "id_,id,class,class_\nr1,1.0,2.0,a\n"
    found = read_data(tmp_path / "d.csv", targets="class_")
    assert (found.index, found.inputs.names) == (("r1",), ("id", "class"))
    write_data(replace(data, index=None), tmp_path / "d.csv")
    assert read_data(tmp_path / "d.csv", targets="class_").inputs.names == ("id", "class")


def test_a_column_alone_that_is_empty(tmp_path):
    inputs = Table((), (), np.empty((3, 0)))
    data = Dataset("d", "csv", "labels", inputs, [(), ("a",), ()], ("a",))
    write_data(data, tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text() == 'labels\n""\na\n""\n'
    assert read_data(tmp_path / "d.csv").outputs == [(), ("a",), ()]


def test_edges_go_beside(tmp_path):
    inputs = Table(("x",), (None,), np.array([[1.0], [2.0]]))
    edges = (("all", "a"), ("all", "b"))
    data = Dataset("d", "csv", "hierarchy", inputs, [("a",), ("b",)], ("all", "a", "b"), edges)
    write_data(data, tmp_path / "d.csv.gz")
    found = read_data(tmp_path / "d.csv.gz")
    assert (found.task, found.edges, found.outputs) == ("hierarchy", edges, [("a",), ("b",)])
    paths = Dataset("p", "csv", "hierarchy", inputs, [("1/1",), ("1",)], ("1", "1/1"),
                    (("1", "1/1"),))  # fmt: skip
    write_data(paths, tmp_path / "p.csv")
    assert not (tmp_path / "p.edges").exists()
    assert read_data(tmp_path / "p.csv", task="hierarchy").edges == (("1", "1/1"),)


@pytest.mark.parametrize(
    ("values", "outputs", "message"),
    [
        (("NA", "b"), np.array(["u"]), "'NA' of 'x' would be read back as a missing one"),
        (("a\0", "b"), np.array(["u"]), "a zero or a carriage return"),
        (("a\ud800", "b"), np.array(["u"]), "cannot be written as UTF-8"),
        (("a", "b"), np.array(["?"]), "'?' of 'class' would be read back"),
    ],
)
def test_what_cannot_be_written(tmp_path, values, outputs, message):
    inputs = Table(("x",), (values,), np.array([[0.0]]))
    data = Dataset("d", "csv", "classes", inputs, outputs)
    (tmp_path / "d.csv").write_text("as it was")
    with pytest.raises(DataFormatError, match=message.replace("?", r"\?")):
        write_data(data, tmp_path / "d.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    assert (tmp_path / "d.csv").read_text() == "as it was"
