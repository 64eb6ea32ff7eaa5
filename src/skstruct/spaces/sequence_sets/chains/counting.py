# SPDX-License-Identifier: BSD-3-Clause
"""Chains that obey constraints: their exact number, exactly uniform samples, the list."""

from functools import cached_property
from typing import Any

import numpy as np

LARGE = 2**63  # no machine number


class ChainCounts:
    """Counts of the chains of shortest..T symbols, as whole numbers of any size.

    Parameters
    ----------
    allowed : bool array of shape (T, q)
        Symbols that may stand at each position.
    proposals : bool array of shape (q, q), default=None
        Symbols that may follow each other; None for all.
    ends : bool array of shape (q,), default=None
        Symbols that may stand last; None for all.
    shortest : int, default=None
        Least number of symbols; None for T.

    Attributes
    ----------
    total : int
        Number of chains.

    Examples
    --------
    >>> alternating = ChainCounts(np.ones((100, 3), bool), ~np.eye(3, dtype=bool))
    >>> alternating.total == 3 * 2**99
    True
    """

    def __init__(
        self,
        allowed: np.ndarray,
        proposals: np.ndarray | None = None,
        *,
        ends: np.ndarray | None = None,
        shortest: int | None = None,
    ) -> None:
        self.allowed = np.asarray(allowed, dtype=bool)
        self.length, self.n_symbols = self.allowed.shape
        self.proposals = None if proposals is None else np.asarray(proposals, dtype=bool)
        self.ends = np.ones(self.n_symbols, bool) if ends is None else np.asarray(ends, bool)
        self.shortest = self.length if shortest is None else shortest

    @cached_property
    def completions(self) -> list[np.ndarray]:
        """For each position the ways to go on after each symbol, stopping there among them.

        w_t(y) = [y may be last] + sum over z after y of w_{t+1}(z), zero where y may not be.
        """
        ways: list[np.ndarray] = []
        after = None
        for t in range(self.length - 1, -1, -1):
            here = np.array([int(end) for end in self._may_stop(t)], dtype=object)
            if after is not None:
                here = here + self._going_on(after)
            after = np.where(self.allowed[t], here, 0)
            ways.append(after)
        return ways[::-1]

    def _may_stop(self, t: int) -> np.ndarray:
        return self.ends & (t + 1 >= self.shortest)

    def _going_on(self, after: np.ndarray) -> Any:
        if self.proposals is None:
            return after.sum()
        return np.where(self.proposals, after, 0).sum(axis=1)

    @property
    def _is_free(self) -> bool:
        """Whether every position is chosen on its own."""
        return self.proposals is None and self.shortest >= self.length and bool(self.ends.all())

    @cached_property
    def total(self) -> int:
        first = int(self.completions[0].sum()) if self.length else 0
        return first + int(self.shortest <= 0)

    def listed(self) -> np.ndarray:
        """All chains, shorter ones first, padded with -1; shape (total, T)."""
        T = self.length
        found = [np.full((1 if self.shortest <= 0 else 0, T), -1, np.int64)]
        prefixes = np.zeros((1, 0), np.int64)
        for t in range(T):
            open_ = np.tile(self.completions[t].astype(bool), (len(prefixes), 1))
            if t and self.proposals is not None:
                open_ &= self.proposals[prefixes[:, -1]]
            row, symbol = np.nonzero(open_)
            prefixes = np.column_stack([prefixes[row], symbol])
            done = prefixes[self._may_stop(t)[symbol]]
            found.append(np.pad(done, ((0, 0), (0, T - t - 1)), constant_values=-1))
        return np.vstack(found)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` chains drawn uniformly and independently, padded with -1; shape (n, T).

        A number below the total is drawn, and the chain of that number is built symbol by
        symbol from the counts: no rounding anywhere.
        """
        if self._is_free and self.total >= LARGE:  # long numbers are slow
            columns = [np.flatnonzero(symbols) for symbols in self.allowed]
            return np.stack([rng.choice(symbols, size=n) for symbols in columns], axis=1)
        chains = np.full((n, self.length), -1, np.int64)
        rank = _below(self.total, n, rng)
        rows, state = np.arange(n), np.zeros(n, np.int64)
        for t in range(-1, self.length - 1):
            # Choices after each symbol: stop, or one of q symbols; in front there is one state.
            upto = self._choices(t).cumsum(axis=1)
            if rank.dtype != object:  # what no chain reaches may have more ways to go on
                upto = np.minimum(upto, self.total).astype(np.int64)
            choice = (rank[rows, None] >= upto[state]).sum(axis=1)
            below = np.where(choice > 0, upto[state, np.maximum(choice, 1) - 1], 0)
            rank[rows] -= below
            rows, state = rows[choice > 0], choice[choice > 0] - 1
            chains[rows, t + 1] = state
        return chains

    def _choices(self, t: int) -> np.ndarray:
        """Number of chains for each next choice: stop, or a symbol; shape (states, q + 1)."""
        after = self.completions[t + 1]
        if t < 0:
            return np.array([[int(self.shortest <= 0), *after]], dtype=object)
        q = self.n_symbols
        proposals = np.ones((q, q), bool) if self.proposals is None else self.proposals
        stop = np.where(self._may_stop(t), 1, 0).astype(object)
        return np.column_stack([stop, np.where(proposals, after, 0)])

    def as_markov_chain(self) -> tuple[np.ndarray, np.ndarray]:
        """The uniform distribution as a chain that may stop: p(first), p(next | symbol).

        Shapes (q,) and (T - 1, q, q); the latter sum to the probability of going on. Each is a
        quotient of whole numbers, rounded once.
        """
        q = self.n_symbols
        first = np.array([ways / self.total for ways in self.completions[0]], dtype=np.float64)
        steps = np.zeros((max(self.length - 1, 0), q, q))
        for t in range(self.length - 1):
            choices = self._choices(t)[:, 1:]
            ways = self.completions[t]
            for y in np.flatnonzero(ways.astype(bool)):
                steps[t, y] = (choices[y] / ways[y]).astype(np.float64)
        return first, steps


def _below(total: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` whole numbers below the total, uniform; objects where they do not fit 63 bits."""
    if total < LARGE:
        return rng.integers(total, size=n)
    n_bytes, spare = (total.bit_length() + 7) // 8, -total.bit_length() % 8
    drawn = np.empty(n, dtype=object)
    for i in range(n):
        drawn[i] = total
        while drawn[i] >= total:  # at most two draws on average
            drawn[i] = int.from_bytes(rng.bytes(n_bytes), "big") >> spare
    return drawn
