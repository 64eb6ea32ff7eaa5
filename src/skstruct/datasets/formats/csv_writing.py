# SPDX-License-Identifier: BSD-3-Clause
"""Data sets as tables of texts, to be written as CSV or Parquet."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats.cells import ranked_items, write_cell
from skstruct.datasets.formats.columns import Codes, harmless, is_missing
from skstruct.datasets.formats.targets import is_row_name
from skstruct.datasets.gaps import UNKNOWN, indicators, needs_columns
from skstruct.exceptions import DataFormatError

_BLOCK = 1000
# What the one column of outputs is called, which the reader knows it by.
NAMES = {
    "classes": "class",
    "ordinal": "class",
    "labels": "labels",
    "hierarchy": "labels",
    "ranking": "ranking",
    "sequence": "tags",
}


def write_csv(dataset: Dataset, file: Any, *, raw: bool = False) -> None:
    """Write names of rows (``id``), inputs and outputs, separated by commas.

    Numbers are written by repr and read back the same; missing values are empty. Outputs are
    one column of text (see :mod:`skstruct.datasets.formats.cells`), numbers one column each.
    Parts of outputs that are not known are ``?``, and empty among numbers; label sets that are
    known in part have a column of 0 and 1 for each label.
    What a table cannot tell is lost: values and labels that no row has, parts, and the edges of
    a hierarchy whose labels are no paths (``write_data`` puts them into a file beside).

    Names that a spreadsheet would run get an apostrophe (see
    :mod:`skstruct.datasets.formats.columns`), which reading takes off; none if ``raw``.
    """
    cell_of = _quoted if raw else _harmless
    inputs = check_table(dataset, "CSV")
    index, outputs = index_column(dataset), output_columns(dataset)
    names = check_names([*index, *inputs.names, *outputs])
    marks = [None if values is None else _nominal(name, values, cell_of)
             for name, values in zip(inputs.names, inputs.values)]  # fmt: skip
    file.write(_header(names if raw else [harmless(name) for name in names]) + "\n")
    for start in range(0, len(dataset), _BLOCK):
        rows = slice(start, start + _BLOCK)
        cells = [[cell_of(cell) for cell in column[rows]] for column in index.values()]
        cells += _input_cells(inputs.data[rows], marks)
        cells += [[cell_of(cell) for cell in column[rows]] for column in outputs.values()]
        lines = (",".join(row) or '""' for row in zip(*cells))  # an empty line is no row
        file.write("".join(f"{line}\n" for line in lines))


def check_table(dataset: Dataset, what: str) -> Table:
    """The inputs, refused if they are sequences or infinite."""
    if not isinstance(dataset.inputs, Table):
        raise DataFormatError(
            f"{what} holds tables; inputs that are sequences are written as conll or letters"
        )
    data = dataset.inputs.data
    if np.isinf(data.data if sparse.issparse(data) else data).any():
        raise DataFormatError("an infinite number among the inputs, which is refused on reading")
    return dataset.inputs


def index_column(dataset: Dataset) -> dict[str, list[str]]:
    """Names of the rows under the name ``id``; none where there are no names.

    Before a first input that would be taken for them there are numbers, called ``row``.
    """
    names = _input_names(dataset)
    if dataset.index is not None:
        return {free("id", names): [str(name) for name in dataset.index]}
    if names and is_row_name(names[0]):
        return {free("row", names): [str(i + 1) for i in range(len(dataset))]}
    return {}


def output_columns(dataset: Dataset) -> dict[str, list[str]]:
    """Cells of the columns of outputs by their names; none where there are no outputs."""
    task, outputs = dataset.task, dataset.outputs
    if outputs is None:
        return {}
    if task in ("regression", "histogram"):
        Y = np.asarray(outputs, dtype=np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        names = dataset.labels or ["y", *(f"y{k}" for k in range(2, Y.shape[1] + 1))]
        return {
            name: ["" if v != v else repr(v) for v in column.tolist()]
            for name, column in zip(names, Y.T)
        }
    if needs_columns(task, outputs):
        table = indicators(outputs, dataset.labels or ())
        return {
            name: ["" if v != v else str(int(v)) for v in column]
            for name, column in zip(dataset.labels or (), table.T.tolist())
        }
    if task == "ranking":
        ranks = np.asarray(outputs)
        items = dataset.labels or [f"L{k + 1}" for k in range(ranks.shape[1])]
        outputs = (ranked_items(row, items) for row in ranks.tolist())
    try:
        cells = [UNKNOWN if z is None else write_cell(task, z) for z in outputs]
    except ValueError as error:
        raise DataFormatError(str(error)) from None
    if task in ("classes", "ordinal"):
        known = {cell for cell, z in zip(cells, outputs) if z is not None}
        _check_not_missing(NAMES[task], known)
    return {free(NAMES[task], _input_names(dataset)): cells}


def _input_names(dataset: Dataset) -> tuple[str, ...]:
    return dataset.inputs.names if isinstance(dataset.inputs, Table) else ()


def check_names(names: list[str]) -> list[str]:
    """Refuse names of columns that are empty or come twice."""
    if not names:
        raise DataFormatError("there are no columns to write")
    for j, (name, first) in enumerate(zip(names, map(Codes().__getitem__, names))):
        if not name.strip() or first < j:
            raise DataFormatError(f"column {j + 1} has the name {name!r}, empty or there before")
    return names


def free(name: str, taken: Any) -> str:
    """The name, with marks behind it if it is taken."""
    while name in taken:
        name += "_"
    return name


def _nominal(name: str, values: tuple[Any, ...], cell_of: Callable[..., Any]) -> list[str]:
    _check_not_missing(name, values)
    return [cell_of(value) for value in values]


def _check_not_missing(name: str, values: Any) -> None:
    wrong = next((value for value in values if is_missing(value)), None)
    if wrong is not None:
        raise DataFormatError(
            f"the value {wrong!r} of {name!r} would be read back as a missing one; rename it"
        )


def _header(names: list[str]) -> str:
    """Names, all quoted if one holds a mark, so that no other mark can split them."""
    if re.search('[,;\t"\r\n]', "".join(names)):
        names = ['"' + name.replace('"', '""') + '"' for name in names]
    return ",".join(names)


def _input_cells(block: Any, marks: list[Any]) -> list[list[str]]:
    """Texts of a block of inputs, column by column."""
    block = block.toarray() if sparse.issparse(block) else block
    columns = []
    for column, values in zip(block.T.tolist(), marks):
        if values is None:
            columns.append(["" if cell != cell else repr(cell) for cell in column])
        else:
            columns.append(["" if cell != cell else values[int(cell)] for cell in column])
    return columns


def _harmless(text: str) -> str:
    return _quoted(harmless(text))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text
