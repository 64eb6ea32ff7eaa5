# SPDX-License-Identifier: BSD-3-Clause
"""Trees that connect all nodes."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.edge_sets.space import WithinGraph
from skstruct.spaces.edge_sets.spanning_trees import (
    are_trees,
    min_cost_trees,
)
from skstruct.spaces.inference import Inference, OwnInference, listed_distribution
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.spanning_trees import counting as tree_counts
from skstruct.spaces.uniform import Uniform


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
    >>> Uniform.of(space.restrict(include=[("a", "b")])).mean_embedding()
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
        n_parts, ends, columns = tree_counts.open_graph(self)
        trees = TreeDistribution(scores[:, columns], ends, n_parts)
        return FixedColumnsDistribution(trees, columns, self.constraints_.low[0], scores)

    def proposals(self) -> Proposals | None:
        """An edge comes in, and one of the cycle that it closes goes out."""
        from skstruct.spaces.spanning_trees.distribution import EdgeExchange

        if self.constraints_.n_rows is not None:
            return None
        n_parts, ends, columns = tree_counts.open_graph(self)
        return EdgeExchange(n_parts, ends, columns, self.constraints_.low[0])


Uniform.at(SpanningTrees, "skstruct.spaces.spanning_trees.uniform:UniformOfTrees")


Inference.at(SpanningTrees, OwnInference)
