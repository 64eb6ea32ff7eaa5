# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels and of pairs of labels, where the pairs are a forest: exact in O(n)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from skstruct.decoding.pairwise.graphs import neighbors, per_graph

BITS = 62  # labels per word of a set, as in the compiled part
MOST = 4096  # labels up to which ties go by index: sets are carried along, n / 62 words each


def is_forest(n: int, edges: np.ndarray) -> bool:
    """Whether edges (E, 2), each given once, close no circle among n nodes.

    >>> is_forest(4, np.array([[0, 1], [1, 2]])), is_forest(3, np.array([[0, 1], [1, 2], [0, 2]]))
    (True, False)
    """
    return len(edges) < max(n, 1) and _closes_no_circle(n, edges)


@per_graph
def _closes_no_circle(n, edges):
    return n - len(edges) == connected_components(_adjacency(n, edges), directed=False)[0]


def rooted(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A forest hung up by its roots, the lowest node of each piece.

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
    hung = np.concatenate([edges, np.column_stack([np.full(len(tops), n), tops])])
    order, parent = breadth_first_order(_adjacency(n + 1, hung), n, directed=False)
    order, parent = order[1:].astype(np.int64), parent[:n].astype(np.int64)
    parent[tops] = -1
    edge_of_parent = np.full(n, -1)
    low, high = edges.T
    number = np.arange(len(edges))
    below = parent[high] == low
    edge_of_parent[high[below]] = number[below]
    edge_of_parent[low[~below]] = number[~below]
    return order, parent, edge_of_parent


def best_on_forest(node_costs, edge_costs, edges) -> tuple[np.ndarray, np.ndarray]:
    """Cheapest labels where the edges are a forest, by max-product.

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
    from skstruct.decoding.pairwise._compiled_forests import best_labels

    forest = _hung(node_costs.shape[1], edges)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    outputs, values, tied = best_labels(*costs, *forest)
    if tied.any():
        own = costs[1] if len(costs[1]) == 1 else costs[1][tied]
        outputs[tied], values[tied], _ = best_on_own_forests(costs[0][tied], own, edges)
    return outputs, values


def best_on_own_forests(node_costs, edge_costs, edges):
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
    from skstruct.decoding.pairwise._compiled_own_forests import best_on_own_forests as compiled

    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    rows, n = costs[0].shape
    start, other, edge, _ = neighbors(n, np.ascontiguousarray(edges, dtype=np.int64))
    words = -(-n // BITS) if n <= MOST else 0
    outputs, values = np.zeros((rows, n), np.int8), np.zeros(rows)
    found = compiled(*costs, start, other, edge, words, outputs, values)
    return outputs, values, found


@per_graph
def _hung(n, edges):
    """Nodes in order, and by position in it the parent's position and edge; roots hang on n."""
    order, parent, edge = rooted(n, edges)
    position = np.empty(n + 1, np.int64)  # the last one stands for the parent -1 of roots
    position[order], position[n] = np.arange(n), n
    return order, position[parent[order]], edge[order]


def _adjacency(n, edges):
    return sparse.coo_array((np.ones(len(edges), np.int8), tuple(edges.T)), shape=(n, n)).tocsr()
