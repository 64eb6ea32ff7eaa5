# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels or states and of their pairs, where the pairs are a forest: exact in O(n)."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from skstruct.spaces.solvers.k_best import k_best

Found = TypeVar("Found")
SMALL = 10_000  # edges: what is known of larger graphs is worked out each time


def per_graph(function: Callable[[int, np.ndarray], Found]) -> Callable[[int, np.ndarray], Found]:
    """A function of (n, edges) that remembers its answers for the last small graphs.

    Learners decode a few rows at a time over one graph, thousands of times.
    """

    @lru_cache(maxsize=32)
    def remembered(n: int, edges: bytes) -> Any:
        return function(n, np.frombuffer(edges, dtype=np.int64).reshape(-1, 2))

    @wraps(function)
    def of_graph(n: int, edges: np.ndarray) -> Any:
        edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        return remembered(n, edges.tobytes()) if len(edges) <= SMALL else function(n, edges)

    return of_graph


class Neighbors(NamedTuple):
    """Every edge twice, once at each end; the ends at one node stand together."""

    start: np.ndarray  # shape (n + 1,): node i owns the ends start[i]:start[i + 1]
    other: np.ndarray  # shape (2 E,): the node at the other end
    edge: np.ndarray  # shape (2 E,): which edge
    mate: np.ndarray  # shape (2 E,): where the other end of this edge stands


@per_graph
def neighbors(n: int, edges: np.ndarray) -> Neighbors:
    """Who is joined to whom.

    >>> neighbors(3, np.array([[0, 1], [0, 2]])).other
    array([1, 2, 0, 0])
    """
    here, there = edges.T.ravel(), edges[:, ::-1].T.ravel()
    by_node = np.lexsort((there, here))
    position = np.empty(len(here), np.int64)
    position[by_node] = np.arange(len(here))
    across = np.roll(np.arange(len(here)), len(edges))  # the two ends stood E positions apart
    start = np.searchsorted(here[by_node], np.arange(n + 1))
    return Neighbors(start, there[by_node], by_node % max(len(edges), 1), position[across[by_node]])


BITS = 62  # labels per word of a set, as in the compiled part
MOST_TIES_BY_INDEX = (
    4096  # labels up to which ties go by index: sets are carried along, n / 62 words each
)


def is_forest(n: int, edges: np.ndarray) -> bool:
    """Whether edges (E, 2), each given once, close no circle among n nodes.

    >>> is_forest(4, np.array([[0, 1], [1, 2]])), is_forest(3, np.array([[0, 1], [1, 2], [0, 2]]))
    (True, False)
    """
    return len(edges) < max(n, 1) and _closes_no_circle(n, edges)


@per_graph
def _closes_no_circle(n: int, edges: np.ndarray) -> bool:
    return bool(n - len(edges) == connected_components(_adjacency(n, edges), directed=False)[0])


