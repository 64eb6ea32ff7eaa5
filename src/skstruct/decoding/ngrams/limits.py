# SPDX-License-Identifier: BSD-3-Clause
"""What strings must obey, as arrays over n-grams and states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_ENTRIES = 2**27  # of a table of costs by length and state: 1 GiB


@dataclass(frozen=True, eq=False)
class GramLimits:
    """Limits on strings over 0..q-1; each array has one row for all strings or one for each.

    Parameters
    ----------
    q, order : int
        Number of symbols, and n of the n-grams. The number of an n-gram has its symbols as
        digits in base q; a state is the number of n - 1 symbols.
    shortest, longest : int arrays of shape (1 or n,)
        Lengths.
    known : int array of shape (1 or n, any), default=None
        Symbol at a position, -1 where free. ``shortest`` must reach all of them.
    forbidden : bool array of shape (1 or n, q**order), default=None
        n-grams that may not occur.
    begins, ends : bool arrays of shape (1 or n, q**(order-1)), default=None
        The first and the last n - 1 symbols that a string may have; None for any.
    short : int array of shape (1 or n, order - 1), default=None
        A string without n-grams that is allowed, padded with -1; -2 in front where there is
        none. Known symbols and otherwise 0 when None.
    """

    q: int
    order: int
    shortest: np.ndarray
    longest: np.ndarray
    known: np.ndarray | None = None
    forbidden: np.ndarray | None = None
    begins: np.ndarray | None = None
    ends: np.ndarray | None = None
    short: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Longest length of all."""
        return int(self.longest.max(initial=0))

    def compiled(self) -> tuple[np.ndarray, ...]:
        """Lengths, known symbols, states to begin and to end with, as compiled loops take them."""
        n_states = self.q ** (self.order - 1)
        if (self.width + 1) * n_states > MOST_ENTRIES:
            raise ValueError(
                f"Strings of up to {self.width} symbols with {n_states} states of "
                f"{self.order - 1} symbols each need a table of more than {MOST_ENTRIES} entries; "
                "take a smaller n."
            )
        free = np.ones((1, n_states), bool)
        return (
            np.ascontiguousarray(self.shortest, np.int64),
            np.ascontiguousarray(self.longest, np.int64),
            self._known(),
            np.ascontiguousarray(free if self.begins is None else self.begins),
            np.ascontiguousarray(free if self.ends is None else self.ends),
        )

    def _known(self):
        known = np.zeros((1, 0), np.int64) if self.known is None else self.known[:, : self.width]
        missing = self.width - known.shape[1]
        padded = np.pad(known, ((0, 0), (0, missing)), constant_values=-1)
        return np.ascontiguousarray(padded, np.int64)

    def without_grams(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """For each row a string too short for an n-gram, padded with -1, and its value.

        The value is 0, or infinity where there is none.
        """
        symbols, values = np.full((n, self.width), -1, np.int64), np.full(n, np.inf)
        size = min(self.order - 1, self.width)
        if self.short is None:
            filled = np.maximum(self._known()[:, :size], 0)
            filled = np.where(np.arange(size) < self.shortest[:, None], filled, -1)
        else:
            filled = self.short[:, :size]
        possible = (self.shortest < self.order) & (self.shortest <= self.longest)
        if self.short is not None and self.order > 1:
            possible = possible & (self.short[:, 0] > -2)
        possible = np.broadcast_to(possible, n)
        values[possible] = 0.0
        symbols[possible, :size] = np.broadcast_to(filled, (n, size))[possible]
        return symbols, values
