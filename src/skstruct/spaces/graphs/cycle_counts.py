# SPDX-License-Identifier: BSD-3-Clause
r"""How many simple cycles there are, and how many run through one or two given arcs.

A directed cycle of i places is an order of them up to rotation, so that N places have
:math:`\binom{N}{i}(i-1)!` of them; an arc glues its two ends together, which leaves
:math:`\binom{N-2}{i-2}(i-2)!` that use it, and so on. All counts are exact integers, all
moments ratios of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial, perm

import numpy as np

from skstruct.spaces.covariances import Covariance, PairScheme

SHORTEST = 3  # places of a cycle: two arcs back and forth are none


def cycles_by_size(n_free: int, n_held: int = 0) -> list[int]:
    """Directed cycles of 0, 1, 2, ... places that visit all ``n_held`` and some of ``n_free``.

    Examples
    --------
    >>> cycles_by_size(4)
    [0, 0, 0, 8, 6]
    """
    sizes = range(n_free + n_held + 1)
    return [
        comb(n_free, i - n_held) * factorial(i - 1) if i >= max(SHORTEST, n_held) else 0
        for i in sizes
    ]


@dataclass(frozen=True)
class CycleCounts:
    """Directed cycles of some sizes on n places: all, and those that use given arcs.

    Examples
    --------
    >>> CycleCounts.of(4)
    CycleCounts(n_places=4, total=14, through=4, consecutive=2, disjoint=1)
    """

    n_places: int
    total: int
    through: int  # that use one arc, P
    consecutive: int  # that use u -> v -> w, a; P = (n - 2) a, as something must follow v
    disjoint: int  # that use two arcs without a common place, b

    @classmethod
    def of(cls, n: int, smallest: int = SHORTEST, largest: int | None = None) -> CycleCounts:
        """Counts of the cycles of smallest..largest places."""
        largest = n if largest is None else min(n, largest)
        sizes = range(max(SHORTEST, smallest), largest + 1)
        return cls(
            n,
            sum(perm(n, i) // i for i in sizes),
            sum(perm(n - 2, i - 2) for i in sizes),
            sum(perm(n - 3, i - 3) for i in sizes),
            # The two arcs and i - 4 other places are i - 2 beads on a ring.
            sum(comb(n - 4, i - 4) * factorial(i - 3) for i in sizes if i > SHORTEST),
        )

    # ------------------------------------------------------------- moments of the embeddings
    def mean(self, directed: bool) -> float:
        """Share of the cycles that use an arc, or an edge in either direction."""
        return (1 if directed else 2) * self.through / self.total

    def signed_pairs(self) -> PairScheme:
        """S = (2a/|Y|)(n I - B'B): a multiple of the projector on the cycle space."""
        on_cycles = 2 * self.n_places * self.consecutive / self.total
        return PairScheme(self.n_places, (0.0, on_cycles), signed=True)

    def edges(self) -> PairScheme:
        """Covariance of undirected cycles, of which there are half as many."""
        values = (2 * value for value in self._symmetric_values())
        return PairScheme(self.n_places, tuple(values), signed=False)

    def arcs(self) -> ArcScheme:
        """Covariance of directed cycles as sets of arcs."""
        on_cycles = self.n_places * self.consecutive / self.total
        return ArcScheme(self.n_places, self._symmetric_values(), (0.0, on_cycles))

    def _symmetric_values(self) -> tuple[float, float, float]:
        r"""Eigenvalues of the arcs' covariance on symmetric matrices: ones, stars, the rest.

        With row sums r, column sums c and sum t of a matrix X without diagonal,

        .. math:: (CX)_{uv} = (P + b) X_{uv} + (b - 2a) X_{vu} + a (r_v + c_u)
                  + b (t - r_u - c_u - r_v - c_v),

        which keeps symmetric matrices symmetric and antisymmetric ones antisymmetric.
        """
        n, P, a, b = self.n_places, self.through, self.consecutive, self.disjoint
        n_arcs, rest = n * (n - 1), P + 2 * b - 2 * a
        ones = rest + 2 * (n - 1) * (a - 2 * b) + n_arcs * b
        stars = rest + (n - 2) * (a - 2 * b)
        # The mean is P/|Y| everywhere; subtracted among integers, where nothing cancels.
        on_ones = (ones * self.total - P * P * n_arcs) / self.total**2
        # Three places have no rest, and the formula gives a negative number for it.
        return on_ones, stars / self.total, max(rest, 0) / self.total


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

    def __init__(self, n_nodes: int, symmetric, antisymmetric):
        self.n_nodes, self.d = n_nodes, n_nodes * (n_nodes - 1)
        self._halves = (
            PairScheme(n_nodes, symmetric, signed=False),
            PairScheme(n_nodes, antisymmetric, signed=True),
        )
        self.eigenvalues = np.concatenate([half.eigenvalues for half in self._halves])

    def parts(self, V):
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
