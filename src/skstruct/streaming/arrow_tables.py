# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Arrow: groups of rows that can be read by themselves, and what columns become."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skstruct._arrays.imports import require
from skstruct.exceptions import DataFormatError
from skstruct.streaming.blocks import even_cuts

_BUFFER = 1 << 16  # bytes of each column that are read at a time
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class FileGroups:
    """The row groups of one Parquet file. It holds no open file, so that it can be pickled."""

    path: str
    sizes: tuple[int, ...]  # rows of each group
    fragment: Any = None  # of a dataset of pyarrow, which knows how to open it
    constants: tuple[tuple[str, Any, Any], ...] = ()  # name, value, type: stated by its folder

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def batches(self, groups: Sequence[int], columns: tuple[Any, ...], rows: int) -> Iterator[Any]:
        """The rows of some groups in order, in batches of at most so many."""
        import pyarrow

        kept = [name for name in columns if name not in {c[0] for c in self.constants}]
        file = opened_file(self.path, self.fragment)
        with file:
            done = 0
            try:
                for batch in file.iter_batches(rows, row_groups=list(groups), columns=kept):
                    done += batch.num_rows
                    for name, value, kind in self.constants:
                        column = pyarrow.repeat(pyarrow.scalar(value, kind), batch.num_rows)
                        batch = batch.append_column(name, column)
                    yield batch.select(list(columns))
            except (pyarrow.ArrowException, OSError, IndexError) as error:
                raise self._broken(f"{type(error).__name__}: {error}") from None
            if done != sum(self.sizes[g] for g in groups):
                raise self._broken("it has changed since it was opened")

    def narrowed(self, groups: Sequence[int]) -> FileGroups:
        return self

    def _broken(self, why: str) -> DataFormatError:
        return DataFormatError(f"its rows cannot be read ({why})", path=self.path)


class TableGroups:
    """A table in memory as if it had row groups. Pickled, it carries its own rows only."""

    name = path = ""

    def __init__(self, table: Any, cuts: Sequence[int]) -> None:
        self._hold(table, cuts)

    def _hold(self, table: Any, cuts: Sequence[int]) -> None:
        self.table, self.cuts = table, cuts
        self.sizes = tuple(b - a for a, b in zip(cuts, cuts[1:]))  # noqa: RUF007

    def batches(self, groups: Sequence[int], columns: tuple[Any, ...], rows: int) -> Iterator[Any]:
        """The rows of some groups in order, in batches of at most so many."""
        import pyarrow

        table = self.table.select(list(columns))
        parts = [table.slice(self.cuts[group], self.sizes[group]) for group in groups]
        chosen = pyarrow.concat_tables(parts)
        for first in range(0, chosen.num_rows, rows):
            yield from chosen.slice(first, rows).combine_chunks().to_batches()

    def narrowed(self, groups: Sequence[int]) -> TableGroups:
        """The same groups under the same numbers, the others being empty."""
        begin, end = self.cuts[groups[0]], self.cuts[groups[-1] + 1]
        cuts = [min(max(cut, begin), end) - begin for cut in self.cuts]
        return TableGroups(self.table.slice(begin, end - begin), cuts)

    def __getstate__(self) -> Any:
        import pyarrow

        sink = pyarrow.BufferOutputStream()  # a pickled slice would carry the whole table
        with pyarrow.ipc.new_stream(sink, self.table.schema) as stream:
            stream.write_table(self.table)
        return sink.getvalue().to_pybytes(), self.cuts

    def __setstate__(self, state: tuple[bytes, list[int]]) -> None:
        import pyarrow

        with pyarrow.ipc.open_stream(state[0]) as stream:
            self._hold(stream.read_all(), state[1])


def opened_file(path: str, fragment: Any = None) -> Any:
    """A Parquet file of which pages are read when they are needed."""
    import pyarrow
    from pyarrow import parquet

    try:
        # Read this way, pyarrow holds a page of each column, and no whole row group.
        file = path if fragment is None else fragment.open()
        return parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} is not there; with workers elsewhere, each must see it under this name."
        ) from None
    except (pyarrow.ArrowException, OSError) as error:
        raise DataFormatError(
            f"it is no whole Parquet file: it may have been cut short ({error})", path=path
        ) from None


def groups_and_schemas(data: Any) -> list[tuple[Any, Any]]:
    """What a caller gave as files or tables in groups, each with its schema."""
    import pyarrow
    from pyarrow import dataset

    if isinstance(data, str) and "://" in data:
        data = dataset.dataset(data, format="parquet")
    if isinstance(data, dataset.InMemoryDataset):
        data = data.to_table()
    if isinstance(data, pyarrow.Table):
        return [(TableGroups(data, even_cuts(data.num_rows, 256)), data.schema)]
    if isinstance(data, dataset.Dataset):
        return [_of_fragment(fragment, data) for fragment in data.get_fragments()]
    return [_of_path(path) for path in _paths(data)]


def _of_path(path: str) -> tuple[FileGroups, Any]:
    with opened_file(path) as file:
        return FileGroups(path, _sizes(file.metadata)), file.schema_arrow


def _of_fragment(fragment: Any, whole: Any) -> tuple[FileGroups, Any]:
    from pyarrow import dataset

    if not isinstance(fragment, dataset.ParquetFileFragment):
        raise ValueError("Datasets of Parquet files are read; give a table of any other.")
    keys = dataset.get_partition_keys(fragment.partition_expression)
    schema = fragment.physical_schema
    keys = {name: value for name, value in keys.items() if name not in schema.names}
    for name in keys:
        schema = schema.append(whole.schema.field(name))
    constants = tuple((name, value, schema.field(name).type) for name, value in keys.items())
    with opened_file(fragment.path, fragment) as file:
        return FileGroups(fragment.path, _sizes(file.metadata), fragment, constants), schema


