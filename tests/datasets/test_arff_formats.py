# SPDX-License-Identifier: BSD-3-Clause
"""ARFF files of Weka, MULAN, MEKA and CLUS as data sets, and back."""

import io
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats.arff.dialects import ARFF, CLUS, MULAN
from skstruct.datasets.formats.arff.label_list import parse_label_list, write_label_list
from skstruct.datasets.formats.arff.outputs import with_edges
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError

IRIS = """@relation iris
@attribute width numeric
@attribute kind {a,b}
@attribute note string
@attribute class {setosa,'vir ginica'}
@data
1,a,x,setosa
2,b,y,'vir ginica'
?,a,z,setosa
"""
TREE = """@relation tree
@attribute id key
@attribute x numeric
@attribute class hierarchical a,a/b,c
@data
r1,1,a/b@c
r2,2,a
"""
LABELS = """@relation music
@attribute x numeric
@attribute sad {0,1}
@attribute happy {0,1}
@data
0.5,0,1
1.5,1,1
2.5,0,0
"""


@pytest.fixture
def saved(tmp_path):
    def save(text, name="some.arff"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return save


def test_the_last_attribute_is_the_output(saved):
    data = ARFF.read(saved(IRIS), ReadOptions())
    assert (data.name, data.format, data.task) == ("some", "arff", "classes")
    assert data.labels == ("setosa", "vir ginica")
    assert data.outputs.tolist() == ["setosa", "vir ginica", "setosa"]
    assert data.inputs.names == ("width", "kind")
    assert any("'class' is taken for the output" in remark for remark in data.remarks)
    assert any("string attributes are left out" in remark for remark in data.remarks)


def test_other_outputs_can_be_named(saved):
    path = saved(IRIS.replace("?", "3"))
    data = ARFF.read(path, ReadOptions(targets=("width",), id_column="note"))
    assert data.task == "regression"
    assert_array_equal(data.outputs, [[1], [2], [3]])
    assert data.inputs.names == ("kind", "class")
    assert data.index == ("x", "y", "z")
    data = ARFF.read(path, ReadOptions(task="regression"))
    assert data.labels == ("width",)
    data = ARFF.read(path, ReadOptions(targets=("width",), task="classes"))
    assert data.outputs.tolist() == ["1", "2", "3"]
    data = ARFF.read(path, ReadOptions(targets=()))
    assert data.outputs is None
    assert data.inputs.names == ("width", "kind", "class")


def test_rows_without_output(saved):
    head, body = IRIS.split("@data\n")
    none = head + "@data\n1,a,x,?\n2,b,y,?\n"
    data = ARFF.read(saved(none), ReadOptions())
    assert data.outputs is None
    assert data.labels == ("setosa", "vir ginica")
    with pytest.raises(DataFormatError, match=r"some.arff: 1 rows have no value .* row 4"):
        ARFF.read(saved(head + "@data\n" + body + "1,a,x,?\n"), ReadOptions(task="ordinal"))
    data = ARFF.read(saved(head + "@data\n" + body + "1,a,x,?\n"), ReadOptions())
    assert data.outputs.tolist()[3:] == [None]
    assert data.labels == ("setosa", "vir ginica")


def test_clus(saved):
    data = CLUS.read(saved(TREE), ReadOptions())
    assert (data.format, data.task) == ("clus", "hierarchy")
    assert data.labels == ("a", "a/b", "c")
    assert data.edges == (("a", "a/b"),)
    assert data.outputs == [("a/b", "c"), ("a",)]
    assert data.index == ("r1", "r2")
    with pytest.raises(DataFormatError, match="no attribute is hierarchical"):
        CLUS.read(saved(IRIS), ReadOptions())


def test_mulan_finds_its_list_beside_the_file(saved):
    saved('<labels><label name="sad"/><label name="happy"/></labels>', "music.xml")
    data = MULAN.read(saved(LABELS, "music-train.arff"), ReadOptions())
    assert (data.format, data.task, data.labels) == ("mulan", "labels", ("sad", "happy"))
    assert data.outputs == [("happy",), ("sad", "happy"), ()]
    assert data.inputs.names == ("x",)
    assert ARFF.read(saved(LABELS, "music-test.arff"), ReadOptions()).format == "mulan"


def test_mulan_nested_labels_are_a_hierarchy(saved):
    path = saved('<labels><label name="happy"><label name="sad"/></label></labels>', "list.xml")
    data = MULAN.read(saved(LABELS), ReadOptions(labels_file=path))
    assert data.task == "hierarchy"
    assert data.edges == (("happy", "sad"),)
    other = saved('<labels><label name="angry"/></labels>', "list.xml")
    with pytest.raises(DataFormatError, match="names 'angry', which is no attribute"):
        MULAN.read(saved(LABELS), ReadOptions(labels_file=other))
    with pytest.raises(DataFormatError, match="nothing tells the labels"):
        MULAN.read(saved(LABELS, "alone.arff"), ReadOptions())


def test_lists_of_other_labels_are_left_alone(saved):
    saved('<labels><label name="angry"/></labels>', "some.xml")
    data = ARFF.read(saved(LABELS), ReadOptions(task="classes"))
    assert (data.task, data.labels) == ("classes", ("0", "1"))
    assert any("some.xml lists labels of other names" in remark for remark in data.remarks)
    with pytest.raises(DataFormatError, match="labels of other names"):
        ARFF.read(saved(LABELS), ReadOptions())


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({"n_labels": 2}, ("sad", "happy")),
        ({"targets": ("happy", "sad")}, ("happy", "sad")),
        ({"n_labels": 1}, ("happy",)),
    ],
)
def test_labels_without_their_list_are_asked_for(saved, chosen, names):
    """Not taken for one class, the last label; a class may say by its name that it is one."""
    path = saved(LABELS)
    for task in (None, "labels"):
        with pytest.raises(DataFormatError, match=r"last 2 attributes are all 0 or 1,.*n_labels"):
            read_data(path, task=task)
    data = read_data(path, **chosen)
    assert (data.task, data.labels) == ("labels", names)
    assert data.outputs[1] == names
    named = read_data(saved(LABELS.replace("happy", "Class")))
    assert (named.task, named.labels) == ("classes", ("0", "1"))


