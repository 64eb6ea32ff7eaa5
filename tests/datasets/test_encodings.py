# SPDX-License-Identifier: BSD-3-Clause
"""Text files that are not UTF-8 hold the same data as those that are."""

import gzip

import numpy as np
import pytest

from skstruct.datasets import files as text_files
from skstruct.datasets import read_data
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import byte_blocks, text_lines
from skstruct.datasets.formats import csv_arrow
from skstruct.exceptions import DataFormatError

TABLE = "größe,Straße,class\n" + "".join(
    f"{i / 7!r},Über {i % 5},{'é' * (i % 3)}x\n" for i in range(40)
)
OTHERS = ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-be", "utf-32", "cp437", "mac-roman"]


@pytest.mark.parametrize("encoding", OTHERS)
def test_tables_are_the_same(tmp_path, encoding):
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    known = read_data(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(TABLE, encoding=encoding)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TABLE.encode(encoding)))
    for name in ("t.csv", "t.csv.gz"):
        data = read_data(tmp_path / name, encoding=encoding)
        assert data.inputs.names == known.inputs.names
        assert data.inputs.values == known.inputs.values
        assert np.array_equal(data.inputs.data, known.inputs.data)
        assert data.outputs.tolist() == known.outputs.tolist()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_large_files_too(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(csv_arrow, "LARGE", 0)
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    known = read_data(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(TABLE, encoding=encoding)
    data = read_data(tmp_path / "t.csv", encoding=encoding)
    assert data.inputs.values == known.inputs.values
    assert np.array_equal(data.inputs.data, known.inputs.data)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "shift_jis"])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_any_length(tmp_path, monkeypatch, encoding, size):
    """Characters and line ends may be cut at any byte."""
    monkeypatch.setattr(text_files, "BLOCK_BYTES", size)
    lines = ["ab", "", "x,y", "1,2"] if encoding == "latin-1" else ["日本", "", "語,y", "1,2"]
    path = tmp_path / "t.txt"
    path.write_bytes("\r\n".join(lines).encode(encoding))
    assert list(text_lines(text_path(path, encoding))) == lines
    read = []
    list(byte_blocks(text_path(path, encoding), seen=read.append))
    assert sum(read) == path.stat().st_size


def test_files_beside_have_the_same_encoding(tmp_path):
    (tmp_path / "t.csv").write_text("x,labels\n1,é;ü\n2,ü\n", encoding="latin-1")
    (tmp_path / "t.edges").write_text("ü\té\n", encoding="latin-1")
    data = read_data(tmp_path / "t.csv", encoding="latin-1")
    assert data.edges == (("ü", "é"),)
    names = "@attribute é {0,1}\n@attribute ü {0,1}\n@attribute x numeric\n"
    arff = f"@relation r\n{names}@data\n1,0,2\n0,1,3\n"
    (tmp_path / "l.arff").write_text(arff, encoding="latin-1")
    (tmp_path / "l.xml").write_text(
        '<labels><label name="é"/><label name="ü"/></labels>', encoding="latin-1"
    )
    assert read_data(tmp_path / "l.arff", encoding="latin-1").labels == ("é", "ü")


def test_other_formats(tmp_path):
    text = "größe NN\nß VB\n\né NN\n"
    (tmp_path / "t.conll").write_text(text, encoding="cp1252")
    assert read_data(tmp_path / "t.conll", encoding="cp1252").inputs[0][0] == ("größe",)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"x,y\n1,caf\xe9\n", r'line 2: byte 6 .*0xe9.*encoding="latin-1"'),
        (b"x,y\n1,it\x92s\n", r'line 2: byte 5 .*0x92.*encoding="cp1252"'),
        ("x,y\n1,a\n".encode("utf-16"), r'line 1: byte 1 .*encoding="utf-16"'),
        ("x,y\n1,a\n".encode("utf-16-le"), r'NUL byte.*encoding="utf-16"'),
    ],
)
def test_the_message_says_where_and_what_to_try(tmp_path, content, advice):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataFormatError, match=advice):
        read_data(tmp_path / "t.csv")


def test_bytes_that_an_encoding_has_not(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x,y\n1,a\n2,\x81\n")
    with pytest.raises(DataFormatError, match="line 3: the byte 0x81 is no text in cp1252"):
        read_data(tmp_path / "t.csv", encoding="cp1252")
    (tmp_path / "t.csv").write_bytes("x,y\n1,a\n".encode("utf-16") + b"a")
    with pytest.raises(DataFormatError, match="is no text in utf-16"):
        read_data(tmp_path / "t.csv", encoding="utf-16")
    for wrong in ("klingon", "rot13", "hex"):
        with pytest.raises(ValueError, match="encoding is the name of one"):
            read_data(tmp_path / "t.csv", encoding=wrong)
