# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted sequence must obey, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.sequences.forms import sequence_lengths, widened

FREE = -1  # a position whose symbol is not known


@dataclass(frozen=True, eq=False)
class SequenceLimits:
    """Lengths, known symbols and forbidden transitions, the same for all rows or per row.

    Symbols are numbers 0..q-1; among transitions the number q stands for either end.
    """

    shortest: np.ndarray  # int, shape (1 or n,); -1 where the space decides
    longest: np.ndarray  # int, shape (1 or n,); -1 where the space decides
    known: np.ndarray  # int, shape (1 or n, any width): FREE or the symbol at a position
    forbidden: np.ndarray  # bool, shape (1 or n, q + 1, q + 1): [a, b] may not occur

    @classmethod
    def none(cls, q: int) -> SequenceLimits:
        unset = np.array([-1])
        return cls(unset, unset, np.zeros((1, 0), np.int64), np.zeros((1, q + 1, q + 1), bool))

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        parts = []
        if (self.longest >= 0).any():
            parts.append(f"lengths {self.shortest.min()} to {self.longest.max()}")
        if (self.known >= 0).any():
            parts.append(f"{int((self.known >= 0).sum())} known symbols")
        if self.forbidden.any():
            parts.append(f"{int(self.forbidden.sum())} forbidden transitions")
        return f"SequenceLimits({'; '.join(parts) or 'none'})"

    @property
    def n_symbols(self) -> int:
        return self.forbidden.shape[1] - 1

    @property
    def _parts(self) -> tuple[np.ndarray, ...]:
        return self.shortest, self.longest, self.known, self.forbidden

    @property
    def n_rows(self) -> int | None:
        """Number of rows these limits are for; None when they are the same for all."""
        n = max(map(len, self._parts))
        return None if n == 1 else n

    def rows(self, index) -> SequenceLimits:
        if self.n_rows is None:
            return self
        return SequenceLimits(*(part if len(part) == 1 else part[index] for part in self._parts))

    def within(self, shortest: int, longest: int, *, given: bool) -> SequenceLimits:
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

    def anywhere(self) -> SequenceLimits:
        """The same without lengths."""
        return replace(self, shortest=np.array([0]), longest=np.array([-1]))

    def narrow(self, shortest, longest, known, forbidden) -> SequenceLimits:
        parts = (*self._parts, shortest, longest, known, forbidden)
        counts = {len(part) for part in parts} - {1}
        if len(counts) > 1:
            raise ValueError(f"Limits are given for different numbers of rows: {sorted(counts)}.")
        width = max(known.shape[1], self.known.shape[1])
        old, new = widened(self.known, width), widened(known, width)
        clash = np.argwhere((old >= 0) & (new >= 0) & (old != new))
        if len(clash):
            raise InfeasibleError(f"Position {clash[0][1]} is given two different symbols.")
        high = np.where(self.longest < 0, longest, np.minimum(self.longest, longest))
        return SequenceLimits(
            np.maximum(self.shortest, shortest),
            np.where(longest < 0, self.longest, high),
            np.maximum(old, new),
            self.forbidden | forbidden,
        )

    def allow(self, Z: np.ndarray) -> np.ndarray:
        """Which canonical rows meet the limits; shape (n,)."""
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

    def hold_known(self, unary: np.ndarray, starts: np.ndarray, lengths) -> np.ndarray:
        """Costs of symbols at positions in stacked form, infinite for all but known ones."""
        if not (self.known >= 0).any():
            return unary
        known = np.broadcast_to(self.known, (len(lengths), self.known.shape[1]))
        held = (known >= 0) & (np.arange(known.shape[1]) < np.asarray(lengths)[:, None])
        row, t = np.nonzero(held)
        at, symbol = starts[row] + t, known[row, t]
        unary = np.array(unary)
        price = unary[at, symbol]
        unary[at] = np.inf
        unary[at, symbol] = price
        return unary

    def hold_apart(self, transitions, row_of: np.ndarray):
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


def _walls(barred):
    return np.where(barred, np.inf, 0.0)
