# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over labels or states with scores of pairs: forests, tables, known labels."""

import math

import numpy as np

from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.elimination import (
    LabelDistribution,
    elimination,
    n_entries,
    supports_inference,
)
from skstruct.spaces.solvers.pairwise.forests import is_forest, per_graph, rooted
from skstruct.spaces.solvers.pairwise.roof_duality import fold


class StateForestDistribution(Distribution):
    r"""Distributions of a state for every node, by sums and products from the leaves to the roots.

    .. math:: p(z) \propto \exp\Bigl(\sum_i u_i(z_i) + \sum_{ij \in E} w_{ij}(z_i, z_j)\Bigr)

    What is kept are the probabilities of a node's states given that of its parent, so that
    marginals and draws are sums and products of probabilities: O(n k²) for each row.

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
    >>> distribution = StateForestDistribution(unary, alike, np.array([[0, 1]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(3)
    (array([6.]), array([[0.667, 0.333, 0.667, 0.333, 0.5  , 0.167, 0.167, 0.167]]))
    """

    def __init__(self, unary: np.ndarray, pairs: np.ndarray, edges: np.ndarray) -> None:
        from skstruct.spaces.solvers.pairwise._numba_inference import sum_states

        unary, pairs = (np.ascontiguousarray(part, np.float64) for part in (unary, pairs))
        self.forest = _rooted_with_flips(unary.shape[1], edges)
        # Probabilities of the states of roots, and of children given the states of their parents.
        self.first: np.ndarray = np.zeros(unary.shape)
        self.given: np.ndarray = np.empty(pairs.shape)
        self.log_partition = sum_states(unary, pairs, *self.forest, self.first, self.given)

    def marginals(self) -> np.ndarray:
        """Probabilities of states (n k), and of pairs of states (E k k), of every row."""
        from skstruct.spaces.solvers.pairwise._numba_inference import spread_states

        nodes: np.ndarray = np.zeros(self.first.shape)
        pairs: np.ndarray = np.empty(self.given.shape)
        spread_states(*self.forest, self.first, self.given, nodes, pairs)
        rows, n, k = nodes.shape
        return np.hstack([nodes.reshape(rows, n * k), pairs.reshape(rows, pairs.shape[1] * k * k)])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.solvers.pairwise._numba_inference import draw_states

        shape = len(self.first), n, self.first.shape[1]
        states = np.empty(shape, np.int64)
        order, parent, edge, _ = self.forest
        draw_states(order, parent, edge, self.first, self.given, rng.random(shape), states)
        return states


