# SPDX-License-Identifier: BSD-3-Clause
"""Tables that grow by batches, as Parquet and as CSV."""

from __future__ import annotations

import contextlib
import csv
from typing import Any

import numpy as np

from skstruct._arrays.optional import require
from skstruct.streaming.rows import count_rows

_GROUP = 1 << 16  # rows; smaller row groups would make the footer grow
_GROUP_BYTES = 1 << 26


class GrowingTable:
    """Columns of the first batch, which all others must have."""

    def __init__(self, file):
        self.file = file
        self.names: list[str] | None = None
        self.n_rows = 0

    def add(self, batch, number: int) -> int:
        """Write a batch, maybe later, and return its number of rows."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what is left."""

    def abandon(self) -> None:
        """Write no more: something has failed."""

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.finish()
        else:
            self.abandon()

    def _check(self, names, columns, number: int) -> int:
        """The number of rows of a batch whose columns are right."""
        if self.names is None:
            self.names = names
        elif names != self.names:
            odd = sorted({*names} ^ {*self.names})
            what = f"has not the columns of the first one ({', '.join(odd) or 'another order'})"
            raise ValueError(f"batch {number} {what}.")
        lengths = {name: count_rows(column) for name, column in zip(names, columns)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"batch {number} has columns of different lengths: {lengths}.")
        return next(iter(lengths.values()), 0)


class ParquetFile(GrowingTable):
    """Row groups of moderate size, whatever the size of the batches."""

    def __init__(self, file):
        super().__init__(file)
        self._pyarrow = require("pyarrow", used_by="A Parquet file", extra="parquet")
        self._waiting: list[Any] = []
        self._writer: Any = None

    def add(self, batch, number: int) -> int:
        if not isinstance(batch, self._pyarrow.Table):
            self._check(list(batch), list(batch.values()), number)
            batch = self._pyarrow.table(dict(batch))
        n = self._check(batch.column_names, batch.columns, number)
        self._waiting.append(self._like_the_first(batch, number))
        self.n_rows += n
        waiting = sum(len(b) for b in self._waiting), sum(b.nbytes for b in self._waiting)
        if waiting[0] >= _GROUP or waiting[1] >= _GROUP_BYTES:
            self._write()
        return n

    def _like_the_first(self, batch, number):
        if self._writer is None:
            from pyarrow import parquet

            self._writer = parquet.ParquetWriter(self.file, batch.schema)
        known = self._writer.schema
        for name, kind, expected in zip(known.names, batch.schema.types, known.types):
            try:
                batch.column(name).cast(expected)
            except (self._pyarrow.ArrowInvalid, self._pyarrow.ArrowNotImplementedError):
                raise ValueError(
                    f"batch {number}: column {name!r} holds {kind}, and {expected} in the first."
                ) from None
        return batch.cast(known)

    def _write(self):
        self._writer.write_table(self._pyarrow.concat_tables(self._waiting), row_group_size=_GROUP)
        self._waiting.clear()

    def finish(self) -> None:
        """Write what is left, and the footer."""
        if self._waiting:
            self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer while its file is open; it would do so by itself later, and fail."""
        with contextlib.suppress(Exception):
            self._writer.close()


class CsvFile(GrowingTable):
    """Numbers by repr, so that they are read back the same; missing values are empty."""

    def __init__(self, file):
        super().__init__(file)
        self._rows = csv.writer(file, lineterminator="\n")

    def add(self, batch, number: int) -> int:
        if hasattr(batch, "column_names"):
            names, columns = batch.column_names, [column.to_pylist() for column in batch.columns]
        else:
            names, columns = list(batch), list(batch.values())
        fresh = self.names is None
        n = self._check(names, columns, number)
        if fresh:
            self._rows.writerow(names)
        self._rows.writerows(zip(*(_cells(*c, number) for c in zip(names, columns))))
        self.n_rows += n
        return n


def _cells(name, column, number: int) -> list:
    values = np.asarray(column) if hasattr(column, "dtype") else None
    if values is not None and values.dtype.kind == "f":
        return [str(value) if value == value else "" for value in values]  # shortest that is right
    cells = column if values is None else values.tolist()
    for cell in cells:
        if isinstance(cell, (list, tuple, set, frozenset, dict, np.ndarray)):
            raise ValueError(
                f"batch {number}: column {name!r} holds {type(cell).__name__}; CSV holds numbers "
                "and text: write Parquet, or make text of them."
            )
    return ["" if cell is None or cell != cell else cell for cell in cells]
