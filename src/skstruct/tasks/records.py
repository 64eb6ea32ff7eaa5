# SPDX-License-Identifier: BSD-3-Clause
"""Frames, records and sequences in memory, read as a file of them would be."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.datasets.blocks import as_number_column, check_columns
from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.columns import NumberColumn, TextColumn, as_table
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_targets
from skstruct.exceptions import DataFormatError

NAME = "X"  # of data that have no file
WANTED = "a DataFrame, a list of dictionaries by column name, or a Dataset of read_data"


def table_of(X: Any, like: Table, *, is_sparse: bool) -> Table:
    """The columns that a model reads, of a frame or of records, as a table.

    Columns are found by name, others are not looked at. Records may leave out a column in some
    rows: the value is missing there; in data that were sparse in training it is zero, as it is in
    such files.

    Parameters
    ----------
    X : pandas or polars DataFrame, or list of dicts
    like : Table
        Names and values of the columns of training; its rows do not matter.
    is_sparse : bool
        Whether the data of training were sparse.
    """
    source = _source(X)
    there = [name for name in like.names if name in source.names]
    if not (is_sparse and there):  # the encoder knows which columns of a sparse file may lack
        check_columns(like.names, set(source.names))
    values = dict(zip(like.names, like.values))
    columns = []
    for name in there:
        columns.append(_column(source, name, values[name], _absent(values[name], is_sparse)))
    table, _ = as_table(columns, len(source), there, _fail)
    return Table(table.names, table.values, sparse.csr_array(table.data)) if is_sparse else table


def _absent(values: tuple[Any, ...] | None, is_sparse: bool) -> float | str | None:
    """What a row has that leaves a column out: in sparse data zero, or the first of its names."""
    if not is_sparse:
        return None
    return 0.0 if values is None else next(iter(values), None)


def labelled(X: Any, task: str, targets: tuple[str, ...]) -> Dataset:
    """The outputs of a frame or of records, in the columns ``targets``, or in a guessed one."""
    source = _source(X)
    try:
        targets, _ = choose_targets(source.names, ReadOptions(targets=targets or None))
    except DataFormatError as error:
        raise DataFormatError(f"{error.problem}; or give y") from None
    columns = [TextColumn.of(name, source.texts(name, None, "")) for name in targets]
    task = "labels" if task == "hierarchy" else task  # the model knows the edges
    options = ReadOptions(task=task, targets=targets, id_column="")
    return assemble(columns, len(source), options, name=NAME, format_name="memory", fail=_fail)


def sequences_of(X: Any, n_columns: int | None, targets: Any) -> list[Any]:
    """Sentences as files have them: lists of tuples of words, or arrays of numbers.

    Parameters
    ----------
    X : list of sequences
        Of words; of tuples, lists or dictionaries of words, by columns as in the file; or arrays
        of shape (T, n_features).
    n_columns : int or None
        Of a word; None for numbers.
    targets : sequence of str
        Columns of the file that were outputs: dictionaries name all columns from ``"1"`` on.
    """
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__"):
        raise DataFormatError(f"a list of sequences is wanted, got {type(X).__name__}")
    if n_columns is None:
        return [np.asarray(sequence, dtype=np.float64) for sequence in X]
    names = [str(j) for j in range(1, n_columns + len(targets) + 1) if str(j) not in targets]
    return [
        [_word(token, names[:n_columns], f"sequence {i + 1}, position {t + 1}")
         for t, token in enumerate(_sentence(sequence, i))]
        for i, sequence in enumerate(X)
    ]  # fmt: skip


def _sentence(sequence: Any, i: int) -> Any:
    if isinstance(sequence, str):
        raise DataFormatError(f"sequence {i + 1} is a text: give the list of its words")
    return sequence


def _word(token: Any, names: Any, where: str) -> Any:
    """The columns of one position."""
    if isinstance(token, Mapping):
        known = {str(name): value for name, value in token.items()}
        missing = [name for name in names if name not in known]
        if missing:
            raise DataFormatError(f"{where} has no column {missing[0]!r}")
        return tuple(str(known[name]) for name in names)
    fields = (token,) if isinstance(token, str) else tuple(map(str, token))
    if len(fields) < len(names):
        raise DataFormatError(f"{where} has {len(fields)} columns; the model reads {len(names)}")
    return fields


# ---------------------------------------------------------------------- tables
def _source(X: Any) -> Any:
    if is_pandas(X, "DataFrame"):
        return _Frame(X)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.DataFrame):
        return _Records.of_columns(X.to_dict(as_series=False), len(X))
    if isinstance(X, list) and X and all(isinstance(row, Mapping) for row in X):
        return _Records(X)
    if isinstance(X, list) and not X:
        raise DataFormatError("there are no rows")
    raise DataFormatError(
        f"the model finds its columns by name: give {WANTED}; got {type(X).__name__}"
    )


class _Frame:
    """Columns of a pandas table."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, [str(name) for name in frame.columns]

    def __len__(self) -> int:
        return len(self.frame)

    def _series(self, name: str) -> Any:
        if self.names.count(name) > 1:
            raise DataFormatError(f"{self.names.count(name)} columns are called {name!r}")
        return self.frame.iloc[:, self.names.index(name)]

    def numbers(self, name: str, absent: Any) -> Any:
        """Numbers where the column has no other type, else None."""
        series = self._series(name)
        kind = getattr(series.dtype, "kind", "O")  # also of pandas' own types
        if kind not in "iuf":
            return None
        return series.to_numpy(dtype=np.float64, na_value=np.nan)

    def texts(self, name: str, known: set[Any] | None, absent: Any) -> list[str]:
        series = self._series(name)
        cells = series.astype(object).where(series.notna(), None)
        return [_text(value, known) for value in cells]


