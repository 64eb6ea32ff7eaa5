# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Parquet files, by pyarrow and pandas, which is optional."""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.files import open_binary, stem, unpacking
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.columns import NumberColumn, TextColumn
from skstruct.datasets.formats.csv_writing import (
    check_names,
    check_table,
    free,
    index_column,
    output_columns,
)
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_row_names, choose_targets
from skstruct.datasets.gaps import UNKNOWN, needs_columns
from skstruct.exceptions import DataFormatError


def read_parquet(path: Path, options: ReadOptions) -> Dataset:
    """Read a Parquet file as CSV is read: columns of numbers, truth values or text.

    Truth values are the names False and True, which a CSV file of the same table has.

    Raises
    ------
    DataFormatError
        Tells row and column; also for columns of anything else, such as lists or dates.
    """
    path = Path(path)
    fail = failure_of(path)
    need_pandas()
    frame, index = _frame(path, fail)
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise fail("two columns have the same name")
    remarks: tuple[str, ...] = ()
    if index and options.id_column is None and index not in (options.targets or ()):
        options = replace(options, id_column=index)
        remarks = (f"The index of the table, {index!r}, is taken for names of the rows.",)
    try:
        targets, _ = choose_targets(names, options)
        texts = {*targets, *options.nominal, choose_row_names(names, targets, options)}
        columns = [
            as_column(name, frame.iloc[:, j], name in texts, fail) for j, name in enumerate(names)
        ]
        about: dict[str, Any] = {"name": stem(path), "format_name": "parquet"}
        return assemble(columns, len(frame), options, **about, fail=fail, remarks=remarks)
    except DataFormatError as error:
        raise error.at(path=path) from None


def failure_of(path: Path) -> Callable[..., DataFormatError]:
    """What makes errors of a file, with row and name of a column."""

    def fail(problem: str, row: int | None = None, column: str | None = None) -> DataFormatError:
        where = [] if row is None else [f"row {row + 1}"]
        where += [] if column is None else [f"column {column!r}"]
        problem = ", ".join(where) + ": " + problem if where else problem
        return DataFormatError(problem, path=path)

    return fail


def unreadable(fail: Callable[..., DataFormatError], error: Exception) -> DataFormatError:
    """Whatever the library raises, the file is to blame."""
    return fail(f"it is no Parquet file that can be read ({type(error).__name__})")


def _frame(path: Path, fail: Callable[..., Any]) -> tuple[Any, str | None]:
    """All columns, and the name of the one that was the index of a pandas table, or None."""
    try:
        table = _table(path)
        frame = as_frame(table)
        level = index_level(table.schema)
    except DataFormatError:
        raise
    except Exception as error:
        raise unreadable(fail, error) from None
    if level is None:
        return frame, None
    name = index_name(level, frame.columns)
    return frame.rename(columns={level: name}), name


def _table(path: Path) -> Any:
    """Arrow's own types: whole numbers with gaps stay whole, and text is known as text."""
    import pyarrow
    from pyarrow import parquet

    if path.is_dir():
        tables = [parquet.read_table(file) for file in parquet_files(path)]
        return pyarrow.concat_tables(tables, promote_options="permissive")
    with unpacking(path), open_binary(path) as file:
        return parquet.read_table(io.BytesIO(file.read()))


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder by their names; hidden ones and those of others are left."""
    files = sorted(
        path
        for path in Path(folder).iterdir()
        if path.suffix.lower() in (".parquet", ".pq") and path.name[0] not in "._"
    )
    if not files:
        raise DataFormatError("it is a folder without Parquet files", path=folder)
    return files


def as_frame(table: Any) -> Any:
    """A pandas table with Arrow's types."""
    return table.to_pandas(types_mapper=need_pandas().ArrowDtype, ignore_metadata=True)


def index_level(schema: Any) -> str | None:
    """The column that was the index of a pandas table; several levels are columns like others."""
    known = (schema.pandas_metadata or {}).get("index_columns", ())
    levels = [name for name in known if isinstance(name, str) and name in schema.names]
    return levels[0] if len(levels) == 1 else None


def index_name(level: str, names: Any) -> str:
    """What that column is called; pandas calls an index without a name ``__index_level_0__``."""
    return free("id", names) if level.startswith("__index_level_") else level


def need_pandas() -> Any:
    """pandas, or how to get it."""
    try:
        import pandas
    except ImportError:
        raise ImportError("Parquet files need pandas: pip install 'skstruct[parquet]'.") from None
    return pandas


def as_column(
    name: str, series: Any, is_text: bool, fail: Callable[..., Any]
) -> NumberColumn | TextColumn:
    """A column of a table in Arrow's types."""
    import pyarrow

    kind = series.dtype.pyarrow_dtype
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    types = pyarrow.types
    textual = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    textual = textual or types.is_boolean(kind)
    numeric = types.is_integer(kind) or types.is_floating(kind)
    if not (textual or numeric):
        raise fail(f"it holds {kind}; numbers, truth values and text are read", column=name)
    if types.is_null(kind) and not is_text:  # as CSV reads a column of empty cells
        return NumberColumn(name, np.full(len(series), np.nan))
    if not (is_text or textual):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return NumberColumn(name, numbers)
    short = types.is_float32(kind) or types.is_float16(kind)  # 0.1, not 0.10000000149011612
    try:
        values = series.astype(object).where(series.notna(), None)
    except pyarrow.ArrowException:
        raise fail("a text that is not UTF-8", column=name) from None
    null = UNKNOWN if is_text else ""  # which is not the empty text, a set without labels
    cells = [_text(np.float32(v) if short and v is not None else v, null) for v in values]
    zero = next((i for i, cell in enumerate(cells) if "\0" in cell), None)
    if zero is not None:
        raise fail("a zero character in a text", zero, name)
    return TextColumn.of(name, cells)


