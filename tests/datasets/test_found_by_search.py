# SPDX-License-Identifier: BSD-3-Clause
"""Files on which readers and writers were once wrong, found by reliability/fuzz_readers.py."""

import io

import pytest

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
