# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels and of pairs as a binary program: the way out where all else left a gap."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.decoding.binary_programs import BinaryProgram


def local_polytope(n: int, edges: np.ndarray) -> BinaryProgram:
    """Labels y and products z with z <= y_i, z <= y_j and y_i + y_j <= 1 + z for every edge.

    >>> program = local_polytope(2, np.array([[0, 1]]))
    >>> program.solve(np.array([1.0, 1.0, -3.0]))
    (array([1, 1, 1], dtype=int8), -1.0)
    """
    count = len(edges)
    i, j = np.asarray(edges).T
    e, one = np.arange(count), np.ones(count)
    row = np.concatenate([e, e, count + e, count + e, 2 * count + e, 2 * count + e, 2 * count + e])
    column = np.concatenate([n + e, i, n + e, j, i, j, n + e])
    value = np.concatenate([one, -one, one, -one, one, one, -one])
    system = sparse.csr_array((value, (row, column)), shape=(3 * count, n + count))
    limits = np.concatenate([np.zeros(2 * count), one])
    return BinaryProgram(system, limits, sparse.csr_array((0, n + count)), np.zeros(0))


def best_by_program(node_costs, edge_costs, edges, halves) -> tuple[np.ndarray, np.ndarray]:
    """Best labels and lower bounds of every row, with labels of 0 and 1 in ``halves`` kept."""
    rows, n = node_costs.shape
    program = local_polytope(n, edges)
    outputs, bounds = np.empty((rows, n), np.int8), np.empty(rows)
    free = np.zeros(len(edges))
    for row in range(rows):
        cost = np.concatenate([node_costs[row], edge_costs[min(row, len(edge_costs) - 1)]])
        low = np.concatenate([halves[row] == 1.0, free])
        high = np.concatenate([halves[row] > 0.0, free + 1.0])
        point, bounds[row] = program.solve(cost, low, high)
        outputs[row] = point[:n]
    return outputs, bounds
