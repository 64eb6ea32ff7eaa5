# SPDX-License-Identifier: BSD-3-Clause
"""Partial tournaments by ordered pairs: what partial orders are contrasted with."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.edge_sets.space import EdgeSetSpace
from skstruct.spaces.partial_orders.decoding import swapped_columns


@savable
class SwappedPairs(Covariance):
    """Columns come in twos, those of a before b and b before a, and other twos are independent.

    Parameters
    ----------
    n_items : int
    on_sums, on_differences : float
        Eigenvalues of rows that are the same for both of two columns, and of opposite sign.
    """

    def __init__(self, n_items: int, on_sums: float, on_differences: float) -> None:
        self.n_items, self.d = n_items, n_items * (n_items - 1)
        self.eigenvalues = np.array([on_sums, on_differences], dtype=np.float64)

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        swapped = V[:, swapped_columns(self.n_items)]
        return [(V + swapped) / 2, (V - swapped) / 2]


@savable
class OpenPairs(EdgeSetSpace):
    r"""Partial tournaments: each pair is open, or ordered one way or the other, independently.

    There are :math:`3^{N(N-1)/2}`, each column is 1 in a third of them, and columns of one pair
    have covariance -1/9: signed pairs have mean 0 and covariance :math:`\tfrac23 I`.

    Parameters
    ----------
    nodes : sequence of names or int
    constraints : Constraints, default=None

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Section 4.3.1.
    """

    _directed = True
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, nodes: int | Iterable[Any] | None = None, *, constraints: Constraints | None = None
    ) -> None:
        self.nodes = nodes
        self.constraints = constraints

    @property
    def _swapped(self) -> np.ndarray:
        return swapped_columns(len(self.nodes_))

    def _holds(self, Z: np.ndarray) -> np.ndarray:
        return ~(Z.astype(bool) & Z[:, self._swapped].astype(bool)).any(axis=1)

    def _why_not(self, row: np.ndarray) -> str:
        both = np.flatnonzero(row.astype(bool) & row[self._swapped].astype(bool))
        if not len(both):
            return ""
        first, second = self.labels_[both[0]]
        return f"has both {first!r} before {second!r} and {second!r} before {first!r}"

    def _decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        swapped = self._swapped
        low = np.broadcast_to(constraints.low, costs.shape)
        charged = np.where(constraints.high & ~low[:, swapped], costs, np.inf)
        other = charged[:, swapped]
        first = np.arange(len(swapped)) < swapped
        taken = low | ((charged < 0) & ((charged < other) | ((charged == other) & first)))
        outputs = taken.astype(np.int8)
        broken = (low & (low[:, swapped] | ~constraints.high)).any(axis=1)
        values = np.where(broken, np.inf, (costs * outputs).sum(axis=1))
        return outputs, values, values

    @property
    def _is_free(self) -> bool:
        return not self.constraints_.is_masked

    @property
    def _count(self) -> int:
        return int(3 ** (len(self.edges_) // 2)) if self._is_free else len(self._listed)

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs: a third; shape (d,)."""
        return np.full(len(self.edges_), 1 / 3) if self._is_free else super().mean_embedding()

    def covariance(self) -> Covariance:
        """2/9 for a column and itself, -1/9 for the two of a pair, else 0."""
        if not self._is_free:
            return super().covariance()
        return SwappedPairs(len(self.nodes_), 1 / 9, 1 / 3)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        if not self._is_free:
            return super().second_moment()
        dense: np.ndarray = self.covariance().dense()
        return dense + 1 / 9

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        if not self._is_free:
            return super().sample(n, rng)
        swapped = self._swapped
        first = np.flatnonzero(np.arange(len(swapped)) < swapped)
        states = np.random.default_rng(rng).integers(3, size=(n, len(first)))
        drawn = np.zeros((n, len(swapped)), np.int8)
        drawn[:, first], drawn[:, swapped[first]] = states == 1, states == 2
        return drawn
