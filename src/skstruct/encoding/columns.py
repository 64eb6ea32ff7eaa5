# SPDX-License-Identifier: BSD-3-Clause
"""Columns as they come: numbers, truth values, names, dates and durations, with missing cells."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from skstruct.exceptions import DataFormatError

# Words for "no value"; those of pandas that people write, too.
MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"))
SPACE = " \t\n\r\v\f"  # what float takes off, and no more
READ = "numbers, truth values, names, dates and durations are read"
DAY = np.timedelta64(1, "D")
SECONDS = 86_400.0
WORDS = {
    "number": "numbers",
    "boolean": "truth values",
    "names": "names",
    "date": "dates",
    "duration": "durations",
    "empty": "missing cells alone",
}


def is_missing(cell: str) -> bool:
    """Whether a cell of a file says that there is no value.

    Examples
    --------
    >>> is_missing(" NA"), is_missing("0")
    (True, False)
    """
    return cell.strip(SPACE) in MISSING


class Codes(dict[str, int]):
    """Number of every text, in the order of first asking."""

    def __missing__(self, text: str) -> int:
        return self.setdefault(text, len(self))


@dataclass(frozen=True)
class Column:
    """One column, read.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "names", "date", "duration", "empty"}
    data : float64 array of shape (n,)
        Numbers; dates in days since 1970, durations in days; of names their positions in
        ``texts``. NaN where missing; an empty column has nothing else.
    texts : tuple of str, or None
        Names in the order of the alphabet.
    """

    name: str
    kind: str
    data: np.ndarray
    texts: tuple[str, ...] | None = None


class CellTypeError(DataFormatError, TypeError):
    """A cell of a type that no column holds; a TypeError, too, as scikit-learn's of objects is."""


def fail(
    problem: str,
    row: int | None = None,
    column: str | None = None,
    kind: type[DataFormatError] = DataFormatError,
) -> DataFormatError:
    """The error of a row, counted from 0, and a column."""
    error = kind(_located(problem, row, column))
    error.row, error.field = row, column
    return error


def _located(problem: str, row: int | None, column: str | None) -> str:
    where = [] if row is None else [f"row {row + 1}"]
    where += [] if column is None else [f"column {column!r}"]
    return ", ".join(where) + ": " + problem if where else problem


# ---------------------------------------------------------------------- from a frame
def read_series(name: str, series: Any, *, mixed: bool = False) -> Column:
    """A column of a frame, as narwhals gives it; ``mixed`` as of :func:`read_cells`.

    Missing cells are those that narwhals calls null: some types have no other sign of them.
    """
    import narwhals.stable.v2 as nw

    dtype, missing = series.dtype, series.is_null().to_numpy()
    if missing.all():
        return Column(name, "empty", np.full(len(missing), np.nan))
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind = "boolean" if dtype == nw.Boolean else "number"
        return _numbers(name, kind, series.cast(nw.Float64).to_numpy(), missing)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _names(name, series.to_list(), missing)
    if dtype == nw.Datetime:  # the time of the clock there, whatever the zone
        series = series.dt.replace_time_zone(None)
    if dtype in (nw.Datetime, nw.Date):
        return _numbers(name, "date", _days(series.to_numpy().astype("M8[us]")), missing)
    if dtype == nw.Duration:
        return _numbers(name, "duration", _days(series.to_numpy().astype("m8[us]")), missing)
    return read_cells(name, series.to_list(), mixed=mixed)


def _numbers(name: str, kind: str, numbers: np.ndarray, missing: np.ndarray) -> Column:
    data = np.array(numbers, dtype=np.float64)
    data[missing] = np.nan
    return Column(name, kind, data)


def _names(name: str, cells: list[Any], missing: np.ndarray) -> Column:
    known = Codes()
    texts = ("" if gap else text_of(cell) for cell, gap in zip(cells, missing.tolist()))
    codes = np.fromiter(map(known.__getitem__, texts), np.int64, len(cells))
    used = np.zeros(len(known), dtype=bool)
    used[codes[~missing]] = True
    order = sorted(text for text, is_used in zip(known, used.tolist()) if is_used)
    place = {text: float(position) for position, text in enumerate(order)}
    data = np.array([place.get(text, np.nan) for text in known])[codes]
    data[missing] = np.nan
    return Column(name, "names", data, tuple(order))


def _days(moments: Any) -> Any:
    """Moments since 1970, or durations, in days."""
    return moments.astype(np.int64) / (SECONDS * 1e6)


# ---------------------------------------------------------------------- from Python's own values
def read_cells(name: str, cells: Any, *, mixed: bool = False) -> Column:
    """A column of Python's values, all of one kind.

    Parameters
    ----------
    name : str
    cells : list
    mixed : bool, default=False
        Whether numbers among texts are texts, too; an error otherwise.

    Examples
    --------
    >>> read_cells("a", [True, None, 2.5])
    Column(name='a', kind='number', data=array([1. , nan, 2.5]), texts=None)
    >>> read_cells("a", [0.5, "two"])
    Traceback (most recent call last):
        ...
    skstruct.exceptions.DataFormatError: row 2, column 'a': a text, 'two', among numbers...
    """
    kinds = [_kind(name, row, cell) for row, cell in enumerate(cells)]
    missing = np.array([kind is None for kind in kinds], dtype=bool)
    kind = _common(name, kinds, cells, mixed)
    if kind == "names":
        return _names(name, list(cells), missing)
    data = np.full(len(kinds), np.nan)
    if kind != "empty":
        read = _READERS[kind]
        for row in np.flatnonzero(~missing):
            data[row] = read(cells[row])
    return Column(name, kind, data)


