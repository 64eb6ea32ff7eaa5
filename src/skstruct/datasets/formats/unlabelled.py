# SPDX-License-Identifier: BSD-3-Clause
"""Rows without an output: counted and refused, or left out."""

from __future__ import annotations

import numpy as np

from skstruct.datasets.formats.cells import read_cell
from skstruct.datasets.formats.columns import NumberColumn, TextColumn, is_missing
from skstruct.exceptions import DataFormatError

MAY_BE_EMPTY = ("labels", "hierarchy", "ranking", "sequence")  # where one cell holds all names


def says_nothing(columns: list[TextColumn], task: str) -> np.ndarray:
    """Whether a row has no output: one of its cells says so; shape (n,).

    An empty cell that may hold several names is the empty set, ranking or sequence.
    """
    empty = len(columns) > 1 or task not in MAY_BE_EMPTY
    missing = np.zeros(len(columns[0].codes), dtype=bool)
    for column in columns:
        says = [is_missing(text) and (empty or bool(text.strip())) for text in column.texts]
        missing |= np.array(says, dtype=bool)[column.codes]
    return missing


def labelled_rows(columns, task, skip: bool, fail, remarks: list[str]) -> np.ndarray | None:
    """Numbers of the rows that have outputs, None where all have.

    Parameters
    ----------
    columns : list of TextColumn
        The outputs.
    skip : bool
        Whether rows without an output are left out; else the first of them is an error.
    fail : as in :func:`~skstruct.datasets.formats.outputs.assemble`
    """
    missing = says_nothing(columns, task)
    if not missing.any():
        return None
    n = int(missing.sum())
    first, column, why = first_without(columns, task, missing)
    if not skip:
        raise fail(f"{why}; {told(n)}", first, column)
    if n == len(missing):
        raise fail("no row has an output, and those without one are to be left out")
    remarks.append(left_out(n, fail("", first, column), first))
    return np.flatnonzero(~missing)


def first_without(columns, task, missing) -> tuple[int, str, str]:
    """The first row without an output, the column that says so, and what is wrong with it."""
    first = int(missing.argmax())
    column = next(
        c for c in columns if len(columns) == 1 or is_missing(c.texts[int(c.codes[first])])
    )
    return first, column.name, _problem(column.texts[int(column.codes[first])], task, len(columns))


def told(n: int) -> str:
    """How many rows have no output, and what can be done."""
    some = "1 row has no output" if n == 1 else f"{n:,} rows have no output, this is the first"
    return f"{some}: fill the cells, or leave the rows out (skip_unlabelled)"


def left_out(n: int, error: DataFormatError, row: int) -> str:
    """The remark on rows that are left out."""
    place = f"row {row + 1}" if error.line is None else f"line {error.line}"
    some = "1 row without an output is" if n == 1 else f"{n:,} rows without an output are"
    return f"{some} left out; the first is {place}."


def _problem(text, task, n_columns) -> str:
    if n_columns == 1 and task in MAY_BE_EMPTY:
        try:
            read_cell(task, text)
        except DataFormatError as error:
            return error.problem
    what = "the class" if task in ("classes", "ordinal") else "a value"
    return f"{what} is missing ({text[:60]!r} says so)"


def taken(column, rows):
    """Some rows of a column; texts that none of them has are forgotten."""
    if isinstance(column, NumberColumn):
        return NumberColumn(column.name, column.numbers[rows])
    return TextColumn.of(column.name, [column.texts[code] for code in column.codes[rows].tolist()])


def placed(fail, rows, start: int = 0):
    """What makes errors of a file, for rows that were taken of a block that begins at ``start``."""

    def fail_there(problem, row=None, column=None):
        inside = row if rows is None or row is None else int(rows[row])
        return fail(problem, None if inside is None else start + inside, column)

    return fail_there
