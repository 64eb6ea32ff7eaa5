# SPDX-License-Identifier: BSD-3-Clause
"""Columns and names of later tables, found among those of training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.encoding.columns import fail, text_of
from skstruct.encoding.tables import Table, missing_columns
from skstruct.exceptions import DataFormatError

RARE = "<rare>"
LARGEST = float(np.finfo(np.float32).max)


def check_finite(X: Any, names: tuple[Any, ...]) -> None:
    """Raise for the first number that is infinite; gaps are filled."""
    numbers = X.data if sparse.issparse(X) else X
    if not np.isinf(numbers).any():
        return
    if sparse.issparse(X):
        X = X.tocoo()
        first = int(np.isinf(X.data).argmax())
        row, column = int(X.row[first]), int(X.col[first])
    else:
        row, column = np.argwhere(np.isinf(X))[0]
    error = DataFormatError(f"row {row + 1}, column {names[column]!r} is infinite")
    error.row, error.field = int(row), str(names[column])
    raise error


def check_size(X: Any, names: Sequence[str]) -> None:
    """Raise for the first number beyond single precision, in which trees read; X has no gaps."""
    numbers = X.data if sparse.issparse(X) else X
    if not numbers.size or max(numbers.max(), -numbers.min()) <= LARGEST:
        return
    rows, columns = (abs(X) > LARGEST).nonzero()
    first = np.lexsort((columns, rows))[0]
    problem = "the number is too large, far beyond those of training"
    raise fail(problem, int(rows[first]), names[columns[first]])


def matched(table: Table, names: tuple[str, ...]) -> Table:
    """The columns of training, in their order."""
    if table.names == names:
        return table
    if sparse.issparse(table.data):
        table = _with_zeros(table, names)
    index = {name: j for j, name in enumerate(table.names)}
    missing = [name for name in names if name not in index]
    if missing:
        raise missing_columns(names, missing)
    return table.take([index[name] for name in names])


def _with_zeros(table: Table, names: tuple[Any, ...]) -> Table:
    """A sparse table with empty columns for numbered features beyond its last one.

    Such files (LIBSVM) tell only features that are not zero, and end with the last of them.
    """
    missing = [name for name in names if name not in set(table.names)]
    if not missing or not all(name.isdecimal() for name in (*missing, *table.names)):
        return table
    empty = sparse.csr_array((len(table), len(missing)))
    data = sparse.hstack([table.data, empty], format="csr")
    return Table((*table.names, *missing), (*table.values, *[None] * len(missing)), data)


def translated(table: Table, values: tuple[Any, ...]) -> Table:
    """The same columns with the names of training; a name that it did not have is missing."""
    if table.values == values:
        return table
    data = table.data.toarray() if sparse.issparse(table.data) else table.data.copy()
    for j, (now, then) in enumerate(zip(table.values, values)):
        if now != then:
            data[:, j] = _positions_then(data[:, j], now, then, table.names[j])
    return Table(table.names, values, data)


def _positions_then(
    column: np.ndarray, now: tuple[Any, ...] | None, then: tuple[Any, ...] | None, name: str
) -> np.ndarray:
    """Positions in the values of one file as positions in those of training; NaN if new."""
    if now is None:  # numbers here, texts in training
        texts = [None if np.isnan(value) else text_of(value) for value in column]
        return _positions(texts, then)
    if then is None:  # texts here, numbers in training
        return _numbers(now, name)[np.where(np.isnan(column), len(now), column).astype(np.intp)]
    codes = np.append(_positions(now, then), np.nan)
    return codes[np.where(np.isnan(column), len(now), column).astype(np.intp)]


def _positions(texts: Any, values: tuple[Any, ...] | None) -> np.ndarray:
    number = {text: j for j, text in enumerate(values or ())}
    return np.array([number.get(text, np.nan) for text in texts], dtype=np.float64)


def _numbers(texts: tuple[Any, ...], name: str) -> np.ndarray:
    """Declared values that are all numbers as these, and NaN behind them."""
    try:
        return np.array([*map(float, texts), np.nan])
    except ValueError:
        raise DataFormatError(
            f"the column {name!r} held numbers when the model was fitted; here it holds "
            f"{next(text for text in texts if not _is_number(text))!r}"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def merged(table: Table, rare: dict[str, tuple[str, ...]]) -> Table:
    """The same table with one name for all rare names of a column, behind its other names.

    >>> table = Table(("a",), (("u", "v", "w", "x"),), np.array([[0.0], [2.0], [3.0], [np.nan]]))
    >>> made = merged(table, {"a": ("u", "w")})
    >>> made.values, made.data[:, 0]
    ((('v', 'x', '<rare>'),), array([ 2.,  2.,  1., nan]))
    """
    if not rare:
        return table
    values, data = list(table.values), table.data
    data = data.tolil() if sparse.issparse(data) else data.copy()
    for j, name in enumerate(table.names):
        if name in rare:
            few, before = set(rare[name]), table.values[j] or ()
            values[j] = (*(value for value in before if value not in few), RARE)
            names = [RARE if value in few else value for value in before]
            codes = np.append(_positions(names, values[j]), np.nan)
            column = table.data[:, [j]]
            column = (column.toarray() if sparse.issparse(column) else column)[:, 0]
            at = np.where(np.isnan(column), len(before), column).astype(np.intp)
            data[:, j] = codes[at]
    data = sparse.csr_array(data) if sparse.issparse(data) else data
    return Table(table.names, tuple(values), data)