def rooted(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A forest with its roots, the lowest node of each piece.

    Parameters
    ----------
    n : int
    edges : int array of shape (E, 2)

    Returns
    -------
    order : int64 array of shape (n,)
        The nodes, parents before their children.
    parent : int64 array of shape (n,)
        The parent of each node; -1 for roots.
    edge_of_parent : int64 array of shape (n,)
        The number of the edge between each node and its parent; -1 for roots.

    Examples
    --------
    >>> rooted(4, np.array([[0, 2], [1, 2]]))
    (array([0, 3, 2, 1]), array([-1,  2,  0, -1]), array([-1,  1,  0, -1]))
    """
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if not is_forest(n, edges):
        raise ValueError("The edges close a circle: they are not a forest.")
    # One more node, above the lowest node of every piece, makes the forest one tree.
    _, piece = connected_components(_adjacency(n, edges), directed=False)
    tops = np.unique(piece, return_index=True)[1]
    joined = np.concatenate([edges, np.column_stack([np.full(len(tops), n), tops])])
    order, parent = breadth_first_order(_adjacency(n + 1, joined), n, directed=False)
    order, parent = order[1:].astype(np.int64), parent[:n].astype(np.int64)
    parent[tops] = -1
    edge_of_parent = np.full(n, -1)
    low, high = edges.T
    number = np.arange(len(edges))
    below = parent[high] == low
    edge_of_parent[high[below]] = number[below]
    edge_of_parent[low[~below]] = number[~below]
    return order, parent, edge_of_parent


def best_on_forest(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost labels where the edges are a forest, by max-product.

    Of labels that cost the same those without the highest label in which they differ.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)

    Returns
    -------
    outputs : int8 array of shape (rows, n)
    values : array of shape (rows,)

    Examples
    --------
    >>> edges = np.array([[0, 1], [1, 2]])
    >>> best_on_forest(np.array([[-1.0, -0.5, 0.2]]), np.array([[2.0, -1.0]]), edges)
    (array([[0, 1, 1]], dtype=int8), array([-1.3]))
    """
    from skstruct.spaces.solvers.pairwise._numba_forests import best_labels

    forest = _parent_positions(node_costs.shape[1], edges)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    outputs, values, tied = best_labels(*costs, *forest)
    if tied.any():
        own = costs[1] if len(costs[1]) == 1 else costs[1][tied]
        outputs[tied], values[tied], _ = best_on_own_forests(costs[0][tied], own, edges)
    return outputs, values


def best_on_own_forests(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As ``best_on_forest``, for the rows whose edges of some cost close no circle.

    Returns
    -------
    outputs : int8 array of shape (rows, n)
    values : array of shape (rows,)
    found : bool array of shape (rows,)
        The rows that were solved; the others hold nothing of use.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> costs = np.array([[-1.0, -1.0, 0.0]] * 2), np.array([[2.0, 0.0, 0.0], [2.0, 1.0, 1.0]])
    >>> outputs, values, found = best_on_own_forests(*costs, triangle)
    >>> found, outputs[0]
    (array([ True, False]), array([1, 0, 0], dtype=int8))
    """
    from skstruct.spaces.solvers.pairwise._numba_forests import best_on_own_forests as compiled

    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    rows, n = costs[0].shape
    start, other, edge, _ = neighbors(n, np.ascontiguousarray(edges, dtype=np.int64))
    words = -(-n // BITS) if n <= MOST_TIES_BY_INDEX else 0
    outputs, values = np.zeros((rows, n), np.int8), np.zeros(rows)
    found = compiled(*costs, start, other, edge, words, outputs, values)
    return outputs, values, found


@per_graph
def _parent_positions(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes in order, and by position in it the parent's position and edge; roots hang on n."""
    order, parent, edge = rooted(n, edges)
    position = np.empty(n + 1, np.int64)  # the last one stands for the parent -1 of roots
    position[order], position[n] = np.arange(n), n
    return order, position[parent[order]], edge[order]


def _adjacency(n: int, edges: np.ndarray) -> Any:
    return sparse.coo_array((np.ones(len(edges), np.int8), tuple(edges.T)), shape=(n, n)).tocsr()


def best_states_on_forest(
    unary: np.ndarray, pairs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost state of every node, by max-product: exact in O(n k²).

    Parameters
    ----------
    unary : array of shape (rows, n, k)
        Cost of each state at each node; infinity forbids.
    pairs : array of shape (rows, E, k, k), or (1, E, k, k) when all rows have the same
        Cost of the states at the two nodes of each edge.
    edges : int array of shape (E, 2)
        A forest.

    Returns
    -------
    states : int64 array of shape (rows, n)
        Of equally cheap states the first.
    values : array of shape (rows,)
        Infinite where every choice is forbidden.

    Examples
    --------
    >>> unary = np.array([[[0.0, 0.4], [0.5, 0.0], [0.0, 0.1]]])
    >>> unlike = np.eye(2)[None, None].repeat(2, axis=1)  # equal neighbours cost one
    >>> best_states_on_forest(unary, unlike, np.array([[0, 1], [1, 2]]))
    (array([[0, 1, 0]]), array([0.]))
    """
    from skstruct.spaces.solvers.pairwise._numba_forests import best_states

    forest = _rooted_with_flips(unary.shape[1], np.asarray(edges, dtype=np.int64).tobytes())
    return best_states(np.ascontiguousarray(unary), np.ascontiguousarray(pairs), *forest)


@lru_cache(maxsize=16)  # learners decode a few rows at a time, thousands of times
def _rooted_with_flips(
    n: int, edges: bytes
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Order, parents and edges to them, and where the parent is the second node of its edge."""
    ends = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    order, parent, edge = rooted(n, ends)
    flipped, has_parent = np.zeros(n, bool), edge >= 0
    flipped[has_parent] = ends[edge[has_parent], 1] == parent[has_parent]
    return order, parent, edge, flipped


def k_best_states(
    unary: np.ndarray, pairs: np.ndarray, edges: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` minimum-cost choices of states of every row, all different, best first.

    Parameters as of :func:`best_states_on_forest`.

    Returns
    -------
    states : int64 array of shape (rows, k, n)
    values : array of shape (rows, k)
        Infinite where a row has fewer; ranks that no row has are left off.
    """
    rows, n, q = unary.shape

    def best_within(
        part: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indicators of states are kept between low and high; low leaves one state."""
        low, high = low.reshape(-1, n, q), high.reshape(-1, n, q)
        allowed = high & (low | ~low.any(axis=2, keepdims=True)) & (low.sum(axis=2) < 2)[..., None]
        fixed = np.where(allowed, unary[part], np.inf)
        own = pairs if len(pairs) == 1 else pairs[part]
        states, values = best_states_on_forest(fixed, own, edges)
        return (states[:, :, None] == np.arange(q)).reshape(len(states), -1).astype(np.int8), values

    indicators, values = k_best(best_within, rows, n * q, k)
    return indicators.reshape(rows, -1, n, q).argmax(axis=3), values


def random_tree_edges(n: int, rng: Any = None) -> np.ndarray:
    """Draw a tree over n nodes, all of the n ** (n - 2) equally likely; shape (n - 1, 2).

    A walk that goes to any node at every step enters each node first by an edge of the
    tree (Aldous and Broder).

    Parameters
    ----------
    n : int
    rng : int or numpy.random.Generator, default=None

    Examples
    --------
    >>> random_tree_edges(4, 0).tolist()
    [[0, 3], [1, 2], [2, 3]]
    """
    rng = np.random.default_rng(rng)
    edges, at, left = [], 0, set(range(1, n))
    while left:
        to = int(rng.integers(n))
        if to in left:
            left.remove(to)
            edges.append((min(at, to), max(at, to)))
        at = to
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
