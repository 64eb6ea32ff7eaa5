# SPDX-License-Identifier: BSD-3-Clause
"""Local moves among sets of nodes that are known by the pairs inside."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves


class NodeMoves(Moves):
    """Pick a node and whether it is in; with it come or go its pairs with all nodes inside.

    Parameters
    ----------
    nodes : int array
        Those that may come and go.
    edges : int array of shape (d, 2)
        All pairs of nodes, one per score.
    n_nodes : int
    """

    def __init__(self, nodes, edges, n_nodes: int):
        self.nodes = np.asarray(nodes, dtype=np.int64)
        self.column = np.zeros((n_nodes, n_nodes), np.int64)
        u, v = edges.T
        self.column[u, v] = self.column[v, u] = np.arange(len(u))
        self.sweep = max(2 * len(self.nodes), 1)

    def start(self, outputs):
        return np.array(outputs, dtype=np.int8, order="C")

    def outputs(self, states):
        return states.copy()

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_cliques import walk_cliques

        accepted = np.zeros(len(states), np.int64)
        problem = self.nodes, self.column, scores, row, beta
        walk_cliques(states, *problem, n_steps, streams, accepted)
        return accepted
