# SPDX-License-Identifier: BSD-3-Clause
r"""Tours, nodes in order of travel: counts, lists, samples, and their 0/1 rows over arcs.

A directed cycle of i nodes is an order of them up to rotation, so that N nodes have
:math:`\binom{N}{i}(i-1)!` of them; an arc glues its two ends together, which leaves
:math:`\binom{N-2}{i-2}(i-2)!` that use it, and so on. All counts are exact integers, all
moments ratios of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial, perm

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.common.covariances import Covariance, PairScheme
from skstruct.spaces.edge_sets.table import EdgeTable

SHORTEST = 3  # nodes of a cycle: two arcs back and forth are none


def cycles_by_size(n_free: int, n_fixed: int = 0) -> list[int]:
    """Directed cycles of 0, 1, 2, ... nodes that visit all ``n_fixed`` and some of ``n_free``.

    Examples
    --------
    >>> cycles_by_size(4)
    [0, 0, 0, 8, 6]
    """
    sizes = range(n_free + n_fixed + 1)
    return [
        comb(n_free, i - n_fixed) * factorial(i - 1) if i >= max(SHORTEST, n_fixed) else 0
        for i in sizes
    ]


@dataclass(frozen=True)
class CycleCounts:
    """Directed cycles of some sizes on n nodes: all, and those that use given arcs.

    Examples
    --------
    >>> CycleCounts.of(4)
    CycleCounts(n_nodes=4, total=14, through=4, consecutive=2, disjoint=1)
    """

    n_nodes: int
    total: int
    through: int  # that use one arc, P
    consecutive: int  # that use u -> v -> w, a; P = (n - 2) a, as something must follow v
    disjoint: int  # that use two arcs without a common node, b

    @classmethod
    def of(cls, n: int, smallest: int = SHORTEST, largest: int | None = None) -> CycleCounts:
        """Counts of the cycles of smallest..largest nodes."""
        largest = n if largest is None else min(n, largest)
        sizes = range(max(SHORTEST, smallest), largest + 1)
        return cls(
            n,
            sum(perm(n, i) // i for i in sizes),
            sum(perm(n - 2, i - 2) for i in sizes),
            sum(perm(n - 3, i - 3) for i in sizes),
            # The two arcs and i - 4 other nodes are i - 2 beads on a ring.
            sum(comb(n - 4, i - 4) * factorial(i - 3) for i in sizes if i > SHORTEST),
        )

    # ------------------------------------------------------------- moments of the embeddings
    def mean(self, directed: bool) -> float:
        """Share of the cycles that use an arc, or an edge in either direction."""
        return (1 if directed else 2) * self.through / self.total

    def signed_pairs(self) -> PairScheme:
        """S = (2a/|Y|)(n I - B'B): a multiple of the projector on the cycle space."""
        on_cycles = 2 * self.n_nodes * self.consecutive / self.total
        return PairScheme(self.n_nodes, (0.0, on_cycles), signed=True)

    def edges(self) -> PairScheme:
        """Covariance of undirected cycles, of which there are half as many."""
        values = (2 * value for value in self._symmetric_values())
        return PairScheme(self.n_nodes, tuple(values), signed=False)

    def arcs(self) -> ArcScheme:
        """Covariance of directed cycles as sets of arcs."""
        on_cycles = self.n_nodes * self.consecutive / self.total
        return ArcScheme(self.n_nodes, self._symmetric_values(), (0.0, on_cycles))

    def _symmetric_values(self) -> tuple[float, float, float]:
        r"""Eigenvalues of the arcs' covariance on symmetric matrices: ones, stars, the rest.

        With row sums r, column sums c and sum t of a matrix X without diagonal,

        .. math:: (CX)_{uv} = (P + b) X_{uv} + (b - 2a) X_{vu} + a (r_v + c_u)
                  + b (t - r_u - c_u - r_v - c_v),

        which keeps symmetric matrices symmetric and antisymmetric ones antisymmetric.
        """
        n, P, a, b = self.n_nodes, self.through, self.consecutive, self.disjoint
        n_arcs, rest = n * (n - 1), P + 2 * b - 2 * a
        ones = rest + 2 * (n - 1) * (a - 2 * b) + n_arcs * b
        stars = rest + (n - 2) * (a - 2 * b)
        # The mean is P/|Y| everywhere; subtracted among integers, where nothing cancels.
        on_ones = (ones * self.total - P * P * n_arcs) / self.total**2
        # Three nodes have no rest, and the formula gives a negative number for it.
        return on_ones, stars / self.total, max(rest, 0) / self.total


@savable
class ArcScheme(Covariance):
    r"""Coordinates are the arcs (u, v) of n nodes, row by row, and nodes may change places.

    What also looks the same with all arcs turned around splits into two halves of n(n-1)/2:
    :math:`(x_{uv} + x_{vu})/\sqrt 2`, pairs without signs, and
    :math:`(x_{uv} - x_{vu})/\sqrt 2`, pairs with signs.

    Parameters
    ----------
    n_nodes : int
    symmetric : (on ones, on stars, on the rest)
    antisymmetric : (on cuts, on cycles)

    Examples
    --------
    >>> CycleCounts.of(3).arcs().dense()[0]  # two cycles, each the complement of the other
    array([ 0.25, -0.25, -0.25,  0.25,  0.25, -0.25])
    """

    def __init__(
        self,
        n_nodes: int,
        symmetric: tuple[float, float, float],
        antisymmetric: tuple[float, float],
    ) -> None:
        self.n_nodes, self.d = n_nodes, n_nodes * (n_nodes - 1)
        self._halves = (
            PairScheme(n_nodes, symmetric, signed=False),
            PairScheme(n_nodes, antisymmetric, signed=True),
        )
        self.eigenvalues = np.concatenate([half.eigenvalues for half in self._halves])

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        there, back = arc_columns(self.n_nodes)
        parts = []
        for half, sign in zip(self._halves, (1.0, -1.0)):
            for part in half.parts((V[:, there] + sign * V[:, back]) / 2):
                whole = np.empty_like(V, dtype=np.float64)
                whole[:, there], whole[:, back] = part, sign * part
                parts.append(whole)
        return parts


def arc_columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    """For the pairs u < v, the columns of u -> v and of v -> u among all arcs.

    Examples
    --------
    >>> arc_columns(3)  # (0,1) (0,2) (1,0) (1,2) (2,0) (2,1)
    (array([0, 1, 3]), array([2, 4, 5]))
    """
    u, v = np.triu_indices(n, 1)
    return u * (n - 1) + v - 1, v * (n - 1) + u


# Cycles as tours, nodes in order of travel, and as 0/1 rows over arcs or edges.
#
# Tours are int64 (n, N), padded with -1. The canonical one starts at its smallest node; where
# direction does not matter, the second node is smaller than the last.


def tours_to_rows(tours: np.ndarray, table: EdgeTable) -> np.ndarray:
    """0/1 rows over arcs or edges; int8 of shape (n, d)."""
    Z = np.zeros((len(tours), len(table.edges)), np.int8)
    row, step = np.nonzero(tours >= 0)
    following = np.where(step + 1 < (tours >= 0).sum(axis=1)[row], step + 1, 0)
    Z[row, table.column[tours[row, step], tours[row, following]]] = 1
    return Z


def rows_to_tours(Z: np.ndarray, table: EdgeTable) -> tuple[np.ndarray, np.ndarray]:
    """Canonical tours of 0/1 rows, and which rows are one cycle of at least three nodes."""
    n_nodes, directed = len(table.nodes), table.directed
    row, column = np.divmod(np.flatnonzero(Z != 0), Z.shape[1])  # ten times np.nonzero's speed
    tail, head = table.edges[column].T
    near, far, good = _neighbours(len(Z), n_nodes, row, tail, head, directed)
    visited = near >= 0
    tours = np.full((len(Z), n_nodes), -1)
    some = np.flatnonzero(good & visited.any(axis=1))
    near, far = near[some], far[some]
    start = visited[some].argmax(axis=1)
    here, before = start, far[np.arange(len(some)), start]
    walking = np.arange(len(some))
    for step in range(n_nodes):
        tours[some[walking], step] = here
        # Of two neighbours, the one that we do not come from.
        one, other = near[walking, here], far[walking, here]
        there = one if directed else one + other - before
        on = there != start[walking]
        here, before, walking = there[on], here[on], walking[on]
        if not len(walking):
            break
    length = (tours >= 0).sum(axis=1)
    return tours, good & (length >= SHORTEST) & (length == visited.sum(axis=1))


def _neighbours(
    n: int, n_nodes: int, row: np.ndarray, tail: np.ndarray, head: np.ndarray, directed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The next node of every node, or its two neighbours; -1 where it is not visited.

    Also which rows come in and go out of every node once, or touch it twice or not at all.
    """
    shape = (n, n_nodes)
    out = np.bincount(row * n_nodes + tail, minlength=n * n_nodes).reshape(shape)
    into = np.bincount(row * n_nodes + head, minlength=n * n_nodes).reshape(shape)
    if directed:
        near = np.full(shape, -1)
        near[row, tail] = head
        return near, near, ((out == into) & (out <= 1)).all(axis=1)
    near, far = np.full(shape, n_nodes), np.full(shape, -1)
    for here, there in ((tail, head), (head, tail)):
        np.minimum.at(near, (row, here), there)
        np.maximum.at(far, (row, here), there)
    degree = out + into
    near[degree == 0] = -1
    return near, far, ((degree == 0) | (degree == 2)).all(axis=1)


def sample_tours(
    n: int, rng: np.random.Generator, low: np.ndarray, high: np.ndarray, by_size: list[int]
) -> np.ndarray:
    """``n`` cycles that visit all of ``low`` within ``high``, uniformly; not canonical.

    A size by its share of the cycles, then a subset of that size in random order: every
    cycle of i nodes is i such orders (2i where direction does not matter).

    Parameters
    ----------
    low, high : bool arrays of shape (N,)
    by_size : list of int
        Number of cycles of every size.
    """
    total, before, shares = sum(by_size), 0, []
    for count in by_size:
        before += count
        shares.append(before / total)  # a ratio of integers, however large
    size = np.searchsorted(shares, rng.random(n), side="right")
    free = np.flatnonzero(high & ~low)
    chosen = np.tile(low, (n, 1))
    picked = rng.permuted(np.tile(free, (n, 1)), axis=1)
    row, rank = np.nonzero(np.arange(len(free)) < (size - low.sum())[:, None])
    chosen[row, picked[row, rank]] = True
    order = rng.permuted(np.tile(np.arange(len(low)), (n, 1)), axis=1)
    left_out = ~np.take_along_axis(chosen, order, axis=1)
    first = np.argsort(left_out, axis=1, kind="stable")
    tours = np.take_along_axis(order, first, axis=1)
    return np.where(np.arange(len(low)) < size[:, None], tours, -1)


def list_tours(
    low: np.ndarray, may: np.ndarray, sizes: tuple[int, int], directed: bool, limit: int
) -> np.ndarray:
    """All canonical tours, step by step; shape (number, N).

    Parameters
    ----------
    low : bool array of shape (N,)
        Nodes that must be visited.
    may : bool array of shape (N, N)
        Arcs that may be used; symmetric where direction does not matter.
    sizes : (smallest, largest)
    limit : int
        An error where there are more.
    """
    n_nodes = len(low)
    latest = np.flatnonzero(low)[0] if low.any() else n_nodes - SHORTEST
    paths = np.arange(min(latest, n_nodes - SHORTEST) + 1, dtype=np.int16)[:, None]
    found, n_found = [np.zeros((0, n_nodes), np.int64)], 0
    for length in range(1, sizes[1] + 1):
        if length >= max(SHORTEST, sizes[0]):
            closed = may[paths[:, -1], paths[:, 0]]
            if not directed:
                closed &= paths[:, 1] < paths[:, -1]
            closed &= low[paths].sum(axis=1) == low.sum()
            full = np.full((int(closed.sum()), n_nodes), -1)
            full[:, :length] = paths[closed]
            found.append(full)
            n_found += len(full)
        if length == sizes[1]:
            break
        paths = _longer(paths, may)
        if n_found > limit or len(paths) > 4 * limit:
            raise UndecidableError(
                f"There are more than {limit:,} cycles or beginnings of cycles; enumerate(limit) "
                "lists more, and narrower constraints leave fewer."
            )
    return np.concatenate(found)


def _longer(paths: np.ndarray, may: np.ndarray) -> np.ndarray:
    """Paths one step longer, by all nodes that come after their start."""
    used = np.zeros((len(paths), len(may)), bool)
    np.put_along_axis(used, paths, True, axis=1)
    later = np.arange(len(may)) > paths[:, :1]
    row, node = np.nonzero(may[paths[:, -1]] & ~used & later)
    return np.column_stack([paths[row], node.astype(np.int16)])
