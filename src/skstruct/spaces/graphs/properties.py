# SPDX-License-Identifier: BSD-3-Clause
"""Properties of graphs, how many graphs have them, and those that are easy to decode."""

from abc import ABC, abstractmethod
from math import comb
from typing import Any

import numpy as np

from skstruct.spaces.common.covariances import PairScheme, Scalar
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.contracts import EXACT, Guarantee
from skstruct.spaces.edge_sets.distribution import MOST_NODES, InnerEdgeDistribution, allowed_sets
from skstruct.spaces.edge_sets.formats import as_networkx
from skstruct.spaces.edge_sets.spanning_trees import (
    count_components,
    min_cost_connected,
    min_cost_forests,
)
from skstruct.spaces.edge_sets.table import EdgeTable
from skstruct.spaces.inference import Inference
from skstruct.spaces.label_sets.space import LabelSets
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.solve import CORE, minimize_fixed
from skstruct.spaces.solvers.proposals import Proposals


def n_forests(n: int) -> int:
    """Graphs without cycle: the component of the first node is one of k^(k - 2) trees.

    >>> [n_forests(n) for n in range(1, 6)]
    [1, 2, 7, 38, 291]
    """
    count = [1]
    for m in range(1, n + 1):
        count.append(sum(comb(m - 1, k - 1) * _n_trees(k) * count[m - k] for k in range(1, m + 1)))
    return count[n]


def _n_trees(k: int) -> int:
    return 1 if k <= 2 else k ** (k - 2)


def n_acyclic_digraphs(n: int) -> int:
    """Directed graphs without cycle, by inclusion and exclusion over their k sources.

    >>> [n_acyclic_digraphs(n) for n in range(1, 6)]
    [1, 3, 25, 543, 29281]
    """
    count = [1]
    for m in range(1, n + 1):
        terms = (
            (-1) ** (k + 1) * comb(m, k) * 2 ** (k * (m - k)) * count[m - k]
            for k in range(1, m + 1)
        )
        count.append(sum(terms))
    return count[n]


def n_connected(n: int, per_pair: int = 2) -> int:
    """Connected graphs: all but those in which the component of the first node has k < n nodes.

    ``per_pair`` is the number of ways to join two nodes or not: 4 with directions.

    >>> [n_connected(n) for n in range(1, 6)], n_connected(3, per_pair=4)
    ([1, 1, 4, 38, 728], 54)
    """
    count = [0]
    for m in range(1, n + 1):
        apart = (comb(m - 1, k - 1) * count[k] * per_pair ** comb(m - k, 2) for k in range(1, m))
        count.append(per_pair ** comb(m, 2) - sum(apart))
    return count[n]


