# SPDX-License-Identifier: BSD-3-Clause
"""Rows of cells of a text file, and the lines where they begin."""

import contextlib
import csv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import stem, text_lines
from skstruct.datasets.formats import csv_arrow
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.columns import (
    Codes,
    NumberColumn,
    TextColumn,
    as_meant,
    as_numbers,
    column_as_meant,
)
from skstruct.datasets.formats.csv_writing import free, write_csv
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_row_names, choose_targets
from skstruct.exceptions import DataFormatError

SEPARATORS = ",;\t"
MOST_CHARACTERS = 10_000_000  # of a cell


def _records(path: Path, separator: str, seen: Callable[..., Any] | None = None) -> Any:
    lines = (line + "\n" for line in text_lines(path, seen=seen))
    return csv.reader(lines, delimiter=separator, strict=True)


@contextlib.contextmanager
def _long_cells() -> Iterator[None]:
    """While rows are read: cells of more than the 131,072 characters that Python allows."""
    before = csv.field_size_limit(MOST_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def find_separator(path: Path) -> str:
    """The one mark that splits the header; of several, the one that splits all rows alike."""
    widths = {mark: found for mark in SEPARATORS if (found := _widths(path, mark))[:1] > [1]}
    if len(widths) < 2:
        return next(iter(widths), ",")
    even = [mark for mark, found in widths.items() if len(set(found)) == 1]
    if len(even) != 1:
        raise DataFormatError(
            f"several of {', '.join(map(repr, widths))} could separate the cells; quote the names "
            "that hold the others",
            line=1,
        )
    return even[0]


def _widths(path: Path, separator: str, n_rows: int = 20) -> list[int]:
    """Number of cells of the first rows, up to one that cannot be split."""
    widths: list[int] = []
    with contextlib.suppress(csv.Error), _long_cells():
        widths.extend(len(row) for row in islice(_records(path, separator), n_rows) if row)
    return widths


def read_header(path: Path, separator: str) -> list[str]:
    """Names of the columns; a first one without a name, which names the rows, is called id."""
    reader = _records(path, separator)
    try:
        with _long_cells():
            header = next(reader, None)
    except csv.Error as error:
        raise _unreadable(path, separator, error, reader.line_num) from None
    if header is None:
        raise DataFormatError("the file is empty")
    if not header:
        raise DataFormatError("the first line holds the names of the columns; it is empty", line=1)
    first, header = Codes(), [as_meant(name) for name in header]
    if len(header) > 1 and not header[0].strip():  # as pandas and R write names of rows
        header[0] = free("id", header)
    for j, name in enumerate(header):
        if not name.strip():
            raise DataFormatError("a column has no name", line=1, column=j + 1)
        if first[name] < j:
            raise DataFormatError(
                f"the name {name[:60]!r} comes twice, or there is no header line",
                line=1,
                column=j + 1,
            )
    return header


def row_blocks(
    path: Path, separator: str, width: int, n_rows: int, seen: Callable[..., Any] | None = None
) -> Iterator[list[list[str]]]:
    """Lists of rows of cells, all of the width of the header; empty lines only at the end.

    Every list but the last has ``n_rows`` rows; ``seen`` as in :func:`text_lines`.
    """
    reader = _records(path, separator, seen)
    with _long_cells():
        next(reader)
    done, empty = 0, None  # rows before this block, and the first one that is empty
    try:
        while rows := _next_rows(reader, n_rows):
            n_read = len(rows)
            if empty is not None or set(map(len, rows)) != {width}:
                while rows and not rows[-1]:
                    rows.pop()
                _check_widths(path, separator, rows, width, done, empty)
                if empty is None and len(rows) < n_read:
                    empty = done + len(rows)
            yield rows
            done += n_read
    except csv.Error as error:
        raise _unreadable(path, separator, error, reader.line_num) from None


def _next_rows(reader: Any, n_rows: int) -> list[list[str]]:
    with _long_cells():
        return list(islice(reader, n_rows))


def _unreadable(path: Path, separator: str, error: Any, line: int) -> DataFormatError:
    """The error of a row that cannot be split; of a quote without an end, where that begins."""
    problem = str(error)
    if "unexpected end of data" in problem:
        line = _last_row_begins(path, separator)
        problem += "; a quoted cell that begins here has no end"
    if "field limit" in problem:
        line = _last_row_begins(path, separator)
        problem = (
            f"a cell has more than {MOST_CHARACTERS:,} characters, or a quote that begins here "
            "has no end"
        )
    return DataFormatError(problem, path=path, line=line)


def _last_row_begins(path: Path, separator: str) -> int:
    """Number of the line after the last row that can be split."""
    reader, line = _records(path, separator), 1
    with contextlib.suppress(csv.Error), _long_cells():
        for _ in reader:
            line = reader.line_num + 1
    return line


def _check_widths(
    path: Path, separator: str, rows: list[list[str]], width: int, done: int, empty: int | None
) -> None:
    wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if rows and empty is not None:
        line = line_of_row(path, separator, empty)
        raise DataFormatError("an empty line between rows", path=path, line=line)
    if wrong is None:
        return
    line = line_of_row(path, separator, done + wrong)
    n_cells = len(rows[wrong])
    if not n_cells:
        raise DataFormatError("an empty line between rows", path=path, line=line)
    raise DataFormatError(
        f"expected {width} cells, got {n_cells}",
        path=path,
        line=line,
        column=min(n_cells, width) + 1,
    )


def line_of_row(path: Path, separator: str, row: int) -> int:
    """Number of the line where a row begins; quoted cells may go over several lines."""
    reader = _records(path, separator)
    with _long_cells():
        for _ in islice(reader, row + 1):
            pass
    return reader.line_num + 1


# Tables as text: one header line, then cells separated by commas, semicolons or tabs.


_BLOCK = 10_000  # rows that are turned into columns at once


def read_csv(path: Path, options: ReadOptions) -> Dataset:
    """Read a table with a header line.

    The separator is the one of comma, semicolon and tab that the header has. Cells may be
    quoted; an apostrophe before ``=``, ``+``, ``-`` or ``@``, by which :func:`write_csv` keeps
    spreadsheets from running a cell, is taken off. A column is numeric if all its cells are
    numbers or missing (empty, ?, NA, N/A, NaN, null or None), else nominal, as are those of
    ``options.nominal``. A first column called ``id``, or ``row`` where no value comes twice, or
    without a name, names the rows. Rows with too few or too many cells are errors.

    Raises
    ------
    DataFormatError
        Tells line and column.
    """
    path = text_path(path)
    try:
        separator = find_separator(path)
        header = read_header(path, separator)
        remarks = _header_remarks(header)
        targets, _ = choose_targets(header, options)
    except DataFormatError as error:
        raise error.at(path=path) from None
    as_text = {*targets, *options.nominal, choose_row_names(header, targets, options)}
    texts = {j for j, name in enumerate(header) if name in as_text}
    columns, n_rows = _columns(path, separator, header, texts)

    def fail(problem: str, row: int | None = None, column: str | None = None) -> DataFormatError:
        line = None if row is None else line_of_row(path, separator, row)
        number = None if column is None else header.index(column) + 1
        return DataFormatError(problem, path=path, line=line, column=number)

    name = stem(path)
    try:
        return assemble(
            columns, n_rows, options, name=name, format_name="csv", fail=fail, remarks=remarks
        )
    except DataFormatError as error:
        raise error.at(path=path) from None


def _header_remarks(header: list[str]) -> tuple[Any, ...]:
    if as_numbers(header) is None:
        return ()
    return ("The first line is taken for names, though all of it is numbers.",)


def _columns(
    path: Path, separator: str, header: list[str], texts: set[Any]
) -> tuple[list[Any], int]:
    """All columns, and the number of rows; those at the positions ``texts`` as texts."""
    if csv_arrow.suits(path):
        with contextlib.suppress(csv_arrow.NotPlain):
            plain = partial(csv_arrow.cell_blocks, path, separator, len(header))
            return _grown(plain, header, texts)
    return _grown(partial(_cell_blocks, path, separator, len(header)), header, texts)


def _cell_blocks(
    path: Path, separator: str, width: int, texts: set[Any]
) -> Iterator[tuple[int, list[Any]]]:
    """Numbers of rows, and the cells of each column, of one block of rows after the other."""
    for rows in row_blocks(path, separator, width, _BLOCK):
        yield len(rows), [_Cells(cells) for cells in zip(*rows)]


def _grown(
    blocks: Callable[[set[Any]], Iterator[Any]], header: list[str], texts: set[Any]
) -> tuple[list[Any], int]:
    """The columns of all blocks, and the number of rows."""
    while True:
        builders = [_Builder(name, j in texts) for j, name in enumerate(header)]
        n_rows = 0
        for n, columns in blocks(texts):
            n_rows += n
            for builder, cells in zip(builders, columns):
                builder.add(cells)
        late = {j for j, builder in enumerate(builders) if builder.too_late}
        if not late:
            return [builder.column() for builder in builders], n_rows
        # Numbers in the first rows, and text below: once more, and as text from the start.
        texts = texts | late


class _Cells:
    """Cells of a column as Python's reader gives them; see ``csv_arrow.TextCells``."""

    def __init__(self, cells: tuple[str, ...]) -> None:
        self._cells = cells

    def numbers(self) -> np.ndarray | None:
        return as_numbers(self._cells)

    def codes(self, known: Codes) -> np.ndarray:
        return np.array(list(map(known.__getitem__, self._cells)), dtype=np.int64)


class _Builder:
    """A column that grows by blocks; keeps numbers, and texts only where needed."""

    def __init__(self, name: str, is_text: bool) -> None:
        self.name, self.is_text, self.too_late = name, is_text, False
        self.parts: list[np.ndarray] = []
        self.known = Codes()

    def add(self, cells: Any) -> None:
        if self.too_late:
            return
        if not self.is_text:
            numbers = cells.numbers()
            if numbers is not None:
                self.parts.append(numbers)
                return
            self.too_late = bool(self.parts)
            self.is_text = True
        self.parts.append(cells.codes(self.known))

    def column(self) -> Any:
        if self.is_text:
            codes = np.concatenate([np.empty(0, np.int64), *self.parts])
            return column_as_meant(TextColumn(self.name, codes, tuple(self.known)))
        return NumberColumn(self.name, np.concatenate([np.empty(0), *self.parts]))


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending, else by a header that a comma, semicolon or tab splits as the next line."""
    if file_name.lower().endswith((".csv", ".tsv")):
        return True
    return len(lines) > 1 and any(
        mark in lines[0] and lines[0].count(mark) == lines[1].count(mark) for mark in SEPARATORS
    )


FORMAT = Format(
    name="csv",
    suffixes=(".csv", ".tsv", ".txt"),
    tasks=tuple(TASKS),
    about="a table with a header line; cells separated by commas, semicolons or tabs",
    sniff=sniff,
    read=read_csv,
    write=write_csv,
)


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

    def __init__(self, path: Any) -> None:
        self.path = text_path(path)
        try:
            self._separator = find_separator(self.path)
            self.names = read_header(self.path, self._separator)
        except DataFormatError as error:
            raise error.at(path=self.path) from None
        packed = self.path.suffix in (".gz", ".xz")
        self.n_bytes = 0 if packed else self.path.stat().st_size
        self.bytes_read = 0

    def blocks(self, n_rows: int, wanted: Mapping[str, bool]) -> Iterator[tuple[int, list[Any]]]:
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
        index = {name: self.names.index(name) for name in wanted}
        width = len(self.names)
        for rows in row_blocks(self.path, self._separator, width, n_rows, self._seen):
            cells = list(zip(*rows))
            if rows:
                yield (
                    len(rows),
                    [_column(name, cells[index[name]], text) for name, text in wanted.items()],
                )

    def _seen(self, n_bytes: int) -> None:
        self.bytes_read += n_bytes

    def fail(
        self, problem: str, row: int | None = None, column: str | None = None
    ) -> DataFormatError:
        """An error of the file, with the line where a row begins."""
        line = None if row is None else line_of_row(self.path, self._separator, row)
        number = None if column is None else self.names.index(column) + 1
        return DataFormatError(problem, path=self.path, line=line, column=number)


def _column(name: str, cells: tuple[Any, ...], is_text: bool) -> Any:
    numbers = None if is_text else as_numbers(cells)
    if numbers is None:
        return column_as_meant(TextColumn.of(name, cells))
    return NumberColumn(name, numbers)
