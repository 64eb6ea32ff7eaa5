# SPDX-License-Identifier: BSD-3-Clause
"""Matchings of complete graphs under the uniform distribution.

Among n nodes there are n! / (k! 2^k (n - 2k)!) matchings of k edges, between groups of n and
m nodes C(n, k) C(m, k) k!. A matching with a given edge is one of the graph without its two
nodes, so that probabilities are ratios of such numbers.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, factorial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from skstruct.spaces.common.covariances import Covariance, GridScheme, PairScheme
from skstruct.spaces.edge_sets.table import complete_edges


class CompleteDistribution(ABC):
    """What complete graphs share: all edges are alike, and so are two without common nodes.

    A child knows ``by_edges``, how many matchings have 0, 1, ... edges.
    """

    perfect: bool
    by_edges: list[int]
    edges: np.ndarray  # int, shape (d, 2); nodes of the second group count on from the first

    @property
    def total(self) -> int:
        """How many matchings there are."""
        return sum(self.by_edges)

    @abstractmethod
    def probability(self, k: int) -> Fraction:
        """Probability that k given edges without common nodes are all in."""

    @abstractmethod
    def covariance(self) -> Covariance:
        """Covariance of the edges."""

    @abstractmethod
    def _random_edges(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Columns of as many edges as there can be, in random order; shape (n, most)."""

    def mean(self) -> np.ndarray:
        """Probability of every edge to be in a matching; shape (d,)."""
        return np.full(len(self.edges), float(self.probability(1)))

    def second_moment(self) -> np.ndarray:
        """Probability of every two edges to be in a matching; shape (d, d)."""
        common = (self.edges[:, None, :, None] == self.edges[None, :, None, :]).sum(axis=(2, 3))
        return np.array([float(self.probability(2)), 0.0, float(self.probability(1))])[common]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform matchings; int8 (n, d). The number of edges is drawn first."""
        total = self.total
        shares = np.array([ways / total for ways in self.by_edges])  # ratios of integers
        size = rng.choice(len(shares), size=n, p=shares / shares.sum())
        columns = self._random_edges(n, rng)
        row, k = np.nonzero(np.arange(columns.shape[1]) < size[:, None])
        outputs = np.zeros((n, len(self.edges)), np.int8)
        outputs[row, columns[row, k]] = 1
        return outputs


@dataclass(frozen=True)
class CompleteMatchings(CompleteDistribution):
    """Matchings of ``n`` nodes, any two of which may be joined.

    >>> CompleteMatchings(4, perfect=False).total, CompleteMatchings(4, perfect=True).total
    (10, 3)
    """

    n: int
    perfect: bool

    @cached_property
    def by_edges(self) -> list[int]:  # type: ignore[override]
        n, counts = self.n, [1]
        for k in range(n // 2):
            counts.append(counts[-1] * comb(n - 2 * k, 2) // (k + 1))
        return _perfect_only(counts, n % 2 == 0) if self.perfect else counts

    def probability(self, k: int) -> Fraction:
        if 2 * k > self.n:
            return Fraction(0)
        return Fraction(CompleteMatchings(self.n - 2 * k, self.perfect).total, self.total)

    def covariance(self) -> Covariance:
        # "Without common nodes" has eigenvalues C(n - 2, 2) on ones, -(n - 3) on stars, 1 on rest.
        n, one, two = self.n, self.probability(1), self.probability(2)
        ones = one + two * comb(n - 2, 2) - one**2 * comb(n, 2)
        return PairScheme(n, (ones, one - two * (n - 3), one + two), signed=False)

    @cached_property
    def edges(self) -> np.ndarray:  # type: ignore[override]
        return complete_edges(self.n, directed=False)

    def _random_edges(self, n: int, rng: np.random.Generator) -> Any:
        nodes = _shuffled(n, self.n, rng)[:, : self.n // 2 * 2].reshape(n, self.n // 2, 2)
        u, v = nodes.min(axis=2), nodes.max(axis=2)
        return u * self.n - u * (u + 3) // 2 + v - 1


@dataclass(frozen=True)
class CompletePairings(CompleteDistribution):
    """Matchings between ``n`` nodes and ``m`` others.

    >>> CompletePairings(2, 3, perfect=False).total, CompletePairings(3, 3, perfect=True).total
    (13, 6)
    """

    n: int
    m: int
    perfect: bool

    @cached_property
    def by_edges(self) -> list[int]:  # type: ignore[override]
        n, m = self.n, self.m
        counts = [comb(n, k) * comb(m, k) * factorial(k) for k in range(min(n, m) + 1)]
        return _perfect_only(counts, n == m) if self.perfect else counts

    def probability(self, k: int) -> Fraction:
        if k > min(self.n, self.m):
            return Fraction(0)
        rest = CompletePairings(self.n - k, self.m - k, self.perfect)
        return Fraction(rest.total, self.total)

    def covariance(self) -> Covariance:
        # Here (n - 1) (m - 1), -(m - 1) between rows, -(n - 1) between columns, and 1.
        n, m, one, two = self.n, self.m, self.probability(1), self.probability(2)
        ones = one + two * (n - 1) * (m - 1) - one**2 * n * m
        values = ones, one - two * (m - 1), one - two * (n - 1), one + two
        return GridScheme(n, m, values)

    @cached_property
    def edges(self) -> np.ndarray:  # type: ignore[override]
        return bipartite_edges(self.n, self.m)

    def _random_edges(self, n: int, rng: np.random.Generator) -> Any:
        k = min(self.n, self.m)
        rows, columns = _shuffled(n, self.n, rng)[:, :k], _shuffled(n, self.m, rng)[:, :k]
        return rows * self.m + columns


def bipartite_edges(n: int, m: int) -> np.ndarray:
    """All pairs of one of n nodes and one of the next m, row by row; shape (n * m, 2)."""
    u, v = np.indices((n, m)).reshape(2, -1)
    return np.column_stack([u, n + v]).astype(np.int64)


def _perfect_only(counts: list[int], possible: bool) -> list[int]:
    return [0] * (len(counts) - 1) + [counts[-1] if possible else 0]


def _shuffled(n: int, n_nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Every row the nodes in random order."""
    return rng.permuted(np.tile(np.arange(n_nodes), (n, 1)), axis=1)


def short_range_order(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """An order of the nodes in which neighbours are near one another."""
    if len(edges) == 0:
        return np.arange(n_nodes)
    ones, (u, v) = np.ones(2 * len(edges)), np.concatenate([edges, edges[:, ::-1]]).T
    graph = sparse.csr_array((ones, (u, v)), shape=(n_nodes, n_nodes))
    return reverse_cuthill_mckee(sparse.csr_matrix(graph), symmetric_mode=True)
