# SPDX-License-Identifier: BSD-3-Clause
"""Sheets of Excel files: numbers are numbers, and text is text, whatever it begins by."""

import contextlib
from typing import Any

from scipy import sparse

from skstruct._arrays.imports import require
from skstruct.datasets.dataset import Dataset
from skstruct.datasets.formats.columns import harmless
from skstruct.datasets.formats.csv_writing import (
    check_names,
    check_table,
    index_column,
    output_columns,
)
from skstruct.datasets.gaps import needs_columns
from skstruct.exceptions import DataFormatError

MOST_ROWS = 1_048_576  # of a sheet, with the names
MOST_CHARACTERS = 32_767  # of a cell


def write_excel(dataset: Dataset, file: Any) -> None:
    """Write the columns that CSV would have; numbers stay numbers. ``file.buffer`` gets bytes."""
    inputs = check_table(dataset, "Excel")
    index, outputs = index_column(dataset), output_columns(dataset)
    names = check_names([*index, *inputs.names, *outputs])
    data = inputs.data.toarray() if sparse.issparse(inputs.data) else inputs.data
    columns: list[list[Any]] = [list(cells) for cells in index.values()]
    for values, column in zip(inputs.values, data.T.tolist()):
        columns.append(
            [None if v != v else v if values is None else values[int(v)] for v in column]
        )
    numeric = dataset.task in ("regression", "histogram")
    numeric = numeric or needs_columns(dataset.task, dataset.outputs)
    for cells in outputs.values():
        columns.append([(float(c) if c else None) if numeric else c for c in cells])
    with contextlib.closing(Sheet(file.buffer)) as sheet:
        sheet.append(names)
        for row in zip(*columns):
            sheet.append(row)


class Sheet:
    """A sheet that grows by rows, and is written when it is closed.

    Cells are numbers, truth values, texts and None. A text is never a formula or an error, and one
    that begins as a formula does stays a text when somebody edits the cell.

    Parameters
    ----------
    file : opened for writing bytes
    """

    def __init__(self, file: Any) -> None:
        openpyxl = require("openpyxl", used_by="Writing Excel files", extra="excel")
        self._cell = openpyxl.cell.WriteOnlyCell
        self._illegal = openpyxl.utils.exceptions.IllegalCharacterError
        self._file, self._book = file, openpyxl.Workbook(write_only=True)
        self._sheet, self._n_rows = self._book.create_sheet("Sheet1"), 0

    def append(self, cells: Any) -> None:
        """One more row."""
        self._n_rows += 1
        if self._n_rows > MOST_ROWS:
            raise DataFormatError(f"a sheet has at most {MOST_ROWS:,} rows; write .csv or .parquet")
        self._sheet.append([self._written(cell) for cell in cells])

    def _written(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float) and float(f"{value:.16g}") != value:
            cell = self._cell(self._sheet, value=repr(value))  # openpyxl writes 16 digits
            cell.data_type = "n"
            return cell
        return value

    def _text(self, text: str) -> Any:
        if not text:
            return None
        if len(text) > MOST_CHARACTERS:
            raise DataFormatError(
                f"a cell of a sheet has at most {MOST_CHARACTERS:,} characters, and {text[:40]!r} "
                f"has {len(text):,}; write .csv or .parquet"
            )
        try:
            cell = self._cell(self._sheet, value=text)
        except self._illegal:  # control characters
            raise DataFormatError(f"{text[:40]!r} holds a character that no sheet has") from None
        cell.data_type = "s"
        if harmless(text) != text:
            cell.quotePrefix = True
        return cell

    def close(self) -> None:
        """Write the file; what openpyxl keeps on the disk until then goes away."""
        self._book.save(self._file)
