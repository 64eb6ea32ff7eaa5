# SPDX-License-Identifier: BSD-3-Clause
"""Rows of cells of a text file, and the lines where they begin."""

from __future__ import annotations

import contextlib
import csv
from itertools import islice

from skstruct.datasets.formats.columns import Codes
from skstruct.datasets.formats.csv_writing import free
from skstruct.datasets.formats.formulas import as_meant
from skstruct.datasets.text_lines import text_lines
from skstruct.exceptions import DataFormatError

SEPARATORS = ",;\t"
MOST_CHARACTERS = 10_000_000  # of a cell


def _records(path, separator, seen=None):
    lines = (line + "\n" for line in text_lines(path, seen=seen))
    return csv.reader(lines, delimiter=separator, strict=True)


@contextlib.contextmanager
def _long_cells():
    """While rows are read: cells of more than the 131,072 characters that Python allows."""
    before = csv.field_size_limit(MOST_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def find_separator(path) -> str:
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


def _widths(path, separator, n_rows=20):
    """Number of cells of the first rows, up to one that cannot be split."""
    widths = []
    with contextlib.suppress(csv.Error), _long_cells():
        widths.extend(len(row) for row in islice(_records(path, separator), n_rows) if row)
    return widths


def read_header(path, separator) -> list[str]:
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
                f"the name {name[:60]!r} comes twice; is the header line missing?",
                line=1,
                column=j + 1,
            )
    return header


def row_blocks(path, separator, width, n_rows, seen=None):
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


def _next_rows(reader, n_rows):
    with _long_cells():
        return list(islice(reader, n_rows))


def _unreadable(path, separator, error, line):
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


def _last_row_begins(path, separator) -> int:
    """Number of the line after the last row that can be split."""
    reader, line = _records(path, separator), 1
    with contextlib.suppress(csv.Error), _long_cells():
        for _ in reader:
            line = reader.line_num + 1
    return line


def _check_widths(path, separator, rows, width, done, empty):
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


def line_of_row(path, separator, row) -> int:
    """Number of the line where a row begins; quoted cells may go over several lines."""
    reader = _records(path, separator)
    with _long_cells():
        for _ in islice(reader, row + 1):
            pass
    return reader.line_num + 1