@pytest.mark.parametrize("values", ["{false,true}", "{True,False}"])
def test_labels_that_are_false_or_true(saved, values):
    """Asked for as those of 0 and 1, and read so by whatever tells them."""
    names = values.strip("{}").split(",")
    off, on = sorted(names, key=str.lower)
    head, body = LABELS.replace("{0,1}", values).split("@data\n")
    rows = [row.split(",") for row in body.split()]
    body = "\n".join(",".join([row[0], *([off, on][int(bit)] for bit in row[1:])]) for row in rows)
    text = head + "@data\n" + body + "\n"
    with pytest.raises(DataFormatError, match=r"last 2 attributes .*all false or true.*n_labels"):
        read_data(saved(text))
    expected = [("happy",), ("sad", "happy"), ()]
    assert read_data(saved(text), n_labels=2).outputs == expected
    codes = [[names.index(cell) for cell in line.split(",")[1:]] for line in body.split("\n")]
    cells = [", ".join(f"{j + 1} {names[k]}" for j, k in enumerate(row) if k) for row in codes]
    sparse = "".join(f"{{{row}}}\n" for row in cells)
    assert read_data(saved(head + "@data\n" + sparse), n_labels=2).outputs == expected
    told = read_data(saved(f"@relation 'music: -C -2'\n{text.split(chr(10), 1)[1]}"))
    assert (told.task, told.outputs) == ("labels", expected)


