# SPDX-License-Identifier: BSD-3-Clause
"""Compiled folding of known labels into the costs of the others."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def fold(node_costs, edge_costs, edges, low, high):
    """Costs of labels and edges given the known labels, and what these cost; see the wrapper."""
    rows, n = node_costs.shape
    masks, priced, count = low.shape[0], edge_costs.shape[0], edges.shape[0]
    nodes, shift = np.zeros((rows, n)), np.zeros(rows)
    kept = 1 if masks == 1 and priced == 1 else rows
    pairs = np.zeros((kept, count))
    for row in range(rows):
        m, r = row if masks > 1 else 0, row if priced > 1 else 0
        for i in range(n):
            if low[m, i]:
                shift[row] += node_costs[row, i]
            elif high[m, i]:
                nodes[row, i] = node_costs[row, i]
        for e in range(count):
            i, j = edges[e]
            w = edge_costs[r, e]
            free_i, free_j = high[m, i] and not low[m, i], high[m, j] and not low[m, j]
            if free_i and free_j:
                if row < kept:
                    pairs[row, e] = w
            elif low[m, i] and low[m, j]:
                shift[row] += w
            elif low[m, i] and free_j:
                nodes[row, j] += w
            elif low[m, j] and free_i:
                nodes[row, i] += w
    return nodes, pairs, shift
