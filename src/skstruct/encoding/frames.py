# SPDX-License-Identifier: BSD-3-Clause
"""Frames of pandas, polars and pyarrow, records and arrays, read as tables of columns."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.encoding.columns import Column, as_trained, fail, read_cells, read_series
from skstruct.encoding.tables import Table, check_columns
from skstruct.exceptions import DataFormatError

WANTED = "a DataFrame, a list of dictionaries by column name, or a Dataset of read_data"


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of pandas or polars, a table of pyarrow, or their like.

    >>> is_frame([[1.0]]), is_frame(np.eye(2))
    (False, False)
    """
    if X is None or isinstance(X, (np.ndarray, list, tuple, str, Table)) or sparse.issparse(X):
        return False
    if not hasattr(X, "columns"):
        return False
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def are_records(X: Any) -> bool:
    """Whether X is a list of dictionaries, of a row each.

    >>> are_records([{"size": 2.0}]), are_records([[{"size": 2.0}]]), are_records([])
    (True, False, False)
    """
    return isinstance(X, list) and len(X) > 0 and all(isinstance(row, Mapping) for row in X)


def is_plain(X: Any) -> bool:
    """Whether a frame holds finite numbers alone, or infinite ones, and all of them."""
    if is_pandas(X, "DataFrame"):
        numbers = all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes)
        return numbers and not bool(X.isna().to_numpy().any())
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    return all(dtype.is_numeric() for dtype in frame.schema.values()) and not any(
        frame.get_column(name).is_null().any()
        or np.isnan(frame.get_column(name).cast(nw.Float64).to_numpy()).any()
        for name in frame.columns
    )


# ---------------------------------------------------------------------- sources of columns
class FrameSource:
    """Columns of a frame, by narwhals."""

    def __init__(self, X: Any) -> None:
        import narwhals.stable.v2 as nw

        self.n_repeated: dict[str, int] = {}
        if is_pandas(X, "DataFrame"):
            X = self._plain_pandas(X)
        self.frame = nw.from_native(X, eager_only=True)
        self.names = list(self.frame.columns)

    def _plain_pandas(self, X: Any) -> Any:
        """With texts as names, each once, and no compressed columns."""
        from pandas import SparseDtype

        names = [str(name) for name in X.columns]
        self.n_repeated = {name: n for name, n in Counter(names).items() if n > 1}
        X = X.set_axis(names, axis=1)
        if self.n_repeated:
            X = X.loc[:, ~X.columns.duplicated()]
        packed = [name for name, dtype in X.dtypes.items() if isinstance(dtype, SparseDtype)]
        return X.assign(**{name: X[name].sparse.to_dense() for name in packed}) if packed else X

    def __len__(self) -> int:
        return int(self.frame.shape[0])

    def column(self, name: str, absent: Any = None, *, mixed: bool = False) -> Column:
        return read_series(name, self._series(name), mixed=mixed)

    def cells(self, name: str) -> list[Any]:
        """The values of a column, None where missing."""
        series = self._series(name)
        missing = series.is_null().to_list()
        return [None if gap else cell for cell, gap in zip(series.to_list(), missing)]

    def _series(self, name: str) -> Any:
        if name in self.n_repeated:
            raise DataFormatError(f"{self.n_repeated[name]} columns are called {name!r}")
        return self.frame.get_column(name)


class RecordSource:
    """Columns of a list of dictionaries; what a row leaves out is missing, or ``absent``."""

    def __init__(self, rows: list[Mapping[Any, Any]]) -> None:
        self.rows = [{str(name): value for name, value in row.items()} for row in rows]
        self.names = list(dict.fromkeys(name for row in self.rows for name in row))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str, absent: Any = None, *, mixed: bool = False) -> Column:
        return read_cells(name, self.cells(name, absent), mixed=mixed)

    def cells(self, name: str, absent: Any = None) -> list[Any]:
        """The values of a column, None where missing."""
        return [row.get(name, absent) for row in self.rows]


class ArraySource:
    """Columns of an array of objects, by names that it is given."""

    def __init__(self, X: np.ndarray, names: Any) -> None:
        self.X, self.names = X, list(names)

    def __len__(self) -> int:
        return len(self.X)

    def column(self, name: str, absent: Any = None, *, mixed: bool = False) -> Column:
        return read_cells(name, self.X[:, self.names.index(name)].tolist(), mixed=mixed)


def source_of(X: Any) -> FrameSource | RecordSource:
    """The columns of a frame or of records, by name."""
    if is_frame(X):
        return FrameSource(X)
    if are_records(X):
        return RecordSource(X)
    if isinstance(X, list) and not X:
        raise DataFormatError("there are no rows")
    raise DataFormatError(
        f"the model finds its columns by name: give {WANTED}; got {type(X).__name__}"
    )


# ---------------------------------------------------------------------- tables
def first_table(source: Any) -> tuple[Table, dict[str, str]]:
    """All columns as a table, and the kind of those that hold neither numbers nor names."""
    columns = [source.column(name) for name in source.names]
    others = {c.name: c.kind for c in columns if c.kind not in ("number", "names")}
    return _table(columns, len(source)), others


def table_of(
    X: Any, like: Any, others: Mapping[str, str] | None = None, *, is_sparse: bool
) -> Table:
    """The columns that a model reads, of a frame or of records, as a table.

    Columns are found by name, others are not looked at. Records may leave out a column in some
    rows: the value is missing there; in data that were sparse in training it is zero, as it is in
    such files.

    Parameters
    ----------
    X : DataFrame of pandas or polars, table of pyarrow, list of dicts, or a source of columns
    like : Table
        Names and values of the columns of training; its rows do not matter.
    others : dict, default=None
        Kind of the columns that held neither numbers nor names.
    is_sparse : bool
        Whether the data of training were sparse.
    """
    source = X if hasattr(X, "column") and hasattr(X, "names") else source_of(X)
    known = set(source.names)
    there = [name for name in like.names if name in known]
    if not (is_sparse and there):  # the encoder knows which columns of a sparse file may lack
        check_columns(like.names, known)
    values = dict(zip(like.names, like.values))
    columns = []
    for name in there:
        kind = (others or {}).get(name, "number" if values[name] is None else "names")
        column = source.column(name, _absent(values[name], is_sparse), mixed=True)
        columns.append(as_trained(column, kind, values[name]))
    table = _table(columns, len(source))
    return Table(table.names, table.values, sparse.csr_array(table.data)) if is_sparse else table


def _absent(values: tuple[Any, ...] | None, is_sparse: bool) -> float | str | None:
    """What a row has that leaves a column out: in sparse data zero, or the first of its names."""
    if not is_sparse:
        return None
    return 0.0 if values is None else next(iter(values), None)


def _table(columns: list[Column], n_rows: int) -> Table:
    data = np.empty((n_rows, len(columns)))
    for j, column in enumerate(columns):
        infinite = np.isinf(column.data)
        if infinite.any():
            problem = "an infinite number; a missing one is left empty"
            raise fail(problem, int(infinite.argmax()), column.name)
        data[:, j] = column.data
    names = tuple(column.name for column in columns)
    return Table(names, tuple(column.texts for column in columns), data)
