# SPDX-License-Identifier: BSD-3-Clause
"""Local moves among the matchings of a graph."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves


class MatchingMoves(Moves):
    """Edges come in, go out, slide along a node, and two of them change partners.

    Among perfect matchings there is the last move only, which leads from each to each where
    all nodes, or all of two groups, are joined. A state is the edge at every node, -1 for none.

    Parameters
    ----------
    n_nodes : int
    ends : int array of shape (m, 2)
        Nodes of every edge that is open, no two the same.
    columns : int array of shape (m,)
        Where these edges are among all.
    known : bool array of shape (d,)
        Edges that are in every matching, at none of these nodes.
    perfect : bool
    """

    def __init__(self, n_nodes: int, ends, columns, known, perfect: bool):
        self.n_nodes, self.ends = n_nodes, np.ascontiguousarray(ends, dtype=np.int64)
        self.columns, self.known, self.perfect = columns, known, bool(perfect)
        self.number = np.full((n_nodes, n_nodes), -1, np.int64)  # of the edge between two nodes
        u, v = self.ends.T
        self.number[u, v] = self.number[v, u] = np.arange(len(u))
        self.sweep = max(len(u), 1)

    def start(self, outputs):
        row, edge = np.nonzero(np.asarray(outputs)[:, self.columns])
        states = np.full((len(outputs), self.n_nodes), -1, np.int64)
        states[row[:, None], self.ends[edge]] = edge[:, None]
        return states

    def outputs(self, states):
        matchings = np.tile(self.known.astype(np.int8), (len(states), 1))
        row, node = np.nonzero(states >= 0)
        matchings[row, self.columns[states[row, node]]] = 1
        return matchings

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_matchings import walk_matchings

        accepted = np.zeros(len(states), np.int64)
        problem = self.ends, self.number, self.perfect, self.columns, scores, row, beta
        walk_matchings(states, *problem, n_steps, streams, accepted)
        return accepted
