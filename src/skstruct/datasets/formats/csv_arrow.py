# SPDX-License-Identifier: BSD-3-Clause
"""Cells of large CSV files by pyarrow, as the reader of all CSV files reads them.

Blocks of lines in UTF-8 are read here whose quoted cells are well quoted, and whose rows have all
cells. For any other the reader of :mod:`~skstruct.datasets.formats.csv_files` begins anew, which
knows what is wrong, and where. What is a number is decided here by the same rule.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skstruct.datasets.files import BLOCK_BYTES, byte_blocks
from skstruct.datasets.formats.columns import as_numbers
from skstruct.encoding.columns import MISSING

LARGE = 1 << 21  # bytes of a file that is read sooner this way, the time to import pyarrow included
MANY_BYTES = 1 << 25  # of a block


class NotPlain(Exception):
    """A file that is left to the reader of all CSV files."""


def suits(path: Path) -> bool:
    """Whether this reader is tried."""
    return path.stat().st_size >= LARGE


def cell_blocks(
    path: Path, separator: str, width: int, texts: set[int]
) -> Iterator[tuple[int, list[Any]]]:
    """Numbers of rows, and the cells of each column, of one block of rows after the other.

    Columns at the positions ``texts`` are not tried as numbers.

    Raises
    ------
    NotPlain
        While iterating: nothing that came before holds.
    """
    texts = set(texts)
    is_first = True
    for block in _large_blocks(path):
        if is_first:  # the header, which has been read
            if b'"' in block.partition(b"\n")[0]:
                raise NotPlain  # which may go over several lines
            block, is_first = block.partition(b"\n")[2], False
        if not block:
            continue
        outside = _outside_quotes(block, separator)
        if b"\0" in block or b"\n\n" in outside or block.startswith((b"\n", codecs.BOM_UTF8)):
            raise NotPlain  # a mark of byte order within a file is text, which pyarrow drops
        columns = _parsed(block, separator, width, texts, outside is not block)
        texts |= {j for j in range(width) if j not in texts and columns[j].numbers() is None}
        yield len(columns[0]), columns


def _large_blocks(path: Path) -> Iterator[bytes]:
    """Whole rows of the file, many at a time: within a quoted cell, quotes are odd in number."""
    kept: list[bytes] = []
    n_bytes, is_open = 0, False
    for block in byte_blocks(path):
        if len(block) > 4 * BLOCK_BYTES:  # of lines that are longer than cells may be
            raise NotPlain
        kept.append(block)
        n_bytes += len(block)
        is_open ^= bool(block.count(b'"') % 2)
        if n_bytes > MANY_BYTES and not is_open:
            yield b"".join(kept)
            kept, n_bytes = [], 0
    if kept:
        yield b"".join(kept)


def _outside_quotes(block: bytes, separator: str) -> bytes:
    """The block itself where nothing is quoted, else with a digit for each quoted cell."""
    if b'"' not in block:
        return block
    mark = re.escape(separator.encode())
    cell = rb'(?:(?<=[\n%b])|\A)"[^"]*(?:""[^"]*)*"(?=[\n%b]|\Z)' % (mark, mark)
    outside = re.sub(cell, b"0", block)
    if b'"' in outside:
        raise NotPlain
    return outside


def _parsed(block: bytes, separator: str, width: int, texts: set[int], quoted: bool) -> list[Any]:
    """Columns of numbers where all cells are; else all are texts."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(j) for j in range(width)]
    reading = csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
    quotes = {"quote_char": '"' if quoted else False, "double_quote": quoted}
    parsing = csv.ParseOptions(delimiter=separator, newlines_in_values=quoted, **quotes)
    for of_texts in (texts, set(range(width))):
        types = {name: pa.string() if j in of_texts else pa.float64()
                 for j, name in enumerate(names)}  # fmt: skip
        converting = csv.ConvertOptions(
            column_types=types, null_values=sorted(MISSING), strings_can_be_null=False
        )
        with contextlib.suppress(pa.ArrowInvalid):
            table = csv.read_csv(pa.BufferReader(block), reading, parsing, converting)
            arrays = [column.combine_chunks() for column in table.columns]
            columns = [TextCells(array) if j in of_texts else NumberCells(array)
                       for j, array in enumerate(arrays)]  # fmt: skip
            if all(j in of_texts or columns[j].numbers() is not None for j in range(width)):
                return columns
    raise NotPlain


class NumberCells:
    """A column that pyarrow read as numbers."""

    def __init__(self, array: Any) -> None:
        self._values: np.ndarray = array.to_numpy(zero_copy_only=False)
        self._is_ours = int(np.isnan(self._values).sum()) == array.null_count

    def __len__(self) -> int:
        return len(self._values)

    def numbers(self) -> np.ndarray | None:
        """NaN where missing; None where NaN is written in a way that is not ours."""
        return self._values if self._is_ours else None


class TextCells:
    """A column of texts in pyarrow's memory, with the two things that are asked of it."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    @cached_property
    def _numbers(self) -> np.ndarray | None:
        return as_numbers(self._array.to_pylist())

    def numbers(self) -> np.ndarray | None:
        """Of all cells, by the rule of the reader of all CSV files."""
        return self._numbers

    def codes(self, known: Any) -> np.ndarray:
        """The number of each text in ``known``, a Codes, which learns new ones."""
        encoded = self._array.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        numbers = np.array([known[text] for text in texts], dtype=np.int64)
        return numbers[encoded.indices.to_numpy()]
