# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM files against scikit-learn's reader, and what is refused."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats import libsvm as svm_rows
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.libsvm import FORMAT, read_svm
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError


@pytest.fixture(params=["python", "compiled"], autouse=True)
def way(request, monkeypatch):
    monkeypatch.setattr(svm_rows, "COMPILED_FROM", 0 if request.param == "compiled" else 1 << 60)


@pytest.fixture
def saved(tmp_path):
    def save(text, name="some.svm"):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return tmp_path / name

    return save


def read(path, **options):
    return FORMAT.read(path, ReadOptions(**options))


def test_label_sets(saved):
    data = read(saved("1,3 1:0.5 4:-2e3\n 2:1  # none\n# note\n\n10\n2:1 3:.5\n"))
    assert (data.task, data.labels) == ("labels", ("1", "3", "10"))
    assert data.outputs == [("1", "3"), (), ("10",), ()]
    assert data.inputs.names == ("1", "2", "3", "4")
    expected = [[0.5, 0, 0, -2e3], [0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0.5, 0]]
    assert_array_equal(data.inputs.data.toarray(), expected)


def test_classes_and_regression(saved):
    data = read(saved("+1 1:1\n-1 2:1\n1.0\n"))
    assert (data.task, data.labels) == ("classes", ("-1", "1"))
    assert data.outputs.tolist() == ["1", "-1", "1"]
    data = read(saved("1.5 1:1\n-2 2:1\n"))
    assert data.task == "regression"
    assert_array_equal(data.outputs, [[1.5], [-2]])
    assert read(saved("1 1:1\n2 1:1\n"), task="regression").task == "regression"
    assert read(saved("1 1:1\n2 1:1\n"), task="labels").outputs == [("1",), ("2",)]
    with pytest.raises(DataFormatError, match="'classes' has one label per row; row 2"):
        read(saved("1 1:1\n1,2 1:1\n"), task="classes")


def test_no_outputs(saved):
    data = read(saved(" 1:1\n 2:1\n"))
    assert data.outputs is None
    assert read(saved("1 1:1\n"), targets=()).outputs is None


def test_no_rows(saved):
    with pytest.raises(DataFormatError, match="no rows"):
        read(saved("# a comment\n"))


def test_names_and_taxonomy(saved):
    names, edges = saved("0 news\n1 sport\n2 ski\n", "names"), saved("sport\tski\n", "x.edges")
    path = saved("0,2 1:1\n1 2:1\n")
    data = read(path, labels_file=names, edges_file=edges)
    assert (data.task, data.labels) == ("hierarchy", ("news", "sport", "ski"))
    assert data.outputs == [("news", "ski"), ("sport",)]
    assert data.edges == (("sport", "ski"),)
    plain = saved("news\nsport\nski\n", "plain")
    assert read(path, labels_file=plain).outputs == data.outputs
    shifted = saved("1,3 1:1\n2 2:1\n", "shifted")
    assert read(shifted, labels_file=plain).outputs == data.outputs
    with pytest.raises(DataFormatError, match="no name for the label '7'"):
        read(saved("7 1:1\n"), labels_file=plain)


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("1 1:1\n1 0:1\n", 2, 2, "an index is from 1"),
        ("1 2:1 2:1\n", 1, 3, "indices rise; got 2 after 2"),
        ("1 3:1 2:1\n", 1, 3, "indices rise; got 2 after 3"),
        ("1 1:x\n", 1, 2, "expected 'index:value', got '1:x'"),
        ("1 1:nan\n", 1, 2, "expected 'index:value'"),
        ("1 1:1e999\n", 1, 2, "'1e999' is not a finite number"),
        ("1 1:1.2.3\n", 1, 2, "'1.2.3' is not a finite number"),
        ("1 1: 2\n", 1, 2, "expected 'index:value'"),
        ("1 qid:x 1:2\n", 1, 2, "expected .qid:number. once, after the label"),
        ("1 qid:3 qid:4 1:2\n", 1, 3, "expected .qid:number. once, after the label"),
        ("1 9999999999:2\n", 1, 2, "an index is from 1"),
        ("1 2\n", 1, 2, "expected 'index:value', got '2'"),
        ("1 ٣:1\n", 1, 2, "expected 'index:value'"),
        ("1,,2 1:1\n", 1, 1, "is empty"),
        ("1,1 1:1\n", 1, 1, "a label comes twice"),
        ("1.2.3 1:1\n", 1, 1, "the label '1.2.3' is not a number"),
        ("nan 1:1\n", 1, 1, "the label 'nan' is not a number"),
        ("1:1 1:2\n", 1, 2, "indices rise"),
    ],
)
def test_errors(saved, text, line, column, problem):
    with pytest.raises(DataFormatError, match=problem) as caught:
        read(saved(text))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "some.svm" in str(caught.value)


