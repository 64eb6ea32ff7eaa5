# SPDX-License-Identifier: BSD-3-Clause
"""Trees that connect all nodes."""

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.common.covariances import Covariance, DenseCovariance, PairScheme
from skstruct.spaces.common.listing import listed_distribution
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.edge_sets.space import WithinGraph
from skstruct.spaces.edge_sets.spanning_trees import (
    are_trees,
    list_trees,
    min_cost_trees,
    sample_trees,
)
from skstruct.spaces.inference import Inference, OwnInference
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.spanning_trees import counting as tree_counts


@savable
class SpanningTrees(WithinGraph):
    r"""Spanning trees of the complete graph, or of a graph that is given.

    An output is the 0/1 vector of its edges and its own embedding. Decoding is exact; the
    number of trees is the exact determinant of a Laplacian, and with :math:`K` the transfer
    currents,

    .. math:: P(e \in T) = K_{ee}, \qquad
              \mathrm{Cov}(e, f) = -K_{ef}^2, \qquad \mathrm{Var}(e) = K_{ee} (1 - K_{ee})

    Samples are exactly uniform, by Wilson's walks. All of it holds within constraints too: known
    edges are shrunk, forbidden ones left out.

    Parameters
    ----------
    nodes : sequence of names, int or networkx graph, default=None
        The nodes, or how many; those of ``graph``, or learned from ``Y``, when None.
    graph : networkx graph or list of pairs of nodes, default=None
        The edges that a tree may have; all pairs when None.
    constraints : Constraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    nodes_ : tuple
    edges_ : int array of shape (d, 2)
    labels_ : tuple
        Edges as pairs of names, one per column.

    Examples
    --------
    >>> space = SpanningTrees(["a", "b", "c"]).fit([{("a", "b"), ("c", "b")}])
    >>> space.labels_, space.size()
    ((('a', 'b'), ('a', 'c'), ('b', 'c')), 3)
    >>> sorted(space.restore(space.argmin(np.array([[0.5, -1.0, 0.2]])).outputs)[0])
    [('a', 'c'), ('b', 'c')]
    >>> space.restrict(include=[("a", "b")]).mean_embedding()
    array([1. , 0.5, 0.5])
    >>> SpanningTrees(200).size() == 200**198
    True

    References
    ----------
    Burton, Pemantle (1993). Local characteristics, entropy and limit theorems for spanning
    trees and domino tilings via transfer-impedances. Annals of Probability 21.
    """

    def __init__(
        self,
        nodes: int | Iterable[Any] | None = None,
        graph: Any = None,
        *,
        constraints: Constraints | None = None,
    ) -> None:
        self.nodes = nodes
        self.graph = graph
        self.constraints = constraints

    def _possible_edges(self, nodes: tuple[Any, ...]) -> np.ndarray:
        edges = super()._possible_edges(nodes)
        n_parts, part = tree_counts.components(len(nodes), edges)
        if n_parts > 1:
            other = nodes[int(np.flatnonzero(part != part[0])[0])]
            raise ValueError(
                f"SpanningTrees: graph is not connected; it has no way from {nodes[0]!r} to "
                f"{other!r}."
            )
        return edges

    def _holds(self, Z: np.ndarray) -> np.ndarray:
        return are_trees(Z, self.edges_, len(self.nodes_))

    def _why_not(self, row: np.ndarray) -> str:
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.nodes_)
        graph.add_edges_from(self.labels_[e] for e in np.flatnonzero(row))
        try:
            around = [repr(edge[0]) for edge in networkx.find_cycle(graph)]
            return f"is no tree: it has a cycle through {', '.join(around)}"
        except networkx.NetworkXNoCycle:
            reached = networkx.node_connected_component(graph, self.nodes_[0])
        apart = next((name for name in self.nodes_ if name not in reached), None)
        if apart is None:
            return ""
        return f"is not connected: it has no way from {self.nodes_[0]!r} to {apart!r}"

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_nodes = len(self.nodes_)
        outputs, values = min_cost_trees(
            costs, self.edges_, n_nodes, constraints.low, constraints.high
        )
        return outputs, values, values

    # ------------------------------------------------------------- distributions and chains
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of trees by the weighted matrix-tree theorem; scores of shape (n, d)."""
        from skstruct.spaces.edge_sets.distribution import FixedColumnsDistribution
        from skstruct.spaces.spanning_trees.distribution import TreeDistribution

        scores = self._checked_scores(scores, len(self.edges_))
        if self.constraints_.n_rows is not None:
            return listed_distribution(self, scores)
        n_parts, ends, columns = self._open_graph()
        trees = TreeDistribution(scores[:, columns], ends, n_parts)
        return FixedColumnsDistribution(trees, columns, self.constraints_.low[0], scores)

    def proposals(self) -> Proposals | None:
        """An edge comes in, and one of the cycle that it closes goes out."""
        from skstruct.spaces.spanning_trees.distribution import EdgeExchange

        if self.constraints_.n_rows is not None:
            return None
        n_parts, ends, columns = self._open_graph()
        return EdgeExchange(n_parts, ends, columns, self.constraints_.low[0])

    # ------------------------------------------------------------- all outputs
    def _contracted(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Nodes and edges of what constraints leave open, and the columns of these edges."""
        constraints = self._one_row()
        masks = constraints.low[0], constraints.high[0]
        return tree_counts.contract(len(self.nodes_), self.edges_, *masks)

    def _open_graph(self) -> tuple[int, np.ndarray, np.ndarray]:
        """As ``_contracted``, which has at least one tree."""
        n_parts, ends, columns = self._contracted()
        if n_parts == 0 or tree_counts.components(n_parts, ends)[0] > 1:
            raise InfeasibleError("SpanningTrees: no output meets the constraints.")
        return n_parts, ends, columns

    @cached_property
    def _count(self) -> int:
        if self._is_complete:
            return int(len(self.nodes_) ** (len(self.nodes_) - 2))  # Cayley
        n_parts, ends, _ = self._contracted()
        return tree_counts.count_trees(n_parts, ends) if n_parts else 0

    def log_size(self) -> float:
        """Natural logarithm of the number of trees; minus infinity when there is none."""
        if self._is_complete:
            return (len(self.nodes_) - 2) * math.log(len(self.nodes_))
        n_parts, ends, _ = self._contracted()
        return tree_counts.log_count_trees(n_parts, ends) if n_parts else -math.inf

    def mean_embedding(self) -> np.ndarray:
        """Probability of every edge to be in a tree; shape (d,)."""
        if self._is_complete:
            return np.full(len(self.edges_), 2 / len(self.nodes_))
        n_parts, ends, columns = self._open_graph()
        return self._spread(tree_counts.edge_probabilities(n_parts, ends)[None], columns)[0]

    def covariance(self) -> Covariance:
        """Covariance of the edges under the uniform distribution."""
        if self._is_complete:
            # Var = 2/N - 4/N^2; edges that share a node: -1/N^2; others are uncorrelated.
            n = len(self.nodes_)
            return PairScheme(n, (0.0, 1 / n, 2 * (n - 1) / n**2), signed=False)
        return DenseCovariance(self._covariances())

    def _covariances(self) -> np.ndarray:
        d = len(self.edges_)
        check_square_fits(d, "The covariance over SpanningTrees", "Give a smaller graph.")
        n_parts, ends, columns = self._open_graph()
        currents = tree_counts.transfer_currents(n_parts, ends)
        probabilities = np.diagonal(currents)
        S = np.zeros((d, d))
        S[np.ix_(columns, columns)] = -(currents**2)
        S[columns, columns] = probabilities * (1 - probabilities)
        return S

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all trees; shape (d, d)."""
        mean = self.mean_embedding()
        S = self.covariance().dense() if self._is_complete else self._covariances()
        return S + np.outer(mean, mean)

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` trees drawn uniformly and independently; shape (n, d)."""
        n_parts, ends, columns = self._open_graph()
        return self._spread(sample_trees(n, ends, n_parts, rng), columns)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All trees in canonical form; shape (size, d)."""
        check_few(self.size(), limit, self, "trees")
        n_parts, ends, columns = self._contracted()
        if self.size() == 0:
            return np.zeros((0, len(self.edges_)), np.int8)
        return self._spread(list_trees(ends, n_parts, self.size()), columns)


Inference.at(SpanningTrees, OwnInference)
