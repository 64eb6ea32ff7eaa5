# SPDX-License-Identifier: BSD-3-Clause
"""Laws of states of nodes, with scores of pairs of states along the edges of a forest."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.forests import rooted
from skstruct.decoding.pairwise.graphs import per_graph
from skstruct.summing.base import Law


class StateForestLaw(Law):
    r"""Laws of a state for every node, by sums and products from the leaves to the roots.

    .. math:: p(z) \propto \exp\Bigl(\sum_i u_i(z_i) + \sum_{ij \in E} w_{ij}(z_i, z_j)\Bigr)

    What is kept are the chances of a node's states given that of its parent, so that
    marginals and draws are sums and products of chances: O(n k²) for each row.

    Parameters
    ----------
    unary : array of shape (rows, n, k)
        Score of each state at each node; minus infinity forbids.
    pairs : array of shape (rows, E, k, k)
        Score of the states at the two nodes of each edge.
    edges : int array of shape (E, 2)
        A forest.

    Examples
    --------
    >>> unary, alike = np.zeros((1, 2, 2)), np.log([[[[3.0, 1.0], [1.0, 1.0]]]])
    >>> law = StateForestLaw(unary, alike, np.array([[0, 1]]))
    >>> np.exp(law.log_partition).round(12), law.marginals().round(3)
    (array([6.]), array([[0.667, 0.333, 0.667, 0.333, 0.5  , 0.167, 0.167, 0.167]]))
    """

    def __init__(self, unary, pairs, edges):
        from skstruct.summing._compiled_state_forests import sum_states

        unary, pairs = (np.ascontiguousarray(part, np.float64) for part in (unary, pairs))
        self.forest = _hung(unary.shape[1], edges)
        # Chances of the states of roots, and of children given the states of their parents.
        self.first, self.given = np.zeros(unary.shape), np.empty(pairs.shape)
        self.log_partition = sum_states(unary, pairs, *self.forest, self.first, self.given)

    def marginals(self):
        """Chances of states (n k), and of pairs of states (E k k), of every row."""
        from skstruct.summing._compiled_state_forests import spread_states

        nodes, pairs = np.zeros(self.first.shape), np.empty(self.given.shape)
        spread_states(*self.forest, self.first, self.given, nodes, pairs)
        rows, n, k = nodes.shape
        return np.hstack([nodes.reshape(rows, n * k), pairs.reshape(rows, pairs.shape[1] * k * k)])

    def sample(self, n, rng):
        from skstruct.summing._compiled_state_forests import draw_states

        shape = len(self.first), n, self.first.shape[1]
        states = np.empty(shape, np.int64)
        order, parent, edge, _ = self.forest
        draw_states(order, parent, edge, self.first, self.given, rng.random(shape), states)
        return states


@per_graph
def _hung(n, edges):
    """Order, parents and edges to them, and where the parent is the second node of its edge."""
    order, parent, edge = rooted(n, edges)
    flipped, hung = np.zeros(n, bool), edge >= 0
    flipped[hung] = edges[edge[hung], 1] == parent[hung]
    return order, parent, edge, flipped
