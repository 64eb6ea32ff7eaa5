# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Arrow in groups of rows that can be read by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skstruct._arrays.optional import require
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
    constants: tuple[tuple[str, Any, Any], ...] = ()  # name, value, type: told by its folder

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def batches(self, groups: Sequence[int], columns, rows: int) -> Iterator:
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

    def __init__(self, table, cuts: Sequence[int]):
        self.table, self.cuts = table, cuts
        self.sizes = tuple(b - a for a, b in zip(cuts, cuts[1:]))  # noqa: RUF007

    def batches(self, groups: Sequence[int], columns, rows: int) -> Iterator:
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

    def __getstate__(self):
        import pyarrow

        sink = pyarrow.BufferOutputStream()  # a pickled slice would carry the whole table
        with pyarrow.ipc.new_stream(sink, self.table.schema) as stream:
            stream.write_table(self.table)
        return sink.getvalue().to_pybytes(), self.cuts

    def __setstate__(self, state):
        import pyarrow

        with pyarrow.ipc.open_stream(state[0]) as stream:
            self.__init__(stream.read_all(), state[1])


def opened_file(path: str, fragment=None):
    """A Parquet file of which pages are read when they are needed."""
    pyarrow = require("pyarrow", used_by="ParquetSource", extra="parquet")
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


def groups_and_schemas(data) -> list[tuple[Any, Any]]:
    """What a caller gave as files or tables in groups, each with its schema."""
    pyarrow = require("pyarrow", used_by="ParquetSource", extra="parquet")
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


def _of_path(path: str):
    with opened_file(path) as file:
        return FileGroups(path, _sizes(file.metadata)), file.schema_arrow


def _of_fragment(fragment, whole):
    from pyarrow import dataset

    if not isinstance(fragment, dataset.ParquetFileFragment):
        raise ValueError("Datasets of Parquet files are read; give a table of any other.")
    told = dataset.get_partition_keys(fragment.partition_expression)
    schema = fragment.physical_schema
    told = {name: value for name, value in told.items() if name not in schema.names}
    for name in told:
        schema = schema.append(whole.schema.field(name))
    constants = tuple((name, value, schema.field(name).type) for name, value in told.items())
    with opened_file(fragment.path, fragment) as file:
        return FileGroups(fragment.path, _sizes(file.metadata), fragment, constants), schema


def _sizes(metadata) -> tuple[int, ...]:
    return tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))


def _paths(data) -> list[str]:
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
