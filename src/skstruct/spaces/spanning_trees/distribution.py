# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over spanning trees (matrix-tree theorem), and proposals of Markov chains."""

from typing import Any

import numpy as np

from skstruct.spaces.edge_sets.distribution import OpenEdgeProposals
from skstruct.spaces.solvers.distributions import Distribution

# Scores of a row that differ by less are summed as numbers: what falls below 1e-308 on the way
# is less than 1e-40 of everything. Others are summed as logarithms.
PLAIN = 600.0


class TreeDistribution(Distribution):
    r"""Trees T of a connected graph with probabilities in proportion to :math:`\prod_{e \in T}
    e^{u_e}`.

    .. math:: Z = \det L, \qquad P(e \in T) = e^{u_e} R_e

    with L the Laplacian of the weights without one node and R the effective resistances. Both
    come from an elimination of nodes that adds positive numbers only, so that they are as exact
    for scores in the thousands as for small ones.

    Parameters
    ----------
    scores : array u of shape (n, m)
    ends : int array of shape (m, 2)
        Nodes that each edge joins, never one with itself; several edges may join the same.
    n_nodes : int

    Examples
    --------
    >>> distribution = TreeDistribution(np.log([[1.0, 2.0, 3.0]]), np.array([[0, 1], [0, 2], [1,
    ...     2]]), 3)
    >>> np.exp(distribution.log_partition).round(9), distribution.marginals().round(4)
    (array([11.]), array([[0.4545, 0.7273, 0.8182]]))

    References
    ----------
    Kirchhoff (1847); Kenyon, Propp and Wilson (2000), "Trees and matchings", for weights.
    Grassmann, Taksar and Heyman (1985) for an elimination without subtractions.
    """

    def __init__(self, scores: np.ndarray, ends: np.ndarray, n_nodes: int) -> None:
        from skstruct.spaces.spanning_trees._numba import sum_trees

        top = scores.max(axis=1, initial=-np.inf, keepdims=True)
        top[~np.isfinite(top)] = 0.0  # no edges
        self.scores = np.ascontiguousarray(scores - top)
        self.ends, self.n_nodes = np.ascontiguousarray(ends, dtype=np.int64), n_nodes
        self.logs = self.scores.min(axis=1, initial=0.0) < -PLAIN
        n = len(scores)
        self.weights, self.total = np.empty((n, n_nodes, n_nodes)), np.ones((n, n_nodes))
        log_sums = np.zeros(n)
        sum_trees(self.scores, self.ends, self.logs, self.weights, self.total, log_sums)
        self.log_partition = log_sums + (n_nodes - 1) * top[:, 0]

    def marginals(self) -> np.ndarray:
        from skstruct.spaces.spanning_trees._numba import edge_probabilities

        probabilities = np.zeros(self.scores.shape)
        edge_probabilities(
            self.scores, self.ends, self.logs, self.weights, self.total, probabilities
        )
        return probabilities

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.spanning_trees._numba import draw_trees

        trees = np.zeros((len(self.scores), n, len(self.ends)), np.int8)
        with np.errstate(divide="ignore"):  # the logarithm of no weight
            plain = ~self.logs[:, None]
            total = np.where(plain, np.log(np.abs(self.total)), self.total)
            plain = plain[:, :, None]
            weights = np.where(plain, np.log(np.abs(self.weights)), self.weights)
        pair = self.ends.max(axis=1) * self.n_nodes + self.ends.min(axis=1)
        parallel = np.argsort(pair, kind="stable")
        start = np.searchsorted(pair[parallel], np.arange(self.n_nodes**2 + 1))
        draw_trees(self.scores, weights, total, start, parallel, trees, rng)
        return trees


class EdgeExchange(OpenEdgeProposals):
    """An edge comes in, and one of the cycle that it closes goes out.

    A state is, for every node but the first, the edge that leads from it towards the first.
    Several open edges may join the same nodes.
    """

    def start(self, outputs: Any) -> np.ndarray:
        from skstruct.spaces.spanning_trees._numba import root_trees

        trees = np.ascontiguousarray(np.asarray(outputs)[:, self.columns])
        tail, head = np.concatenate([self.ends, self.ends[:, ::-1]]).T
        order = np.argsort(tail, kind="stable")
        start = np.searchsorted(tail[order], np.arange(self.n_nodes + 1))
        edge = np.tile(np.arange(len(self.ends)), 2)[order]
        ways = np.empty((len(trees), self.n_nodes), np.int64)
        root_trees(trees, start, head[order], edge, ways)
        return ways

    def outputs(self, states: np.ndarray) -> np.ndarray:
        row = np.repeat(np.arange(len(states)), self.n_nodes - 1)
        return self._with_known(len(states), row, states[:, 1:].ravel())

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.spanning_trees._numba import walk_trees

        accepted = np.zeros(len(states), np.int64)
        problem = self.ends, self.columns, scores, row, beta
        walk_trees(states, *problem, n_steps, streams, accepted)
        return accepted
