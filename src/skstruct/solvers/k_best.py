# SPDX-License-Identifier: BSD-3-Clause
"""The best and the k best outputs of every row: of a list, or by Lawler's partition."""

from __future__ import annotations

import heapq

import numpy as np


def cheapest(prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number and price of the cheapest entry of every row, the first among equals."""
    best = prices.argmin(axis=1)
    return best, prices[np.arange(len(prices)), best]


def k_cheapest(prices: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and prices of the ``k`` cheapest entries of every row, cheapest first.

    Ranks that no row has are left off.
    """
    order = np.argsort(prices, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(prices, order, axis=1)
    found = np.isfinite(values).any(axis=0)
    return order[:, found], values[:, found]


# The k best 0/1 outputs of every row, by Lawler's partition of what is left.


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


# The k best sequences of every row, by Murty's partition of what is left.


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
                pieces.append((row, np.arange(first, length), _split_sequences(z, first, free)))
        if not pieces:
            break
        rows = np.concatenate([np.full(len(places), row) for row, places, _ in pieces])
        start = np.concatenate([places for _, places, _ in pieces])
        allowed = np.concatenate([part for _, _, part in pieces])
    known = np.isfinite(values).any(axis=0)
    return sequences[:, known], values[:, known]


def _split_sequences(z, first, allowed):
    """What each piece allows: z up to place t, not z at t; shape (pieces, length, symbols)."""
    places = np.arange(first, len(z))
    taken = np.zeros_like(allowed)
    taken[np.arange(len(z)), z] = True
    before = np.arange(len(z)) < places[:, None]
    pieces = np.where(before[:, :, None], taken & allowed, allowed)
    at = np.arange(len(places))
    pieces[at, places, z[places]] = False
    return pieces