def _sizes(metadata: Any) -> tuple[int, ...]:
    return tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))


def _paths(data: Any) -> list[str]:
    """Absolute paths of files, those of a folder in the order of their names."""
    if isinstance(data, (list, tuple)):
        if not data:
            raise ValueError("Parquet files are a list of at least one; got an empty one.")
        return [path for entry in data for path in _paths(entry)]
    path = os.path.abspath(os.fspath(data))
    if not os.path.isdir(path):
        return [path]
    names = [name for name in sorted(os.listdir(path)) if name[0] not in "._"]
    files = [os.path.join(path, name) for name in names if name.lower().endswith(SUFFIXES)]
    if not files:
        raise FileNotFoundError(
            f"{path} has no file that ends in .parquet or .pq; of a tree of folders give a "
            "pyarrow.dataset."
        )
    return files


# Which columns of a table are inputs, outputs and weights, and what they become.


@dataclass(frozen=True)
class TableColumns:
    """Names of columns, and how batches of Arrow become X, y and weights."""

    inputs: tuple[str, ...]
    outputs: str | tuple[str, ...] | None
    weight: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        weight = () if self.weight is None else (self.weight,)
        return self.inputs + self.output_names + weight

    @property
    def output_names(self) -> tuple[str, ...]:
        if self.outputs is None:
            return ()
        return (self.outputs,) if isinstance(self.outputs, str) else self.outputs

    def values(self, batch: Any, rows: Any) -> tuple[Any, Any, Any]:
        """X as a frame, y as a series, frame or list of lists, and weights or None.

        ``rows`` are numbers of the rows, which become the index.
        """
        pandas = require("pandas", used_by="ParquetSource", extra="parquet")
        import pyarrow

        def frame(names: Any) -> Any:
            made = pyarrow.Table.from_batches([batch]).select(list(names))
            made = made.to_pandas(ignore_metadata=True)
            return made.set_axis(pandas.Index(rows), axis=0)

        weight = None
        if self.weight is not None:
            weight = batch.column(self.weight).to_numpy(zero_copy_only=False)
        if not isinstance(self.outputs, str):
            y = None if self.outputs is None else frame(self.outputs).apply(_plain)
            return frame(self.inputs), y, weight
        column = batch.column(self.outputs)
        if pyarrow.types.is_nested(column.type):
            return frame(self.inputs), column.to_pylist(), weight
        return frame(self.inputs), _plain(frame([self.outputs])[self.outputs]), weight


def _plain(series: Any) -> Any:
    """Coded values as the values themselves: codes may differ from block to block."""
    if hasattr(series.dtype, "categories"):
        return series.astype(series.dtype.categories.dtype)
    return series


def choose_columns(
    schema: Any, inputs: str | Sequence[str] | None, outputs: Any, weight: str | None, path: str
) -> TableColumns:
    """Check the names against the columns of the first file."""
    names = schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataFormatError(f"two columns are called {twice!r}", path=path or None)
    outputs = outputs if outputs is None or isinstance(outputs, str) else tuple(outputs)
    chosen = TableColumns((), outputs, weight)
    if inputs is None:
        left_off = {*chosen.names, *_index_columns(schema)}
        inputs = [n for n in names if n not in left_off and _is_number(schema.field(n).type)]
        if not inputs:
            raise DataFormatError("no column of numbers is left for inputs", path=path or None)
    read = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    chosen = TableColumns(read, outputs, weight)
    for name in chosen.names:
        if name not in names:
            known = ", ".join(map(repr, names[:10])) + (
                f" and {len(names) - 10:,} more" if len(names) > 10 else ""
            )
            problem = f"there is no column {name!r}; there are {known}"
            raise DataFormatError(problem, path=path or None)
        if chosen.names.count(name) > 1:
            raise ValueError(f"The column {name!r} is named twice, as input, output or weight.")
    for name in chosen.inputs + (() if weight is None else (weight,)):
        kind = schema.field(name).type
        if not _is_number(kind, truth=True):
            problem = f"column {name!r} holds {kind}, and inputs and weights are numbers"
            raise DataFormatError(problem, path=path or None)
    return chosen


def check_alike(schema: Any, path: str, first: Any, first_name: str, only: Any = None) -> None:
    """Raise unless the columns of a file, or ``only`` some of them, are those of the first one."""
    wanted = first.names if only is None else list(only)
    for name in wanted:
        if name not in schema.names:
            raise DataFormatError(f"it has no column {name!r}, which {first_name} has", path=path)
        here, there = _value_type(schema, name), _value_type(first, name)
        if here != there:
            problem = f"column {name!r} holds {here}, and {there} in {first_name}"
            raise DataFormatError(problem, path=path)
    extra = [name for name in schema.names if name not in first.names] if only is None else []
    if extra:
        problem = f"it has the column {extra[0]!r}, which {first_name} has not"
        raise DataFormatError(problem, path=path)


def _value_type(schema: Any, name: str) -> Any:
    kind = schema.field(name).type
    return getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind


def _index_columns(schema: Any) -> set[str]:
    """Columns that were the index of a pandas table: numbers, but no inputs."""
    known = (schema.pandas_metadata or {}).get("index_columns", ())
    return {name for name in known if isinstance(name, str)}


def _is_number(kind: Any, truth: bool = False) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or (truth and types.is_boolean(kind))
