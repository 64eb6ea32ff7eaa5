# SPDX-License-Identifier: BSD-3-Clause
"""Columns beside predictions: probabilities, what is certain, what is possible."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from skstruct.cli.predictions import Predictions
from skstruct.datasets.formats.cells import write_cell


@dataclass(frozen=True)
class Beside:
    """A column of a result, or one that takes the place of a column of predictions.

    Attributes
    ----------
    name : str
    cells : list
        One for each row, as JSON would have it; None where there is nothing.
    text : callable
        From such a value, which is not None, to the cell of a CSV file.
    parquet : "string", "float64" or "bool_"
        What a Parquet file has: the cells of the CSV file, or the values.
    names : bool
        Whether cells hold names of the data, which a spreadsheet might run.
    """

    name: str
    cells: list[Any]
    text: Callable[[Any], str]
    parquet: str = "string"
    names: bool = False


Maker = Callable[[Any, Predictions], list[Beside]]  # of inputs of a block and its predictions


def with_columns(found: Predictions, columns: list[Beside]) -> Predictions:
    """Predictions, one for each input, with further columns; known names are replaced."""
    if not columns:
        return found
    cells = dict(found.by_column())
    for column in columns:
        cells[column.name] = tuple(column.cells)
    kinds = {**found.beside, **{column.name: replace(column, cells=[]) for column in columns}}
    rows = list(zip(*cells.values()))
    return replace(found, columns=tuple(cells), rows=rows, beside=kinds)


# ---------------------------------------------------------------------- texts of cells
def four_digits(value: float) -> str:
    """A probability: further digits say nothing."""
    return f"{value:.4g}"


def number_text(value: float) -> str:
    """A number as predictions have it."""
    return repr(float(value))


def yes_or_no(value: bool) -> str:
    """As JSON writes it."""
    return "true" if value else "false"


def names_text(names: list[str]) -> str:
    """Names with semicolons between them, as of labels."""
    return write_cell("labels", tuple(names))


def pairs_text(pairs: list[list[str]]) -> str:
    r"""Pairs of items, the first one before the second.

    >>> pairs_text([["tea", "beer"], ["a>b", "tea"]])
    'tea>beer;a\\>b>tea'
    """
    return ";".join(">".join(_escaped(name, ">;=") for name in pair) for pair in pairs)


def positions_text(symbols: list[str | None], known: list[str]) -> str:
    r"""Symbols with a question mark where a position is open; one that is a symbol is escaped.

    >>> positions_text(["a", None, "b", "?"], ["a", "b", "?"])
    'a ? b \\?'
    """
    return write_cell("sequence", tuple(symbols))


def choices_text(choices: list[list[str]], known: list[str]) -> str:
    """For every position the symbols that are possible there, a minus where none is.

    >>> choices_text([["a"], ["a", "b"], []], ["a", "b"])
    'a a|b -'
    """
    none = _mark("-", known)
    return " ".join("|".join(_escaped(name, "| ") for name in names) or none for names in choices)


def _escaped(name: str, marks: str) -> str:
    return re.sub(rf"([\\{re.escape(marks)}])", r"\\\1", name)


def _mark(mark: str, known: list[str]) -> str:
    """A mark that is no name, repeated until it is none."""
    found = mark
    while found in known:
        found += mark
    return found