class _Records:
    """Columns of a list of dictionaries."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = [{str(name): value for name, value in row.items()} for row in rows]
        self.names = list(dict.fromkeys(name for row in self.rows for name in row))

    @classmethod
    def of_columns(cls, columns: Mapping[str, list[Any]], n_rows: int) -> "_Records":
        """From columns, all of the same length."""
        return cls([{name: cells[i] for name, cells in columns.items()} for i in range(n_rows)])

    def __len__(self) -> int:
        return len(self.rows)

    def numbers(self, name: str, absent: Any) -> np.ndarray | None:
        cells = [row.get(name, absent) for row in self.rows]
        plain = {type(cell) for cell in cells} <= {int, float, type(None)}
        if not plain:
            return None
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)

    def texts(self, name: str, known: set[Any], absent: Any) -> list[str]:
        return [_text(row.get(name, absent), known) for row in self.rows]


def _column(
    source: Any, name: str, values: tuple[Any, ...] | None, absent: Any
) -> NumberColumn | TextColumn:
    """A column with numbers where training had numbers, else with texts."""
    if values is not None:
        return TextColumn.of(name, source.texts(name, set(values), absent))
    numbers = source.numbers(name, absent)
    if numbers is not None:
        return NumberColumn(name, numbers)
    return as_number_column(TextColumn.of(name, source.texts(name, None, absent)), _fail)


def _text(value: str | None, known: set[Any] | None) -> str:
    """A value as a file has it; a whole number as training knows it, with a point or without."""
    if value is None or _is_nan(value):
        return ""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(value) if known is not None and str(value) in known else str(int(value))
    return str(value)


def _is_nan(value: Any) -> bool:
    """Whether a value is one of those that say that there is none: nan, NaT, NA."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _fail(problem: Any, row: Any = None, column: Any = None) -> DataFormatError:
    """The error of a row and column."""
    where = [] if row is None else [f"row {row + 1}"]
    where += [] if column is None else [f"column {column!r}"]
    return DataFormatError(", ".join(where) + ": " + problem if where else problem)


# ---------------------------------------------------------------------- answers
def with_index(
    outputs: np.ndarray, X: Any, names: tuple[Any, ...] | None, target: str | None
) -> Any:
    """Outputs for a frame, as a series or a frame with its index; others as they are."""
    if not is_pandas(X, "DataFrame"):
        return outputs
    import pandas

    if isinstance(outputs, np.ndarray) and outputs.ndim == 2:
        columns = list(names or ())
        fits = len(columns) == outputs.shape[1]
        return pandas.DataFrame(outputs, index=X.index, columns=columns if fits else None)
    return pandas.Series(list(outputs), index=X.index, name=target)
