# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders and partial tournaments, uniformly."""

from typing import Any

import numpy as np

from skstruct.facets import kept
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.edge_sets.uniform import UniformOfEdgeSets
from skstruct.spaces.partial_orders.counting import COUNTS, MOST_LISTED, list_orders
from skstruct.spaces.partial_orders.decoding import swapped_columns
from skstruct.spaces.partial_orders.relaxation import OpenPairs, SwappedPairs
from skstruct.spaces.uniform import LIMIT, Seed


class UniformOfPartialOrders(UniformOfEdgeSets):
    """Partial orders by their list; how many there are, of up to 18 items, from a table."""

    __slots__ = ()

    @property
    def counted(self) -> Any:
        """The space itself where its orders can be listed, else all partial tournaments."""
        return self.space if len(self.space.items_) <= MOST_LISTED else self.relaxation()

    def relaxation(self) -> OpenPairs:
        """All partial tournaments: every pair open, or ordered either way, by itself."""
        relaxed = OpenPairs(self.space.items_)
        relaxed.format_ = self.space.format_
        return relaxed

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        constraints = self._one_row()
        return list_orders(constraints.low[0], constraints.high[0], len(self.space.items_), limit)

    @kept
    def _count(self) -> int:
        n = len(self.space.items_)
        if n < len(COUNTS) and not self._one_row().is_masked:
            return COUNTS[n]
        return len(self._listed)


class UniformOfOpenPairs(UniformOfEdgeSets):
    """Pairs that are independent of each other, unless constraints say something of some."""

    __slots__ = ()

    @property
    def _is_free(self) -> bool:
        return not self.space.constraints_.is_masked

    @kept
    def _count(self) -> int:
        return int(3 ** (len(self.space.edges_) // 2)) if self._is_free else len(self._listed)

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs: a third; shape (d,)."""
        d = len(self.space.edges_)
        return np.full(d, 1 / 3) if self._is_free else super().mean_embedding()

    def _closed_covariance(self) -> Covariance | None:
        """2/9 for a column and itself, -1/9 for the two of a pair, else 0."""
        if not self._is_free:
            return None
        return SwappedPairs(len(self.space.nodes_), 1 / 9, 1 / 3)

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        if not self._is_free:
            return super().sample(n, rng)
        swapped = swapped_columns(len(self.space.nodes_))
        first = np.flatnonzero(np.arange(len(swapped)) < swapped)
        states = np.random.default_rng(rng).integers(3, size=(n, len(first)))
        drawn = np.zeros((n, len(swapped)), np.int8)
        drawn[:, first], drawn[:, swapped[first]] = states == 1, states == 2
        return drawn
