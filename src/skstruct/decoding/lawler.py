# SPDX-License-Identifier: BSD-3-Clause
"""The k best 0/1 outputs of every row, by Lawler's partition of what is left."""

from __future__ import annotations

import heapq

import numpy as np


def k_best(best_within, n_rows: int, d: int, k: int):
    """The ``k`` cheapest outputs of every row, cheapest first.

    After the best output z of a part (coordinates held to low..high), the rest of the
    part splits into one piece per free coordinate j: equal to z before j, different
    at j. All pieces of all rows are decoded in one batch per rank. Of outputs that cost the
    same the one without the highest coordinate in which they differ comes first, as far as
    ``best_within`` settles ties so too.

    Parameters
    ----------
    best_within : callable (rows, low, high) -> (outputs, values)
        Best output of each row with coordinates held to low..high (bool, (m, d)); an
        infinite value says that there is none.

    Returns
    -------
    outputs : int8 array of shape (n_rows, k, d)
    values : array of shape (n_rows, k)
        Infinite where a row has fewer outputs; ranks that no row has are left off.
    """
    outputs = np.zeros((n_rows, k, d), np.int8)
    values = np.full((n_rows, k), np.inf)
    heaps: list[list] = [[] for _ in range(n_rows)]
    rows = np.arange(n_rows)
    low, high = np.zeros((n_rows, d), bool), np.ones((n_rows, d), bool)
    for rank in range(k):
        found, costs = best_within(rows, low, high)
        for i in np.flatnonzero(np.isfinite(costs)):
            key = found[i][::-1].astype(np.int8).tobytes()  # all different: arrays never compare
            heapq.heappush(heaps[rows[i]], (costs[i], key, found[i], low[i], high[i]))
        pieces = []
        for row, heap in enumerate(heaps):
            if heap:
                cost, _, z, below, above = heapq.heappop(heap)
                outputs[row, rank], values[row, rank] = z, cost
                pieces.append((row, *_split(z.astype(bool), below, above)))
        if not pieces:
            break
        rows = np.concatenate([np.full(len(part[1]), part[0]) for part in pieces])
        low = np.concatenate([part[1] for part in pieces])
        high = np.concatenate([part[2] for part in pieces])
    found = np.isfinite(values).any(axis=0)  # ranks that some row has
    return outputs[:, found], values[:, found]


def _split(z, low, high):
    """Bounds of the pieces of low..high without z, one per free coordinate."""
    free = np.flatnonzero(low != high)
    before = np.arange(len(z)) < free[:, None]
    low, high = np.where(before, z, low), np.where(before, z, high)
    at = np.arange(len(free)), free
    low[at] = high[at] = ~z[free]
    return low, high
