# SPDX-License-Identifier: BSD-3-Clause
"""Tables of any length, read a block of rows after the other, with columns that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import bare_name, stem
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.columns import NumberColumn, as_table, is_missing
from skstruct.datasets.formats.csv_files import CsvBlocks
from skstruct.datasets.formats.parquet import FolderBlocks, ParquetBlocks, parquet_blocks
from skstruct.datasets.formats.targets import choose_targets, find_row_names, placed, taken
from skstruct.datasets.reading import find_format
from skstruct.encoding.tables import check_columns
from skstruct.exceptions import DataFormatError

ROWS = 10_000
BlockSource: TypeAlias = CsvBlocks | ParquetBlocks | FolderBlocks
_READERS: dict[str, Callable[[Any], BlockSource]] = {"csv": CsvBlocks, "parquet": parquet_blocks}


def has_blocks(path: Any, format: str | None = None) -> bool:
    """Whether :func:`read_blocks` reads a file: CSV, packed or not, and Parquet as it is."""
    name = find_format(text_path(path), format)[0].name
    return name == "csv" or (name == "parquet" and bare_name(path) == Path(path).name)


def open_source(path: Any, format: str | None = None) -> BlockSource:
    """A CsvBlocks or its like of a file that has blocks; only its header is read."""
    return _READERS[find_format(text_path(path), format)[0].name](path)


def read_blocks(
    path: Path,
    like: Table,
    *,
    rows: int = ROWS,
    first: int | None = None,
    format: str | None = None,
    task: str = "classes",
    targets: tuple[Any, ...] | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
) -> Blocks:
    """Read the inputs of a CSV or Parquet file in blocks of rows.

    What the blocks hold is what :func:`~skstruct.datasets.read_data` would have read of the whole
    file, without outputs, and with the columns of ``like`` alone: further columns are not looked
    at. Memory for one block is all that is taken, whatever the length of the file.

    Parameters
    ----------
    path : str or path
    like : Table
        Tells the names of the columns that are wanted, and which of them hold names; the others
        hold numbers. Its rows do not matter.
    rows : int, default=10_000
        Of a block; some have fewer.
    first : int, default=None
        Stop after so many rows.
    format, id_column, encoding : as in read_data
        Without an ``id_column``, a first column called ``row`` names the rows if no value comes
        twice: then the file is read twice, and values that do not increase are kept in memory.
    targets : sequence of str, default=None
        Columns that are no inputs; guessed when None, none if empty.
    task : str, default="classes"
        Of the data sets.

    Returns
    -------
    Blocks
        An iterable of data sets, which may be gone through again.

    Raises
    ------
    DataFormatError
        At once for a file that lacks columns; while iterating for a cell that cannot be read,
        with its line or row in the file, and where there are no rows at all.

    Examples
    --------
    >>> import tempfile
    >>> like = Table(("minutes", "country"), (None, ("DE", "FR")), np.empty((0, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "films.csv"
    ...     _ = path.write_text("country,stars,minutes\\nFR,2,90\\nUS,3,\\nFR,1,81\\n")
    ...     for block in read_blocks(path, like, rows=2, targets=()):
    ...         print(block.inputs.values, block.inputs.data.tolist())
    (None, ('FR', 'US')) [[90.0, 0.0], [nan, 1.0]]
    (None, ('FR',)) [[81.0, 0.0]]
    """
    path = text_path(path, encoding)
    if not has_blocks(path, format):
        raise DataFormatError("only CSV and Parquet files are read in blocks", path=path)
    source = open_source(path, format)
    nominal = tuple(name for name, values in zip(like.names, like.values) if values is not None)
    if id_column is None and source.index not in (None, *(targets or ())):
        id_column = source.index
    given = None if targets is None else tuple(targets)
    options = ReadOptions(task=task, targets=given, id_column=id_column, nominal=nominal)
    try:
        names, _ = choose_targets(source.names, options)
        index = find_row_names(source, names, options)
        check_columns(like.names, {*source.names} - {*names, index})
    except DataFormatError as error:
        raise error.at(path=path) from None
    return Blocks(source, like, index, task, rows, first)


class Blocks:
    """Data sets of the blocks of one file; see :func:`read_blocks`.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    n_rows : int or None
        That will come, where the file tells.
    """

    def __init__(
        self,
        source: BlockSource,
        like: Table,
        index: Any,
        task: str,
        rows: int,
        first: Any,
        outputs: Any = None,
    ) -> None:
        self.name = stem(source.path)
        self._source, self._like, self._index = source, like, index
        self._task, self._rows, self._first = task, rows, first
        self._outputs = outputs  # an OutputSummary, where outputs are read as well
        known = [n for n in (source.n_rows, first) if n is not None]
        self.n_rows = None if source.n_rows is None else min(known)

    def share(self) -> float | None:
        """How much of the bytes of the file was read, from 0 to 1; None where rows are counted."""
        source = self._source
        return min(1.0, source.bytes_read / source.n_bytes) if source.n_bytes else None

    def __iter__(self) -> Iterator[Dataset]:
        done, left = 0, self._first
        for n_rows, columns in self._columns():
            if left is not None and left < n_rows:
                columns, n_rows = [taken(column, np.arange(left)) for column in columns], left
            yield self._dataset(columns, n_rows, done)
            done += n_rows
            left = None if left is None else left - n_rows
            if left == 0:
                return
        if not done:
            raise DataFormatError("there are no rows", path=self._source.path)

    def _columns(self) -> Iterator[Any]:
        names = zip(self._like.names, self._like.values)
        wanted = {name: values is not None for name, values in names}
        if self._index is not None:
            wanted[self._index] = True
        if self._outputs is not None:
            wanted |= dict.fromkeys(self._outputs.names, True)
        rows = self._rows if self._first is None else min(self._rows, self._first)
        return self._source.blocks(rows, wanted)

    def _dataset(self, columns: list[Any], n_rows: int, done: int) -> Dataset:
        fail, found = placed(self._source.fail, None, done), {}
        if self._outputs is not None:
            n_outputs = len(self._outputs.names)
            kept = self._outputs.labelled(columns[-n_outputs:])
            if kept is not None:
                columns, n_rows = [taken(column, kept) for column in columns], len(kept)
                fail = placed(self._source.fail, kept, done)
            columns, given = columns[:-n_outputs], columns[-n_outputs:]
            found = self._outputs.read(given, fail)
        index = None if self._index is None else tuple(columns.pop().cells())
        read = [
            as_number_column(column, fail) if values is None else column
            for column, values in zip(columns, self._like.values)
        ]
        inputs, _ = as_table(read, n_rows, self._like.names, fail)
        file_format = "csv" if isinstance(self._source, CsvBlocks) else "parquet"
        return Dataset(self.name, file_format, self._task, inputs, index=index, **found)


def as_number_column(column: Any, fail: Callable[..., Any]) -> NumberColumn:
    """A column that held numbers in training; of texts those that Python takes for numbers."""
    if isinstance(column, NumberColumn):
        return column

    def read(text: str) -> float:
        try:
            return np.nan if is_missing(text) else float(text)
        except ValueError:
            raise DataFormatError(
                f"the column {column.name!r} held numbers when the model was fitted; here it "
                f"holds {text[:60]!r}"
            ) from None

    numbers = column.parsed(read, lambda problem, row: fail(problem, row, column.name))
    return NumberColumn(column.name, np.array(numbers, dtype=np.float64))
