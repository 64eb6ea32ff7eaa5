# SPDX-License-Identifier: BSD-3-Clause
"""The k best sequences of every row, by Murty's partition of what is left."""

from __future__ import annotations

import heapq

import numpy as np


def k_best_sequences(best_within, n_rows: int, length: int, n_symbols: int, k: int):
    """The ``k`` cheapest sequences of every row, cheapest first.

    After the best sequence z of a part, the rest of the part splits into one piece per
    place t: equal to z before t, another symbol at t. All pieces of all rows are decoded
    in one batch per rank. Murty (1968) did so for assignments.

    Parameters
    ----------
    best_within : callable (rows, allowed) -> (sequences, values)
        Best sequence of each row with symbol s at place t only where ``allowed[:, t, s]``;
        an infinite value says that there is none.

    Returns
    -------
    sequences : int array of shape (n_rows, k, length)
    values : array of shape (n_rows, k)
        Infinite where a row has fewer sequences; ranks that no row has are left off.
    """
    sequences = np.tile(np.arange(length), (n_rows, k, 1))  # something, where there is none
    values = np.full((n_rows, k), np.inf)
    heaps: list[list] = [[] for _ in range(n_rows)]
    rows = np.arange(n_rows)
    start = np.zeros(n_rows, np.int64)  # places before it are settled
    allowed = np.ones((n_rows, length, n_symbols), bool)
    counter = 0
    for rank in range(k):
        found, costs = best_within(rows, allowed)
        for i in np.flatnonzero(np.isfinite(costs)):
            counter += 1  # breaks ties in order of discovery: arrays do not compare
            part = costs[i], counter, found[i], start[i], allowed[i]
            heapq.heappush(heaps[rows[i]], part)
        pieces = []
        for row, heap in enumerate(heaps):
            if heap:
                cost, _, z, first, free = heapq.heappop(heap)
                sequences[row, rank], values[row, rank] = z, cost
                pieces.append((row, np.arange(first, length), _split(z, first, free)))
        if not pieces:
            break
        rows = np.concatenate([np.full(len(places), row) for row, places, _ in pieces])
        start = np.concatenate([places for _, places, _ in pieces])
        allowed = np.concatenate([part for _, _, part in pieces])
    known = np.isfinite(values).any(axis=0)
    return sequences[:, known], values[:, known]


def _split(z, first, allowed):
    """What each piece allows: z up to place t, not z at t; shape (pieces, length, symbols)."""
    places = np.arange(first, len(z))
    taken = np.zeros_like(allowed)
    taken[np.arange(len(z)), z] = True
    before = np.arange(len(z)) < places[:, None]
    pieces = np.where(before[:, :, None], taken & allowed, allowed)
    at = np.arange(len(places))
    pieces[at, places, z[places]] = False
    return pieces
