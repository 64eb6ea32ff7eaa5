# SPDX-License-Identifier: BSD-3-Clause
"""Names, first lines and all lines of files that may hold any bytes."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import lzma
import re
import zlib
from pathlib import Path

from skstruct.datasets.home import open_binary
from skstruct.datasets.text_lines import text_lines
from skstruct.exceptions import DataFormatError

_FIRST = 2**16  # bytes that tell a format
_PACKED = (".gz", ".xz")


def bare_name(path) -> str:
    """Name of a file without the endings ``.gz`` and ``.xz``.

    Examples
    --------
    >>> bare_name("data/iris.csv.xz")
    'iris.csv'
    """
    name = Path(path).name
    while name.endswith(_PACKED) and len(name) > 3:
        name = name[:-3]
    return name


def stem(path) -> str:
    """Name of a file without its ending, packed or not.

    Examples
    --------
    >>> stem("data/iris.csv.xz")
    'iris'
    """
    return Path(bare_name(path)).stem


def read_lines(path) -> list[str]:
    """All lines without their ends; a file that is no text, or empty, is refused."""
    lines = list(text_lines(path))
    if not lines:
        raise DataFormatError("the file is empty", path=path)
    return lines


def first_lines(path, n_lines: int = 30) -> list[str]:
    """Some lines from the beginning, without their ends, to tell a format by."""
    with unpacking(path), open_binary(path) as file:
        start = file.read(_FIRST)
    lines = re.split("\r\n|\r|\n", codecs.decode(start, "utf-8-sig", "replace"))
    if len(lines) > 1:  # what follows the last line end is empty, or may be cut off
        lines.pop()
    return lines[:n_lines]


@contextlib.contextmanager
def unpacking(path):
    """While a file is opened and unpacked: what goes wrong is an error of the data."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise DataFormatError(f"it cannot be unpacked ({error})", path=path) from None
