# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted sequence must obey: read from the user's own words, and as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.common.formats import unknown_label
from skstruct.spaces.sequence_sets.formats import sequence_lengths, widened

FREE = -1  # a position whose symbol is not known


@savable
@dataclass(frozen=True, eq=False)
class SequenceConstraints:
    """Lengths, known symbols and forbidden transitions, the same for all rows or per row.

    Symbols are numbers 0..q-1; among transitions the number q stands for either end.
    """

    shortest: np.ndarray  # int, shape (1 or n,); -1 where the space decides
    longest: np.ndarray  # int, shape (1 or n,); -1 where the space decides
    known: np.ndarray  # int, shape (1 or n, any width): FREE or the symbol at a position
    forbidden: np.ndarray  # bool, shape (1 or n, q + 1, q + 1): [a, b] may not occur

    def check_saved(self, q: int) -> None:
        """Raise a ModelFileError unless these are constraints of sequences over q symbols."""
        for length in (self.shortest, self.longest):
            check_row_constraints(length, "i", (), -1, 2**31)
        check_row_constraints(self.known, "i", (None,), -1, q)
        check_row_constraints(self.forbidden, "b", (q + 1, q + 1))

    @classmethod
    def none(cls, q: int) -> SequenceConstraints:
        unset = np.array([-1])
        return cls(unset, unset, np.zeros((1, 0), np.int64), np.zeros((1, q + 1, q + 1), bool))

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        parts = []
        if (self.longest >= 0).any():
            parts.append(f"lengths {self.shortest.min()} to {self.longest.max()}")
        if (self.known >= 0).any():
            parts.append(f"{int((self.known >= 0).sum())} known symbols")
        if self.forbidden.any():
            parts.append(f"{int(self.forbidden.sum())} forbidden transitions")
        return f"SequenceConstraints({'; '.join(parts) or 'none'})"

    @property
    def n_symbols(self) -> int:
        return int(self.forbidden.shape[1] - 1)

    @property
    def _parts(self) -> tuple[np.ndarray, ...]:
        return self.shortest, self.longest, self.known, self.forbidden

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        n = max(map(len, self._parts))
        return None if n == 1 else n

    def rows(self, index: Any) -> SequenceConstraints:
        if self.n_rows is None:
            return self
        return SequenceConstraints(
            *(part if len(part) == 1 else part[index] for part in self._parts)
        )

    def within(self, shortest: int, longest: int, *, given: bool) -> SequenceConstraints:
        """With the lengths of a space; those it has only seen give way to a shorter one."""
        asked = self.shortest >= 0
        low = np.where(asked, np.maximum(self.shortest, shortest if given else 0), shortest)
        high = np.where(self.longest >= 0, np.minimum(self.longest, longest), longest)
        return replace(self, shortest=low, longest=high)

    def least_lengths(self) -> np.ndarray:
        """Shortest lengths that reach all known symbols, too; shape (1 or n,)."""
        if not self.known.size:
            return self.shortest
        reached = self.known.shape[1] - (self.known[:, ::-1] >= 0).argmax(axis=1)
        return np.maximum(self.shortest, np.where((self.known >= 0).any(axis=1), reached, 0))

    def anywhere(self) -> SequenceConstraints:
        """The same without lengths."""
        return replace(self, shortest=np.array([0]), longest=np.array([-1]))

    def narrow(
        self, shortest: np.ndarray, longest: np.ndarray, known: np.ndarray, forbidden: np.ndarray
    ) -> SequenceConstraints:
        parts = (*self._parts, shortest, longest, known, forbidden)
        counts = {len(part) for part in parts} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Constraints are given for different numbers of rows: {sorted(counts)}."
            )
        width = max(known.shape[1], self.known.shape[1])
        old, new = widened(self.known, width), widened(known, width)
        clash = np.argwhere((old >= 0) & (new >= 0) & (old != new))
        if len(clash):
            row, position = map(int, clash[0])
            raise InfeasibleError(
                f"Position {position} is given two different symbols in row {row}.", row
            )
        high = np.where(self.longest < 0, longest, np.minimum(self.longest, longest))
        return SequenceConstraints(
            np.maximum(self.shortest, shortest),
            np.where(longest < 0, self.longest, high),
            np.maximum(old, new),
            self.forbidden | forbidden,
        )

    def allow(self, Z: np.ndarray) -> np.ndarray:
        """Which canonical rows meet the constraints; shape (n,)."""
        lengths, q = sequence_lengths(Z), self.n_symbols
        good = (lengths >= self.shortest) & (lengths <= self.longest)
        width = max(Z.shape[1], self.known.shape[1])
        Z, known = widened(Z, width), widened(self.known, width)
        good &= ((known < 0) | (known == Z)).all(axis=1)
        if self.forbidden.any():
            ends = np.full((len(Z), 1), q)
            path = np.hstack([ends, np.where(Z < 0, q, Z), ends])
            row = np.arange(len(Z))[:, None] % len(self.forbidden)
            met = self.forbidden[row, path[:, :-1], path[:, 1:]]
            # One step per symbol and the one to the end; the empty sequence takes none.
            met &= (np.arange(width + 1) <= lengths[:, None]) & (lengths[:, None] > 0)
            good &= ~met.any(axis=1)
        return good

    # ------------------------------------------------------------- as costs of chains
    def ends(self) -> dict[str, np.ndarray]:
        """What the first and the last symbol pay: infinity where they are forbidden."""
        q = self.n_symbols
        parts = {"beginning": self.forbidden[:, q, :q], "ending": self.forbidden[:, :q, q]}
        return {side: _walls(part) for side, part in parts.items() if part.any()}

    def fix_known(self, unary: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Costs of symbols at positions in stacked form, infinite for all but known ones."""
        if not (self.known >= 0).any():
            return unary
        known = np.broadcast_to(self.known, (len(lengths), self.known.shape[1]))
        fixed = (known >= 0) & (np.arange(known.shape[1]) < np.asarray(lengths)[:, None])
        row, t = np.nonzero(fixed)
        at, symbol = starts[row] + t, known[row, t]
        unary = np.array(unary)
        cost = unary[at, symbol]
        unary[at] = np.inf
        unary[at, symbol] = cost
        return unary

    def forbid_transitions(
        self, transitions: np.ndarray | None, row_of: np.ndarray
    ) -> tuple[Any, np.ndarray | None]:
        """Transition costs with infinity where forbidden, and which matrix serves a position.

        Parameters
        ----------
        transitions : None, (1, q, q), or one matrix per entry of ``row_of``
        row_of : int array
            The row of each matrix, or of each position where the matrix is the same.
        """
        q = self.n_symbols
        barred = self.forbidden[:, :q, :q]
        if not barred.any():
            return transitions, None
        if transitions is None:
            transitions = np.zeros((1, q, q))
        if len(transitions) == 1:
            return np.where(barred, np.inf, transitions), row_of if len(barred) > 1 else None
        barred = barred if len(barred) == 1 else barred[row_of]
        return np.where(barred, np.inf, transitions), None


def _walls(barred: np.ndarray) -> np.ndarray:
    return np.where(barred, np.inf, 0.0)


def read_length(length: Any, used_by: str) -> tuple[np.ndarray, np.ndarray]:
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


def read_known(known: Any, symbols: tuple[Any, ...], used_by: str) -> np.ndarray:
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


def _known_pairs(row: dict[Any, Any], i: int, used_by: str) -> list[Any]:
    """(position, symbol) for what one row knows."""
    if isinstance(row, Mapping):
        for t in row:
            if not isinstance(t, (int, np.integer)) or isinstance(t, bool) or t < 0:
                raise ValueError(f"{used_by}: positions count from 0; known[{i}] holds {t!r}.")
        return list(row.items())
    if not hasattr(row, "__len__"):
        raise ValueError(f"{used_by}: known[{i}] is a mapping or a row of symbols; got {row!r}.")
    return [(t, symbol) for t, symbol in enumerate(row) if symbol is not None]


def read_forbidden(forbidden: Any, symbols: tuple[Any, ...], used_by: str) -> np.ndarray:
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
        and all(_is_row(pair, number) for pair in pairs)
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


def _is_row(item: Any, number: dict[Any, Any]) -> bool:
    """Whether this can be a list of pairs; two symbols are none, be they known or not."""
    return isinstance(item, list) and all(
        isinstance(pair, (list, tuple)) or _is_pair(pair, number) for pair in item
    )


def _is_pair(pair: Any, number: dict[Any, Any]) -> bool:
    """Whether this is (symbol, symbol), and not a list of such pairs."""
    try:
        return len(pair) == 2 and all(symbol in number for symbol in pair)
    except TypeError:
        return False


def _numbered(symbol: str | int | None, number: dict[Any, Any], where: str, used_by: str) -> int:
    try:
        if symbol in number:
            return int(number[symbol])
    except TypeError:
        pass
    names = [name for name in number if name is not None]
    message = unknown_label(where, symbol, names, used_by)
    raise ValueError(message.replace("the label ", "the symbol ", 1))
