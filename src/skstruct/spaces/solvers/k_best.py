# SPDX-License-Identifier: BSD-3-Clause
"""The best and the k best outputs of every row: of a list, or by Lawler's partition."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np


def min_cost(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number and cost of the minimum-cost entry of every row, the first among equals."""
    best = costs.argmin(axis=1)
    return best, costs[np.arange(len(costs)), best]


def k_min_cost(costs: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and costs of the ``k`` entries of least cost of every row, best first.

    Ranks that no row has are left off.
    """
    order = np.argsort(costs, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(costs, order, axis=1)
    found = np.isfinite(values).any(axis=0)
    return order[:, found], values[:, found]


def k_best(
    best_within: Callable[..., Any], n_rows: int, d: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` minimum-cost outputs of every row, best first.

    After the best output z of a part (coordinates kept within low..high), the rest of the
    part splits into one piece per free coordinate j: equal to z before j, different
    at j. All pieces of all rows are decoded in one batch per rank. Of outputs that cost the
    same the one without the highest coordinate in which they differ comes first, as far as
    ``best_within`` settles ties so too.

    Parameters
    ----------
    best_within : callable (rows, low, high) -> (outputs, values)
        Best output of each row with coordinates kept within low..high (bool, (m, d)); an
        infinite value says that there is none.

    Returns
    -------
    outputs : int8 array of shape (n_rows, k, d)
    values : array of shape (n_rows, k)
        Infinite where a row has fewer outputs; ranks that no row has are left off.
    """
    part = np.zeros((n_rows, d), bool), np.ones((n_rows, d), bool)
    return k_best_pieces(best_within, _split, part, np.zeros((n_rows, k, d), np.int8))


def k_best_pieces(
    best_within: Callable[..., Any],
    split: Callable[..., Any],
    part: tuple[np.ndarray, ...],
    outputs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The same for pieces of any kind; of equal costs the order is that of :func:`k_best`.

    Parameters
    ----------
    best_within : callable (rows, *part) -> (outputs, values)
        Best output of each row within its part; an infinite value says that there is none.
    split : callable (z, *part) -> arrays of the pieces of one part without z
    part : tuple of arrays, one entry for each row
    outputs : array of zeros of shape (n_rows, k, d), which is filled
    """
    return _ranked(best_within, split, lambda z: z[::-1].astype(np.int8).tobytes(), part, outputs)


def _ranked(
    best_within: Callable[..., Any],
    split: Callable[..., Any],
    key: Callable[..., Any],
    part: tuple[np.ndarray, ...],
    outputs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Fill ``outputs`` (n_rows, k, ...) rank by rank; these and their values, (n_rows, k).

    ``part`` are the arrays that say what is left of each row, ``split(z, *part)`` those of the
    pieces without z. Of equal costs the smaller ``key(z)`` comes first, no two being the same.
    """
    values = np.full(outputs.shape[:2], np.inf)
    heaps: list[list[Any]] = [[] for _ in outputs]
    rows = np.arange(len(outputs))
    for rank in range(outputs.shape[1]):
        found, costs = best_within(rows, *part)
        for i in np.flatnonzero(np.isfinite(costs)):
            entry = costs[i], key(found[i]), found[i], *(array[i] for array in part)
            heapq.heappush(heaps[rows[i]], entry)
        pieces = []
        for row, heap in enumerate(heaps):
            if heap:
                cost, _, z, *rest = heapq.heappop(heap)
                outputs[row, rank], values[row, rank] = z, cost
                pieces.append((row, split(z, *rest)))
        if not pieces:
            break
        rows = np.concatenate([np.full(len(arrays[0]), row) for row, arrays in pieces])
        part = tuple(map(np.concatenate, zip(*(arrays for _, arrays in pieces))))
    known = np.isfinite(values).any(axis=0)  # ranks that some row has
    return outputs[:, known], values[:, known]


def _split(z: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the pieces of low..high without z, one per free coordinate."""
    z = z.astype(bool)
    free = np.flatnonzero(low != high)
    before = np.arange(len(z)) < free[:, None]
    low, high = np.where(before, z, low), np.where(before, z, high)
    at = np.arange(len(free)), free
    low[at] = high[at] = ~z[free]
    return low, high


def k_best_sequences(
    best_within: Callable[..., Any], n_rows: int, length: int, n_symbols: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` minimum-cost sequences of every row, best first.

    After the best sequence z of a part, the rest of the part splits into one piece per
    position t: equal to z before t, another symbol at t. All pieces of all rows are decoded
    in one batch per rank. Murty (1968) did so for assignments.

    Parameters
    ----------
    best_within : callable (rows, allowed) -> (sequences, values)
        Best sequence of each row with symbol s at position t only where ``allowed[:, t, s]``;
        an infinite value says that there is none.

    Returns
    -------
    sequences : int array of shape (n_rows, k, length)
    values : array of shape (n_rows, k)
        Infinite where a row has fewer sequences; ranks that no row has are left off.
    """
    sequences = np.tile(np.arange(length), (n_rows, k, 1))  # something, where there is none
    start = np.zeros(n_rows, np.int64)  # positions before it are settled
    part, counter = (start, np.ones((n_rows, length, n_symbols), bool)), count()
    return _ranked(
        lambda rows, _, allowed: best_within(rows, allowed),
        _split_sequences,
        lambda _: next(counter),  # in order of discovery
        part,
        sequences,
    )


def _split_sequences(
    z: np.ndarray, first: int, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where each piece begins to differ, and what it allows: z before t, not z at t."""
    positions = np.arange(first, len(z))
    taken = np.zeros_like(allowed)
    taken[np.arange(len(z)), z] = True
    before = np.arange(len(z)) < positions[:, None]
    pieces = np.where(before[:, :, None], taken & allowed, allowed)
    at = np.arange(len(positions))
    pieces[at, positions, z[positions]] = False
    return positions, pieces
