# SPDX-License-Identifier: BSD-3-Clause
"""Hostile names in predictions as CSV: no cell that a spreadsheet would run, none that is lost."""

import csv
import io
import re

from skstruct.cli.predictions import Predictions
from skstruct.datasets.formats.columns import as_meant

STARTS = re.compile(r"[=+\-@\t\r]")  # what spreadsheets take for a formula
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


def written(names: list[str], raw: bool = False) -> str:
    """A table of predictions in which rows and outputs have such names."""
    rows = [(name, other) for name, other in zip(names, reversed(names))]
    table = Predictions("classes", ("row", "prediction"), rows, True, len(rows), 0.0, 0, 0.0,
                        raw_cells=raw)  # fmt: skip
    file = io.StringIO(newline="")
    table.write_csv(file)
    return file.getvalue()


def table_problems(text: str, names: list[str]) -> list[str]:
    """Cells that run, and those that are not what they were."""
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    problems = []
    for cell in (cell for row in rows for cell in row):
        if STARTS.match(cell) and not NUMBER.match(cell):
            problems.append(f"a formula: {cell[:60]!r}")
    found = [tuple(as_meant(cell) for cell in row) for row in rows]
    expected = list(zip(names, reversed(names)))
    if found != expected:
        at = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), -1)
        problems.append(f"row {at} is not what it was: {names[at][:60]!r}")
    return problems
