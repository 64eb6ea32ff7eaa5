# SPDX-License-Identifier: BSD-3-Clause
"""Properties of graphs, and those with which the cheapest edge set is found greedily."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from skstruct.decoding.components import cheapest_connected, cheapest_forests, count_components
from skstruct.spaces.base import EXACT, Guarantee
from skstruct.spaces.covariances import Scalar
from skstruct.spaces.graphs.edge_table import EdgeTable
from skstruct.spaces.graphs.forms import as_networkx
from skstruct.spaces.graphs.graph_counts import n_connected, n_forests
from skstruct.spaces.label_sets import LabelSets
from skstruct.spaces.limits import Limits
from skstruct.summing.base import Law
from skstruct.walking.base import Moves


class GraphProperty(ABC):
    """Which edge sets of given nodes have a property, and which of them is the cheapest."""

    hereditary = False  # whether with a set all its subsets have the property
    slow = False  # whether graphs are tested one by one
    sized = False  # whether decoding obeys limits on the number of edges

    def __init__(self, table: EdgeTable):
        self.table, self.edges, self.n_nodes = table, table.edges, len(table.nodes)

    @abstractmethod
    def why_not(self, row: np.ndarray) -> str:
        """What is wrong with a 0/1 row, as the rest of a sentence; "" if nothing is."""

    @abstractmethod
    def holds(self, Z: np.ndarray) -> np.ndarray:
        """Which 0/1 rows have the property; shape (n,)."""

    @abstractmethod
    def decode(self, costs: np.ndarray, limits: Limits):
        """Outputs, values (infinite where infeasible) and bounds."""

    def guarantee(self, limits: Limits) -> Guarantee:
        return EXACT

    def count(self, limits: Limits | None) -> int | None:
        """How many edge sets have the property; None where they must be listed."""
        return self.count_all() if limits is None else None

    def count_all(self) -> int | None:
        """The same without limits."""
        return None

    def closed_forms(self, limits: Limits | None) -> Any:
        """What has mean_embedding, covariance, second_moment and sample; None if nothing has."""
        return None

    def law(self, scores: np.ndarray, limits: Limits | None) -> Law | None:
        """Laws of edge sets with the property; None where they must be listed."""
        return None

    def moves(self, limits: Limits | None) -> Moves | None:
        """Local moves among edge sets with the property; None where none are known."""
        return None


def name_cycle(table: EdgeTable, row: np.ndarray) -> str:
    """Some cycle as the rest of a sentence; "" if there is none."""
    import networkx

    try:
        steps = networkx.find_cycle(as_networkx(table, row))
    except networkx.NetworkXNoCycle:
        return ""
    arrow = " -> " if table.directed else " - "
    return "has the cycle " + arrow.join(repr(v) for v in [steps[0][0], *(s[1] for s in steps)])


class Anything(GraphProperty):
    """No property at all: edges are independent of each other."""

    hereditary = sized = True

    def why_not(self, row):
        return ""

    def holds(self, Z):
        return np.ones(len(Z), bool)

    def decode(self, costs, limits):
        return self._sets(limits)._decode(costs, limits)

    def _sets(self, limits) -> LabelSets:
        return LabelSets(range(len(self.edges)), limits=limits)

    def count(self, limits):
        return 1 << len(self.edges) if limits is None else self._sets(limits).size()

    def closed_forms(self, limits):
        return self if limits is None else self._sets(limits)

    def law(self, scores, limits):
        return self._sets(limits).law(scores)

    def moves(self, limits):
        return self._sets(limits).moves()

    def mean_embedding(self):
        return np.full(len(self.edges), 0.5)

    def covariance(self):
        return Scalar(0.25, len(self.edges))

    def second_moment(self):
        return self.covariance().dense() + 0.25

    def sample(self, n, rng):
        return rng.integers(0, 2, (n, len(self.edges)), dtype=np.int8)


class Forest(GraphProperty):
    """No cycle: the cheapest forest by Kruskal's greedy order."""

    hereditary = sized = True

    def why_not(self, row):
        return name_cycle(self.table, row)

    def holds(self, Z):
        return count_components(Z, self.edges, self.n_nodes) == self.n_nodes - Z.sum(axis=1)

    def decode(self, costs, limits):
        masks = limits.low, limits.high, limits.smallest, limits.largest
        outputs, values = cheapest_forests(costs, self.edges, self.n_nodes, *masks)
        return outputs, values, values

    def count_all(self):
        return n_forests(self.n_nodes)


class Connected(GraphProperty):
    """A path between any two nodes, where directions do not matter."""

    def why_not(self, row):
        import networkx

        parts = list(networkx.connected_components(as_networkx(self.table, row).to_undirected()))
        if len(parts) == 1:
            return ""
        apart = (repr(next(name for name in self.table.nodes if name in p)) for p in parts[:2])
        return f"is not connected: no path joins {' and '.join(apart)}"

    def holds(self, Z):
        return count_components(Z, self.edges, self.n_nodes) == 1

    def decode(self, costs, limits):
        masks = limits.low, limits.high
        outputs, values = cheapest_connected(costs, self.edges, self.n_nodes, *masks)
        return outputs, values, values

    def count_all(self):
        return n_connected(self.n_nodes, per_pair=4 if self.table.directed else 2)


def outweighing(costs: np.ndarray) -> np.ndarray:
    """A price per row that all costs together do not reach; shape (n, 1)."""
    price = 2 * np.abs(costs).sum(axis=1, keepdims=True)
    return np.where(price > 0, price, 1.0)
