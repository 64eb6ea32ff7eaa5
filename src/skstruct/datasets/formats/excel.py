# SPDX-License-Identifier: BSD-3-Clause
"""Tables in sheets of Excel files, by openpyxl, which is optional: values and no formulas."""

import contextlib
import datetime as dt
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from skstruct._arrays.imports import require
from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.files import stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.columns import Codes, NumberColumn, TextColumn, as_meant, plain
from skstruct.datasets.formats.csv_writing import free
from skstruct.datasets.formats.excel_writing import write_excel
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_row_names, choose_targets
from skstruct.exceptions import DataFormatError

MOST_BYTES = 1 << 32  # of all parts of a file, unpacked
MOST_RATIO = 200  # of these to the file, where they are many; sheets of numbers have 5 to 20
MANY_BYTES = 100_000_000
_LOOKED_AT = 1 << 16  # bytes of a part in which a document type would be
_BAD = (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, ValueError, OSError, EOFError)


class CellError(DataFormatError):
    """An error of a sheet, with the cell as the sheet names it: line and column are its own."""

    def _message(self) -> str:
        where = [] if self.path is None else [self.path]
        if self.line is not None:
            letters = "" if self.column is None else column_letters(self.column)
            where.append(f"cell {letters}{self.line}" if letters else f"row {self.line}")
        return ", ".join(where) + (": " if where else "") + self.problem + "."


def column_letters(number: int) -> str:
    """What a sheet calls a column, counted from 1.

    >>> column_letters(3), column_letters(28), column_letters(16_384)
    ('C', 'AB', 'XFD')
    """
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def read_excel(path: Path, options: ReadOptions) -> Dataset:
    """Read a sheet as CSV is read: the first row that is not empty names the columns.

    Numbers are numbers, dates are texts such as 2024-03-01, truth values are False and True, and
    of a formula there is the value that was saved with it. Rows without any cell are left out, as
    are columns that have neither a name nor a cell. Of cells that are merged the first has the
    value. Cells that hold an error, such as #N/A, are refused.

    Raises
    ------
    DataFormatError
        Tells the cell.
    """
    path = Path(path)
    check_size(path)
    with _sheet(path, options.sheet) as (sheet, others):
        header, rows, numbers, n_empty = _rows(path, sheet)
    remarks = [f"The sheet {sheet.title!r} is read, the first of {others + 1}."] if others else []
    if n_empty:
        some = "1 empty row is" if n_empty == 1 else f"{n_empty:,} empty rows are"
        remarks.append(f"{some} left out.")
    names = list(header)

    def fail(problem: str, row: int | None = None, column: str | None = None) -> DataFormatError:
        line = None if row is None else numbers[row]
        at = None if column is None else header[column]
        return CellError(problem, path=path, line=line, column=at)

    try:
        targets, _ = choose_targets(names, options)
        texts = {*targets, *options.nominal, choose_row_names(names, targets, options)}
        columns = [_column(name, cells, name in texts) for name, cells in zip(names, rows)]
        about: dict[str, Any] = {"name": stem(path), "format_name": "excel"}
        return assemble(columns, len(numbers), options, **about, fail=fail, remarks=tuple(remarks))
    except DataFormatError as error:
        raise error.at(path=path) from None


def unpacked_bytes(path: Path) -> int:
    """Size of all parts of a file as their directory has it, which unpacking does not exceed."""
    try:
        with zipfile.ZipFile(path) as parts:
            return sum(part.file_size for part in parts.infolist())
    except _BAD:
        return 0  # said by whoever reads it


def check_size(path: Path) -> None:
    """Refuse a file that is small and would be enormous, or that brings its own entities."""
    n_bytes = unpacked_bytes(path)
    ratio = n_bytes / max(1, path.stat().st_size)
    if n_bytes > MOST_BYTES or (n_bytes > MANY_BYTES and ratio > MOST_RATIO):
        raise DataFormatError(
            f"unpacked it would have {n_bytes / 1e6:,.0f} MB, {ratio:,.0f} times the file; save "
            "the rows that are needed as CSV",
            path=path,
        )
    odd = _part_with_document_type(path)
    if odd is not None:
        raise DataFormatError(f"{odd} has a document type, which no sheet needs", path=path)


def _part_with_document_type(path: Path) -> str | None:
    """Entities are a way to fill the memory."""
    with contextlib.suppress(*_BAD), zipfile.ZipFile(path) as parts:
        for part in parts.infolist():
            with parts.open(part) as file:
                if b"<!DOCTYPE" in file.read(_LOOKED_AT):
                    return part.filename
    return None


