# SPDX-License-Identifier: BSD-3-Clause
"""The n-grams of strings, or of sequences of tokens, as numbered columns, exact for any length and
any alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.saving import require, savable

BLOCK = 2**20  # n-grams worked on at a time
Block = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Stacked:
    """Strings one after the other; string i owns ``symbols[starts[i]:starts[i + 1]]``."""

    symbols: np.ndarray  # shape: (N,), numbers into tokens
    starts: np.ndarray  # shape: (n_strings + 1,)
    tokens: list[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def renumbered(self, tokens: list[Any]) -> Stacked:
        """The same strings in the numbers of ``tokens``; ``len(tokens)`` for all others."""
        index = {token: i for i, token in enumerate(tokens)}
        unknown = len(tokens)
        number = np.array([index.get(token, unknown) for token in self.tokens], dtype=np.int32)
        return Stacked(number[self.symbols], self.starts, tokens)

    def blocks(
        self, n: int, n_columns: int = 1
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Blocks of strings: how many n-grams each has, where they begin, and their positions.

        Begin is counted in ``symbols``, the position within the string, from 0. A block has at most
        BLOCK / ``n_columns`` n-grams, or one string.
        """
        counts = np.maximum(np.diff(self.starts) - (n - 1), 0)
        before = np.concatenate([[0], np.cumsum(counts)])
        row, size = 0, BLOCK // n_columns
        while row < len(self):
            end = max(row + 1, int(np.searchsorted(before, before[row] + size, "right")) - 1)
            c = counts[row:end]
            positions = np.arange(c.sum()) - np.repeat(before[row:end] - before[row], c)
            yield c, positions + np.repeat(self.starts[row:end], c), positions
            row = end


def stack(X: Any, *, used_by: str, name: str = "X") -> Stacked:
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
    numbers: dict[Any, Any] = {}
    symbols = np.empty(starts[-1], dtype=np.int32)
    for i, row in enumerate(rows):
        tokens = row.tolist() if isinstance(row, np.ndarray) else row
        try:
            found = [numbers.setdefault(token, len(numbers)) for token in tokens]
        except TypeError as error:
            raise ValueError(f"{used_by}: tokens are hashable; in {name}[{i}]: {error}.") from None
        symbols[starts[i] : starts[i + 1]] = found
    return Stacked(symbols, starts, list(numbers))


def _rows(X: Any, used_by: str, name: str) -> list[Any]:
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


def _all_text(rows: list[Any]) -> bool:
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


LARGEST = 2**63 - 1
MOST_SYMBOLS = 10**4  # of an n-gram in a model file


def use_table(span: int, codes: np.ndarray) -> bool:
    """Whether a table of all codes is smaller than sorting is slow."""
    return span <= min(8 * len(codes), 2**30)


@savable
@dataclass(frozen=True)
class Level:
    """The codes that occur after reading symbols ``start``, ..., ``stop - 1`` of the n-grams.

    A code is (rank of what was read before) * base**(stop - start) + (the symbols as digits).
    """

    start: int
    stop: int
    span: int  # all codes are below it
    codes: np.ndarray  # sorted

    def rank(self, codes: np.ndarray) -> Any:
        """Positions among the known codes; their number where a code is not known."""
        known = self.codes
        if use_table(self.span, codes):
            table = np.full(self.span, len(known), dtype=np.int32)
            table[known] = np.arange(len(known))
            return table[codes]
        if not len(known):
            return np.zeros(len(codes), dtype=np.int64)
        # Looked up in sorted order: at random, a million of them miss the cache each time.
        ordered, order = sorted_with_positions(codes, self.span)
        found = np.searchsorted(known, ordered)
        # Past the last one, the first is compared: it is another one.
        found[known.take(found, mode="wrap") != ordered] = len(known)
        ranks = np.empty_like(found)
        ranks[order] = found
        return ranks