def n_bipartite(n: int) -> int:
    """Graphs with two sides, from those with colored nodes: both sides choose their half.

    Colored graphs number sum_k C(n, k) 2^(k (n - k)) = sum_k C(n, k) b(k) b(n - k).

    >>> [n_bipartite(n) for n in range(1, 6)]
    [1, 2, 7, 41, 376]
    """
    count = [1]
    for m in range(1, n + 1):
        colored = sum(comb(m, k) * 2 ** (k * (m - k)) for k in range(m + 1))
        inner = sum(comb(m, k) * count[k] * count[m - k] for k in range(1, m))
        count.append((colored - inner) // 2)
    return count[n]


class GraphProperty(ABC):
    """Which edge sets of given nodes have a property, and which of them is the one of least
    cost.
    """

    hereditary = False  # whether with a set all its subsets have the property
    slow = False  # whether graphs are tested one by one
    sized = False  # whether decoding obeys constraints on the number of edges

    def __init__(self, table: EdgeTable) -> None:
        self.table, self.edges, self.n_nodes = table, table.edges, len(table.nodes)

    @abstractmethod
    def why_not(self, row: np.ndarray) -> str:
        """What is wrong with a 0/1 row, as the rest of a sentence; "" if nothing is."""

    @abstractmethod
    def holds(self, Z: np.ndarray) -> np.ndarray:
        """Which 0/1 rows have the property; shape (n,)."""

    @abstractmethod
    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs, values (infinite where infeasible) and bounds."""

    def guarantee(self, constraints: Constraints) -> Guarantee:
        return EXACT

    def count(self, constraints: Constraints | None) -> int | None:
        """How many edge sets have the property; None where they must be listed."""
        return self.count_all() if constraints is None else None

    def count_all(self) -> int | None:
        """The same without constraints."""
        return None

    def closed_forms(self, constraints: Constraints | None) -> Any:
        """What has mean_embedding, covariance, second_moment and sample; None if nothing has."""
        return None

    def distribution(
        self, scores: np.ndarray, constraints: Constraints | None
    ) -> Distribution | None:
        """Distributions of edge sets with the property; None where they must be listed."""
        return None

    def proposals(self, constraints: Constraints | None) -> Proposals | None:
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

    def why_not(self, row: np.ndarray) -> str:
        return ""

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return np.ones(len(Z), bool)

    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._sets(constraints)._decode(costs, constraints)

    def _sets(self, constraints: Constraints | None) -> LabelSets:
        return LabelSets(range(len(self.edges)), constraints=constraints)

    def count(self, constraints: Constraints | None) -> int | None:
        return 1 << len(self.edges) if constraints is None else self._sets(constraints).size()

    def closed_forms(self, constraints: Constraints | None) -> Any:
        return self if constraints is None else self._sets(constraints)

    def distribution(self, scores: np.ndarray, constraints: Constraints | None) -> Any:
        return Inference.of(self._sets(constraints)).distribution(scores)

    def proposals(self, constraints: Constraints | None) -> Any:
        return Inference.of(self._sets(constraints)).proposals()

    def mean_embedding(self) -> np.ndarray:
        return np.full(len(self.edges), 0.5)

    def covariance(self) -> Scalar:
        return Scalar(0.25, len(self.edges))

    def second_moment(self) -> np.ndarray:
        return self.covariance().dense() + 0.25

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, 2, (n, len(self.edges)), dtype=np.int8)


class Forest(GraphProperty):
    """No cycle: the minimum-cost forest by Kruskal's greedy order."""

    hereditary = sized = True

    def why_not(self, row: np.ndarray) -> str:
        return name_cycle(self.table, row)

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return count_components(Z, self.edges, self.n_nodes) == self.n_nodes - Z.sum(axis=1)

    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        masks = constraints.low, constraints.high, constraints.smallest, constraints.largest
        outputs, values = min_cost_forests(costs, self.edges, self.n_nodes, *masks)
        return outputs, values, values

    def count_all(self) -> int | None:
        return n_forests(self.n_nodes)


class Connected(GraphProperty):
    """A path between any two nodes, where directions do not matter."""

    def why_not(self, row: np.ndarray) -> str:
        import networkx

        parts = list(networkx.connected_components(as_networkx(self.table, row).to_undirected()))
        if len(parts) == 1:
            return ""
        apart = (repr(next(name for name in self.table.nodes if name in p)) for p in parts[:2])
        return f"is not connected: no path joins {' and '.join(apart)}"

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return count_components(Z, self.edges, self.n_nodes) == 1

    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        masks = constraints.low, constraints.high
        outputs, values = min_cost_connected(costs, self.edges, self.n_nodes, *masks)
        return outputs, values, values

    def count_all(self) -> int | None:
        return n_connected(self.n_nodes, per_pair=4 if self.table.directed else 2)


def outweighing(costs: np.ndarray) -> np.ndarray:
    """A penalty per row that all costs together do not reach; shape (n, 1)."""
    penalty = 2 * np.abs(costs).sum(axis=1, keepdims=True)
    return np.where(penalty > 0, penalty, 1.0)


class Clique(GraphProperty):
    r"""All edges between some nodes, no others: :math:`z_{uv} = y_u y_v` for 0/1 nodes y.

    The least cost is that of a sum of pair costs; sets of one node have no edge, as the empty one.
    """

    def why_not(self, row: np.ndarray) -> str:
        touched = self._touched(row[None])[0]
        u, v = self.edges.T
        lacking = np.flatnonzero(touched[u] & touched[v] & (row == 0))
        if not len(lacking):
            return ""
        pair = self.table.labels[lacking[0]]
        return f"is not a complete graph on its {touched.sum()} nodes: {pair!r} is missing"

    def _touched(self, Z: np.ndarray) -> np.ndarray:
        """Which nodes have an edge; bool of shape (n, N)."""
        touched = np.zeros((len(Z), self.n_nodes), bool)
        row, edge = np.nonzero(Z)
        for end in self.edges.T:
            touched[row, end[edge]] = True
        return touched

    def holds(self, Z: np.ndarray) -> np.ndarray:
        size = self._touched(Z).sum(axis=1)
        return Z.sum(axis=1) == size * (size - 1) // 2

    def guarantee(self, constraints: Constraints) -> Guarantee:
        return EXACT if self.n_nodes <= CORE else Guarantee("bound only")

    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u, v = self.edges.T
        low = self._touched(np.broadcast_to(constraints.low, costs.shape))
        # Both ends of an edge that must be out cost more than all else can gain.
        penalized = np.where(constraints.high, costs, outweighing(costs))
        free = np.zeros((len(costs), self.n_nodes))
        nodes, _, bounds = minimize_fixed(free, penalized, self.edges, low, np.ones_like(low))
        outputs = nodes[:, u] & nodes[:, v]
        broken = (outputs > constraints.high).any(axis=1)
        outputs[broken] = low[broken][:, u] & low[broken][:, v]  # what must be in, and no more
        values = (costs * outputs).sum(axis=1)
        values[(outputs > constraints.high).any(axis=1)] = np.inf
        exact = self.guarantee(constraints) == EXACT
        return outputs, values, values if exact else np.minimum(bounds, values)

    # ------------------------------------------------------------- all cliques
    def count_all(self) -> int | None:
        return 2**self.n_nodes - self.n_nodes

    def closed_forms(self, constraints: Constraints | None) -> Any:
        return self if constraints is None else None

    def distribution(self, scores: np.ndarray, constraints: Constraints | None) -> Any:
        """Distributions by all sets of up to 18 nodes but the single ones."""
        if self.n_nodes > MOST_NODES:
            return None
        n, d = self.n_nodes, len(self.edges)
        low = np.zeros((1, d), bool) if constraints is None else constraints.low
        high = np.ones((1, d), bool) if constraints is None else constraints.high
        allowed = allowed_sets(self._touched(low)[0], np.ones(n, bool))
        allowed[1 << np.arange(n)] = False
        for ends in np.eye(n, dtype=bool)[self.edges[~high[0]]]:
            allowed &= ~allowed_sets(ends.any(axis=0), np.ones(n, bool))
        return InnerEdgeDistribution(scores, self.edges, allowed)

    def _share(self, n_fixed: int) -> float:
        """The share of cliques that hold so many given nodes, at least two."""
        return 2 ** (self.n_nodes - n_fixed) / self.count_all() if n_fixed <= self.n_nodes else 0.0

    def mean_embedding(self) -> np.ndarray:
        return np.full(len(self.edges), self._share(2))

    def covariance(self) -> PairScheme:
        """P(e and e') depends on how many nodes the two edges have: two, three or four."""
        n, (same, near, far) = self.n_nodes, (self._share(k) for k in (2, 3, 4))
        ones = same + 2 * (n - 2) * near + comb(n - 2, 2) * far - same**2 * len(self.edges)
        stars, rest = same + (n - 4) * near - (n - 3) * far, same - 2 * near + far
        return PairScheme(n, (ones, stars, rest), signed=False)

    def second_moment(self) -> np.ndarray:
        return self.covariance().dense() + self._share(2) ** 2

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Uniform node sets, drawn again where they are single nodes."""
        nodes = rng.integers(0, 2, (n, self.n_nodes), dtype=np.int8)
        while (again := nodes.sum(axis=1) == 1).any():
            nodes[again] = rng.integers(0, 2, (again.sum(), self.n_nodes), dtype=np.int8)
        u, v = self.edges.T
        return nodes[:, u] & nodes[:, v]
