# SPDX-License-Identifier: BSD-3-Clause
"""Properties that every subset of edges inherits, and for which the cheapest set is hard."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.components import cheapest_forests
from skstruct.decoding.independence import cheapest_members, n_blocks
from skstruct.decoding.lists import cheapest
from skstruct.spaces.base import EXACT, Guarantee
from skstruct.spaces.graphs.forms import as_networkx
from skstruct.spaces.graphs.properties import GraphProperty

LISTED = 12  # edges: of so many all sets are listed, and decoding is exact


def grow_sets(holds, low, high, n_most: int):
    """All sets low..high with an inherited property, edge by edge; None if more than n_most."""
    rows = low[None].astype(np.int8)
    rows = rows[holds(rows)] if (low <= high).all() else rows[:0]
    for edge in np.flatnonzero(high & ~low):
        added = rows.copy()
        added[:, edge] = 1
        rows = np.concatenate([rows, added[holds(added)]])
        if len(rows) > n_most:
            return None
    return rows


class Inherited(GraphProperty):
    """Decoded by listing where edges are few, else by blocks of edges, greedily improved."""

    hereditary = True
    most: int | None = None  # no set has more edges

    def guarantee(self, limits):
        if len(self.edges) <= LISTED:
            return EXACT
        return Guarantee("ratio", 1 / n_blocks(len(self.edges)), "blocks of log2(d) edges")

    def decode(self, costs, limits):
        if len(self.edges) <= LISTED:
            return self._from_list(costs, limits)
        return self._by_blocks(costs, limits)

    def _from_list(self, costs, limits):
        if not hasattr(self, "_members"):
            low = np.zeros(len(self.edges), bool)
            self._members = grow_sets(self.holds, low, ~low, 2**LISTED)
        members = self._members
        broken = limits.low @ (1.0 - members).T + ~limits.high @ members.T.astype(float)
        best, values = cheapest(np.where(broken > 0, np.inf, costs @ members.T))
        return members[best], values, values

    def _by_blocks(self, costs, limits, starts=()):
        def holds(edges):
            row = np.zeros((1, len(self.edges)), np.int8)
            row[0, edges] = 1
            return self.holds(row)[0]

        masks = {"low": limits.low, "high": limits.high}
        return cheapest_members(costs, holds, **masks, most=self.most, starts=starts)


class Custom(Inherited):
    """Any test of a networkx graph."""

    slow = True

    def __init__(self, table, test):
        super().__init__(table)
        self.test = test
        if not test(as_networkx(table, np.zeros(len(table.edges)))):
            raise ValueError(
                f"Graphs: the property {self.name} must be one that every subset of edges "
                "inherits, but the graph without edges has it not."
            )

    @property
    def name(self) -> str:
        return getattr(self.test, "__name__", repr(self.test))

    def why_not(self, row):
        return "" if self.holds(row[None])[0] else f"has not the property {self.name}"

    def holds(self, Z):
        return np.array([bool(self.test(as_networkx(self.table, row))) for row in Z], dtype=bool)


class Planar(Inherited):
    """Drawn without crossings: at most 3N - 6 edges, and a union of three forests.

    The cheapest forest gains at least a third of the best (Nash-Williams: the edges of a
    planar graph split into three forests), and more edges are added to it.
    """

    slow = True

    def __init__(self, table):
        super().__init__(table)
        self.most = max(3 * self.n_nodes - 6, 1)

    def why_not(self, row):
        import networkx

        planar, parts = networkx.check_planarity(as_networkx(self.table, row), counterexample=True)
        if planar:
            return ""
        corners = [name for name, degree in parts.degree() if degree > 2]
        kind = "K5" if len(corners) == 5 else "K3,3"
        return f"is not planar: it has a subdivision of {kind} with corners {corners!r}"

    def holds(self, Z):
        import networkx

        size = Z.sum(axis=1)
        planar = size < 9  # K3,3 has nine edges, K5 has ten
        for i in np.flatnonzero(~planar & (size <= self.most)):
            graph = networkx.Graph(self.edges[Z[i] > 0].tolist())
            planar[i] = networkx.check_planarity(graph)[0]
        return planar

    def guarantee(self, limits):
        promise = super().guarantee(limits)
        if promise == EXACT or limits.low.any():
            return promise
        return Guarantee("ratio", 1 / 3, "the cheapest forest")

    def decode(self, costs, limits):
        if len(self.edges) <= LISTED or limits.low.any():
            return super().decode(costs, limits)
        forests = cheapest_forests(costs, self.edges, self.n_nodes, limits.low, limits.high)[0]
        return self._by_blocks(costs, limits, starts=[forests])
