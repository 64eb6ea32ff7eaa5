# SPDX-License-Identifier: BSD-3-Clause
"""The chains of least cost of every row, one or the k best, rows being of any lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Chains:
    """Costs of many chains in stacked form, with everything that may be left out filled in."""

    unary: np.ndarray  # float, (N, q)
    starts: np.ndarray  # int, (n + 1,): row i owns starts[i]:starts[i + 1]
    transitions: np.ndarray | None  # float, (m, q, q); None where symbols do not meet
    which: np.ndarray  # int, (N,): the matrix for the step into each position
    beginning: np.ndarray  # float, (1 or n, q)
    ending: np.ndarray  # float, (1 or n, q)
    shortest: np.ndarray  # int, (n,)
    longest: np.ndarray  # int, (n,)

    @classmethod
    def read(
        cls,
        unary: ArrayLike,
        starts: ArrayLike,
        transitions: ArrayLike | None = None,
        *,
        which: ArrayLike | None = None,
        beginning: ArrayLike | None = None,
        ending: ArrayLike | None = None,
        shortest: ArrayLike | None = None,
        longest: ArrayLike | None = None,
    ) -> Chains:
        """Parameters as of :func:`best_chains`."""
        unary = np.ascontiguousarray(unary, dtype=np.float64)
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        N, q = unary.shape
        n = len(starts) - 1
        owned = np.diff(starts)
        longest = owned if longest is None else np.minimum(owned, longest)
        shortest = longest if shortest is None else np.broadcast_to(shortest, n)
        none = np.zeros((1, q))
        if transitions is not None:
            transitions = np.ascontiguousarray(transitions, dtype=np.float64)
            if which is None:
                which = np.zeros(N, np.int64) if len(transitions) == 1 else np.arange(N)
        return cls(
            unary, starts, transitions,
            np.zeros(0, np.int64) if which is None else np.ascontiguousarray(which, np.int64),
            none if beginning is None else np.ascontiguousarray(np.atleast_2d(beginning), float),
            none if ending is None else np.ascontiguousarray(np.atleast_2d(ending), float),
            np.ascontiguousarray(shortest, np.int64), np.ascontiguousarray(longest, np.int64),
        )  # fmt: skip

    def tables(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
        """What the compiled passes take, in their order."""
        return (
            self.unary, self.starts, self.transitions, self.which, self.beginning, self.ending,
            self.shortest, self.longest,
        )  # fmt: skip


def best_chains(
    unary: ArrayLike,
    starts: ArrayLike,
    transitions: ArrayLike | None = None,
    *,
    which: ArrayLike | None = None,
    beginning: ArrayLike | None = None,
    ending: ArrayLike | None = None,
    shortest: ArrayLike | None = None,
    longest: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""For every row the symbols of least total cost.

    .. math:: \min_{z} \sum_t u_t(z_t) + \sum_{t > 0} C_t(z_{t-1}, z_t)

    The positions of all rows stand one after the other. Exact, by one pass over each row;
    position by position where symbols do not meet. An infinite cost forbids. Of equally
    cheap chains the shortest, and then the one with the lowest symbols, read from the end.

    Parameters
    ----------
    unary : array of shape (N, q)
        Cost of each symbol at each position, of any sign.
    starts : int array of shape (n + 1,)
        Row i owns the positions starts[i]:starts[i + 1].
    transitions : array of shape (1, q, q) or (N, q, q), default=None
        Cost of (symbol at i - 1, symbol at i), the same everywhere or for each position i;
        those of the first position of a row are not used.
    which : int array of shape (N,), default=None
        With another number of matrices: which of them leads into each position.
    beginning, ending : arrays of shape (q,), (1, q) or (n, q), default=None
        Further cost of the first and of the last symbol, wherever that is.
    shortest, longest : int or int arrays of shape (n,), default=None
        A row may end at any such length; None for the number of its positions.

    Returns
    -------
    symbols : int array of shape (N,)
        -1 behind the end of a row, and in rows without any chain.
    values : array of shape (n,)
        Infinite where every chain of a row is forbidden.

    References
    ----------
    A. J. Viterbi, "Error bounds for convolutional codes and an asymptotically optimum
    decoding algorithm", 1967.

    Examples
    --------
    >>> unary = np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 2.0]])
    >>> switch = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> best_chains(unary, [0, 2, 3], switch)
    (array([0, 0, 0]), array([0.5, 0. ]))
    """
    chains = Chains.read(
        unary, starts, transitions,
        which=which, beginning=beginning, ending=ending, shortest=shortest, longest=longest,
    )  # fmt: skip
    if chains.transitions is None:
        return _best_apart(chains)
    from skstruct.spaces.sequence_sets.chains._numba_viterbi import viterbi_rows

    symbols = np.full(len(chains.unary), -1, np.int64)
    values = np.empty(len(chains.longest))
    viterbi_rows(*chains.tables(), symbols, values)
    return symbols, values


