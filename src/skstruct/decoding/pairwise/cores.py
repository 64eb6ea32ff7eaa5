# SPDX-License-Identifier: BSD-3-Clause
"""Labels that roof duality left open, by themselves: their costs given all the others."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.graphs import neighbors
from skstruct.decoding.pairwise.gray import best_by_enumeration


def all_pairs(k: int) -> np.ndarray:
    """The edges of the full graph of k labels, (k (k - 1) / 2, 2)."""
    return np.column_stack(np.triu_indices(k, 1))


def open_cores(node_costs, edge_costs, edges, halves, k: int):
    """Costs of the k labels of one half in every row, where all others are settled.

    Returns
    -------
    core : int array of shape (rows, k)
        Which labels they are.
    node_costs : array of shape (rows, k)
    edge_costs : array of shape (rows, k (k - 1) / 2)
        Of ``all_pairs(k)``.
    """
    from skstruct.decoding.pairwise._compiled_cores import core_costs

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    start, other, edge, _ = neighbors(node_costs.shape[1], edges)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return core_costs(*costs, np.ascontiguousarray(halves), k, start, other, edge)


def try_cores(node_costs, edge_costs, edges, halves, k: int) -> np.ndarray:
    """Best labels of rows with k labels of one half: all ways to set these.

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> costs = np.array([[-1.0, -2.0, -1.0]]), np.array([[2.0, 2.0, 2.0]])
    >>> try_cores(*costs, triangle, np.array([[0.5, 0.5, 0.0]]), 2)
    array([[0, 1, 0]], dtype=int8)
    """
    core, nodes, pairs = open_cores(node_costs, edge_costs, edges, halves, k)
    outputs = halves.astype(np.int8)
    found, _ = best_by_enumeration(nodes, pairs, all_pairs(k))
    np.put_along_axis(outputs, core, found, axis=1)
    return outputs
