# SPDX-License-Identifier: BSD-3-Clause
"""Costs of states of nodes, and of pairs of states along the edges of a forest."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from skstruct.decoding.lawler import k_best
from skstruct.decoding.pairwise.forests import rooted


def best_states_on_forest(unary, pairs, edges) -> tuple[np.ndarray, np.ndarray]:
    """Cheapest state of every node, by max-product: exact in O(n k²).

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
    from skstruct.decoding.pairwise._compiled_states import best_states

    forest = _hung(unary.shape[1], np.asarray(edges, dtype=np.int64).tobytes())
    return best_states(np.ascontiguousarray(unary), np.ascontiguousarray(pairs), *forest)


@lru_cache(maxsize=16)  # learners decode a few rows at a time, thousands of times
def _hung(n, edges):
    """Order, parents and edges to them, and where the parent is the second node of its edge."""
    edges = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    order, parent, edge = rooted(n, edges)
    flipped, hung = np.zeros(n, bool), edge >= 0
    flipped[hung] = edges[edge[hung], 1] == parent[hung]
    return order, parent, edge, flipped


def k_best_states(unary, pairs, edges, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` cheapest choices of states of every row, all different, cheapest first.

    Parameters as of :func:`best_states_on_forest`.

    Returns
    -------
    states : int64 array of shape (rows, k, n)
    values : array of shape (rows, k)
        Infinite where a row has fewer; ranks that no row has are left off.
    """
    rows, n, q = unary.shape

    def best_within(part, low, high):
        """Indicators of states are held between low and high; low leaves one state."""
        low, high = low.reshape(-1, n, q), high.reshape(-1, n, q)
        allowed = high & (low | ~low.any(axis=2, keepdims=True)) & (low.sum(axis=2) < 2)[..., None]
        held = np.where(allowed, unary[part], np.inf)
        own = pairs if len(pairs) == 1 else pairs[part]
        states, values = best_states_on_forest(held, own, edges)
        return (states[:, :, None] == np.arange(q)).reshape(len(states), -1).astype(np.int8), values

    indicators, values = k_best(best_within, rows, n * q, k)
    return indicators.reshape(rows, -1, n, q).argmax(axis=3), values
