# SPDX-License-Identifier: BSD-3-Clause
"""Sequences in the user's own format: strings, lists, tuples or arrays of symbols."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import (
    about_gaps,
    check_distinct,
    in_order,
    is_missing_name,
    refuse_empty,
    sorted_names,
    unknown_label,
)

PAD = -1  # behind the end of a sequence


@savable
@dataclass(frozen=True)
class SequenceFormat:
    """How sequences were written: what ``write`` gives back."""

    row: str = "list"  # "text", "list", "tuple" or "array"
    whole: str = "rows"  # "rows", "array" (2-D), "text array" or "series"
    dtype: Any = None  # of the symbols in arrays, or of a series
    name: Any = None  # of a series

    def write(self, Z: np.ndarray, symbols: tuple[Any, ...], index: Any = None) -> Any:
        """Canonical rows in this format: an object array of them, unless they were an array."""
        lengths = sequence_lengths(Z)
        if self.whole == "array" and len(Z) and (lengths == lengths[0]).all():
            return _symbol_array(symbols, self.dtype)[Z[:, : lengths[0]]]
        rows = np.empty(len(Z), dtype=object)
        rows[:] = self._written(Z, lengths, symbols)
        if self.whole == "text array":
            return rows.astype(str)
        if self.whole != "series":
            return rows
        import pandas

        return pandas.Series(rows, index=index, name=self.name, dtype=self.dtype)

    def _written(self, Z: np.ndarray, lengths: np.ndarray, symbols: tuple[Any, ...]) -> np.ndarray:
        if self.row == "array":
            table = _symbol_array(symbols, self.dtype)
            return _objects(table[z[:size]] for z, size in zip(Z, lengths))
        make: Any = {"text": "".join, "list": list, "tuple": tuple}[self.row]
        rows = zip(Z.tolist(), lengths.tolist())
        return _objects(make([symbols[j] for j in z[:size]]) for z, size in rows)


def _objects(items: Iterable[Any]) -> np.ndarray:
    """A one-dimensional array of objects, whatever they are."""
    items = list(items)
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def _symbol_array(symbols: tuple[Any, ...], dtype: Any) -> np.ndarray:
    """Symbols as an array to pick from, of the given type if it holds them."""
    if dtype is not None and dtype.kind in "iufbUS":
        table = np.array(symbols)  # as wide a text as is needed
        table = table if dtype.kind == "U" else table.astype(dtype)
        if table.ndim == 1 and table.tolist() == list(symbols):
            return table
    return _objects(symbols)


def sequence_lengths(Z: np.ndarray) -> np.ndarray:
    """Number of symbols before the padding; shape (n,)."""
    return np.logical_and.accumulate(np.asarray(Z) >= 0, axis=1).sum(axis=1)


def widened(Z: np.ndarray, width: int) -> np.ndarray:
    """The same sequences with at least so many columns."""
    missing = width - Z.shape[1]
    return Z if missing <= 0 else np.pad(Z, ((0, 0), (0, missing)), constant_values=PAD)


def read_alphabet(alphabet: Any, used_by: str) -> tuple[Any, ...]:
    """Symbols as a tuple; a text is a list of characters."""
    if not hasattr(alphabet, "__iter__"):
        raise ValueError(f"{used_by}: the alphabet is a list of symbols; got {alphabet!r}.")
    symbols = tuple(in_order(alphabet.tolist() if isinstance(alphabet, np.ndarray) else alphabet))
    if not symbols:
        raise ValueError(f"{used_by}: the alphabet has no symbols.")
    for symbol in symbols:
        check_symbol(symbol, "the alphabet holds", used_by)
    return check_distinct(symbols, used_by)


def check_symbol(symbol: Any, where: str, used_by: str) -> None:
    """None stands for a free position or an end, and NaN equals nothing."""
    if is_missing_name(symbol):
        raise ValueError(f"{used_by}: {where} {symbol!r}, which cannot be a symbol.")


def read_sequences(
    Y: Any, symbols: tuple[Any, ...] | None, *, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], SequenceFormat]:
    """Canonical sequences (n, longest in Y) padded with -1, symbols, and the form.

    Parameters
    ----------
    Y : strings; lists, tuples or arrays of symbols; a Series of them; a 2-D array
    symbols : tuple or None
        The alphabet; None learns it from ``Y``.
    """
    rows, format = _rows_of(Y, used_by)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    flat = list(chain.from_iterable(rows))
    if symbols is None:
        symbols = _distinct_symbols(rows, flat, used_by)
    number = {symbol: j for j, symbol in enumerate(symbols)}
    try:
        found = np.fromiter(map(number.__getitem__, flat), np.int64, len(flat))
    except (KeyError, TypeError):
        raise ValueError(_first_unknown(rows, number, symbols, used_by)) from None
    Z = np.full((len(rows), int(lengths.max())), PAD, np.int64)
    Z[np.arange(Z.shape[1]) < lengths[:, None]] = found
    return Z, symbols, format


def _rows_of(Y: Any, used_by: str) -> tuple[list[Any], SequenceFormat]:
    """Rows as lists or texts, and the format they came in."""
    if isinstance(Y, (str, bytes)) or not isinstance(Y, Iterable):
        raise ValueError(f"{used_by} expects a list of sequences; got {Y!r}.")
    if is_pandas(Y, "DataFrame"):
        raise ValueError(f"{used_by} expects a Series or an array of sequences, not a DataFrame.")
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        refuse_empty(Y, used_by)
        return Y.tolist(), SequenceFormat("array", "array", Y.dtype)
    if isinstance(Y, np.ndarray) and Y.ndim != 1:
        raise ValueError(f"{used_by} expects one sequence per row; Y has shape {Y.shape}.")
    rows = Y.tolist() if isinstance(Y, np.ndarray) else list(Y)
    refuse_empty(rows, used_by)
    format = _row_format(rows, used_by)
    if isinstance(Y, np.ndarray) and Y.dtype.kind == "U":
        format = replace(format, whole="text array")
    if is_pandas(Y, "Series"):
        format = replace(format, whole="series", name=Y.name)
        format = replace(format, dtype=Y.dtype) if format.row == "text" else format
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows], format


def _row_format(rows: list[Any], used_by: str) -> SequenceFormat:
    text = isinstance(rows[0], str)
    for i, row in enumerate(rows):
        if isinstance(row, str) != text or not isinstance(row, (str, list, tuple, np.ndarray)):
            hint = "" if hasattr(row, "__len__") else " Use Classes for one label per sample."
            expected = "a string" if text else "a string, list, tuple or array of symbols"
            raise ValueError(f"{used_by} expects {expected} in each row; Y[{i}] is {row!r}.{hint}")
        if isinstance(row, np.ndarray) and row.ndim != 1:
            raise ValueError(f"{used_by}: Y[{i}] is an array of shape {row.shape}, not a sequence.")
    first = rows[0]
    if isinstance(first, np.ndarray):
        types = {row.dtype for row in rows if isinstance(row, np.ndarray)}
        dtype = (
            np.result_type(*types) if all(t.kind in "iufbU" for t in types) else np.dtype(object)
        )
        return SequenceFormat("array", dtype=dtype)
    return SequenceFormat("text" if text else "tuple" if isinstance(first, tuple) else "list")


def _distinct_symbols(rows: list[Any], flat: list[Any], used_by: str) -> tuple[Any, ...]:
    try:
        symbols = sorted_names(set(flat))
    except TypeError as error:
        raise ValueError(f"{used_by}: a symbol must be hashable ({error}).") from None
    if not symbols:
        raise ValueError(f"{used_by}: all {len(rows)} sequences are empty; give the alphabet.")
    if any(map(is_missing_name, symbols)):
        raise ValueError(_missing_symbol(rows, used_by))
    return symbols


def _missing_symbol(rows: list[Any], used_by: str) -> str:
    gaps = [i for i, row in enumerate(rows) if any(map(is_missing_name, row))]
    symbol = next(filter(is_missing_name, rows[gaps[0]]))
    what = f"{used_by}: Y[{gaps[0]}] holds {symbol!r}, a missing value, which cannot be a symbol."
    return f"{what} {about_gaps(gaps)}"


def _first_unknown(
    rows: list[Any], number: dict[str, Any], symbols: tuple[Any, ...], used_by: str
) -> str:
    for i, row in enumerate(rows):
        for t, symbol in enumerate(row):
            try:
                if symbol in number:
                    continue
            except TypeError as error:
                return f"{used_by}: Y[{i}][{t}] is {symbol!r}; a symbol must be hashable ({error})."
            if is_missing_name(symbol):
                return _missing_symbol(rows, used_by)
            near = unknown_label(f"Y[{i}][{t}] is", symbol, symbols, used_by)
            return near.replace("the label ", "the symbol ", 1)
    raise AssertionError("every symbol is known")
