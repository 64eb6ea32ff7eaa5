# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table as they come from a file: numbers where all cells are, else texts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.encoding.columns import Codes as Codes
from skstruct.encoding.columns import is_missing as is_missing
from skstruct.encoding.tables import Table
from skstruct.exceptions import DataFormatError

MANY_TEXTS = 50


@dataclass(frozen=True)
class TextColumn:
    """Texts of a column: ``texts[codes[i]]`` in row i; texts in the order of appearance."""

    name: str
    codes: np.ndarray
    texts: tuple[str, ...]

    @classmethod
    def of(cls, name: str, cells: Any) -> TextColumn:
        """From the cells themselves."""
        known = Codes()
        codes = np.array(list(map(known.__getitem__, cells)), dtype=np.int64)
        return cls(name, codes, tuple(known))

    def cells(self) -> list[str]:
        return [self.texts[code] for code in self.codes.tolist()]

    def parsed(self, read: Callable[..., Any], fail: Callable[..., Any]) -> list[Any]:
        """``read`` of every cell, each text once; ``fail(problem, row)`` makes the error."""
        values = []
        for code, text in enumerate(self.texts):
            try:
                values.append(read(text))
            except DataFormatError as error:
                row = int(np.argmax(self.codes == code))
                raise fail(error.problem, row) from None
        return [values[code] for code in self.codes.tolist()]


@dataclass(frozen=True)
class NumberColumn:
    """Numbers of a column, NaN where missing."""

    name: str
    numbers: np.ndarray


def as_numbers(cells: Any) -> np.ndarray | None:
    """Numbers of a sequence of texts, NaN where missing; None if some are no numbers.

    Examples
    --------
    >>> as_numbers(["1.5", "NA", "-2"])
    array([ 1.5,  nan, -2. ])
    >>> as_numbers(["1.5", "two"]) is None
    True
    """
    together = "".join(cells)
    if "_" in together or not together.isascii():  # float reads 1_0, and digits of any script
        return None
    with contextlib.suppress(ValueError):
        return np.array(cells, dtype=np.float64)
    with contextlib.suppress(ValueError):
        known = ["nan" if is_missing(cell) else cell for cell in cells]
        return np.array(known, dtype=np.float64)
    return None


def _is_number(text: str) -> bool:
    """Whether :func:`as_numbers` takes a text that is not missing for a number."""
    if text[0].isalpha():
        return text.strip().lower() in ("nan", "inf", "infinity") and text.isascii()
    if "_" in text or not text.isascii():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def number(text: str) -> float:
    """The number that a text is; missing ones are an error."""
    if is_missing(text):
        raise DataFormatError("a value is missing")
    try:
        return float(text if "_" not in text and text.isascii() else "?")
    except ValueError:
        raise DataFormatError(f"{text[:60]!r} is not a number") from None


def plain(column: TextColumn) -> TextColumn | NumberColumn:
    """A column of texts as numbers, where all of them are."""
    numbers = as_numbers(column.texts)
    if numbers is None:
        return column
    return NumberColumn(column.name, numbers[column.codes])


