# SPDX-License-Identifier: BSD-3-Clause
"""Matchings under the uniform distribution: of complete graphs, and of any graph node by node.

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

from skstruct.exceptions import UndecidableError
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
    def count(self) -> int:
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

    def probabilities(self) -> np.ndarray:
        """Probability of every edge to be in a matching; shape (d,)."""
        return np.full(len(self.edges), float(self.probability(1)))

    def pair_probabilities(self) -> np.ndarray:
        """Probability of every two edges to be in a matching; shape (d, d)."""
        common = (self.edges[:, None, :, None] == self.edges[None, :, None, :]).sum(axis=(2, 3))
        return np.array([float(self.probability(2)), 0.0, float(self.probability(1))])[common]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform matchings; int8 (n, d). The number of edges is drawn first."""
        total = self.count
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

    >>> CompleteMatchings(4, perfect=False).count, CompleteMatchings(4, perfect=True).count
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
        return Fraction(CompleteMatchings(self.n - 2 * k, self.perfect).count, self.count)

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

    >>> CompletePairings(2, 3, perfect=False).count, CompletePairings(3, 3, perfect=True).count
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
        return Fraction(rest.count, self.count)

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


# Matchings of any graph under the uniform distribution, node by node.
#
# Counting matchings is hard in general. It is easy where few nodes are at once matched with
# earlier ones and not yet passed: on paths, trees, long grids, and with few nodes.


LIMIT = 10**6  # states before giving up


class MatchingTable:
    """All matchings of a graph as ways through states.

    Nodes are passed one after another. A state at step k is the set of later nodes that are
    matched with earlier ones, as bits of an integer: bit 0 is node k itself.

    Parameters
    ----------
    n_nodes : int
    edges : int array of shape (m, 2)
    perfect : bool
    limit : int, default=None
        States at most, of all steps together; a million when None.

    Examples
    --------
    >>> path = MatchingTable(4, np.array([[0, 1], [1, 2], [2, 3]]), perfect=False)
    >>> path.count, path.probabilities()
    (5, array([0.4, 0.2, 0.4]))
    >>> sorted(path.listed().tolist())
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    """

    def __init__(
        self, n_nodes: int, edges: np.ndarray, perfect: bool, limit: int | None = None
    ) -> None:
        self.n_nodes, self.edges, self.perfect = n_nodes, edges, perfect
        limit = LIMIT if limit is None else limit
        position = np.empty(n_nodes, np.int64)
        position[short_range_order(n_nodes, edges)] = np.arange(n_nodes)
        self.later: list[list[Any]] = [[] for _ in range(n_nodes)]  # (edge, bit of the other end)
        for e, (u, v) in enumerate(np.sort(position[edges], axis=1).tolist()):
            self.later[u].append((e, 1 << (v - u - 1)))
        self.reaching = [{0: 1}]  # ways from the beginning to each state, step by step
        n_states = 1
        for k in range(n_nodes):
            reached: dict[int, int] = {}
            for state, ways in self.reaching[k].items():
                for _, after in self._proposals(k, state):
                    reached[after] = reached.get(after, 0) + ways
                if n_states + len(reached) > limit:
                    raise UndecidableError(
                        f"Matchings: counting those of a graph of {n_nodes} nodes and "
                        f"{len(edges)} edges takes more than {limit} states; it is #P-hard in "
                        "general, and easy for complete graphs, for few nodes and for graphs "
                        "that are long and narrow."
                    )
            n_states += len(reached)
            self.reaching.append(reached)

    def _proposals(self, k: int, state: int) -> list[tuple[int, int]]:
        """What may become of node k: the edge it gets (-1 for none) and the state after it."""
        rest = state >> 1
        if state & 1:
            return [(-1, rest)]
        proposals = [(e, rest | bit) for e, bit in self.later[k] if not rest & bit]
        return proposals if self.perfect else [(-1, rest), *proposals]

    @cached_property
    def leaving(self) -> list[dict[int, int]]:
        """Ways from each state to the end, step by step."""
        leaving: list[dict[int, int]] = [{} for _ in range(self.n_nodes)]
        leaving.append({0: 1})
        for k in range(self.n_nodes - 1, -1, -1):
            after = leaving[k + 1]
            for state in self.reaching[k]:
                ways = sum(after.get(s, 0) for _, s in self._proposals(k, state))
                if ways:
                    leaving[k][state] = ways
        return leaving

    @property
    def count(self) -> int:
        """How many matchings there are."""
        return self.reaching[-1].get(0, 0)

    def probabilities(self) -> np.ndarray:
        """Probability of every edge to be in a matching; shape (m,)."""
        ways = [0] * len(self.edges)
        for k in range(self.n_nodes):
            after = self.leaving[k + 1]
            for state, before in self.reaching[k].items():
                for e, s in self._proposals(k, state):
                    if e >= 0:
                        ways[e] += before * after.get(s, 0)
        return np.array([number / self.count for number in ways], dtype=np.float64)

    def pair_probabilities(self) -> np.ndarray:
        """Probability of every two edges to be in a matching; shape (m, m)."""
        probability, m = self.probabilities(), len(self.edges)
        both = np.zeros((m, m))
        for e in np.flatnonzero(probability):
            # With e in, a matching of what is left without its two nodes.
            apart = np.flatnonzero(~np.isin(self.edges, self.edges[e]).any(axis=1))
            kept = np.setdiff1d(np.arange(self.n_nodes), self.edges[e])
            ends = np.searchsorted(kept, self.edges[apart])
            rest = MatchingTable(self.n_nodes - 2, ends, self.perfect)
            both[e, apart] = probability[e] * rest.probabilities()
            both[e, e] = probability[e]
        return both

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` uniform matchings; int8 (n, m).

        All draws in one state are made together, which leaves them in the order of states.
        """
        rows = self._spread({0: np.zeros((n, len(self.edges)), np.int8)}, rng)
        return rng.permutation(rows)

    def listed(self) -> np.ndarray:
        """All matchings; int8 (count, m)."""
        return self._spread({0: np.zeros((1, len(self.edges)), np.int8)}, None)

    def _spread(
        self, by_state: dict[int, np.ndarray], rng: np.random.Generator | None
    ) -> np.ndarray:
        """Rows of each state, passed on: to one move drawn by its share, or to all of them."""
        for k in range(self.n_nodes):
            after = self.leaving[k + 1]
            parts: dict[int, list[np.ndarray]] = {}
            for state, rows in by_state.items():
                proposals = [(e, s) for e, s in self._proposals(k, state) if s in after]
                if rng is not None:
                    ways = self.leaving[k][state]
                    chosen = rng.choice(
                        len(proposals), size=len(rows), p=[after[s] / ways for _, s in proposals]
                    )
                for j, (e, s) in enumerate(proposals):
                    part = rows.copy() if rng is None else rows[chosen == j]
                    if e >= 0:
                        part[:, e] = 1
                    if len(part):
                        parts.setdefault(s, []).append(part)
            by_state = {s: np.concatenate(rows) for s, rows in parts.items()}
        return by_state.get(0, np.zeros((0, len(self.edges)), np.int8))


def short_range_order(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """An order of the nodes in which neighbours are near one another."""
    if len(edges) == 0:
        return np.arange(n_nodes)
    ones, (u, v) = np.ones(2 * len(edges)), np.concatenate([edges, edges[:, ::-1]]).T
    graph = sparse.csr_array((ones, (u, v)), shape=(n_nodes, n_nodes))
    return reverse_cuthill_mckee(sparse.csr_matrix(graph), symmetric_mode=True)
