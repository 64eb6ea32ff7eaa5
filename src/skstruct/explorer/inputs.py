# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of the explored rows: cells to show, and single rows with some cells changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.encoding.frames import are_records, is_frame
from skstruct.encoding.tables import Table
from skstruct.reports.subject import table_of

MOST_COLUMNS = 200  # that the page shows and changes
MOST_VALUES = 200  # names that a column is offered to be changed to
MOST_WORDS = 60  # of a sentence in the list of rows


@dataclass(frozen=True)
class Column:
    """A column of the inputs: its kind, and where its cells lie in the explored rows."""

    name: str
    kind: str  # "number", "names", "date" or "text"
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        values = None if self.values is None else list(self.values)
        ends = {"low": self.low, "high": self.high}
        return {"name": self.name, "kind": self.kind, **ends, "values": values}


class Inputs:
    """Rows of any kind that the page shows; a child may know their cells by column.

    Parameters
    ----------
    X : inputs as they were given
    encode : callable
        To what the learner takes.
    """

    columns: tuple[Column, ...] = ()
    n_hidden = 0  # columns that the page leaves out
    what_if = False  # whether cells can be changed

    def __init__(self, X: Any, encode: Callable[[Any], Any]) -> None:
        self.X, self.encode = X, encode

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    def everything(self) -> Any:
        """All rows, as the learner takes them."""
        return self.encode(self.X)

    def cells(self, i: int) -> dict[str, Any]:
        """What the list of rows shows of a row."""
        return {"input": in_short(self.X[i])}

    def columns_of(self, rows: np.ndarray) -> Iterator[tuple[str, str, list[Any]]]:
        """Names, kinds and cells of what errors may depend on: columns, or how long inputs are."""
        if self.columns:
            table = [self.cells(int(i)) for i in rows]
            for column in self.columns:
                if column.kind in ("number", "names"):
                    yield column.name, column.kind, [row[column.name] for row in table]
        elif all(hasattr(self.X[i], "__len__") for i in rows):
            yield "length", "number", [float(len(self.X[i])) for i in rows]

    def words(self, i: int) -> list[str] | None:
        """The words of a sentence, None for other inputs."""
        row = self.X[i]
        if not isinstance(row, (list, tuple)) or not len(row) or isinstance(row[0], np.ndarray):
            return None
        return [word_of(token) for token in row]

    def encoded(self, i: int, values: Mapping[str, Any]) -> Any:
        """One row as the learner takes it, some cells changed."""
        if values:
            raise ValueError("values: these inputs are no table: no cell of them can be changed.")
        return self.encode([self.X[i]])

    def _checked(self, name: str, value: Any) -> Any:
        """A changed cell as its column takes it; None where it is missing."""
        column = next((column for column in self.columns if column.name == name), None)
        if column is None:
            raise ValueError(f"values: there is no column {name!r}.")
        if value is None:
            return None
        if column.kind == "number":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not np.isfinite(value):
                raise ValueError(f"values: column {name!r} takes a number; got {value!r}.")
            return float(value)
        if not isinstance(value, str):
            raise ValueError(f"values: column {name!r} takes a text; got {value!r}.")
        if column.values is not None and value not in column.values:
            known = ", ".join(map(repr, column.values[:8]))
            raise ValueError(f"values: column {name!r} takes one of {known}; got {value!r}.")
        return value


def in_short(row: Any) -> str:
    """An input that is no row of a table, in some words."""
    if isinstance(row, str):
        return row
    if isinstance(row, np.ndarray):
        return " x ".join(map(str, row.shape)) + " numbers"
    if isinstance(row, (list, tuple)):
        more = " …" if len(row) > MOST_WORDS else ""
        return " ".join(map(word_of, row[:MOST_WORDS])) + more
    return str(row)


def word_of(token: Any) -> str:
    """The word of a token that may have tags or features beside it."""
    if isinstance(token, Mapping):
        token = next(iter(token.values()), "")
    elif isinstance(token, (list, tuple, np.ndarray)):
        token = token[0] if len(token) else ""
    return str(token)


class CellInputs(Inputs):
    """Rows of cells by column, which can be changed."""

    what_if = True

    def words(self, i: int) -> None:
        return None


def _dense(data: Any, i: int) -> np.ndarray:
    """One row of numbers, shape (1, d), of its own."""
    row = data[[i]]
    return np.array(row.toarray() if sparse.issparse(row) else row, dtype=np.float64)


class TableInputs(CellInputs):
    """Rows of a Table, as data files are read."""

    def __init__(self, X: Table, encode: Callable[[Any], Any]) -> None:
        super().__init__(X, encode)
        shown = range(min(len(X.names), MOST_COLUMNS))
        self.n_hidden = len(X.names) - len(shown)
        self._data = X.data.tocsr() if sparse.issparse(X.data) else X.data
        self.columns = tuple(self._column(j) for j in shown)
        self._numbers = {column.name: j for j, column in enumerate(self.columns)}

    def __len__(self) -> int:
        return len(self.X)

    def _column(self, j: int) -> Column:
        name, values = self.X.names[j], self.X.values[j]
        if values is not None:
            return Column(name, "names", values=tuple(values)[:MOST_VALUES])
        cells = self._data[:, [j]].toarray() if sparse.issparse(self._data) else self._data[:, j]
        return numeric(name, cells)

    def cells(self, i: int) -> dict[str, Any]:
        row = _dense(self._data, i)[0]
        return {
            column.name: _cell(row[j], self.X.values[j]) for j, column in enumerate(self.columns)
        }

    def encoded(self, i: int, values: Mapping[str, Any]) -> Any:
        row = _dense(self._data, i)
        for name, value in values.items():
            checked = self._checked(name, value)
            j = self._numbers[name]
            names = self.X.values[j]
            if checked is None:
                row[0, j] = np.nan
            else:
                row[0, j] = checked if names is None else names.index(checked)
        data = sparse.csr_array(row) if sparse.issparse(self._data) else row
        return self.encode(replace(self.X, data=data))


