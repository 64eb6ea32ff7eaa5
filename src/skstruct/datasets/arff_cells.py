# SPDX-License-Identifier: BSD-3-Clause
"""Cells of an ARFF file, each of them as a number: the judge of what a cell may hold.

Keys, strings and sets of labels are not declared, so that they get numbers in the order in
which they come, from 1: in a sparse row 0 is what the row omits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skstruct.datasets.arff_header import SPACE, Attribute, unquote


class Column:
    """Reads the cells of one attribute.

    Parameters
    ----------
    attribute : Attribute
    """

    def __init__(self, attribute: Attribute):
        self.attribute = attribute
        self.seen: list[Any] = [None]  # what the numbers of an undeclared kind stand for
        self._codes: dict[Any, float] = {}
        self.known: dict[str, float] = {}  # cells that were read, but for numbers
        if attribute.kind == "nominal":
            self._codes = {value: float(code) for code, value in enumerate(attribute.values or ())}
        self._read = getattr(self, f"_{attribute.kind}")

    def read(self, cell: str) -> float:
        """Number of a cell; a ValueError says what is wrong with it."""
        cell = cell.strip(SPACE)
        if self.attribute.kind == "numeric":
            return self._numeric(cell)
        if cell not in self.known:
            self.known[cell] = self._read(cell)
        return self.known[cell]

    def words(self) -> dict[bytes, float]:
        """Nominal values of up to 8 bytes that need no quotes, and their numbers."""
        values = {value.encode(): code for value, code in self._codes.items()}
        return {
            word: code
            for word, code in values.items()
            if 0 < len(word) <= 8 and not set(word) & _QUOTED_BYTES and word != b"?"
        }

    def _numeric(self, cell):
        if cell == "?":
            return math.nan
        try:
            if "_" in cell or not cell.isascii():  # float reads 1_0 as 10, and digits of Arabic
                raise ValueError
            value = float(cell)
        except ValueError:
            raise ValueError(f"{cell[:40]!r} is not a number") from None
        if not math.isfinite(value):
            raise ValueError(f"{cell[:40]!r} is not a finite number; a missing one is '?'")
        return value

    def _nominal(self, cell):
        if cell == "?":
            return math.nan
        value = unquote(cell)
        if value not in self._codes:
            some = ", ".join(value[:40] for value in (self.attribute.values or ())[:10])
            raise ValueError(f"{value[:40]!r} is none of {some}")
        return self._codes[value]

    def _string(self, cell):
        return math.nan if cell == "?" else self._number(unquote(cell))

    def _key(self, cell):
        return self._number(unquote(cell))

    def _hierarchical(self, cell):
        number = self.attribute.hierarchy.number
        labels = () if cell == "?" else tuple(unquote(cell).split("@"))
        for label in labels:
            if label not in number:
                raise ValueError(f"the label {label[:40]!r} is not in the declared hierarchy")
        return self._number(labels)

    def _number(self, value) -> float:
        if value not in self._codes:
            self._codes[value] = float(len(self.seen))
            self.seen.append(value)
        return self._codes[value]


_QUOTED_BYTES = set(b" \t\r\n\f\v,'\"\\")
_KINDS = {"numeric": 0, "nominal": 1}


def lookup_tables(columns: list[Column]):
    """Kinds of the columns and short words of the nominal ones, for the compiled reader."""
    kinds = np.array([_KINDS.get(column.attribute.kind, 2) for column in columns], dtype=np.int64)
    first, words, codes = [0], [], []
    for column in columns:
        known = {int.from_bytes(word, "big"): code for word, code in column.words().items()} \
            if column.attribute.kind == "nominal" else {}  # fmt: skip
        words += sorted(known)
        codes += [known[word] for word in sorted(known)]
        first.append(len(words))
    return kinds, np.array(first), np.array(words, np.uint64), np.array(codes, np.float64)