def test_numeric_labels_that_a_relation_tells_are_asked_for(saved):
    """Columns of 0 and 1 were read as numbers, without a word."""
    lines = LABELS.replace("{0,1}", "numeric").split("\n")
    path = saved("\n".join(["@relation 'music: -C -2'", *lines[1:]]))
    with pytest.raises(DataFormatError, match=r"numeric, all 0 or 1: say whether .*task='labels'"):
        read_data(path)
    assert read_data(path, task="labels").outputs == [("happy",), ("sad", "happy"), ()]
    assert read_data(path, task="regression").outputs.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert read_data(saved(path.read_text() + "4.5,2,0\n")).task == "regression"


def test_columns_are_counted_where_there_are_some(saved):
    table = saved("x,p,q\n1.5,0,1\n2.5,1,1\n3.5,0,0\n", "t.csv")
    assert read_data(table, n_labels=2).outputs == [("q",), ("p", "q"), ()]
    with pytest.raises(DataFormatError, match=r"4 columns at the end .* of 3"):
        read_data(table, n_labels=4)
    with pytest.raises(DataFormatError, match="'libsvm' has no columns to count"):
        read_data(saved("1 1:2\n", "t.svm"), n_labels=1)


@pytest.mark.parametrize("option", ["-C 2", "-C -2", "-C 2-weka.filters.Remove-R1"])
def test_the_option_of_meka_ends_where_filters_of_weka_begin(saved, option):
    text = "@relation 'music: {}'\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n@data\n0,1\n"
    data = read_data(saved(text.format(option)))
    assert (data.task, data.labels, data.outputs) == ("labels", ("a", "b"), [("b",)])


def test_meka_counts_from_the_first_or_the_last(saved):
    text = LABELS.replace("music", "'music: -C -2 -split 5'")
    data = MULAN.read(saved(text), ReadOptions())
    assert (data.task, data.labels) == ("labels", ("sad", "happy"))
    data = MULAN.read(saved(LABELS.replace("music", "'music: -C 1'")), ReadOptions())
    assert (data.task, data.labels) == ("regression", ("x",))
    with pytest.raises(DataFormatError, match="-C 7, and there are 3 attributes"):
        MULAN.read(saved(LABELS.replace("music", "'music: -C 7'")), ReadOptions())


def test_a_taxonomy_beside(saved):
    edges = saved("happy,sad\nmood,happy\n", "mood.edges")
    options = ReadOptions(targets=("sad", "happy"), edges_file=edges)
    data = ARFF.read(saved(LABELS), options)
    assert data.task == "hierarchy"
    assert data.labels == ("sad", "happy", "mood")


@pytest.mark.parametrize(
    ("text", "which"),
    [(IRIS, (False, False, True)), (TREE, (True, False, True)),
     (LABELS.replace("music", "'m: -C 2'"), (False, True, True)),
     ("a,b\n1,2\n", (False, False, False)), ("% note\n@RELATION x", (False, False, True))],
)  # fmt: skip
def test_formats_are_recognized(text, which):
    formats = (CLUS, MULAN, ARFF)
    assert tuple(f.sniff("some.txt", text.splitlines()) for f in formats) == which


@pytest.mark.parametrize("text", [IRIS, TREE, LABELS.replace("music", "'m: -C -2'")])
def test_written_data_read_back(saved, text):
    data = ARFF.read(saved(text), ReadOptions())
    file = io.StringIO()
    ARFF.write(data, file)
    again = ARFF.read(saved(file.getvalue()), ReadOptions())
    same(data, again)


def same(data, again):
    assert (again.task, again.labels, again.edges) == (data.task, data.labels, data.edges)
    assert again.index == data.index
    assert again.inputs.names == data.inputs.names
    assert list(map(str, again.outputs)) == list(map(str, data.outputs))
    assert sparse.issparse(again.inputs.data) == sparse.issparse(data.inputs.data)
    one, other = again.inputs.data, data.inputs.data
    assert_array_equal(*(d.toarray() if sparse.issparse(d) else d for d in (one, other)))


