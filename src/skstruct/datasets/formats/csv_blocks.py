# SPDX-License-Identifier: BSD-3-Clause
"""Some columns of a CSV file, a block of rows after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skstruct.datasets.formats.columns import NumberColumn, TextColumn, as_numbers
from skstruct.datasets.formats.csv_rows import (
    find_separator,
    line_of_row,
    read_header,
    row_blocks,
)
from skstruct.datasets.formats.formulas import column_as_meant
from skstruct.exceptions import DataFormatError


class CsvBlocks:
    """A CSV file whose header has been read.

    Attributes
    ----------
    names : list of str
        Of all columns.
    index : None
        The column that was the index of a pandas table; CSV does not tell.
    n_rows : None
        Nobody knows before all is read.
    n_bytes, bytes_read : int
        Of the file and of what was read; 0 of a packed file.
    """

    index: str | None = None
    n_rows: int | None = None

    def __init__(self, path):
        self.path = Path(path)
        try:
            self._separator = find_separator(self.path)
            self.names = read_header(self.path, self._separator)
        except DataFormatError as error:
            raise error.at(path=self.path) from None
        packed = self.path.suffix in (".gz", ".xz")
        self.n_bytes = 0 if packed else self.path.stat().st_size
        self.bytes_read = 0

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list]]:
        """Number of rows and columns of every block, in the order of ``wanted``.

        Parameters
        ----------
        n_rows : int
            Of a block; of the last one fewer.
        wanted : mapping
            Whether the cells of a column are texts, by name; else it is a NumberColumn in
            blocks where all cells are numbers.
        """
        self.bytes_read = 0
        place = {name: self.names.index(name) for name in wanted}
        width = len(self.names)
        for rows in row_blocks(self.path, self._separator, width, n_rows, self._seen):
            cells = list(zip(*rows))
            if rows:
                yield (
                    len(rows),
                    [_column(name, cells[place[name]], text) for name, text in wanted.items()],
                )

    def _seen(self, n_bytes):
        self.bytes_read += n_bytes

    def fail(self, problem, row=None, column=None) -> DataFormatError:
        """An error of the file, with the line where a row begins."""
        line = None if row is None else line_of_row(self.path, self._separator, row)
        place = None if column is None else self.names.index(column) + 1
        return DataFormatError(problem, path=self.path, line=line, column=place)


def _column(name, cells, is_text):
    numbers = None if is_text else as_numbers(cells)
    if numbers is None:
        return column_as_meant(TextColumn.of(name, cells))
    return NumberColumn(name, numbers)
