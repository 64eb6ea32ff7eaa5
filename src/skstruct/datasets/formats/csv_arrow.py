# SPDX-License-Identifier: BSD-3-Clause
"""Cells of plain CSV files by pyarrow, where it is installed: several times as quick.

Plain is a block of lines without quotes and empty lines, in UTF-8, whose rows have all cells. For
any other the reader of :mod:`~skstruct.datasets.formats.csv_files` begins anew, which knows what
is wrong, and where. Columns come as texts and are turned into numbers here by the same rule.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib.util
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skstruct.datasets.formats.columns import as_numbers
from skstruct.datasets.formats.csv_compiled import NotPlain, large_blocks
from skstruct.encoding.columns import MISSING

MANY_BYTES = 1 << 25  # of a block
_ODD = (b'"', b"\n\n", b"\0")  # what blocks that are plain do not hold


def suits(path: Path) -> bool:
    """Whether this reader can be tried: where there is a pyarrow."""
    return importlib.util.find_spec("pyarrow") is not None


def cell_blocks(
    path: Path, separator: str, width: int, texts: set[int]
) -> Iterator[tuple[int, list[Any]]]:
    """Numbers of rows, and the cells of each column, of one block of lines after the other.

    Columns at the positions ``texts`` are not tried as numbers.

    Raises
    ------
    NotPlain
        While iterating: nothing that came before holds.
    """
    texts = set(texts)
    is_first = True
    for block in large_blocks(path, MANY_BYTES):
        if is_first:  # the header, which has been read
            block, is_first = block.partition(b"\n")[2], False
        if not block:
            continue
        if any(mark in block for mark in _ODD) or block.startswith((b"\n", codecs.BOM_UTF8)):
            raise NotPlain  # a mark of byte order within a file is text, which pyarrow drops
        columns = _parsed(block, separator, width, texts)
        texts |= {j for j in range(width) if j not in texts and columns[j].numbers() is None}
        yield len(columns[0]), columns


def _parsed(block: bytes, separator: str, width: int, texts: set[int]) -> list[Any]:
    """Columns of numbers where all cells are; else all are texts."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(j) for j in range(width)]
    reading = csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
    parsing = csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False)
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