def _best_apart(chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    """Position by position; only the first and the last have something more to pay."""
    starts, n = chains.starts, len(chains.longest)
    unary, rows = chains.unary, np.arange(n)
    row = np.repeat(rows, np.diff(starts))
    if chains.beginning.any() and len(unary):
        unary, first = unary.copy(), starts[:-1][np.diff(starts) > 0]
        unary[first] += chains.beginning[row[first] % len(chains.beginning)]
    symbols, least = _min_cost_symbols(unary)
    closing, last = symbols, least
    if chains.ending.any():
        closing, last = _min_cost_symbols(unary + chains.ending[row % len(chains.ending)])
    total = _totals(least, last, chains)
    length = total.argmin(axis=1) if n else np.zeros(0, np.int64)
    values = total[rows, length]
    length[np.isinf(values)] = 0
    position = np.arange(len(unary)) - starts[row]
    symbols = np.where(position == length[row] - 1, closing, symbols)
    symbols[position >= length[row]] = -1
    return symbols, values


def _min_cost_symbols(unary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    symbols = unary.argmin(axis=1)
    return symbols, unary[np.arange(len(unary)), symbols]


def _totals(least: np.ndarray, last: np.ndarray, chains: Chains) -> np.ndarray:
    """Least cost of a chain of k symbols in column k, infinite where it may not be so long."""
    owned = np.diff(chains.starts)
    most = int(owned.max(initial=0))
    used = np.arange(most) < owned[:, None]
    inner, final = np.zeros((2, len(owned), most))
    inner[used], final[used] = least, last
    total = np.zeros((len(owned), most + 1))
    np.cumsum(inner[:, :-1], axis=1, out=total[:, 2:])
    total[:, 1:] += final
    size = np.arange(most + 1)
    total[(size < chains.shortest[:, None]) | (size > chains.longest[:, None])] = np.inf
    return total


def k_best_chains(
    unary: ArrayLike,
    starts: ArrayLike,
    transitions: ArrayLike | None = None,
    *,
    k: int,
    which: ArrayLike | None = None,
    beginning: ArrayLike | None = None,
    ending: ArrayLike | None = None,
    shortest: ArrayLike | None = None,
    longest: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the ``k`` minimum-cost chains, all different, best first.

    The pass of :func:`~.viterbi.best_chains` with a list of k costs
    where that has one; the first of them is its answer. Parameters as there.

    Returns
    -------
    symbols : int array of shape (N, k)
        -1 behind the end of a chain, and where a row has fewer chains.
    values : array of shape (n, k)
        Infinite where a row has fewer; ranks that no row has are left off.

    Examples
    --------
    >>> unary = np.array([[0.0, 1.0], [0.5, 0.0]])
    >>> symbols, values = k_best_chains(unary, [0, 2], k=9)
    >>> symbols.T.tolist(), values.tolist()
    ([[0, 1], [0, 0], [1, 1], [1, 0]], [[0.0, 0.5, 1.0, 1.5]])
    """
    from skstruct.spaces.sequence_sets.chains._numba_viterbi import k_best_rows

    q = np.shape(unary)[1]
    if transitions is None:
        transitions = np.zeros((0, q, q))
    chains = Chains.read(
        unary, starts, transitions,
        which=which, beginning=beginning, ending=ending, shortest=shortest, longest=longest,
    )  # fmt: skip
    k = min(k, _most(q, int(chains.longest.max(initial=0)), k))
    symbols = np.full((len(chains.unary), k), -1, np.int64)
    values = np.full((len(chains.longest), k), np.inf)
    k_best_rows(*chains.tables(), symbols, values)
    known = np.isfinite(values).any(axis=0)
    return symbols[:, known], values[:, known]


def _most(q: int, longest: int, enough: int) -> int:
    """Number of chains of up to so many symbols, counted until there are enough."""
    total = size = 1
    for _ in range(longest):
        size *= q
        total += size
        if total >= enough:
            break
    return total
