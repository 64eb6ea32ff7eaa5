# SPDX-License-Identifier: BSD-3-Clause
"""Local moves among the spanning trees of a graph."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves


class EdgeExchange(Moves):
    """An edge comes in, and one of the cycle that it closes goes out.

    A state is, for every node but the first, the edge that leads from it towards the first.

    Parameters
    ----------
    n_nodes : int
    ends : int array of shape (m, 2)
        Nodes of every edge that is open; several may join the same nodes.
    columns : int array of shape (m,)
        Where these edges are among all.
    known : bool array of shape (d,)
        Edges that are in every tree.
    """

    def __init__(self, n_nodes: int, ends, columns, known):
        self.n_nodes, self.ends = n_nodes, np.ascontiguousarray(ends, dtype=np.int64)
        self.columns, self.known = columns, known
        self.sweep = max(len(ends), 1)

    def start(self, outputs):
        from skstruct.walking._compiled_trees import root_trees

        trees = np.ascontiguousarray(np.asarray(outputs)[:, self.columns])
        tail, head = np.concatenate([self.ends, self.ends[:, ::-1]]).T
        order = np.argsort(tail, kind="stable")
        start = np.searchsorted(tail[order], np.arange(self.n_nodes + 1))
        edge = np.tile(np.arange(len(self.ends)), 2)[order]
        ways = np.empty((len(trees), self.n_nodes), np.int64)
        root_trees(trees, start, head[order], edge, ways)
        return ways

    def outputs(self, states):
        trees = np.tile(self.known.astype(np.int8), (len(states), 1))
        row = np.repeat(np.arange(len(states)), self.n_nodes - 1)
        trees[row, self.columns[states[:, 1:].ravel()]] = 1
        return trees

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_trees import walk_trees

        accepted = np.zeros(len(states), np.int64)
        problem = self.ends, self.columns, scores, row, beta
        walk_trees(states, *problem, n_steps, streams, accepted)
        return accepted