@contextlib.contextmanager
def _sheet(path: Path, name: str | None) -> Iterator[tuple[Any, int]]:
    """A sheet that is read row by row, and how many others there are."""
    openpyxl = require("openpyxl", used_by="Reading Excel files", extra="excel")
    file = open(path, "rb")  # noqa: SIM115  (closed below; a path would need a known ending)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and validations that are not needed
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except Exception as error:
        file.close()
        raise DataFormatError(
            f"it is no Excel file that can be read ({type(error).__name__}); one with a password "
            "has to be saved without",
            path=path,
        ) from None
    with file, contextlib.closing(book):
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if name is not None and name not in sheets:
            raise DataFormatError(
                f"no sheet is called {name[:60]!r} (sheet); there are "
                f"{', '.join(map(repr, sheets))[:300]}",
                path=path,
            )
        if not sheets:
            raise DataFormatError("the file has no sheet with cells", path=path)
        chosen = next(iter(sheets.values())) if name is None else sheets[name]
        chosen.reset_dimensions()  # what the file says of its size may be wrong
        try:
            yield chosen, 0 if name is not None else len(sheets) - 1
        except DataFormatError:
            raise
        except Exception as error:
            problem = f"the sheet {chosen.title!r} cannot be read ({type(error).__name__})"
            raise DataFormatError(problem, path=path) from None


def _rows(path: Path, sheet: Any) -> tuple[dict[str, int], list[list[Any]], list[int], int]:
    """Columns by name with their numbers in the sheet, their cells, the numbers of the rows that
    are not empty, and how many empty ones there are between these.
    """
    header: dict[int, str] = {}
    cells: dict[int, list[Any]] = {}
    numbers: list[int] = []
    n_empty = last = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        values = [_value(cell, path, number, j) for j, cell in enumerate(row, 1)]
        if all(value is None for value in values):
            continue
        if not header:
            header = _header(path, number, values)
            cells = {j: [] for j in header}
            last = number
            continue
        for j in range(len(header) + 1, len(values) + 1):
            if values[j - 1] is not None:
                raise CellError("the column has no name", path=path, line=number, column=j)
        for j, column in cells.items():
            column.append(values[j - 1] if j <= len(values) else None)
        n_empty, last = n_empty + number - last - 1, number
        numbers.append(number)
    if not header:
        raise DataFormatError(f"the sheet {sheet.title!r} is empty", path=path)
    return _named(path, header, cells, numbers, n_empty)


def _header(path: Path, number: int, values: list[Any]) -> dict[int, str]:
    """Names of the columns by number; none for those without one."""
    while values and values[-1] is None:
        values.pop()
    names = {j: "" if v is None else as_meant(text_of(v)).strip() for j, v in enumerate(values, 1)}
    first = Codes()
    for k, (j, name) in enumerate((j, name) for j, name in names.items() if name):
        if first[name] < k:
            problem = f"the name {name[:60]!r} comes twice, or there is no row of names"
            raise CellError(problem, path=path, line=number, column=j)
    return names


def _named(
    path: Path,
    header: dict[int, str],
    cells: dict[int, list[Any]],
    numbers: list[int],
    n_empty: int,
) -> tuple[dict[str, int], list[list[Any]], list[int], int]:
    known = [name for name in header.values() if name]
    found: dict[str, int] = {}
    kept = []
    for j, name in header.items():
        filled = next((i for i, value in enumerate(cells[j]) if value is not None), None)
        if not name and filled is None:
            continue
        if not name and j > 1:
            line = numbers[filled or 0]
            raise CellError("the column has no name", path=path, line=line, column=j)
        found[name or free("id", known)] = j  # as pandas and R write names of rows
        kept.append(cells[j])
    return found, kept, numbers, n_empty


def _value(cell: Any, path: Path, row: int, column: int) -> Any:
    """What a cell holds; None where it is empty."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "e":
        raise CellError(
            f"it holds the error {str(value)[:20]}; correct it, or leave it empty if there is no "
            "value",
            path=path, line=row, column=column,
        )  # fmt: skip
    return value


def _column(name: str, cells: list[Any], is_text: bool) -> NumberColumn | TextColumn:
    numeric = all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool))
                  for v in cells)  # fmt: skip
    if numeric and not is_text:
        numbers = [np.nan if value is None else float(value) for value in cells]
        return NumberColumn(name, np.array(numbers, dtype=np.float64))
    column = TextColumn.of(name, ["" if value is None else text_of(value) for value in cells])
    return column if is_text else plain(column)


_TEXTS: dict[type, Callable[[Any], str]] = {
    float: lambda v: str(int(v)) if v.is_integer() and abs(v) < 2**53 else repr(v),
    dt.datetime: lambda v: str(v.date()) if v.time() == dt.time() else v.isoformat(" "),
}


def text_of(value: Any) -> str:
    """A value as a CSV file of the sheet has it.

    >>> text_of(2.0), text_of(0.1), text_of(True), text_of(dt.datetime(2024, 3, 1))
    ('2', '0.1', 'True', '2024-03-01')
    """
    return _TEXTS.get(type(value), str)(value)


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending: other files begin by the same letters."""
    return file_name.lower().endswith((".xlsx", ".xlsm"))


FORMAT = Format(
    name="excel",
    suffixes=(".xlsx", ".xlsm"),
    tasks=tuple(TASKS),
    about="a sheet whose first row names the columns, read by openpyxl (optional)",
    sniff=sniff,
    read=read_excel,
    write=write_excel,
)
