# SPDX-License-Identifier: BSD-3-Clause
"""Bipartite graphs: the cheapest cut."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.components import are_bipartite
from skstruct.decoding.pairwise.solve import CORE, minimize
from skstruct.spaces.base import EXACT, Guarantee
from skstruct.spaces.graphs.forms import as_networkx
from skstruct.spaces.graphs.graph_counts import n_bipartite
from skstruct.spaces.graphs.independence import Inherited
from skstruct.spaces.graphs.properties import outweighing


class Bipartite(Inherited):
    """Two sides with edges across: a cut, of which all edges that gain are taken."""

    def __init__(self, table):
        super().__init__(table)
        self.most = self.n_nodes**2 // 4

    def why_not(self, row):
        import networkx

        cycles = networkx.cycle_basis(as_networkx(self.table, row))
        odd = next((cycle for cycle in cycles if len(cycle) % 2), None)
        if odd is None:
            return ""
        return "has the odd cycle " + " - ".join(repr(name) for name in [*odd, odd[0]])

    def holds(self, Z):
        return are_bipartite(Z, self.edges, self.n_nodes)

    def count_all(self):
        return n_bipartite(self.n_nodes)

    @property
    def _is_small(self) -> bool:
        return self.n_nodes <= CORE + 1  # the side of one node may be chosen

    def guarantee(self, limits):
        if self._is_small:
            return EXACT
        if limits.low.any():
            return super().guarantee(limits)
        return Guarantee("ratio", 0.5, "a cut of at least half of all gains")

    def decode(self, costs, limits):
        if not self._is_small and limits.low.any():
            return self._by_blocks(costs, limits)
        low, high = limits.low, limits.high
        # An edge that must be in and is not across costs more than all else can gain.
        gains = np.where(low, -outweighing(costs), np.where(high, np.minimum(costs, 0.0), 0.0))
        sides = self._cheapest_sides(gains)
        u, v = self.edges.T
        across = sides[:, u] != sides[:, v]
        outputs = (across & (low | (high & (costs < 0)))).astype(np.int8)
        feasible = (low <= high).all(axis=1) & (outputs >= low).all(axis=1)
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        if self._is_small:
            return outputs, values, values
        ordered = np.sort(np.where(high, np.minimum(costs, 0.0), 0.0), axis=1)
        return outputs, values, np.minimum(ordered[:, : self.most].sum(axis=1), values)

    def _cheapest_sides(self, gains):
        """0/1 sides of all nodes, the first at 0: sum over edges of gain where sides differ.

        1[y_u != y_v] = y_u + y_v - 2 y_u y_v.
        """
        n, (u, v) = len(gains), self.edges.T
        nodes = np.zeros((n, self.n_nodes))
        for end in (u, v):
            np.add.at(nodes.T, end, gains.T)
        inner = u > 0
        pairs = self.edges[inner] - 1
        rest = minimize(np.ascontiguousarray(nodes[:, 1:]), -2 * gains[:, inner], pairs)[0]
        sides = np.hstack([np.zeros((n, 1), np.int8), rest])
        return sides if self._is_small else self._better_cut(gains, sides)

    def _better_cut(self, gains, sides):
        """These sides or, where it is better, node by node the side that cuts more."""
        weight = np.zeros((len(gains), self.n_nodes, self.n_nodes))
        u, v = self.edges.T
        weight[:, u, v] = weight[:, v, u] = gains
        signs = np.zeros((len(gains), self.n_nodes))
        for node in range(self.n_nodes):
            pull = np.einsum("nv,nv->n", weight[:, node], signs)
            signs[:, node] = np.where(pull <= 0, -1.0, 1.0)
        own = (gains * (sides[:, u] != sides[:, v])).sum(axis=1)
        other = (gains * (signs[:, u] != signs[:, v])).sum(axis=1)
        return np.where((other < own)[:, None], (signs > 0).astype(np.int8), sides)
