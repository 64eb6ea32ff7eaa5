# SPDX-License-Identifier: BSD-3-Clause
"""Rows as they come, brought to what a model reads: names for lists, moments for dates."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct.encoding.columns import fail
from skstruct.encoding.frames import is_frame, source_of
from skstruct.encoding.matching import check_size
from skstruct.encoding.tables import check_columns
from skstruct.exceptions import DataFormatError


def with_names(rows: list[Any], names: Any) -> list[dict[str, Any]]:
    """Rows that are lists, by the names of the columns in their order.

    >>> with_names([[1, "a"]], ("size", "sky"))
    [{'size': 1, 'sky': 'a'}]
    """
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple, np.ndarray)):
            what = type(row).__name__
            raise fail(f"a dictionary by names of columns, or a list, is wanted; got {what}", i)
        if len(row) != len(names):
            raise fail(f"the model reads {len(names)} columns; got {len(row)}", i)
    return [dict(zip(names, row)) for row in rows]


def dated(rows: Any, others: Mapping[str, str]) -> Any:
    """Records with moments in the place of texts, in columns that held dates in training; days
    in the place of numbers, where they held durations.
    """
    columns = {name: _READ[kind] for name, kind in others.items() if kind in _READ}
    if not columns or not isinstance(rows, list):
        return rows
    return [
        {name: columns[name](cell, i, name) if name in columns else cell
         for name, cell in _record(row, i).items()}
        for i, row in enumerate(rows)
    ]  # fmt: skip


def _record(row: Any, i: int) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise fail(f"a dictionary by names of columns is wanted; got {type(row).__name__}", i)
    return row


def _moment(cell: Any, row: int, column: str) -> Any:
    if not isinstance(cell, str) or not cell.strip():
        return None if isinstance(cell, str) else cell
    try:
        return dt.datetime.fromisoformat(cell.strip())
    except ValueError:
        problem = f"a date such as 2024-05-31 or 2024-05-31T12:00 is wanted; got {cell[:60]!r}"
        raise fail(problem, row, column) from None


def _duration(cell: Any, row: int, column: str) -> Any:
    if isinstance(cell, bool) or not isinstance(cell, (int, float)) or cell != cell:
        return cell
    try:
        return dt.timedelta(days=cell)
    except OverflowError:
        raise fail(f"a number of days is wanted; got {cell!r}", row, column) from None


_READ = {"date": _moment, "duration": _duration}


def words_of(rows: Any) -> Any:
    """Sentences or strings: as they are, or the only column of a table of them."""
    if is_frame(rows):
        source = source_of(rows)
        if len(source.names) != 1:
            raise DataFormatError(
                "a table of sentences has one column, with the words of each; got "
                f"{len(source.names)} columns"
            )
        return [_split(cell) for cell in source.cells(source.names[0])]
    if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
        for i, row in enumerate(rows):
            if list(row) != ["words"]:
                raise fail('a list of words, or {"words": [...]}, is wanted', i)
        return [row["words"] for row in rows]
    return rows


def _split(cell: Any) -> Any:
    """The words of a cell: a list, or a text with spaces between them."""
    return cell.split() if isinstance(cell, str) else list(cell)


def array_of(rows: Any, names: list[str] | None, width: int | None, texts: bool = False) -> Any:
    """Rows of numbers as an array: lists as they are, records and frames by name.

    Parameters
    ----------
    width : int or None
        Number of the columns, where it is known.
    texts : bool, default=False
        Whether rows may hold texts, too.
    """
    if isinstance(rows, np.ndarray):
        return rows
    if is_frame(rows):
        source = source_of(rows)
        check_columns(tuple(names or source.names), set(source.names))
        columns = [source.column(name) for name in names or source.names]
        for column in columns:
            if column.texts is not None:
                raise fail("numbers are wanted, got names", 0, column.name)
        return np.column_stack([column.data for column in columns])
    if isinstance(rows, list) and isinstance(rows[0], Mapping):
        rows = _by_name(rows, names)
    elif isinstance(rows, list) and names is None and isinstance(rows[0], str):
        return rows
    try:
        array = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        bad = _bad_cell(rows, names, width)
        if texts and bad.row is not None and bad.field is not None:
            return np.array(rows, dtype=object)
        raise bad from None
    if array.ndim != 2 or (width is not None and array.shape[1] != width):
        raise _bad_cell(rows, names, width)
    known = np.where(np.isnan(array), 0.0, array)
    check_size(known, names or [str(j) for j in range(array.shape[1])])
    return array


def _by_name(rows: list[Any], names: list[str] | None) -> list[list[Any]]:
    if names is None:
        raise DataFormatError(
            "the model was fitted to columns without names: give lists of numbers, not dictionaries"
        )
    known: set[str] = set().union(*(_record(row, i) for i, row in enumerate(rows)))
    check_columns(tuple(names), known)
    return [[row.get(name) for name in names] for row in rows]


def _bad_cell(rows: Any, names: list[str] | None, width: int | None) -> DataFormatError:
    """The first row or cell that is no number."""
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple)):
            return fail(f"a list of numbers is wanted; got {type(row).__name__}", i)
        if width is not None and len(row) != width:
            return fail(f"the model reads {width} numbers; got {len(row)}", i)
        for j, cell in enumerate(row):
            try:
                is_number = np.ndim(np.float64(cell)) == 0
            except (TypeError, ValueError):
                is_number = False
            if not is_number:
                name = str(j) if names is None else names[j]
                return fail(f"a number is wanted; got {str(cell)[:60]!r}", i, name)
    return DataFormatError("rows of one length, with numbers, are wanted")