def test_several_numbers_and_sparse_inputs(saved):
    inputs = Table(("a", "b"), (None, None), sparse.csr_array([[0, 1.5], [2, 0]]))
    Y = np.array([[0.1, 1], [2, 3]])
    data = Dataset("d", "arff", "regression", inputs, Y, ("u", "v"), index=("1", "2"))
    file = io.StringIO()
    ARFF.write(data, file)
    again = ARFF.read(saved(file.getvalue()), ReadOptions())
    same(data, again)
    assert_array_equal(again.outputs, Y)


WIDTHS = Table(("width",), (None,), np.array([[1.0], [2.5]]))
NUMBERS = {
    "ranking": (np.array([[1, 2], [2, 1]]), ("tea", "milk")),
    "histogram": (np.array([[0.25, 0.75], [1, 0]]), ("tea", "milk")),
    "regression": (np.array([[0.25, 0.75], [1, 7]]), ("tea", "milk")),
    "ordinal": (np.array(["low", "high"]), ("low", "middle", "high")),
    "classes": (np.array(["low", "high"]), ("low", "middle", "high")),
    "labels": ([("milk",), ()], ("tea", "milk")),
}


@pytest.mark.parametrize("task", list(NUMBERS))
@pytest.mark.parametrize("index", [None, ("r1", "r1")])
def test_every_task_reads_back_as_itself(tmp_path, task, index):
    outputs, labels = NUMBERS[task]
    data = Dataset("d", "csv", task, WIDTHS, outputs, labels, index=index)
    write_data(data, tmp_path / "d.arff")
    found = read_data(tmp_path / "d.arff")
    same(data, found)
    same(data, read_data(tmp_path / "d.arff", task=task))
    same(data, read_data(tmp_path / "d.arff", task=task, format="arff"))
    if task == "ranking":
        assert found.outputs.dtype == np.int64
        assert any("a comment of the file says" in remark for remark in found.remarks)
        assert read_data(tmp_path / "d.arff", task="regression").task == "regression"
    write_data(replace(data, outputs=None), tmp_path / "d.arff")
    found = read_data(tmp_path / "d.arff", task=task)
    assert (found.outputs, found.labels, found.index) == (None, labels, index)


@pytest.mark.parametrize("task", ["classes", "labels", "ranking"])
def test_files_without_outputs(tmp_path, task):
    write_data(Dataset("d", "csv", task, WIDTHS), tmp_path / "d.arff")
    for stated in (None, "classes", "labels"):
        found = read_data(tmp_path / "d.arff", task=stated)
        assert (found.outputs, found.inputs.names) == (None, ("width",))
        assert found.task == (stated or task)


def test_comments_of_others_say_nothing(saved):
    for comment in ("% task: weather", "% Task: ranking", "% task: ranking of drinks"):
        assert read_data(saved(f"{comment}\n{IRIS}")).task == "classes"


@pytest.mark.parametrize(
    ("task", "name", "format", "problem"),
    [
        ("sequence", "d.arff", None, "'arff' hold .*, not 'sequence'; csv holds everything"),
        ("ranking", "d.svm", None, "'libsvm' hold .*, not 'ranking'"),
        ("ranking", "d.arff", "clus", "'clus' hold hierarchy, labels, not 'ranking'"),
        ("regression", "d.csv", "label-ranking", "'label-ranking' hold ranking, not 'regression'"),
    ],
)
def test_tasks_that_a_format_cannot_hold(tmp_path, task, name, format, problem):
    outputs, labels = NUMBERS.get(task, ([("a",), ("b", "a")], ("a", "b")))
    data = Dataset("d", "csv", task, WIDTHS, outputs, labels)
    with pytest.raises(DataFormatError, match=problem):
        write_data(data, tmp_path / name, format=format)
    assert not (tmp_path / name).exists()


