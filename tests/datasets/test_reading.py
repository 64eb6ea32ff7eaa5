# SPDX-License-Identifier: BSD-3-Clause
"""Reading whatever it is: guesses, options, and files that are damaged."""

import gzip
import lzma
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.files import data_file, text_lines
from skstruct.datasets.formats.edges import read_edges
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError

TEXT = "x,y\n" + "".join(f"{i / 7!r},{i % 3}\n" for i in range(500))
DATA = Dataset(
    "d",
    "csv",
    "regression",
    Table(("x",), (None,), np.arange(100.0)[:, None]),
    np.arange(100.0)[:, None],
    ("y",),
)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.csv"):
        read_data(tmp_path / "none.csv")
    with pytest.raises(DataFormatError, match="it is a folder"):
        read_data(tmp_path)


def test_unknown_words(tmp_path):
    (tmp_path / "d.csv").write_text(TEXT)
    with pytest.raises(ValueError, match=r"format is one of .*csv.*; got 'xls'"):
        read_data(tmp_path / "d.csv", format="xls")
    with pytest.raises(ValueError, match=r"task is one of classes, .*; got 'guess'"):
        read_data(tmp_path / "d.csv", task="guess")
    with pytest.raises(ValueError, match=r"format is one of .*; got 'xls'"):
        write_data(DATA, tmp_path / "d.csv", format="xls")
    with pytest.raises(DataFormatError, match=r"no format has the ending '\.xls'"):
        write_data(DATA, tmp_path / "d.xls")


def test_formats_that_cannot_be_recognized(tmp_path):
    (tmp_path / "d").write_text("just words\n")
    with pytest.raises(DataFormatError, match="cannot be recognized from the first lines; name it"):
        read_data(tmp_path / "d")
    (tmp_path / "e").write_text("")
    with pytest.raises(DataFormatError, match="the file is empty"):
        read_data(tmp_path / "e")


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("d.csv", "x y,class\na b,O\n\n", "csv"),
        ("d.tsv", "x\tclass\na\tO\n", "csv"),
        ("d.tsv", "the\tO\ndog\tB-X\n", "conll"),
        ("d.txt", "x;class\n1;2\n", "csv"),
        ("d", "the DT\ndog NN\n\na DT\n", "conll"),
        ("d.csv", "1,1,2\n0.5,2,1\n", "label-ranking"),
        ("d.csv", "1,2,y\n0.5,2,1\n", "csv"),
    ],
)
def test_formats_are_distinguished(tmp_path, name, text, format):
    (tmp_path / name).write_text(text)
    data = read_data(tmp_path / name)
    assert data.format == format
    assert data.remarks[0].startswith(f"The format is taken for {format!r} (")


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_files(tmp_path, ending, pack):
    path = tmp_path / f"d.csv{ending}"
    packed = pack(TEXT.encode())
    path.write_bytes(packed)
    assert (read_data(path).name, len(read_data(path))) == ("d", 500)
    for size in (0, 1, 10, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:size])
        with pytest.raises(DataFormatError, match=r"unpacked|damaged|empty"):
            read_data(path)
    path.write_bytes(b"plain text, y\n")
    with pytest.raises(DataFormatError, match=r"unpacked|damaged"):
        read_data(path)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.xz"])
def test_the_same_data_give_the_same_bytes(tmp_path, ending):
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    write_data(DATA, first)
    write_data(DATA, second)
    assert first.read_bytes() == second.read_bytes()
    assert_array_equal(read_data(first).outputs, DATA.outputs)


def test_a_long_line_is_refused(tmp_path, monkeypatch):
    assert text_lines.__defaults__ == (100_000_000,)
    monkeypatch.setattr(text_lines, "__defaults__", (1000,))
    (tmp_path / "d.csv").write_text(TEXT)
    assert len(read_data(tmp_path / "d.csv")) == 500
    (tmp_path / "d.csv").write_text("x,y\n" + "1" * 1001)
    with pytest.raises(DataFormatError, match="longer than 1000 bytes"):
        read_data(tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\nb c\nc a\n", "here is one: .*'a'"),
        ("a b\na\n", "line 2: expected a parent and a child, got 'a'"),
        ("a\tb\na\tb\tc\n", "line 2: expected a parent and a child"),
        ("a,b\n,c\n", "line 2: expected a parent"),
        ("a a\n", "line 1: 'a' is its own parent"),
        ("# nothing\n", "no line names"),
        ("", "the file is empty"),
    ],
)
def test_bad_taxonomies(tmp_path, text, message):
    path = tmp_path / "d.edges"
    path.write_text(text)
    with pytest.raises(DataFormatError, match=message):
        read_edges(path)


def test_taxonomies(tmp_path):
    path = tmp_path / "d.edges"
    for text in ("a b c\td\n", "a b c, d\n\n"):
        path.write_text(text)
        assert read_edges(path) == (("a b c", "d"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "format", "task", "n", "n_labels"),
    [
        ("label_ranking/iris.csv", "label-ranking", "ranking", 150, 3),
        ("label_ranking/vowel.csv.xz", "label-ranking", "ranking", 528, 11),
        ("conll2000/train.txt.xz", "conll", "sequence", 8936, 22),
    ],
)
def test_published_files(real_data, file, format, task, n, n_labels):
    data = read_data(real_data(partial(data_file, source="its authors"), file))
    assert (data.format, data.task, len(data), len(data.labels)) == (format, task, n, n_labels)
    assert data.remarks[0].startswith(f"The format is taken for {format!r}")
