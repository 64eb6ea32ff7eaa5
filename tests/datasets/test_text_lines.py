# SPDX-License-Identifier: BSD-3-Clause
"""Text files of all kinds of bytes: sound lines, or one line that says what is wrong."""

import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.datasets import files as module
from skstruct.datasets.files import text_blocks, text_lines
from skstruct.exceptions import DataFormatError

PACKED = {".gz": gzip.compress, ".xz": lzma.compress}


@given(
    st.lists(st.sampled_from(["a", "é", "\n", "\r", "\r\n", "\u2028", "\x0b", " "])).map("".join),
    st.integers(1, 9),
)
def test_lines_are_those_of_text_files(tmp_path_factory, text, size):
    """However small the blocks are, and wherever they end."""
    path = tmp_path_factory.mktemp("lines") / "some.txt"
    path.write_bytes(text.encode())
    with open(path, encoding="utf-8") as file:
        expected = [line.rstrip("\n") for line in file]
    before, module.BLOCK_BYTES = module.BLOCK_BYTES, size
    try:
        blocks = list(text_blocks(path))
    finally:
        module.BLOCK_BYTES = before
    assert [line for _, lines in blocks for line in lines] == expected
    number = 1
    for start, lines in blocks:
        assert start == number
        number += len(lines)


@pytest.mark.parametrize("ending", PACKED)
def test_archives_that_are_cut_off_or_damaged(tmp_path, ending):
    packed = PACKED[ending](b"some,text\n" * 1000)
    path = tmp_path / f"some.txt{ending}"
    path.write_bytes(packed)
    assert len(list(text_lines(path))) == 1000
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0xFF
    for broken in (packed[: len(packed) // 2], packed[:-3], bytes(flipped), b"no archive"):
        path.write_bytes(broken)
        with pytest.raises(DataFormatError, match=f"damaged or incomplete {ending} file") as caught:
            list(text_lines(path))
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (b"one\ntwo\n\xff\xfe", 3, r"byte 1 of the line \(0xff\) is not UTF-8"),
        ("one\nné".encode("latin-1"), 2, r"byte 2 of the line \(0xe9\) is not UTF-8"),
        ("one".encode("utf-16"), 1, "not UTF-8"),
        (b"one\ntwo\x00", 2, "a NUL byte"),
        (b"one\n" + b"x" * 2000, 2, "longer than 1000 bytes"),
        (b"x" * 2000 + b"\none", 1, "longer than 1000 bytes"),
    ],
)
def test_what_is_no_text(tmp_path, text, line, problem):
    path = tmp_path / "some.txt"
    path.write_bytes(text)
    with pytest.raises(DataFormatError, match=problem) as caught:
        list(text_lines(path, max_line=1000))
    assert caught.value.line == line


def test_empty_files_have_no_lines(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"")
    assert list(text_lines(path)) == []