def test_very_deep_labels(saved):
    deep = "/".join("a" * 300)
    text = LABELS.replace("music", "'m: -C -2'").replace("happy", deep)
    with pytest.raises(DataFormatError, match="a path of 300 steps"):
        read_data(saved(text), task="hierarchy")


def test_hostile_lists_of_labels():
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><labels><label name="&b;"/></labels>'
    )
    for text, problem in {
        bomb: "a document type",
        "<labels><label/></labels>": "without a name",
        "<labels>": "not XML",
        "".join(f'<label name="{k}">' for k in range(10_000)): "more than 200 deep",
        "<labels></labels>": "no <label name",
        '<labels><label name="a"><label name="a"/></label></labels>': "within itself",
        '<labels><label name="a"/><label name="a"/></labels>': "comes twice",
        '<?xml version="1.0" encoding="utf-99"?><labels/>': "label",
    }.items():
        with pytest.raises(DataFormatError, match=problem) as caught:
            parse_label_list(text)
        assert "\n" not in str(caught.value)


characters = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
names = st.text(characters | st.sampled_from("\n\t\r<&>\"'"), min_size=1, max_size=5)


@given(st.lists(names, min_size=1, max_size=8, unique=True), st.integers(0, 99))
def test_lists_of_labels_read_back(labels, seed):
    rng = random.Random(seed)
    above = [rng.randrange(-1, j) if j else -1 for j in range(len(labels))]
    edges = {(labels[p], labels[j]) for j, p in enumerate(above) if p >= 0}
    read, found = parse_label_list(write_label_list(labels, sorted(edges)))
    assert set(read) == set(labels)
    assert set(found) == edges


# ------------------------------------------------------------------ what is named, and what is left
KEYS = """@relation keys
@attribute id key
@attribute other key
@attribute x numeric
@attribute class {a,b}
@data
r1,s1,1,a
r2,s2,2.5,b
r3,s3,?,?
"""


def test_rows_are_named_by_a_key_or_by_any_column(saved):
    whole = KEYS.replace("r3,s3,?,?\n", "")
    data = ARFF.read(saved(whole), ReadOptions())
    assert data.index == ("r1", "r2")
    assert "Of 2 key attributes, 'id' names the rows." in data.remarks
    assert ARFF.read(saved(whole), ReadOptions(id_column="other")).index == ("s1", "s2")
    assert ARFF.read(saved(whole), ReadOptions(id_column="")).index is None
    data = ARFF.read(saved(whole), ReadOptions(id_column="x"))
    assert data.index == ("1", "2.5")
    assert data.inputs.names == ()
    for options, message in (
        (ReadOptions(id_column="y"), "no attribute is called 'y' .id_column."),
        (ReadOptions(id_column="x", targets=("x",)), "'x' is both id_column and one of the targ"),
        (ReadOptions(targets=("x", "x")), "an attribute comes twice in targets"),
        (ReadOptions(targets=("z",)), "no attribute is called 'z' .targets.; there are x, class"),
    ):
        with pytest.raises(DataFormatError, match=message):
            ARFF.read(saved(whole), options)


def test_rows_without_an_output_are_left_out(saved):
    skip = ReadOptions(skip_unlabelled=True)
    data = ARFF.read(saved(KEYS), skip)
    assert data.outputs.tolist() == ["a", "b"]
    assert data.index == ("r1", "r2")
    assert "1 row without an output is left out; the first is row 3." in data.remarks
    again = ARFF.read(saved(KEYS.replace("r3,s3,?,?\n", "")), skip)
    same(data, again)
    assert not any("left out" in remark for remark in again.remarks)
    none = KEYS.replace(",a\n", ",?\n").replace(",b\n", ",?\n")
    with pytest.raises(DataFormatError, match="no row has an output"):
        ARFF.read(saved(none), skip)


