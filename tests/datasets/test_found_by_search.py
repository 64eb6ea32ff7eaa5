# SPDX-License-Identifier: BSD-3-Clause
"""Files on which readers and writers were once wrong, found by reliability/fuzz_readers.py."""

import io
from dataclasses import replace

import numpy as np
import pytest

from skstruct.datasets.encodings import text_path
from skstruct.datasets.formats.arff import reading
from skstruct.datasets.formats.arff.label_list import read_label_list
from skstruct.datasets.formats.arff.reading import read_arff
from skstruct.datasets.formats.edges import read_edges, write_edges
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError


def test_a_mark_of_byte_order_within_a_file_is_text(tmp_path):
    """pyarrow takes it off at the beginning of every block."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"row,x,class\n\xef\xbb\xbf1,a b,1.0\n2,c,2\n")
    assert read_data(path).index == ("\ufeff1", "2")


def test_a_label_that_would_begin_a_taxonomy_as_a_mark(tmp_path):
    path = tmp_path / "t.edges"
    path.write_bytes(b"# x\n\xef\xbb\xbf 1/2\n")
    edges = read_edges(path)
    assert edges == (("\ufeff", "1/2"),)
    with pytest.raises(DataFormatError, match="byte order"):
        write_edges(edges, io.StringIO())


def test_numbers_of_no_rows_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n")
    data = read_data(path, task="regression")
    write_data(data, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == "a,b,y\n"


HEADER = "@relation r\n@attribute s string\n@attribute t string\n"


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "@data\nit's,that's,x\n",
        HEADER + "@data\n'a, b'c,x\n",
        HEADER + "@data\n{0 'a, b'c}\n",
        "@relation r\n@attribute s {it's,that's}\n@data\n",
        "@relation r\n@attribute c hierarchical a,b'c,d'\n@data\n",
    ],
)
def test_a_quote_within_a_value_does_not_swallow_a_comma(text):
    with pytest.raises(DataFormatError, match="a quote within"):
        read_arff(text.splitlines())


def test_a_sparse_row_among_dense_ones_is_not_taken_for_texts():
    with pytest.raises(DataFormatError, match="a sparse row among others") as refused:
        read_arff((HEADER + "@data\na,b\n{0 a,1 b}\n").splitlines())
    assert refused.value.line == 6


def test_minus_nought_is_nought_among_labels(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("-0 1:1\n0 1:2\n-1e-999 1:3\n")
    assert read_data(path).outputs.tolist() == ["0", "0", "0"]


def test_a_list_of_labels_in_another_encoding_than_it_says(tmp_path):
    path = tmp_path / "t.xml"
    text = '<?xml version="1.0" encoding="latin-1"?><labels><label name="%s"/></labels>'
    path.write_text(text % "a", encoding="utf-8")
    assert read_label_list(path)[0] == ("a",)
    path.write_text(text % "é", encoding="utf-8")
    with pytest.raises(DataFormatError, match="its encoding is 'latin-1'"):
        read_label_list(path)
    path.write_text(text % "é", encoding="latin-1")
    assert read_label_list(text_path(path, "latin-1"))[0] == ("é",)


def test_names_that_are_declared_again_and_again():
    """Numbers that were tried for a name are not tried again."""
    text = "@relation r\n" + "@attribute a numeric\n" * 4 + "@attribute a_3 numeric\n@data\n"
    assert read_arff(text.splitlines()).names == ("a", "a_2", "a_4", "a_5", "a_3")


@pytest.mark.parametrize("second", ["{}", "{1 ?}"])
def test_label_sets_of_sparse_rows(tmp_path, second):
    path = tmp_path / "t.arff"
    declared = "@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n"
    path.write_text(f"@relation '-C 2'\n{declared}@data\n{{0 1,1 1}}\n{second}\n{{2 3}}\n")
    known = () if second == "{}" else {"include": (), "exclude": ("a",)}
    assert read_data(path).outputs == [("a", "b"), known, ()]


def test_rankings_of_many_items(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,ranking\n1,a>b=c\n2,\n3,d\n")
    data = read_data(path)
    assert data.labels == ("a", "b", "c", "d")
    assert data.outputs.tolist() == [[1, 2, 2, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_a_number_too_large_is_no_class(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n2,1e999\n3,1.0\n")
    with pytest.raises(DataFormatError, match=r"line 3, column 2: .*finite number, got"):
        read_data(path)


def test_documents_of_tokens_begin_after_blanks_too(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text(" -DOCSTART- -X- O\n\nHe PRP B-NP\n")
    assert read_data(path).inputs == [[("He", "PRP")]]


def test_a_byte_order_mark_is_no_part_of_the_first_token(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text(" \ufeffa O\nb O\n", encoding="utf-8")
    data = replace(read_data(path), layout=None)
    assert data.inputs == [[("\ufeffa",), ("b",)]]
    with pytest.raises(DataFormatError, match="byte order mark"):
        write_data(data, tmp_path / "u.conll")
    assert not (tmp_path / "u.conll").exists()


def test_sizes_of_label_rankings_are_digits(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1\x1c,1,1\n4,1\n")
    with pytest.raises(DataFormatError, match="expected the numbers of rows"):
        read_data(path, format="label-ranking")


@pytest.mark.parametrize("where", ["input", "class"])
def test_texts_of_parquet_that_are_not_utf8(tmp_path, where):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = pa.array([b"a", b"\xff"]).view(pa.utf8())
    table = {"class": ["a", "b"], "x": [1.0, 2.0], where: texts}
    parquet.write_table(pa.table(table), tmp_path / "t.parquet")
    with pytest.raises(DataFormatError, match=f"column '{where}': a text that is not UTF-8"):
        read_data(tmp_path / "t.parquet")


@pytest.mark.parametrize("compiled_from", [0, 1 << 60])
def test_strings_are_in_the_order_of_rows(monkeypatch, compiled_from):
    """Cells with a backslash are read later than others by compiled code."""
    monkeypatch.setattr(reading, "COMPILED_FROM", compiled_from)
    table = read_arff("@relation r\n@attribute s string\n@data\na\\b\nc\n?\nd\nc\n".splitlines())
    assert len(table.values[0]) == 3
    np.testing.assert_array_equal(table.data[:, 0], [0, 1, np.nan, 2, 1])


def test_an_apostrophe_before_a_number_is_part_of_the_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,class\n1,a\n'-5,b\n'=a,c\n")
    data = read_data(path)
    assert set(data.inputs.values[0]) == {"1", "'-5", "=a"}
    write_data(data, path)
    assert read_data(path).inputs.values == data.inputs.values


def test_a_label_that_begins_as_a_number(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("-nan\u2028 1:1\n1.5 1:2\n", encoding="utf-8")
    assert read_data(path).task == "classes"


def test_a_last_line_without_an_end_tells_the_format(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text("# text = Go\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_")
    data = read_data(path)
    assert (data.format, data.inputs, data.outputs) == ("conllu", [[("Go",)]], [("VERB",)])


def test_what_would_be_read_as_conll_u_is_not_written_as_conll(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text(" 1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\tO\n")  # the blank before is not kept
    data = read_data(path)
    assert (data.format, data.outputs) == ("conll", [("O",)])
    with pytest.raises(DataFormatError, match="CoNLL-U"):
        write_data(data, path)
    with pytest.raises(DataFormatError, match="CoNLL-U"):
        write_data(replace(data, layout=None, inputs=[[("1", "x y", *"abcdefg")]]), path)
    assert read_data(path).inputs == data.inputs
