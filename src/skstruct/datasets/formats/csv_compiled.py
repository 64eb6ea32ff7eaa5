# SPDX-License-Identifier: BSD-3-Clause
"""Cells of large plain CSV files by compiled code, about as quick as pandas reads them.

Plain is a block of lines without quotes and empty lines, in UTF-8, whose rows have all cells. For
any other the reader of :mod:`~skstruct.datasets.formats.csv_files` begins anew, which knows what
is wrong, and where. Cells that the compiled code does not settle are read here by the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from skstruct.datasets.files import BLOCK_BYTES, byte_blocks
from skstruct.datasets.formats.columns import as_numbers
from skstruct.encoding.columns import MISSING, Codes

LARGE = 1 << 22  # bytes of a file for which loading compiled code pays
MANY_BYTES = 1 << 22  # of a block
SAMPLE = 50  # rows that tell which columns are texts
_WORDS = np.array(sorted(int.from_bytes(word.encode(), "big") for word in MISSING), np.uint64)


class NotPlain(Exception):
    """A file that is left to the reader of all CSV files."""


def suits(path: Path) -> bool:
    """Whether compiled code reads this file sooner, the time to load it included."""
    return path.stat().st_size >= LARGE


def cell_blocks(
    path: Path, separator: str, width: int, texts: set[int]
) -> Iterator[tuple[int, list[Cells]]]:
    """Numbers of rows, and the cells of each column, of one block of lines after the other.

    Columns at the positions ``texts`` are not tried as numbers.

    Raises
    ------
    NotPlain
        While iterating: nothing that came before holds.
    """
    texts, is_first = set(texts), True
    for block in large_blocks(path):
        if is_first:  # the header, which has been read
            block, is_first = block[block.find(b"\n") + 1 or len(block) :], False
            texts |= _texts_of_sample(block, separator, width)
        if not block:
            continue
        if block[-1:] != b"\n":
            block += b"\n"
        _check_encoding(block)
        columns, new = _parsed(block, separator, width, texts)
        if new:
            texts |= new
            columns, _ = _parsed(block, separator, width, texts)
        yield len(columns[0]), columns


def large_blocks(path: Path, many: int | None = None) -> Iterator[bytes]:
    """Lines of the file, many at a time: each block of each column takes some calls."""
    kept: list[bytes] = []
    for block in byte_blocks(path):
        if len(block) > 4 * BLOCK_BYTES:  # of lines that are longer than cells may be
            raise NotPlain
        kept.append(block)
        if len(kept) * BLOCK_BYTES > (MANY_BYTES if many is None else many):
            yield b"".join(kept)
            kept = []
    if kept:
        yield b"".join(kept)


def _texts_of_sample(block: bytes, separator: str, width: int) -> set[int]:
    """Columns with a text in the first rows."""
    lines = block[: SAMPLE * 100 * width].decode("utf-8", "replace").split("\n")[:-1]
    rows = [line.split(separator) for line in lines[:SAMPLE]]
    if any(len(row) != width for row in rows):
        raise NotPlain
    return {j for j, cells in enumerate(zip(*rows)) if as_numbers(cells) is None}


def _check_encoding(block: bytes) -> None:
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            raise NotPlain from None


def _parsed(
    block: bytes, separator: str, width: int, texts: set[int]
) -> tuple[list[Cells], set[int]]:
    """The columns of a block, and those that are no numbers after all."""
    from skstruct.datasets.formats._numba_csv import read_csv_rows

    text, n = np.frombuffer(block, np.uint8), block.count(b"\n")
    slots, n_texts = np.empty(width, np.int64), 0
    for j in range(width):
        slots[j] = -1 - n_texts if j in texts else j - n_texts
        n_texts += j in texts
    values = np.empty((width - n_texts, n))
    starts, ends = np.empty((n_texts, n), np.int64), np.empty((n_texts, n), np.int64)
    odd = np.empty((max(n, 1000), 4), np.int64)
    n_odd = read_csv_rows(text, ord(separator), slots, _WORDS, values, starts, ends, odd)
    if n_odd < 0:
        raise NotPlain
    new = _settle(block, odd[:n_odd], slots, values)
    cells = [Cells(block, values[slot], None) if slot >= 0 else
             Cells(block, starts[-1 - slot], ends[-1 - slot]) for slot in slots]  # fmt: skip
    return cells, new


def _settle(block: bytes, odd: np.ndarray, slots: np.ndarray, values: np.ndarray) -> set[int]:
    """Read the odd cells as numbers; the columns where some are none."""
    texts = set()
    for j in set(odd[:, 0].tolist()):
        of_column = odd[odd[:, 0] == j]
        numbers = as_numbers([block[s:e].decode("utf-8") for _, _, s, e in of_column.tolist()])
        if numbers is None:
            texts.add(j)
        else:
            values[slots[j], of_column[:, 1]] = numbers
    return texts


class Cells:
    """A column of a block: numbers, or the places of texts in its bytes."""

    def __init__(self, block: bytes, first: np.ndarray, ends: np.ndarray | None) -> None:
        self._block, self._first, self._ends = block, first, ends

    def __len__(self) -> int:
        return len(self._first)

    def numbers(self) -> np.ndarray | None:
        """NaN where missing; None of texts."""
        return self._first if self._ends is None else None

    def codes(self, known: Codes) -> np.ndarray:
        """The number of each text in ``known``, which learns new ones."""
        from skstruct.datasets.formats._numba_csv import number_texts

        assert self._ends is not None
        starts, ends, n = self._first, self._ends, len(self)
        table = np.full(1 << (2 * n).bit_length(), -1, np.int32)
        codes, first = np.empty(n, np.int64), np.empty(n, np.int64)
        text = np.frombuffer(self._block, np.uint8)
        n_texts = number_texts(text, starts, ends, table, codes, first)
        block = self._block
        places = zip(starts[first[:n_texts]].tolist(), ends[first[:n_texts]].tolist())
        numbers = [known[block[start:end].decode()] for start, end in places]
        return np.array(numbers, dtype=np.int64)[codes]