def test_rows_without_a_hierarchical_class_are_left_out(saved):
    skip, some = ReadOptions(skip_unlabelled=True), TREE + "r3,3,?\nr4,4,c\nr5,5,?\n"
    data = CLUS.read(saved(some), skip)
    assert data.outputs == [("a/b", "c"), ("a",), ("c",)]
    assert data.index == ("r1", "r2", "r4")
    assert_array_equal(data.inputs.data, [[1], [2], [4]])
    assert "2 rows without an output are left out; the first is row 3." in data.remarks
    kept = CLUS.read(saved(some), ReadOptions())
    assert kept.outputs == [("a/b", "c"), ("a",), (), ("c",), ()]
    assert "2 rows have no label ('?')." in kept.remarks
    assert CLUS.read(saved(TREE), skip).outputs == [("a/b", "c"), ("a",)]
    none = TREE.replace("a/b@c\n", "?\n").replace("r2,2,a", "r2,2,?")
    data = CLUS.read(saved(none), ReadOptions())
    assert data.outputs is None
    assert "The file is read without outputs: all are '?'." in data.remarks
    with pytest.raises(DataFormatError, match="no row has an output"):
        CLUS.read(saved(none), skip)
    with pytest.raises(DataFormatError, match="hierarchical; the task 'ranking' is another"):
        CLUS.read(saved(TREE), ReadOptions(task="ranking"))


def test_files_of_comments_are_arff_by_their_name():
    lines = ["\ufeff% first", "", "  % second"]
    assert ARFF.sniff("some.ARFF", lines)
    assert not ARFF.sniff("some.txt", lines)
    assert not ARFF.sniff("some.arff", [*lines, "1,2"])


@pytest.mark.parametrize(
    ("body", "task", "message"),
    [("1,2,a\n", "ranking", "'ranking' needs numbers, and the attribute 'u' is nominal"),
     ("1,2,a\n", "classes", "'classes' has one column of outputs; got 2"),
     ("1,2,a\n", None, "several columns of outputs, some nominal: name the task"),
     ("1,2,a\n", "labels", "the label 'u' should be 0 or 1; it is one of a, b")],
)  # fmt: skip
def test_columns_that_are_not_of_the_task(saved, body, task, message):
    head = "@relation r\n@attribute x numeric\n@attribute t numeric\n@attribute u {a,b}\n@data\n"
    targets = ("u", "t") if task == "labels" else ("t", "u")
    with pytest.raises(DataFormatError, match=message):
        ARFF.read(saved(head + body), ReadOptions(targets=targets, task=task))


@pytest.mark.parametrize(
    ("body", "task", "message"),
    [("1,2\n1,3\n", "ranking", "a rank is a number from 0 .* to 2; row 2 has 3"),
     ("1,2\n1.5,2\n", "ranking", "a rank is .*; row 2 has 1.5"),
     ("0.5,0.5\n0.5,0.6\n", "histogram", "the shares of row 2 are not a histogram"),
     ("1.5,-0.5\n", "histogram", "the shares of row 1 are not a histogram"),
     ("0,1\n2,1\n", "labels", "the label 's' should be 0 or 1 in every row"),
     ("0,1\n", "hierarchy", "a hierarchy needs a taxonomy")],
)  # fmt: skip
def test_numbers_that_are_not_of_the_task(saved, body, task, message):
    head = "@relation r\n@attribute s numeric\n@attribute t numeric\n@data\n"
    with pytest.raises(DataFormatError, match=message):
        ARFF.read(saved(head + body), ReadOptions(targets=("s", "t"), task=task))


def test_a_taxonomy_that_runs_in_a_circle(saved):
    edges = saved("happy,sad\nsad,happy\n", "mood.edges")
    with pytest.raises(DataFormatError, match=r"mood.edges: A hierarchy has no cycles"):
        ARFF.read(saved(LABELS), ReadOptions(targets=("sad", "happy"), edges_file=edges))
    with pytest.raises(DataFormatError, match=r"no cycles, .*: 'a' -> 'b' -> 'a'"):
        with_edges(("a", "b"), (("a", "b"), ("b", "a")))