def numeric(name: str, cells: Any) -> Column:
    """A column of numbers with the ends of its slider."""
    cells = np.ravel(np.asarray(cells, dtype=np.float64))
    cells = cells[np.isfinite(cells)]
    if not len(cells):
        return Column(name, "number")
    return Column(name, "number", float(cells.min()), float(cells.max()))


def _cell(number: float, names: tuple[str, ...] | None) -> Any:
    if not np.isfinite(number):
        return None
    return float(number) if names is None else names[int(number)]


class ArrayInputs(CellInputs):
    """Rows of numbers, dense or sparse."""

    def __init__(self, X: Any, encode: Callable[[Any], Any], names: Any = None) -> None:
        super().__init__(X, encode)
        if names is None or len(names) != X.shape[1]:
            names = [f"feature {j + 1}" for j in range(X.shape[1])]
        shown = min(X.shape[1], MOST_COLUMNS)
        self.n_hidden = X.shape[1] - shown
        self.columns = tuple(
            numeric(str(names[j]), X[:, [j]].toarray() if sparse.issparse(X) else X[:, j])
            for j in range(shown)
        )
        self._numbers = {column.name: j for j, column in enumerate(self.columns)}

    def cells(self, i: int) -> dict[str, Any]:
        row = _dense(self.X, i)[0]
        return {column.name: _cell(row[j], None) for j, column in enumerate(self.columns)}

    def encoded(self, i: int, values: Mapping[str, Any]) -> Any:
        row = _dense(self.X, i)
        for name, value in values.items():
            checked = self._checked(name, value)
            row[0, self._numbers[name]] = np.nan if checked is None else checked
        return self.encode(sparse.csr_array(row) if sparse.issparse(self.X) else row)


class FrameInputs(CellInputs):
    """Rows of a DataFrame of pandas."""

    def __init__(self, X: Any, encode: Callable[[Any], Any]) -> None:
        super().__init__(X, encode)
        self._names = [str(name) for name in X.columns]
        shown = min(len(self._names), MOST_COLUMNS)
        self.n_hidden = len(self._names) - shown
        self.columns = tuple(self._column(j) for j in range(shown))
        self._numbers = {column.name: j for j, column in enumerate(self.columns)}

    def _column(self, j: int) -> Column:
        series, name = self.X.iloc[:, j], self._names[j]
        kind = getattr(series.dtype, "kind", "O")
        if kind in "iuf":
            return numeric(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
        if kind == "M":
            return Column(name, "date")
        seen = series.dtype.categories if hasattr(series.dtype, "categories") else series.dropna()
        found = sorted({str(value) for value in seen.unique()})
        if len(found) > MOST_VALUES:
            return Column(name, "text")
        return Column(name, "names", values=tuple(found))

    def cells(self, i: int) -> dict[str, Any]:
        row = (self.X.iat[i, j] for j in range(len(self.columns)))
        return {column.name: _shown(cell) for column, cell in zip(self.columns, row)}

    def encoded(self, i: int, values: Mapping[str, Any]) -> Any:
        row = self.X.iloc[[i]].copy()
        for name, value in values.items():
            checked = self._checked(name, value)
            self._set(row, self._numbers[name], checked)
        return self.encode(row)

    def _set(self, row: Any, j: int, value: Any) -> None:
        import pandas

        column, series = row.columns[j], row.iloc[:, j]
        if hasattr(series.dtype, "categories"):
            of = {str(name): name for name in series.dtype.categories}
            cell = pandas.Categorical([of.get(value)], dtype=series.dtype)
        elif self.columns[j].kind == "number":
            cell = np.array([np.nan if value is None else value])
        elif self.columns[j].kind == "date":
            cell = pandas.to_datetime([value])
        else:
            of = {str(name): name for name in self.X.iloc[:, j].dropna().unique()}
            cell = np.array([of.get(value, value)], dtype=object)
        row.isetitem(j, pandas.Series(cell, index=row.index, name=column))


def _shown(cell: Any) -> Any:
    """A cell of a frame as JSON has it."""
    import pandas

    if cell is None or cell is pandas.NA or (isinstance(cell, float) and not np.isfinite(cell)):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return str(bool(cell))
    if isinstance(cell, (int, float, np.integer, np.floating)):
        return None if not np.isfinite(cell) else float(cell)
    return None if cell is pandas.NaT else str(cell)


def read_inputs(X: Any, encode: Callable[[Any], Any], names: Any = None) -> Inputs:
    """Inputs of any kind that a learner takes."""
    if isinstance(X, Table):
        return TableInputs(X, encode)
    if are_records(X):
        import pandas

        X = pandas.DataFrame(X)
    if is_frame(X):
        return FrameInputs(X if is_pandas(X, "DataFrame") else as_pandas(X), encode)
    X = table_of(X)
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"):
        return ArrayInputs(X, encode, names)
    return Inputs(list(X), encode)


def as_pandas(X: Any) -> Any:
    """A frame of polars or pyarrow as one of pandas."""
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True).to_pandas()
