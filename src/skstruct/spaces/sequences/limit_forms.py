# SPDX-License-Identifier: BSD-3-Clause
"""Limits of sequences in the user's own words: lengths, known symbols, forbidden pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skstruct.spaces.forms import unknown_label
from skstruct.spaces.sequences.limits import FREE


def read_length(length, used_by: str) -> tuple[np.ndarray, np.ndarray]:
    """Lengths from an int, a pair (shortest, longest), or one int per row."""
    unset = np.array([-1])
    if length is None:
        return unset, unset
    if isinstance(length, tuple):
        if len(length) != 2:
            raise ValueError(
                f"{used_by}: length is a number, a pair (shortest, longest) or an array with one "
                f"number per row; got {length!r}."
            )
        low, high = (read_length(bound, used_by)[0] for bound in length)
        if high[0] >= 0 and low[0] > high[0]:
            raise ValueError(f"{used_by}: the shortest length exceeds the longest in {length!r}.")
        return low, high
    sizes = np.atleast_1d(np.asarray(length))
    if (
        sizes.ndim != 1
        or sizes.dtype.kind not in "iuf"
        or (sizes != np.rint(sizes)).any()
        or not (np.isfinite(sizes) & (sizes >= 0)).all()
    ):
        raise ValueError(f"{used_by}: a length is a whole number of at least 0; got {length!r}.")
    sizes = sizes.astype(np.int64)
    return sizes, sizes


def read_known(known, symbols: tuple, used_by: str) -> np.ndarray:
    """Known symbols from {position: symbol}, one such mapping per row, or rows with None."""
    if known is None:
        return np.zeros((1, 0), np.int64)
    if isinstance(known, Mapping):
        known = [known]
    if isinstance(known, (str, bytes)) or not hasattr(known, "__len__"):
        raise ValueError(
            f"{used_by}: known maps positions to symbols, one mapping for all rows or one per "
            f"row, or is a list of rows of symbols, None where free; got {known!r}."
        )
    if len(known) == 0:
        raise ValueError(f"{used_by}: known is an empty list, which has no row to speak of.")
    number = {symbol: j for j, symbol in enumerate(symbols)}
    rows = [_known_pairs(row, i, used_by) for i, row in enumerate(known)]
    width = max((t + 1 for row in rows for t, _ in row), default=0)
    read = np.full((len(rows), width), FREE, np.int64)
    for i, row in enumerate(rows):
        for t, symbol in row:
            read[i, t] = _numbered(symbol, number, f"known[{i}][{t}] is", used_by)
    return read


def _known_pairs(row, i, used_by) -> list:
    """(position, symbol) for what one row knows."""
    if isinstance(row, Mapping):
        for t in row:
            if not isinstance(t, (int, np.integer)) or isinstance(t, bool) or t < 0:
                raise ValueError(f"{used_by}: positions count from 0; known[{i}] holds {t!r}.")
        return list(row.items())
    if not hasattr(row, "__len__"):
        raise ValueError(f"{used_by}: known[{i}] is a mapping or a row of symbols; got {row!r}.")
    return [(t, symbol) for t, symbol in enumerate(row) if symbol is not None]


def read_forbidden(forbidden, symbols: tuple, used_by: str) -> np.ndarray:
    """Forbidden transitions from pairs, None for an end, or a list of such pairs per row."""
    number = {symbol: j for j, symbol in enumerate(symbols)}
    number[None] = q = len(symbols)
    if forbidden is None:
        return np.zeros((1, q + 1, q + 1), bool)
    if isinstance(forbidden, (str, bytes)) or not hasattr(forbidden, "__iter__"):
        raise ValueError(f"{used_by}: forbidden lists pairs of symbols; got {forbidden!r}.")
    pairs = list(forbidden)
    by_row = (
        bool(pairs)
        and all(isinstance(pair, list) for pair in pairs)
        and not all(_is_pair(pair, number) for pair in pairs)
    )
    rows = pairs if by_row else [pairs]
    barred = np.zeros((len(rows), q + 1, q + 1), bool)
    for i, row in enumerate(rows):
        for pair in row:
            if not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(f"{used_by}: forbidden lists pairs of symbols; got {pair!r}.")
            a, b = (_numbered(s, number, f"forbidden[{i}] holds", used_by) for s in pair)
            barred[i, a, b] = True
    return barred


def _is_pair(pair, number) -> bool:
    """Whether this is (symbol, symbol), and not a list of such pairs."""
    try:
        return len(pair) == 2 and all(symbol in number for symbol in pair)
    except TypeError:
        return False


def _numbered(symbol, number, where, used_by) -> int:
    try:
        if symbol in number:
            return number[symbol]
    except TypeError:
        pass
    names = [name for name in number if name is not None]
    message = unknown_label(where, symbol, names, used_by)
    raise ValueError(message.replace("the label ", "the symbol ", 1))
