# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking files: sizes in the first line, then features and the rank of every label."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import read_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.csv_writing import check_table
from skstruct.exceptions import DataFormatError

_SIZES = re.compile(r"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*")


def read_label_ranking(path: Path, options: ReadOptions) -> Dataset:
    """Read a file that begins with the line ``rows,features,labels``.

    Every further line holds the features and then the rank of each label, 1 for the best, all
    different. Features are called ``x1``, ``x2``, ... and labels ``L1``, ``L2``, ...

    Raises
    ------
    DataFormatError
        Tells line and column.
    """
    path = text_path(path)
    try:
        X, Y = _features_and_ranks([line.split(",") for line in read_lines(path)] or [[""]])
    except DataFormatError as error:
        raise error.at(path=path) from None
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    labels = tuple(f"L{k + 1}" for k in range(Y.shape[1]))
    return Dataset(
        stem(path), "label-ranking", "ranking", Table(names, (None,) * len(names), X), Y, labels
    )


def _features_and_ranks(lines: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, f) and ranks (n, d) of lines split into cells."""
    first, *lines = lines
    n_rows, n_features, n_labels = _sizes(first)
    for row, cells in enumerate(lines):
        if len(cells) != n_features + n_labels:
            expected = f"{n_features} features and {n_labels} ranks"
            raise _error(row, None, f"expected {expected}, got {len(cells)} fields")
    if len(lines) != n_rows:
        raise _error(-1, 0, f"the file has {len(lines)} rows, not {n_rows}")
    table = _numbers(lines)
    ranks = table[:, n_features:]
    wrong = (np.sort(ranks, axis=1) != np.arange(1, n_labels + 1)).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        column, problem = _first_wrong(ranks[row].tolist())
        raise _error(row, n_features + column, problem)
    return table[:, :n_features].copy(), ranks.astype(np.int64)


def _sizes(cells: list[str]) -> tuple[int, int, int]:
    """Rows, features and labels, as the first line says."""
    problem = "expected the numbers of rows, features and labels"
    if len(cells) != 3:
        raise _error(-1, None, f"{problem}, got {len(cells)} fields")
    for column, cell in enumerate(cells):
        cell = cell.strip(" \t")
        if not (cell.isascii() and cell.isdecimal() and len(cell) < 10 and int(cell) > 0):
            raise _error(-1, column, f"{problem}, got {cell[:60]!r}")
    n_rows, n_features, n_labels = (int(cell) for cell in cells)
    return n_rows, n_features, n_labels


def _numbers(lines: list[list[str]]) -> np.ndarray:
    """All cells as finite numbers; shape (n_rows, n_columns)."""
    # Row by row, so that the first bad cell of the file is the one that is named.
    table = np.empty((len(lines), len(lines[0])))
    for row, cells in enumerate(lines):
        try:
            table[row] = cells
        except ValueError:
            table[row] = np.nan  # located below
        together = "".join(cells)  # float reads 1_0 as 10, and digits of any script
        if "_" in together or not together.isascii() or not np.isfinite(table[row]).all():
            column = next(j for j, cell in enumerate(cells) if not _is_finite(cell))
            raise _error(row, column, f"{cells[column].strip()[:60]!r} is not a finite number")
    return table


def _is_finite(cell: str) -> bool:
    try:
        return cell.isascii() and bool(np.isfinite(float(cell.replace("_", "?"))))
    except ValueError:
        return False


def _first_wrong(ranks: list[float]) -> tuple[int, str]:
    """Position of the first rank that is not in 1..d or was there before, and what it is."""
    for column, rank in enumerate(ranks):
        if rank not in range(1, len(ranks) + 1):
            return column, f"expected a rank from 1 to {len(ranks)}, got {rank:g}"
        if rank in ranks[:column]:
            return column, f"the rank {rank:g} comes twice; every row ranks without ties"
    raise AssertionError("these ranks are a permutation")


def _error(row: int, column: int | None, problem: str) -> DataFormatError:
    """For a cell of the table; row -1 is the first line of the file."""
    column = None if column is None else column + 1
    return DataFormatError(problem, line=row + 2, column=column)


def write_label_ranking(dataset: Dataset, file: Any) -> None:
    """Write features and ranks; names of features and labels have no place in this format."""
    inputs = check_table(dataset, "label-ranking")
    if dataset.task != "ranking" or dataset.outputs is None:
        raise DataFormatError(f"label-ranking files hold rankings, not {dataset.task!r}")
    Y = np.asarray(dataset.outputs)
    X = inputs.data.toarray() if sparse.issparse(inputs.data) else np.asarray(inputs.data)
    nominal = next((n for n, values in zip(inputs.names, inputs.values) if values), None)
    if nominal is not None:
        raise DataFormatError(f"the column {nominal!r} is nominal; only numbers can be written")
    if not (np.isfinite(X).all() and len(Y) and X.shape[1] and Y.shape[1]):
        raise DataFormatError("a label-ranking file needs rows, and features without a gap")
    if (np.sort(Y, axis=1) != np.arange(1, Y.shape[1] + 1)).any():
        raise DataFormatError("label-ranking files hold rankings of all labels without ties")
    file.write(f"{len(Y)},{X.shape[1]},{Y.shape[1]}\n")
    for row, ranks in zip(X.tolist(), Y.tolist()):
        file.write(",".join([*map(repr, row), *map(str, ranks)]) + "\n")


def sniff(file_name: str, lines: list[str]) -> bool:
    """Three whole numbers in the first line, of which the last two tell the next line's cells."""
    sizes = _SIZES.fullmatch(lines[0]) if len(lines) > 1 else None
    return sizes is not None and lines[1].count(",") + 1 == int(sizes[2]) + int(sizes[3])


FORMAT = Format(
    name="label-ranking",
    suffixes=(".csv",),
    tasks=("ranking",),
    about="a line rows,features,labels, then numbers and ranks separated by commas",
    sniff=sniff,
    read=read_label_ranking,
    write=write_label_ranking,
)
