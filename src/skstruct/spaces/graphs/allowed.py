# SPDX-License-Identifier: BSD-3-Clause
"""Edge sets within a graph that the user gives."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from skstruct._arrays.optional import is_networkx
from skstruct.spaces.forms import sorted_names
from skstruct.spaces.graphs.base import EdgeSetSpace
from skstruct.spaces.graphs.edge_table import complete_edges, read_nodes
from skstruct.spaces.pairwise.edges import read_edges


class WithinGraph(EdgeSetSpace):
    """Sets of undirected edges, each of which is an edge of ``graph``.

    A child has the parameters ``nodes``, ``graph`` and ``limits``. The graph brings its nodes
    where none are given; without a graph all pairs of nodes are possible edges.
    """

    nodes: Any
    graph: Any
    _limits_rest_on: ClassVar[tuple[str, ...]] = ("graph",)

    @property
    def nodes_(self) -> tuple:
        """Names of the nodes."""
        return super().nodes_ if self.graph is None else self._given_nodes

    @cached_property
    def _given_nodes(self) -> tuple:
        nodes = self._node_names() if self.nodes is None else self.nodes
        return read_nodes(nodes, type(self).__name__)

    def _node_names(self):
        """The nodes that a graph brings itself."""
        if is_networkx(self.graph):
            return self.graph
        try:
            return sorted_names({node for pair in self._checked_graph() for node in pair})
        except TypeError:
            raise ValueError(self._what_graph_is()) from None

    def _checked_graph(self):
        """The graph, unless it is text: the letters of a word are no nodes."""
        if isinstance(self.graph, (str, bytes)):
            raise ValueError(self._what_graph_is())
        return self.graph

    def _what_graph_is(self) -> str:
        return (
            f"{type(self).__name__}: graph is a list of pairs of nodes or a networkx graph; got "
            f"{self.graph!r}."
        )

    def _possible_edges(self, nodes):
        if self.graph is None:
            return complete_edges(len(nodes), directed=False)
        name = type(self).__name__
        if is_networkx(self.graph) and self.graph.is_directed():
            raise ValueError(f"{name}: edges have no direction, but those of graph have one.")
        try:
            return read_edges(self._checked_graph(), nodes, name)
        except ValueError as error:
            raise ValueError(str(error).replace("label", "node")) from None

    @property
    def _is_complete(self) -> bool:
        """Whether all pairs of nodes are possible, and there are no limits."""
        n = len(self.nodes_)
        return not self.limits_.is_masked and len(self.edges_) == n * (n - 1) // 2

    def _read_graphs(self, Y, nodes):
        return super()._read_graphs(Y, nodes if self.graph is None else self.nodes_)

    def _spread(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What is known of some columns, (n, m), with 1 for known edges; shape (n, d)."""
        everywhere = np.repeat(self._one_row().low.astype(values.dtype), len(values), axis=0)
        everywhere[:, columns] = values
        return everywhere