def as_table(
    columns: list[Any], n_rows: int, nominal: Any = (), fail: Callable[..., Any] | None = None
) -> tuple[Table, tuple[str, ...]]:
    """A table, nominal values in order, and remarks.

    Parameters
    ----------
    columns : list of NumberColumn and TextColumn
    n_rows : int
    nominal : collection of names
        Columns that are meant to hold names; no remark on numbers among them.
    fail : callable, default=None
        ``fail(problem, row, column)`` makes the error of a cell.
    """
    data, remarks = np.empty((n_rows, len(columns))), []
    values: list[tuple[str, ...] | None] = []
    for j, column in enumerate(columns):
        if isinstance(column, NumberColumn):
            check_finite(column, fail)
            data[:, j] = column.numbers
            values.append(None)
            continue
        kept = tuple(sorted(text for text in column.texts if not is_missing(text)))
        code_of = {text: code for code, text in enumerate(kept)}
        codes = np.array([code_of.get(text, np.nan) for text in column.texts], dtype=np.float64)
        data[:, j] = codes[column.codes] if len(codes) else np.nan
        values.append(kept)
        if len(kept) > max(MANY_TEXTS, n_rows // 2):
            remarks.append(
                f"The column {column.name!r} has {len(kept)} different texts in {n_rows} rows; "
                "if it names the rows, give it as id_column."
            )
        if column.name not in nominal:
            remarks += numbers_among_names(column, fail)
    names = tuple(column.name for column in columns)
    return Table(names, tuple(values), data), tuple(remarks)


def check_finite(column: NumberColumn, fail: Callable[..., Any] | None) -> None:
    """Refuse the first number of a column that is infinite."""
    infinite = np.isinf(column.numbers)
    if infinite.any():
        problem = "an infinite number; a missing one is left empty"
        row = int(infinite.argmax())
        raise DataFormatError(problem) if fail is None else fail(problem, row, column.name)


_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")


def numbers_among_names(
    column: TextColumn, fail: Callable[..., Any] | None = None
) -> tuple[str, ...]:
    """A remark on a column that would be one of numbers but for a few texts, or none.

    Examples
    --------
    >>> numbers_among_names(TextColumn.of("x", ["1.5", "2", "?", "two"]))
    ("The column 'x' is read as names: 'two' in row 4 is no number, and 2 of 3 values are...",)
    >>> numbers_among_names(TextColumn.of("x", ["red", "blue", "2"]))
    ()
    """
    kept = [text for text in column.texts if not is_missing(text)]
    others = [text for text in kept if not _is_number(text)]
    commas = [text for text in others if _DECIMAL_COMMA.fullmatch(text)]
    n_numbers = len(kept) - len(others) + len(commas)
    if not others or 2 * n_numbers <= len(kept):
        return ()
    is_comma = bool(commas)
    odd = commas[0] if is_comma else others[0]
    row = int(np.argmax(column.codes == column.texts.index(odd)))
    line = None if fail is None else fail("", row, column.name).line
    where = f"row {row + 1}" if line is None else f"line {line}"
    advice = (
        "decimal commas: write points"
        if is_comma
        else "correct it, or leave it empty if there is no value"
    )
    return (
        f"The column {column.name!r} is read as names: {odd[:60]!r} in {where} is no number, and "
        f"{n_numbers} of {len(kept)} values are. If it holds numbers: {advice}.",
    )


def sorted_names(names: Any) -> tuple[str, ...]:
    """Names in the order of numbers where all of them are, else of the alphabet.

    Examples
    --------
    >>> sorted_names(["10", "9"]), sorted_names(["b", "10", "9"])
    (('9', '10'), ('10', '9', 'b'))
    """
    names = sorted(names)
    numbers = as_numbers(names)
    if numbers is None or not np.isfinite(numbers).all():
        return tuple(names)
    return tuple(names[i] for i in np.argsort(numbers, kind="stable"))


# Cells that a spreadsheet would run: an apostrophe before them says that they are text.


_RUNS = re.compile(r"'*[=+\-@\t\r]")  # with apostrophes of its own, so that one can be taken off


def harmless(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula; numbers stay as they are.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-1.5"), harmless("a-b")
    ("'=1+1", '-1.5', 'a-b')
    """
    if _RUNS.match(text) is None or (text[0] in "+-" and as_numbers([text]) is not None):
        return text
    return "'" + text


def as_meant(text: str) -> str:
    """What :func:`harmless` was given.

    Examples
    --------
    >>> as_meant("'=1+1"), as_meant("'tis"), as_meant("'-5"), as_meant(harmless("'=1"))
    ('=1+1', "'tis", "'-5", "'=1")
    """
    return text[1:] if text[:1] == "'" and harmless(text[1:]) != text[1:] else text


def column_as_meant(column: TextColumn) -> TextColumn:
    """A column of texts without the apostrophes of :func:`harmless`."""
    if not any(text[:1] == "'" for text in column.texts):
        return column
    known = Codes()
    codes = np.array([known[as_meant(text)] for text in column.texts], dtype=np.int64)
    return TextColumn(column.name, codes[column.codes], tuple(known))
