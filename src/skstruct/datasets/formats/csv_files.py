# SPDX-License-Identifier: BSD-3-Clause
"""Tables as text: one header line, then cells separated by commas, semicolons or tabs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.columns import Codes, NumberColumn, TextColumn, as_numbers
from skstruct.datasets.formats.csv_rows import (
    SEPARATORS,
    find_separator,
    line_of_row,
    read_header,
    row_blocks,
)
from skstruct.datasets.formats.csv_writing import write_csv
from skstruct.datasets.formats.formulas import column_as_meant
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_row_names, choose_targets
from skstruct.datasets.formats.text import stem
from skstruct.exceptions import DataFormatError

_BLOCK = 10_000  # rows that are turned into columns at once


def read_csv(path, options: ReadOptions) -> Dataset:
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
    path = Path(path)
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

    def fail(problem, row=None, column=None):
        line = None if row is None else line_of_row(path, separator, row)
        place = None if column is None else header.index(column) + 1
        return DataFormatError(problem, path=path, line=line, column=place)

    told = {"name": stem(path), "format_name": "csv", "fail": fail, "remarks": remarks}
    try:
        return assemble(columns, n_rows, options, **told)
    except DataFormatError as error:
        raise error.at(path=path) from None


def _header_remarks(header):
    if as_numbers(header) is None:
        return ()
    return ("The first line is taken for names, though all of it is numbers.",)


def _columns(path, separator, header, texts):
    """All columns, and the number of rows; those at the positions ``texts`` as texts."""
    while True:
        builders = [_Builder(name, j in texts) for j, name in enumerate(header)]
        n_rows = 0
        for rows in row_blocks(path, separator, len(header), _BLOCK):
            n_rows += len(rows)
            for builder, cells in zip(builders, zip(*rows)):
                builder.add(cells)
        late = {j for j, builder in enumerate(builders) if builder.too_late}
        if not late:
            return [builder.column() for builder in builders], n_rows
        # Numbers in the first rows, and text below: once more, and as text from the start.
        texts = texts | late


class _Builder:
    """A column that grows by blocks; keeps numbers, and texts only where needed."""

    def __init__(self, name, is_text):
        self.name, self.is_text, self.too_late = name, is_text, False
        self.parts: list[np.ndarray] = []
        self.known = Codes()

    def add(self, cells):
        if self.too_late:
            return
        if not self.is_text:
            numbers = as_numbers(cells)
            if numbers is not None:
                self.parts.append(numbers)
                return
            self.too_late = bool(self.parts)
            self.is_text = True
        self.parts.append(np.array(list(map(self.known.__getitem__, cells)), dtype=np.int64))

    def column(self):
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
