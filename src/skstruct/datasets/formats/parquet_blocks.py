# SPDX-License-Identifier: BSD-3-Clause
"""Some columns of a Parquet file, a block of rows after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skstruct.datasets.formats.parquet import (
    as_column,
    as_frame,
    failure_of,
    index_level,
    index_name,
    need_pandas,
    parquet_files,
    unreadable,
)

_BUFFER = 2**20  # bytes of every column


def parquet_blocks(path):
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

    def __init__(self, path):
        self.path = Path(path)
        self._fail = failure_of(self.path)
        need_pandas()
        with self._file() as file:
            schema, self.n_rows = file.schema_arrow, file.metadata.num_rows
        level = index_level(schema)
        self.index = None if level is None else index_name(level, schema.names)
        # Names as people know them, and as the file has them.
        self._stored = {self.index if name == level else name: name for name in schema.names}
        self.names = list(self._stored)
        if len(self.names) < len(schema.names):
            raise self.fail("two columns have the same name")

    def _file(self):
        from pyarrow import parquet

        try:
            # A buffer: a group of rows, perhaps the whole file, is not held as it is stored.
            return parquet.ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)
        except Exception as error:
            raise unreadable(self._fail, error) from None

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list]]:
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

        def fail(problem, row=None, column=None):
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

    def _batches(self, n_rows, columns):
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

    def fail(self, problem, row=None, column=None):
        """An error of the file, with row and name of a column."""
        return self._fail(problem, row, column)


class FolderBlocks:
    """The Parquet files of a folder as one, in the order of their names; as :class:`ParquetBlocks`.

    Columns are found by name, and all files have the same.
    """

    n_bytes = bytes_read = 0

    def __init__(self, path):
        self.path = Path(path)
        self.parts = [ParquetBlocks(file) for file in parquet_files(path)]
        first = self.parts[0]
        self.names, self.index = first.names, first.index
        self.n_rows = sum(part.n_rows for part in self.parts)
        for part in self.parts[1:]:
            odd = sorted({*part.names} ^ {*first.names})
            if odd:
                raise part.fail(f"it has not the columns of {first.path.name}: {odd[0]!r}")

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list]]:
        """Those of one file after the other."""
        for part in self.parts:
            yield from part.blocks(n_rows, wanted)

    def fail(self, problem, row=None, column=None):
        """An error of the file that a row is in."""
        for part in self.parts:
            if row is not None and row < part.n_rows:
                return part.fail(problem, row, column)
            row = None if row is None else row - part.n_rows
        return failure_of(self.path)(problem, row, column)