def _text(value: Any, null: str) -> str:
    if value is None or value != value:
        return null
    return str(value)


def write_parquet(dataset: Dataset, file: Any) -> None:
    """Write the columns that CSV would have; numbers stay numbers. ``file.buffer`` gets bytes."""
    pandas = need_pandas()
    inputs = check_table(dataset, "Parquet")
    index, outputs = index_column(dataset), output_columns(dataset)
    check_names([*index, *inputs.names, *outputs])
    data = inputs.data.toarray() if sparse.issparse(inputs.data) else inputs.data
    columns = {name: pandas.array(cells, dtype="string") for name, cells in index.items()}
    for name, values, column in zip(inputs.names, inputs.values, data.T):
        if values is None:
            columns[name] = column
        else:
            texts = [None if code != code else values[int(code)] for code in column.tolist()]
            columns[name] = pandas.array(texts, dtype="string")
    for name, cells in outputs.items():
        numeric = dataset.task in ("regression", "histogram")
        numeric = numeric or needs_columns(dataset.task, dataset.outputs)
        columns[name] = (
            np.array([cell or "nan" for cell in cells], float)
            if numeric
            else pandas.array([None if c == UNKNOWN else c for c in cells], dtype="string")
        )
    frame = pandas.DataFrame(columns, index=pandas.RangeIndex(len(dataset)))
    frame.to_parquet(file.buffer, engine="pyarrow", index=False)


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending, or the four letters that such files begin by."""
    return file_name.lower().endswith((".parquet", ".pq")) or bool(
        lines and lines[0].startswith("PAR1")
    )


FORMAT = Format(
    name="parquet",
    suffixes=(".parquet", ".pq"),
    tasks=tuple(TASKS),
    about="a table in columns, read by pandas and pyarrow (optional)",
    sniff=sniff,
    read=read_parquet,
    write=write_parquet,
)


# Some columns of a Parquet file, a block of rows after the other.


_BUFFER = 2**20  # bytes of every column


def parquet_blocks(path: Path) -> "ParquetBlocks | FolderBlocks":
    """A ParquetBlocks of a file, or of all files of a folder."""
    return FolderBlocks(path) if Path(path).is_dir() else ParquetBlocks(path)


class ParquetBlocks:
    """A Parquet file of which only the description has been read.

    Attributes
    ----------
    names : list of str
        Of all columns.
    index : str or None
        The column that was the index of a pandas table.
    n_rows : int
    n_bytes, bytes_read : 0, since rows are known
    """

    n_bytes = bytes_read = 0

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._fail = failure_of(self.path)
        need_pandas()
        with self._file() as file:
            schema, self.n_rows = file.schema_arrow, file.metadata.num_rows
        level = index_level(schema)
        self.index = None if level is None else index_name(level, schema.names)
        # Names as people know them, and as the file has them.
        self._stored: dict[str, str] = {
            self.index if self.index is not None and name == level else name: name
            for name in schema.names
        }
        self.names = list(self._stored)
        if len(self.names) < len(schema.names):
            raise self.fail("two columns have the same name")

    def _file(self) -> Any:
        from pyarrow import parquet

        try:
            # A buffer: a group of rows, perhaps the whole file, is not held as it is stored.
            return parquet.ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)
        except Exception as error:
            raise unreadable(self._fail, error) from None

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list[Any]]]:
        """Number of rows and columns of every block, in the order of ``wanted``.

        Parameters
        ----------
        n_rows : int
            Of a block; where a group of rows of the file ends, fewer.
        wanted : mapping
            Whether the cells of a column are texts, by name; else they are numbers where the
            file has numbers.
        """
        done = 0

        def fail(
            problem: str, row: int | None = None, column: str | None = None
        ) -> DataFormatError:
            return self.fail(problem, None if row is None else done + row, column)

        for batch in self._batches(n_rows, [self._stored[name] for name in wanted]):
            frame = as_frame(batch)
            yield (
                len(frame),
                [
                    as_column(name, frame[self._stored[name]], is_text, fail)
                    for name, is_text in wanted.items()
                ],
            )
            done += len(frame)

    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        with self._file() as file:
            batches = file.iter_batches(n_rows, columns=columns)
            while True:
                try:
                    batch = next(batches, None)
                except Exception as error:
                    raise unreadable(self._fail, error) from None
                if batch is None:
                    return
                if len(batch):
                    yield batch

    def fail(
        self, problem: str, row: int | None = None, column: str | None = None
    ) -> DataFormatError:
        """An error of the file, with row and name of a column."""
        return self._fail(problem, row, column)


class FolderBlocks:
    """The Parquet files of a folder as one, in the order of their names; as :class:`ParquetBlocks`.

    Columns are found by name, and all files have the same.
    """

    n_bytes = bytes_read = 0

    def __init__(self, path: Any) -> None:
        self.path = Path(path)
        self.parts = [ParquetBlocks(file) for file in parquet_files(path)]
        first = self.parts[0]
        self.names, self.index = first.names, first.index
        self.n_rows = sum(part.n_rows for part in self.parts)
        for part in self.parts[1:]:
            odd = sorted({*part.names} ^ {*first.names})
            if odd:
                raise part.fail(f"it has not the columns of {first.path.name}: {odd[0]!r}")

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list[Any]]]:
        """Those of one file after the other."""
        for part in self.parts:
            yield from part.blocks(n_rows, wanted)

    def fail(
        self, problem: str, row: int | None = None, column: str | None = None
    ) -> DataFormatError:
        """An error of the file that a row is in."""
        for part in self.parts:
            if row is not None and row < part.n_rows:
                return part.fail(problem, row, column)
            row = None if row is None else row - part.n_rows
        return failure_of(self.path)(problem, row, column)
