# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of any format as arrays of whole numbers, which are equal where the outputs are."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas

CACHE = 2**18  # bytes of a block of comparisons, which is gone over once per column
NAN = object()  # NaN is not equal to itself; two outputs with NaN in the same position are


def listed(Y: Any, used_by: str) -> list[Any]:
    """Outputs as a list: rows of arrays and frames, items of anything else; at least one."""
    if sparse.issparse(Y):
        Y = Y.toarray()
    elif is_pandas(Y, "DataFrame"):
        Y = Y.to_numpy()
    single = isinstance(Y, (str, bytes, Mapping, Set)) or not isinstance(Y, Iterable)
    if single or (isinstance(Y, np.ndarray) and Y.ndim == 0):
        raise ValueError(f"{used_by} expects a list of outputs; got {Y!r}.")
    rows = Y.tolist() if isinstance(Y, np.ndarray) and Y.ndim == 1 else list(Y)
    if not rows:
        raise ValueError(f"{used_by}: there are no outputs.")
    for i, row in enumerate(rows):
        if is_missing(row):
            raise ValueError(f"{used_by}: output {i} is {row}, which is not an output.")
    return rows


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN or what pandas has for them."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def output_codes(A: Any, B: Any, used_by: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of whole outputs, the same where outputs are equal; twice the first without B.

    >>> output_codes(["b", "a"], ["a", "c"], "Dirac")
    (array([0, 1]), array([1, 2]))
    """
    number: dict[Any, Any] = {}
    first = _numbered(A, number, used_by)
    return first, first if B is None else _numbered(B, number, used_by)


def _numbered(Y: Any, number: dict[Any, Any], used_by: str) -> np.ndarray:
    codes = [number.setdefault(hashable(y, used_by), len(number)) for y in listed(Y, used_by)]
    return np.array(codes, dtype=np.int64)


def hashable(value: Any, used_by: str) -> Any:
    """An immutable twin of an output: tuples for lists and arrays, frozen sets for sets."""
    if isinstance(value, (str, bytes, int)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        plain = value.ndim == 1 and value.dtype.kind in "biuSU"  # nothing to look into
        value = value.tolist()
        if plain:
            return tuple(value)
    if isinstance(value, (list, tuple)):
        return tuple(hashable(part, used_by) for part in value)
    if isinstance(value, Set):
        return frozenset(value)
    if isinstance(value, Mapping):
        return frozenset((key, hashable(part, used_by)) for key, part in value.items())
    if is_missing(value):
        return NAN
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            f"{used_by} compares outputs that can be hashed, and arrays, lists, sets and "
            f"dictionaries of such; got a {type(value).__name__}."
        ) from None
    return value


def symbol_codes(A: Any, B: Any, used_by: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the symbols of strings from 1 on, 0 behind their ends; twice the first without B.

    Both arrays have as many columns as the longest string of all has symbols.

    >>> symbol_codes(["ab", "b"], [["b", "b", "a"]], "HammingKernel")
    (array([[1, 2, 0],
           [2, 0, 0]]), array([[2, 2, 1]]))
    """
    strings = [_symbols(A, used_by, "A")]
    if B is not None:
        strings.append(_symbols(B, used_by, "B"))
    symbols = list(chain.from_iterable(chain.from_iterable(strings)))
    number = {symbol: j for j, symbol in enumerate(_distinct(symbols, used_by), start=1)}
    lengths = [np.fromiter(map(len, rows), np.int64, len(rows)) for rows in strings]
    width = max(int(some.max()) for some in lengths)
    codes = np.fromiter(map(number.__getitem__, symbols), np.int64, len(symbols))
    padded = np.zeros((sum(map(len, strings)), width), dtype=np.int64)
    padded[np.arange(width) < np.concatenate(lengths)[:, None]] = codes
    first, last = padded[: len(strings[0])], padded[len(strings[0]) :]
    return first, first if B is None else last


def _symbols(Y: Any, used_by: str, name: str) -> list[Any]:
    rows = listed(Y, used_by)
    for i, row in enumerate(rows):
        if isinstance(row, np.ndarray) and row.ndim == 1:
            rows[i] = row.tolist()
        elif isinstance(row, np.ndarray) or not isinstance(row, Sequence):
            raise ValueError(
                f"{used_by} expects strings, or lists, tuples or 1-D arrays of symbols; "
                f"{name}[{i}] is {row!r}."
            )
    return rows


def _distinct(symbols: list[Any], used_by: str) -> list[Any]:
    """Distinct symbols in order of appearance."""
    try:
        distinct = list(dict.fromkeys(symbols))
    except TypeError as error:
        raise ValueError(f"{used_by}: a symbol must be hashable ({error}).") from None
    if any(map(is_missing, distinct)):
        missing = next(filter(is_missing, distinct))
        raise ValueError(
            f"{used_by}: {missing} is not a symbol; shorter strings need no padding here."
        )
    return distinct


def count_matches(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Number of columns in which rows of A and B hold the same number, shape (n_a, n_b).

    Half the work where B is A. Blocks of rows stay in the processor's cache while the
    columns are gone through.

    >>> count_matches(np.array([[1, 2, 0]]), np.array([[1, 0, 0], [3, 3, 3]]))
    array([[2., 0.]])
    """
    same, largest = B is A, max(A.max(initial=0), B.max(initial=0))
    dtype = np.min_scalar_type(int(largest))
    rows, columns = A.astype(dtype), np.ascontiguousarray(B.T.astype(dtype))
    K = np.zeros((len(A), len(B)))
    step = max(1, CACHE // max(1, len(B)))
    for start in range(0, len(A), step):
        stop = min(start + step, len(A))
        left = start if same else 0
        _add_matches(rows[start:stop], columns[:, left:], K[start:stop, left:])
        if same:
            K[stop:, start:stop] = K[start:stop, stop:].T
    return K


def _add_matches(rows: np.ndarray, columns: np.ndarray, K: np.ndarray) -> None:
    equal, some = np.empty(K.shape, dtype=bool), np.empty(K.shape, dtype=np.uint8)
    for first in range(0, len(columns), 255):  # as many as a byte can count
        some.fill(0)
        for t in range(first, min(first + 255, len(columns))):
            np.equal(rows[:, t, None], columns[t], out=equal)
            some += equal.view(np.uint8)
        K += some