@per_graph
def _rooted_with_flips(
    n: int, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Order, parents and edges to them, and where the parent is the second node of its edge."""
    order, parent, edge = rooted(n, edges)
    flipped, has_parent = np.zeros(n, bool), edge >= 0
    flipped[has_parent] = edges[edge[has_parent], 1] == parent[has_parent]
    return order, parent, edge, flipped


class LabelForestDistribution(Distribution):
    r"""Distributions of sets of labels by sums and products from the leaves to the roots.

    .. math:: p(y) \propto \exp\Bigl(\sum_i u_i y_i + \sum_{ij \in E} w_{ij} y_i y_j\Bigr)

    With :math:`t_v` the logarithm of the odds of v by all that is below it, v adds
    :math:`\ln(1 + e^{t_v})` to ln Z and :math:`\ln(1 + e^{t_v + w}) - \ln(1 + e^{t_v})` to the
    odds of its parent: O(n) for each row.

    Parameters
    ----------
    nodes : array of shape (rows, n)
    pairs : array of shape (rows, E)
    edges : int array of shape (E, 2)
        A forest.

    Examples
    --------
    >>> distribution = LabelForestDistribution(np.zeros((1, 2)), np.log([[3.0]]), np.array([[0,
    ...     1]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(3)
    (array([6.]), array([[0.667, 0.667, 0.5  ]]))
    """

    def __init__(self, nodes: np.ndarray, pairs: np.ndarray, edges: np.ndarray) -> None:
        from skstruct.spaces.solvers.pairwise._numba_inference import sum_labels

        nodes, pairs = np.array(nodes, np.float64), np.array(pairs, np.float64)  # rows in order
        self.forest, self.n_edges = _rooted(nodes.shape[1], edges), len(edges)
        # Probabilities of labels given that their parent is out, and that it is in.
        self.given = np.empty((*nodes.shape, 2))
        self.log_partition = sum_labels(nodes, pairs, *self.forest, self.given)

    def marginals(self) -> np.ndarray:
        """Probabilities of labels (n) and of pairs of labels (E) in every row."""
        from skstruct.spaces.solvers.pairwise._numba_inference import spread_labels

        return spread_labels(*self.forest, self.given, self.n_edges)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.solvers.pairwise._numba_inference import draw_labels

        order, parent, _ = self.forest
        return draw_labels(order, parent, self.given, n, rng)


@per_graph
def _rooted(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rooted(n, edges)


MOST_LABELS = 20


class PairTableDistribution(Distribution):
    r"""Distributions :math:`p(z) \propto \exp(\sum_i u_i z_i + \sum_e w_e z_i z_j)` over all
    subsets.

    The table has :math:`2^d` numbers, is made with one addition and one exponential for each, and
    gives all marginals with two more additions: for graphs of few labels and many pairs.

    Parameters
    ----------
    scores : array of shape (n, d + E)
        Of the labels, then of the edges.
    edges : int array of shape (E, 2), pairs i < j
    n_labels : int

    Examples
    --------
    >>> distribution = PairTableDistribution(np.log([[2.0, 1.0, 3.0]]), np.array([[0, 1]]), 2)
    >>> np.exp(distribution.log_partition).round(12)  # 1 + 2 + 1 + 6
    array([10.])
    >>> distribution.marginals().round(12)
    array([[0.8, 0.7, 0.6]])
    """

    def __init__(self, scores: np.ndarray, edges: np.ndarray, n_labels: int) -> None:
        from skstruct.spaces.solvers.pairwise._numba_inference import sum_pair_tables

        n = len(scores)
        self.edges = edges
        self.single = np.ascontiguousarray(scores[:, :n_labels])
        self.pair = np.zeros((n, n_labels, n_labels))
        self.pair[:, edges[:, 0], edges[:, 1]] = scores[:, n_labels:]
        self.log_partition = np.empty(n)
        self.of_labels, self.of_pairs = np.empty((n, n_labels)), np.zeros_like(self.pair)
        sum_pair_tables(self.single, self.pair, self.log_partition, self.of_labels, self.of_pairs)

    def marginals(self) -> np.ndarray:
        i, j = self.edges.T
        return np.hstack([self.of_labels, self.of_pairs[:, i, j]])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.solvers.pairwise._numba_inference import draw_pair_tables

        drawn = np.empty((len(self.single), n, self.single.shape[1]), np.int8)
        draw_pair_tables(self.single, self.pair, rng.random(drawn.shape[:2]), drawn)
        return drawn


CHEAPER = 4  # entries of a table of all sets for one of elimination


def label_distribution(
    nodes: np.ndarray,
    pairs: np.ndarray,
    edges: np.ndarray,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> Distribution | None:
    """The distribution of 0/1 labels on a graph; None where it is too wide for so many rows.

    Parameters
    ----------
    nodes : array of shape (rows, n)
    pairs : array of shape (rows, E)
    edges : int array of shape (E, 2)
    low, high : bool arrays of shape (rows or 1, n), default=None
        Labels that must and that may be in; none of them contradict each other.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> distribution = label_distribution(np.zeros((1, 3)), np.log([[2.0, 3.0, 1.0]]), triangle)
    >>> np.exp(distribution.log_partition).round(12)  # 1 + 1 + 1 + 1 + 2 + 3 + 1 + 6
    array([16.])
    """
    if low is None and high is None:
        return (
            _min_cost_distribution(nodes, pairs, edges)
            if supports_inference(len(nodes), nodes.shape[1], edges)
            else None
        )
    low = np.zeros((1, nodes.shape[1]), bool) if low is None else low
    high = np.ones((1, nodes.shape[1]), bool) if high is None else high
    free = (high & ~low).any(axis=0)
    kept = np.flatnonzero(free[edges].all(axis=1))
    if not supports_inference(len(nodes), nodes.shape[1], edges[kept]):
        return None
    nodes, pairs, shift = fold(nodes, pairs, edges, low, high)
    pairs = np.broadcast_to(pairs, (len(nodes), len(edges)))[:, kept]
    distribution = _min_cost_distribution(nodes, pairs, edges[kept])
    return FixedLabelsDistribution(
        distribution, edges, kept, np.broadcast_to(low, nodes.shape), high & ~low, shift
    )


def _min_cost_distribution(nodes: np.ndarray, pairs: np.ndarray, edges: np.ndarray) -> Distribution:
    """By elimination; by a table of all sets, quicker entry by entry, where that is no larger."""
    n = nodes.shape[1]
    if is_forest(n, edges):
        return LabelForestDistribution(nodes, pairs, edges)
    buckets = elimination(n, edges)
    if n <= MOST_LABELS and buckets is not None and 2**n <= CHEAPER * n_entries(buckets):
        return PairTableDistribution(np.hstack([nodes, pairs]), edges, n)
    return LabelDistribution(nodes, pairs, edges)


class FixedLabelsDistribution(Distribution):
    """A distribution of labels in which known ones have nothing to say, and what they then are.

    Parameters
    ----------
    distribution : Distribution
        Of all labels, scores of known ones being zero.
    edges : int array of shape (E, 2)
    kept : int array
        The edges that the distribution has.
    low, free : bool arrays of shape (rows, n) and (rows or 1, n)
        Labels that are known to be in, and those that are not known.
    shift : array of shape (rows,)
        The score of the known labels among themselves.
    """

    def __init__(
        self,
        distribution: Distribution,
        edges: np.ndarray,
        kept: np.ndarray,
        low: np.ndarray,
        free: np.ndarray,
        shift: np.ndarray,
    ) -> None:
        self.distribution, self.edges, self.kept = distribution, edges, kept
        self.low, self.free = low, np.broadcast_to(free, low.shape)
        # The distribution counts both values of a known label.
        self.log_partition = (
            distribution.log_partition + shift - math.log(2.0) * (~self.free).sum(axis=1)
        )

    def marginals(self) -> np.ndarray:
        n, found = self.low.shape[1], self.distribution.marginals()
        labels = np.where(self.free, found[:, :n], self.low)
        i, j = self.edges.T
        pairs = labels[:, i] * labels[:, j]  # right where one of the two is known
        both = (self.free[:, i] & self.free[:, j])[:, self.kept]
        pairs[:, self.kept] = np.where(both, found[:, n:], pairs[:, self.kept])
        return np.hstack([labels, pairs])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        drawn = self.distribution.sample(n, rng)
        return np.where(self.free[:, None], drawn, self.low[:, None]).astype(drawn.dtype)