def test_huge_indices_cost_nothing(saved):
    data = read(saved("1 5:1 999999999:2\n2 7:1\n"))
    assert data.inputs.names == ("5", "7", "999999999")
    assert_array_equal(data.inputs.data.toarray(), [[1, 0, 2], [0, 1, 0]])


values = st.floats(allow_nan=False, allow_infinity=False)
rows = st.dictionaries(st.integers(1, 12), values, max_size=5)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.tuples(st.sets(st.integers(0, 30), max_size=3), rows), min_size=1, max_size=6))
def test_agrees_with_scikit_learn(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("svm") / "some.svm"
    lines = [
        ",".join(map(str, sorted(labels)))
        + " "
        + " ".join(f"{j}:{v!r}" for j, v in sorted(x.items()))
        for labels, x in data
        if labels
    ]
    path.write_text("\n".join([*lines, "1 12:1", ""]))
    X, labels = read_svm(path)
    Z, expected = load_svmlight_file(str(path), multilabel=True, zero_based=False)
    assert_array_equal(X.toarray(), Z.toarray())
    assert [tuple(map(float, row)) for row in labels] == expected


labels = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=3)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.tuples(st.lists(labels, max_size=3, unique=True), rows), min_size=1), st.data())
def test_written_data_read_back(tmp_path_factory, data, draw):
    task = draw.draw(st.sampled_from(["labels", "classes"]))
    X = np.zeros((len(data), 12))
    for i, (_, x) in enumerate(data):
        for j, value in x.items():
            X[i, j - 1] = value
    X[0, 11] = 1.0  # or the last columns are lost
    sets = [tuple(names) if task == "labels" else (*names, "a")[0] for names, _ in data]
    known = {name for names in sets for name in names} if task == "labels" else set(sets)
    outputs = sets if task == "labels" else np.array(sets, dtype=str)
    inputs = Table(tuple(map(str, range(1, 13))), (None,) * 12, sparse.csr_array(X))
    dataset = Dataset("d", "libsvm", task, inputs, outputs, tuple(known))
    file = io.StringIO()
    try:
        FORMAT.write(dataset, file)
    except DataFormatError:
        assert any(set(name) & set(",:#") or name[0] in "0123456789.+-\ufeff" or not
                   name.isascii() or name.lower() in ("nan", "inf") for name in known)  # fmt: skip
        return
    path = tmp_path_factory.mktemp("svm") / "some.svm"
    path.write_text(file.getvalue(), encoding="utf-8", newline="")
    again = FORMAT.read(path, ReadOptions(task=task))
    assert set(again.labels) == known
    assert_array_equal(again.inputs.data.toarray(), X)
    assert list(again.outputs) == list(outputs)


def test_hierarchies_read_back(tmp_path, saved):
    inputs = Table(("1", "2"), (None, None), sparse.csr_array(np.eye(2)))
    for edges in ((("all", "a"), ("all", "b")), (("a", "a/b"),)):
        labels = tuple(dict.fromkeys(name for pair in edges for name in pair))
        outputs = [labels[-1:], labels[1:2]]
        data = Dataset("d", "csv", "hierarchy", inputs, outputs, labels, edges)
        write_data(data, tmp_path / "d.svm.gz")
        found = read_data(tmp_path / "d.svm.gz")
        assert (found.task, found.outputs, found.edges) == ("hierarchy", outputs, edges)
        assert set(found.labels) == set(labels)
    found = read_data(saved("a/b 1:1\nc 1:2\n"), task="hierarchy")
    assert (found.labels, found.edges) == (("a/b", "c", "a"), (("a", "a/b"),))
    with pytest.raises(
        DataFormatError, match=r"needs a taxonomy .*x\.edges beside x\.svm, or names"
    ):
        read_data(saved("a 1:1\nb 1:2\n"), task="hierarchy")


def test_nothing_is_written_if_the_taxonomy_cannot_be(tmp_path):
    inputs = Table(("1",), (None,), sparse.csr_array(np.eye(1)))
    edges = (("two\tparts", "a"),)
    data = Dataset("d", "csv", "hierarchy", inputs, [("a",)], ("two\tparts", "a"), edges)
    with pytest.raises(DataFormatError, match="cannot be in a taxonomy file"):
        write_data(data, tmp_path / "d.svm")
    assert list(tmp_path.iterdir()) == []


def test_formats_are_distinguished():
    assert FORMAT.sniff("x.txt", ["1,3 1:0.5 4:2", " 2:1", "3:4"])
    assert FORMAT.sniff("x.svm", ["1,3 1:0.5 4:2", "3"])
    assert not FORMAT.sniff("x.txt", ["a,b", "1,2"])
    assert not FORMAT.sniff("x.svm", [])
