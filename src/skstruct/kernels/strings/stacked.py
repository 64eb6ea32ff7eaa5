# SPDX-License-Identifier: BSD-3-Clause
"""Strings, or sequences of tokens, as one array of symbol numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

BLOCK = 2**20  # n-grams worked on at a time
Block = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Stacked:
    """Strings one after the other; string i owns ``symbols[starts[i]:starts[i + 1]]``."""

    symbols: np.ndarray  # shape: (N,), numbers into tokens
    starts: np.ndarray  # shape: (n_strings + 1,)
    tokens: list

    def __len__(self) -> int:
        return len(self.starts) - 1

    def renumbered(self, tokens: list) -> Stacked:
        """The same strings in the numbers of ``tokens``; ``len(tokens)`` for all others."""
        index = {token: i for i, token in enumerate(tokens)}
        unknown = len(tokens)
        number = np.array([index.get(token, unknown) for token in self.tokens], dtype=np.int32)
        return Stacked(number[self.symbols], self.starts, tokens)

    def blocks(
        self, n: int, n_columns: int = 1
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Blocks of strings: how many n-grams each has, where they begin, and their places.

        Begin is counted in ``symbols``, the place within the string, from 0. A block has at most
        BLOCK / ``n_columns`` n-grams, or one string.
        """
        counts = np.maximum(np.diff(self.starts) - (n - 1), 0)
        before = np.concatenate([[0], np.cumsum(counts)])
        row, size = 0, BLOCK // n_columns
        while row < len(self):
            end = max(row + 1, int(np.searchsorted(before, before[row] + size, "right")) - 1)
            c = counts[row:end]
            places = np.arange(c.sum()) - np.repeat(before[row:end] - before[row], c)
            yield c, places + np.repeat(self.starts[row:end], c), places
            row = end


def stack(X, *, used_by: str, name: str = "X") -> Stacked:
    """Strings, or sequences of hashable tokens, as one array; an error names the row."""
    rows = _rows(X, used_by, name)
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if _all_text(rows):
        points = np.frombuffer("".join(rows).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        alphabet = np.flatnonzero(np.bincount(points))
        number = np.zeros(alphabet.max(initial=0) + 1, dtype=np.int32)
        number[alphabet] = np.arange(len(alphabet))
        return Stacked(number[points], starts, [chr(point) for point in alphabet])
    numbers: dict = {}
    symbols = np.empty(starts[-1], dtype=np.int32)
    for i, row in enumerate(rows):
        tokens = row.tolist() if isinstance(row, np.ndarray) else row
        try:
            found = [numbers.setdefault(token, len(numbers)) for token in tokens]
        except TypeError as error:
            raise ValueError(f"{used_by}: tokens are hashable; in {name}[{i}]: {error}.") from None
        symbols[starts[i] : starts[i + 1]] = found
    return Stacked(symbols, starts, list(numbers))


def _rows(X, used_by: str, name: str) -> list:
    """A list of strings and sequences, or an error."""
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"{used_by} expects a list of strings; got the single string {X!r:.40} as {name}. "
            f"Put it in a list."
        )
    unordered = isinstance(X, (Mapping, Set)) or hasattr(X, "columns")  # a DataFrame has those
    if unordered or not hasattr(X, "__iter__") or getattr(X, "ndim", 1) == 0:
        raise ValueError(
            f"{used_by} expects a list, array or Series of strings, or of sequences of tokens; "
            f"{name} is a {type(X).__name__}."
        )
    rows = list(X)
    if not rows:
        raise ValueError(f"{used_by} needs at least one string; {name} is empty.")
    for i, row in enumerate([] if _all_text(rows) else rows):
        tokens = isinstance(row, np.ndarray) and row.ndim == 1
        if not tokens and (not isinstance(row, Sequence) or isinstance(row, (bytes, bytearray))):
            raise ValueError(
                f"{used_by} expects strings, or sequences of tokens; {name}[{i}] is {row!r:.40} "
                f"of type {type(row).__name__}."
            )
    return rows


def _all_text(rows: list) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, rows)))


def joined(left: Stacked, right: Stacked) -> Stacked:
    """The strings of both, in one numbering."""
    index = {token: i for i, token in enumerate(left.tokens)}
    for token in right.tokens:
        index.setdefault(token, len(index))
    number = np.array([index[token] for token in right.tokens], dtype=np.int32)
    symbols = np.concatenate([left.symbols, number[right.symbols]])
    starts = np.concatenate([left.starts, left.starts[-1] + right.starts[1:]])
    return Stacked(symbols, starts, list(index))
