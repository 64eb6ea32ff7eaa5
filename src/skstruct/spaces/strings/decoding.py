# SPDX-License-Identifier: BSD-3-Clause
"""Strings of least cost by n-grams, and those of nearest n-gram counts: pre-images."""

from dataclasses import dataclass

import numpy as np

MOST_ENTRIES = 2**27  # of a table of costs by length and state: 1 GiB


@dataclass(frozen=True, eq=False)
class GramConstraints:
    """Constraints on strings over 0..q-1; each array has one row for all strings or one for each.

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

    def _known(self) -> np.ndarray:
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


def min_cost_strings(
    costs: np.ndarray, constraints: GramConstraints
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the string that minimizes <costs, n-gram counts>, exactly.

    A walk in the de Bruijn graph: states are the last n - 1 symbols, and the table of least
    costs by state and remaining length has one step per n-gram. Of strings that cost the
    same the shortest is taken, then the one with lower symbols first.

    Parameters
    ----------
    costs : array of shape (n, q**order)
    constraints : GramConstraints

    Returns
    -------
    symbols : int array of shape (n, longest length of all), padded with -1
    values : array of shape (n,)
        Infinite where no string meets the constraints.

    Examples
    --------
    >>> costs = np.array([[3.0, -1.0, -2.0, 0.0]])  # of 00, 01, 10 and 11
    >>> four = GramConstraints(2, 2, np.array([4]), np.array([4]))
    >>> symbols, values = min_cost_strings(costs, four)
    >>> symbols.tolist(), values.tolist()
    ([[1, 0, 1, 0]], [-5.0])
    """
    from skstruct.spaces.strings._numba_paths import min_cost_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    if constraints.forbidden is not None:
        costs = np.where(constraints.forbidden, np.inf, costs)
    symbols, values = constraints.without_grams(len(costs))
    min_cost_rows(costs, constraints.q, constraints.order, constraints.compiled(), symbols, values)
    return symbols, values


MAX_NODES = 150_000  # a row then takes about a tenth of a second at most
NODES_PER_SECOND = 1_500_000  # nominally


def nearest_strings(
    g: np.ndarray, constraints: GramConstraints, *, max_nodes: int = MAX_NODES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""For every row a string z with little :math:`|\psi(z)|^2 - 2 \langle \psi(z), g \rangle`.

    :math:`\psi(z)` counts the n-grams of z, so that z has the counts nearest to g: the
    pre-image of the spectrum kernel, for a g that may be of any sign. Bounds come from
    minimum-cost walks under straight lines below the squares, whose slopes are improved step by
    step; strings from branch and bound with those bounds, all beginnings of one length at a
    time. Both take turns until they meet or the work is spent. Single symbols (``order=1``)
    have a closed form.

    Parameters
    ----------
    g : array of shape (n, q**order)
    constraints : GramConstraints
    max_nodes : int
        Beginnings of strings to extend in one row, where 500 entries of a table count as one.

    Returns
    -------
    symbols : int array of shape (n, longest length of all), padded with -1
    values, bounds : arrays of shape (n,)
        Equal where the string is proven best; infinite where no string meets the constraints.

    References
    ----------
    Giguère, Rolland, Laviolette, Marchand (2015), Algorithms for the hard pre-image problem of
    string kernels and the general string prediction problem. Barahona, Anbil (2000), The
    volume algorithm: producing primal solutions with a subgradient method.

    Examples
    --------
    >>> g = np.array([[0.2, 1.9, 1.4, -0.3]])  # about twice 01 and once 10
    >>> two_to_six = GramConstraints(2, 2, np.array([2]), np.array([6]))
    >>> symbols, values, bounds = nearest_strings(g, two_to_six)
    >>> symbols.tolist(), values.round(2).tolist(), bool(values == bounds)
    ([[0, 1, 0, 1, -1, -1]], [-5.4], True)
    """
    twice = 2.0 * np.ascontiguousarray(g, dtype=np.float64)
    if constraints.forbidden is not None:
        twice = np.where(constraints.forbidden, -np.inf, twice)
    symbols, values = constraints.without_grams(len(twice))
    if constraints.order == 1:
        from skstruct.spaces.strings._numba_preimages import count_rows

        shortest, longest, known, *_ = constraints.compiled()
        count_rows(twice, shortest, longest, known, symbols, values)
        return symbols, values, values.copy()
    from skstruct.spaces.strings._numba_preimages import nearest_rows

    bounds, parts = np.empty(len(twice)), constraints.compiled()
    nearest_rows(twice, constraints.q, constraints.order, parts, max_nodes, symbols, values, bounds)
    return symbols, values, bounds
