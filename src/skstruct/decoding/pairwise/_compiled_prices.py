# SPDX-License-Identifier: BSD-3-Clause
"""Compiled prices of labels, whole or half."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def price(points, node_costs, edge_costs, edges, embedded):
    """Values of labels in [0, 1] with the best their edges can be.

    Labels and edges go to `embedded` (rows, n + E), unless it has no rows.
    """
    rows, n = points.shape
    shared, kept = edge_costs.shape[0] == 1, embedded.shape[0] > 0
    values = np.empty(rows)
    for row in range(rows):
        total = 0.0
        for i in range(n):
            total += node_costs[row, i] * points[row, i]
            if kept:
                embedded[row, i] = points[row, i]
        for e in range(edges.shape[0]):
            w = edge_costs[0 if shared else row, e]
            low, high = points[row, edges[e, 0]], points[row, edges[e, 1]]
            both = min(low, high) if w < 0.0 else max(low + high - 1.0, 0.0)
            total += w * both
            if kept:
                embedded[row, n + e] = both
        values[row] = total
    return values
