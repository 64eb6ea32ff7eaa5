# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees, uniformly: determinants of Laplacians and transfer currents."""

import math

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.common.covariances import Covariance, DenseCovariance, PairScheme
from skstruct.spaces.edge_sets.spanning_trees import list_trees, sample_trees
from skstruct.spaces.edge_sets.uniform import UniformWithinGraph
from skstruct.spaces.spanning_trees import counting as tree_counts
from skstruct.spaces.uniform import LIMIT, Seed


class UniformOfTrees(UniformWithinGraph):
    """Trees of what constraints leave open, beside the edges that are known."""

    __slots__ = ()

    @kept
    def _count(self) -> int:
        n_nodes = len(self.space.nodes_)
        if self._is_complete:
            return int(n_nodes ** (n_nodes - 2))  # Cayley
        n_parts, ends, _ = tree_counts.contracted(self.space)
        return tree_counts.count_trees(n_parts, ends) if n_parts else 0

    def log_size(self) -> float:
        n_nodes = len(self.space.nodes_)
        if self._is_complete:
            return (n_nodes - 2) * math.log(n_nodes)
        n_parts, ends, _ = tree_counts.contracted(self.space)
        return tree_counts.log_count_trees(n_parts, ends) if n_parts else -math.inf

    def mean_embedding(self) -> np.ndarray:
        """Probability of every edge to be in a tree; shape (d,)."""
        if self._is_complete:
            return np.full(len(self.space.edges_), 2 / len(self.space.nodes_))
        n_parts, ends, columns = tree_counts.open_graph(self.space)
        return self._spread(tree_counts.edge_probabilities(n_parts, ends)[None], columns)[0]

    def _closed_covariance(self) -> Covariance:
        if self._is_complete:
            # Var = 2/N - 4/N^2; edges that share a node: -1/N^2; others are uncorrelated.
            n = len(self.space.nodes_)
            return PairScheme(n, (0.0, 1 / n, 2 * (n - 1) / n**2), signed=False)
        d = len(self.space.edges_)
        check_square_fits(d, "The covariance over SpanningTrees", "Give a smaller graph.")
        n_parts, ends, columns = tree_counts.open_graph(self.space)
        currents = tree_counts.transfer_currents(n_parts, ends)
        probabilities = np.diagonal(currents)
        S = np.zeros((d, d))
        S[np.ix_(columns, columns)] = -(currents**2)
        S[columns, columns] = probabilities * (1 - probabilities)
        return DenseCovariance(S)

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        n_parts, ends, columns = tree_counts.open_graph(self.space)
        return self._spread(sample_trees(n, ends, n_parts, rng), columns)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        check_few(self.size(), limit, self.space, "trees")
        n_parts, ends, columns = tree_counts.contracted(self.space)
        if self.size() == 0:
            return np.zeros((0, len(self.space.edges_)), np.int8)
        return self._spread(list_trees(ends, n_parts, self.size()), columns)