def sorted_with_positions(codes: np.ndarray, span: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes sorted, and where each of them was."""
    bits = len(codes).bit_length()
    if span << bits > LARGEST:
        order = np.argsort(codes)
        return codes[order], order
    # Code and position in one number: numpy sorts numbers three times as fast as their positions.
    both = np.sort((codes << bits) | np.arange(len(codes)))
    return both >> bits, both & ((1 << bits) - 1)


def distinct(codes: np.ndarray, span: int) -> np.ndarray:
    """The codes that occur, sorted; all are below ``span``."""
    if use_table(span, codes):
        present = np.zeros(span, dtype=bool)
        present[codes] = True
        return np.flatnonzero(present)
    codes = np.sort(codes)  # np.unique, which sorts last, takes twenty times as long
    return codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes


@savable
class NGrams:
    """A column for each n-gram of some strings; with ``n_offsets``, for n-grams at positions.

    An n-gram is read as a number in base q + 1: q symbols, and one for all unknown ones. Where
    (q + 1)^n needs more than 63 bits, as many symbols as fit are read and replaced by their rank
    among those that occur, and reading goes on from there. So no two n-grams ever share a
    number. With ``n_offsets`` = s + 1, an n-gram at position p of its string has a column for each
    of the pairs (n-gram, p), ..., (n-gram, p + s).

    The strings need at least one symbol of ``tokens``, whose numbers the symbols are.
    """

    def _check_saved(self) -> None:
        steps = [0] + [step for level in self.levels for step in (level.start, level.stop)]
        steps.append(self.n)
        plain = all(type(step) is int for step in [*steps, self.n_offsets])
        require(plain and steps == sorted(steps), "n-grams that are none")
        small = self.n <= MOST_SYMBOLS and self.n_offsets <= MOST_SYMBOLS
        require(small and bool(self.levels), "n-grams that are too long")

    def __init__(self, n: int, strings: Stacked, n_offsets: int = 0) -> None:
        self.n, self.n_offsets, self.base = n, n_offsets, len(strings.tokens) + 1
        self.levels: list[Level] = []
        done, known = 0, 1
        while done < n:
            stop = done + 1
            while stop < n and known * self.base ** (stop + 1 - done) <= LARGEST:
                stop += 1
            span = known * self.base ** (stop - done)
            codes = self._distinct(strings, partial(self._read, start=done, stop=stop), span)
            self.levels.append(Level(done, stop, span, codes))
            done, known = stop, len(codes) + 1
        self.places: Level | None = None  # by position; the name stands in model files
        if n_offsets:
            # Positions where the strings have something, and one for all beyond.
            self.n_places = max(int(np.diff(strings.starts).max()) - n + n_offsets, 0) + 1
            span = known * self.n_places
            self.places = Level(n, n, span, self._distinct(strings, self._placed, span))

    @property
    def n_ngrams(self) -> int:
        return len(self.levels[-1].codes)

    @property
    def n_columns(self) -> int:
        return self.n_ngrams if self.places is None else len(self.places.codes)

    def counts(self, strings: Stacked, values: tuple[Any, ...] = (1.0,)) -> sparse.csr_array:
        """Sums of ``values`` in each column, and a last column for n-grams that have none.

        Parameters
        ----------
        strings : Stacked
            Its symbols are numbers of the tokens learned from; their number where unknown.
        values : sequence of n_offsets floats
        """
        blocks = []
        for counts, begins, positions in strings.blocks(self.n, max(self.n_offsets, 1)):
            ids = self._ranks(strings.symbols, begins)
            if self.places is not None:
                ids = self.places.rank(self._placed(ids, strings.symbols, begins, positions))
            starts = len(values) * np.concatenate([[0], np.cumsum(counts)])
            if max(starts[-1], self.n_columns) < 2**31 - 1:
                starts, ids = starts.astype(np.int32), ids.astype(np.int32)
            data = np.tile(np.asarray(values, dtype=np.float64), len(begins))
            block = sparse.csr_array((data, ids, starts), shape=(len(counts), self.n_columns + 1))
            block.sum_duplicates()
            blocks.append(block)
        return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")

    def names(self, tokens: list[Any]) -> list[str]:
        """What each column counts, in words."""
        ids, positions = np.arange(self.n_ngrams), None
        if self.places is not None:
            ids, positions = np.divmod(self.places.codes, self.n_places)
        symbols = np.empty((len(ids), self.n), dtype=np.int64)
        for level in reversed(self.levels):
            codes = level.codes[ids]
            for j in range(level.stop - 1, level.start - 1, -1):
                codes, symbols[:, j] = np.divmod(codes, self.base)
            ids = codes
        words = [str(token) for token in tokens]
        between = "" if all(isinstance(token, str) and len(token) == 1 for token in tokens) else " "
        names = [between.join([words[i] for i in row]) for row in symbols.tolist()]
        return names if positions is None else [f"{name}@{p}" for name, p in zip(names, positions)]

    def _distinct(self, strings: Stacked, continued: Callable[..., Any], span: int) -> np.ndarray:
        """The codes that occur, sorted; ``continued`` makes them of what was read before."""
        found = []
        for _, begins, positions in strings.blocks(self.n, max(self.n_offsets, 1)):
            codes = continued(
                self._ranks(strings.symbols, begins), strings.symbols, begins, positions
            )
            found.append(distinct(codes, span))
        return found[0] if len(found) == 1 else distinct(np.concatenate(found), span)

    def _ranks(self, symbols: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Ranks of the n-grams that begin there, as far as they are read."""
        ranks = np.zeros(len(begins), dtype=np.int64)
        for level in self.levels:
            codes = self._read(ranks, symbols, begins, start=level.start, stop=level.stop)
            ranks = level.rank(codes)
        return ranks

    def _read(
        self,
        ranks: np.ndarray,
        symbols: np.ndarray,
        begins: np.ndarray,
        positions: np.ndarray | None = None,
        *,
        start: int,
        stop: int,
    ) -> np.ndarray:
        codes = ranks.astype(np.int64)
        for j in range(start, stop):
            codes *= self.base
            codes += symbols[begins + j]
        return codes

    def _placed(
        self, ranks: np.ndarray, symbols: np.ndarray, begins: np.ndarray, positions: np.ndarray
    ) -> Any:
        """Codes of the pairs (n-gram, position), n_offsets of them for each n-gram."""
        codes = np.add.outer(positions, np.arange(self.n_offsets))
        np.minimum(codes, self.n_places - 1, out=codes)
        codes += self.n_places * ranks.astype(np.int64)[:, None]
        return codes.ravel()