def _kind(name: str, row: int, cell: Any) -> str | None:
    """What a value is; None where it says that there is none."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, str):
        return "names"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, (Real, Decimal)):
        return "number" if cell == cell else None
    if isinstance(cell, (dt.date, np.datetime64)):
        return "date" if cell == cell else None
    if isinstance(cell, (dt.timedelta, np.timedelta64, dt.time)):
        return "duration" if cell == cell else None
    told = f"an argument must be a string or a number, not {type(cell).__name__!r}; {READ}"
    raise fail(told, row, name, CellTypeError)


def _common(name: str, kinds: list[str | None], cells: Any, mixed: bool) -> str:
    found = {kind for kind in kinds if kind is not None}
    if not found:
        return "empty"
    if len(found) == 1:
        return found.pop()
    if found == {"boolean", "number"}:
        return "number"
    if mixed and found <= {"boolean", "number", "names"}:
        return "names"
    first = next(kind for kind in kinds if kind is not None)
    row, kind = next(
        (row, kind) for row, kind in enumerate(kinds) if kind is not None and kind != first
    )
    what = "a text" if kind == "names" else f"one of {WORDS[kind]}"
    problem = f"{what}, {str(cells[row])[:60]!r}, among {WORDS[first]}"
    raise fail(f"{problem}; make all cells of a column of one kind", row, name)


def _moment(cell: Any) -> float:
    """Days since 1970, by the clock where it was taken."""
    if isinstance(cell, np.datetime64):
        return float(_days(cell.astype("M8[us]")))
    if isinstance(cell, dt.datetime):
        cell = np.datetime64(cell.replace(tzinfo=None), "us")
    return float(_days(np.datetime64(cell, "us")))


def _duration(cell: Any) -> float:
    """Days; a time of day is what has passed since midnight."""
    if isinstance(cell, dt.time):
        cell = dt.timedelta(
            hours=cell.hour, minutes=cell.minute, seconds=cell.second,
            microseconds=cell.microsecond,
        )  # fmt: skip
    return float(_days(np.timedelta64(cell).astype("m8[us]")))


_READERS: dict[str, Callable[[Any], float]] = {
    "number": float,
    "boolean": float,
    "date": _moment,
    "duration": _duration,
}


def text_of(value: Any, known: Any = ()) -> str:
    """A value as a file has it; a whole number with a point only where such a name is known.

    >>> text_of(2.0), text_of(2.0, {"2.0"}), text_of("two")
    ('2', '2.0', 'two')
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(float(value)) if str(float(value)) in known else str(int(value))
    return str(value)


# ---------------------------------------------------------------------- as in training
def as_trained(column: Column, kind: str, values: Any) -> Column:
    """A column as what it was in training: texts read as numbers, numbers taken for names.

    Parameters
    ----------
    column : Column
    kind : str
        Of the column in training.
    values : collection of str, or None
        Names that training knows; an empty word and its like is missing unless it is one of them.
    """
    if kind == "empty":  # nothing was learned of it, whatever it holds now
        return Column(column.name, kind, 0.0 * column.data)
    if column.kind == "empty" or kind == column.kind != "names":
        return column if kind != "names" else Column(column.name, kind, column.data, ())
    if kind == "names":
        return _as_names(column, set(values or ()))
    if kind in ("number", "boolean") and column.kind in ("number", "boolean"):
        return column
    if kind in ("number", "boolean") and column.texts is not None:
        return _as_numbers(column)
    row = int(np.argmax(~np.isnan(column.data)))
    what = f"the column {column.name!r} held {WORDS[kind]} when the model was fitted; here it holds"
    raise fail(f"{what} {WORDS[column.kind]}", row, column.name)


def _as_names(column: Column, known: set[str]) -> Column:
    if column.texts is None and column.kind not in ("number", "boolean"):
        raise fail(
            f"the column {column.name!r} held names when the model was fitted; here it holds "
            f"{WORDS[column.kind]}"
        )
    missing = np.isnan(column.data)
    if column.texts is not None:
        words = [text if text in known or not is_missing(text) else None for text in column.texts]
        if None not in words:
            return column
        cells = [None if gap else words[int(at)] for at, gap in zip(column.data, missing)]
    else:
        made = bool if column.kind == "boolean" else float
        cells = [None if gap else text_of(made(v), known) for v, gap in zip(column.data, missing)]
    return _names(column.name, cells, np.array([cell is None for cell in cells], dtype=bool))


def _as_numbers(column: Column) -> Column:
    """Of texts those that Python takes for numbers."""
    numbers = np.full(len(column.texts or ()) + 1, np.nan)
    codes = np.where(np.isnan(column.data), len(numbers) - 1, column.data).astype(np.intp)
    for code, text in enumerate(column.texts or ()):
        try:
            numbers[code] = np.nan if is_missing(text) else float(text)
        except ValueError:
            row = int(np.argmax(codes == code))
            told = f"the column {column.name!r} held numbers when the model was fitted; here it"
            raise fail(f"{told} holds {text[:60]!r}", row, column.name) from None
    return Column(column.name, "number", numbers[codes])
