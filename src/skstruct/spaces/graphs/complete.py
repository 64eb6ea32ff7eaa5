# SPDX-License-Identifier: BSD-3-Clause
"""Edge sets that are all edges between some nodes."""

from __future__ import annotations

from math import comb

import numpy as np

from skstruct.decoding.pairwise.restricted import minimize_held
from skstruct.decoding.pairwise.solve import CORE
from skstruct.spaces.base import EXACT, Guarantee
from skstruct.spaces.covariances import PairScheme
from skstruct.spaces.graphs.properties import GraphProperty, outweighing
from skstruct.summing.node_sets import MOST_NODES, InnerEdgeLaw, allowed_sets


class Clique(GraphProperty):
    r"""All edges between some nodes, no others: :math:`z_{uv} = y_u y_v` for 0/1 nodes y.

    The cheapest is a sum of pair costs; sets of one node have no edge, as the empty one.
    """

    def why_not(self, row):
        touched = self._touched(row[None])[0]
        u, v = self.edges.T
        lacking = np.flatnonzero(touched[u] & touched[v] & (row == 0))
        if not len(lacking):
            return ""
        pair = self.table.labels[lacking[0]]
        return f"is not a complete graph on its {touched.sum()} nodes: {pair!r} is missing"

    def _touched(self, Z):
        """Which nodes have an edge; bool of shape (n, N)."""
        touched = np.zeros((len(Z), self.n_nodes), bool)
        row, edge = np.nonzero(Z)
        for end in self.edges.T:
            touched[row, end[edge]] = True
        return touched

    def holds(self, Z):
        size = self._touched(Z).sum(axis=1)
        return Z.sum(axis=1) == size * (size - 1) // 2

    def guarantee(self, limits):
        return EXACT if self.n_nodes <= CORE else Guarantee("bound only")

    def decode(self, costs, limits):
        u, v = self.edges.T
        low = self._touched(np.broadcast_to(limits.low, costs.shape))
        # Both ends of an edge that must be out cost more than all else can gain.
        priced = np.where(limits.high, costs, outweighing(costs))
        free = np.zeros((len(costs), self.n_nodes))
        nodes, _, bounds = minimize_held(free, priced, self.edges, low, np.ones_like(low))
        outputs = nodes[:, u] & nodes[:, v]
        broken = (outputs > limits.high).any(axis=1)
        outputs[broken] = low[broken][:, u] & low[broken][:, v]  # what must be in, and no more
        values = (costs * outputs).sum(axis=1)
        values[(outputs > limits.high).any(axis=1)] = np.inf
        exact = self.guarantee(limits) == EXACT
        return outputs, values, values if exact else np.minimum(bounds, values)

    # ------------------------------------------------------------- all cliques
    def count_all(self):
        return 2**self.n_nodes - self.n_nodes

    def closed_forms(self, limits):
        return self if limits is None else None

    def law(self, scores, limits):
        """Laws by all sets of up to 18 nodes but the single ones."""
        if self.n_nodes > MOST_NODES:
            return None
        n, d = self.n_nodes, len(self.edges)
        low = np.zeros((1, d), bool) if limits is None else limits.low
        high = np.ones((1, d), bool) if limits is None else limits.high
        allowed = allowed_sets(self._touched(low)[0], np.ones(n, bool))
        allowed[1 << np.arange(n)] = False
        for ends in np.eye(n, dtype=bool)[self.edges[~high[0]]]:
            allowed &= ~allowed_sets(ends.any(axis=0), np.ones(n, bool))
        return InnerEdgeLaw(scores, self.edges, allowed)

    def _share(self, n_held: int) -> float:
        """The share of cliques that hold so many given nodes, at least two."""
        return 2 ** (self.n_nodes - n_held) / self.count_all() if n_held <= self.n_nodes else 0.0

    def mean_embedding(self):
        return np.full(len(self.edges), self._share(2))

    def covariance(self):
        """P(e and e') depends on how many nodes the two edges have: two, three or four."""
        n, (same, near, far) = self.n_nodes, (self._share(k) for k in (2, 3, 4))
        ones = same + 2 * (n - 2) * near + comb(n - 2, 2) * far - same**2 * len(self.edges)
        stars, rest = same + (n - 4) * near - (n - 3) * far, same - 2 * near + far
        return PairScheme(n, (ones, stars, rest), signed=False)

    def second_moment(self):
        return self.covariance().dense() + self._share(2) ** 2

    def sample(self, n, rng):
        """Uniform node sets, drawn again where they are single nodes."""
        nodes = rng.integers(0, 2, (n, self.n_nodes), dtype=np.int8)
        while (again := nodes.sum(axis=1) == 1).any():
            nodes[again] = rng.integers(0, 2, (again.sum(), self.n_nodes), dtype=np.int8)
        u, v = self.edges.T
        return nodes[:, u] & nodes[:, v]
