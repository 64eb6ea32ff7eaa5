# SPDX-License-Identifier: BSD-3-Clause
"""Directed graphs without cycle: linear ordering."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.linear_ordering import linear_orders, ranks_of
from skstruct.decoding.orders import MOST_ITEMS, cheapest_orders, close_transitively
from skstruct.decoding.siblings import better_of_siblings
from skstruct.spaces.base import EXACT, Guarantee
from skstruct.spaces.graphs.graph_counts import n_acyclic_digraphs
from skstruct.spaces.graphs.independence import Inherited
from skstruct.spaces.graphs.properties import name_cycle


class Acyclic(Inherited):
    r"""Directed graphs without cycle: the arcs of an order that lead forward, or some of them.

    Minimized as linear ordering, where p before q costs :math:`\min(0, c_{pq})`. The arcs of
    the reversed order are the others: the better of both gains at least half of all.
    """

    def why_not(self, row):
        return name_cycle(self.table, row)

    def holds(self, Z):
        """Nodes that nothing leads to are taken away until none is left."""
        alive = np.ones((len(Z), self.n_nodes), bool)
        u, v = self.edges.T
        for _ in range(self.n_nodes):
            row, arc = np.nonzero(Z * alive[:, u])
            reached = np.zeros_like(alive)
            reached[row, v[arc]] = True
            alive &= reached
        return ~alive.any(axis=1)

    def count_all(self):
        return n_acyclic_digraphs(self.n_nodes)

    def guarantee(self, limits):
        if self.n_nodes <= MOST_ITEMS:
            return EXACT
        if limits.low.any():
            return super().guarantee(limits)
        return Guarantee("ratio", 0.5, "the better of an order and its reverse")

    def decode(self, costs, limits):
        low, high, n = limits.low, limits.high, self.n_nodes
        if low.any() and n > MOST_ITEMS:
            return self._by_blocks(costs, limits)
        gains = np.where(high & ~low, np.minimum(costs, 0.0), 0.0)
        matrix = np.zeros((len(costs), n, n))
        u, v = self.edges.T
        matrix[:, u, v] = gains
        orders, values, bounds = (self._held if low.any() else self._free)(matrix, low)
        ranks = ranks_of(orders)
        forward, gainful = ranks[:, u] < ranks[:, v], gains < 0
        taken = forward & gainful
        if not low.any():
            swapped = better_of_siblings(costs, taken, gainful & ~forward)[0]
            taken ^= swapped[:, None] & gainful
        outputs = (taken | low).astype(np.int8)
        feasible = np.isfinite(values) & (low <= high).all(axis=1)
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        exact = self.guarantee(limits) == EXACT
        return outputs, values, values if exact else np.minimum(bounds, values)

    def _free(self, matrix, low):
        p, q = np.triu_indices(self.n_nodes, 1)
        ahead, back = matrix[:, p, q], matrix[:, q, p]
        orders, values, bounds = linear_orders((ahead - back) / 2, self.n_nodes)
        mean = ((ahead + back) / 2).sum(axis=1)
        return orders, values + mean, bounds + mean

    def _held(self, matrix, low):
        u, v = self.edges.T
        before = np.zeros((len(low), self.n_nodes, self.n_nodes), bool)
        before[:, u, v] = low
        before = close_transitively(before)
        orders, values = cheapest_orders(len(matrix), self.n_nodes, pairs=matrix, before=before)
        return orders, values, values
