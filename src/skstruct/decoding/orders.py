# SPDX-License-Identifier: BSD-3-Clause
"""Orders of a few items under any mixture of position costs, pair costs and constraints."""

from __future__ import annotations

import numpy as np

MOST_ITEMS = 20  # the table has 2**20 entries, 8 MB; a row takes about 0.1 s


def cheapest_orders(n, d, *, places=None, pairs=None, before=None, allowed=None, stop=None):
    """For every row the order of least total cost, exactly.

    Parameters
    ----------
    places : array of shape (n or 1, d, d)
        ``places[:, i, t]`` is the cost of item i at position t.
    pairs : array of shape (n or 1, d, d)
        ``pairs[:, i, q]`` is the cost of item i somewhere before item q.
    before : bool array of shape (n or 1, d, d)
        ``before[:, i, q]`` demands that i comes before q.
    allowed : bool array of shape (n or 1, d, d)
        ``allowed[:, t, i]``: whether item i may stand at position t.
    stop : int
        Only the first ``stop`` positions count; pairs behind them cost nothing, and the
        items there come in their own order.

    Returns
    -------
    orders : int array of shape (n, d), best item first
    values : array of shape (n,), infinite where no order meets the constraints

    Examples
    --------
    >>> pairs = np.array([[[0.0, 1.0, -1.0], [-1.0, 0.0, 2.0], [1.0, -2.0, 0.0]]])
    >>> orders, values = cheapest_orders(1, 3, pairs=pairs)
    >>> orders.tolist(), values.tolist()
    ([[0, 2, 1]], [-2.0])
    """
    from skstruct.decoding._compiled_orders import order_rows

    zeros = np.zeros((1, d, d))
    places = zeros if places is None else np.ascontiguousarray(places, dtype=np.float64)
    pairs = zeros if pairs is None else np.ascontiguousarray(pairs, dtype=np.float64)
    earlier, banned = _as_bits(before, allowed, d)
    orders, values = np.zeros((n, d), np.int64), np.empty(n)
    order_rows(places, pairs, earlier, banned, d if stop is None else stop, orders, values)
    return orders, values


def count_orders(before: np.ndarray, allowed: np.ndarray, stop: int) -> np.ndarray:
    """Number of ways to go on from every set of items placed first; entry 0 counts them all.

    ``before`` and ``allowed`` are those of :func:`cheapest_orders` for one row, (d, d).
    """
    from skstruct.decoding._compiled_orders import count_completions, set_sizes

    d = len(before)
    earlier, banned = _as_bits(before[None], allowed[None], d)
    count = np.empty(1 << d, np.int64)  # 20! is below 2**63
    count_completions(earlier[0], banned[0], stop, set_sizes(d), count)
    return count


def sample_orders(n: int, before, allowed, stop: int, rng) -> np.ndarray:
    """``n`` orders drawn uniformly and independently among those counted; shape (n, d)."""
    from skstruct.decoding._compiled_orders import draw_orders

    d = len(before)
    count = count_orders(before, allowed, stop)
    earlier, banned = _as_bits(before[None], allowed[None], d)
    orders = np.empty((n, d), np.int64)
    draw_orders(earlier[0], banned[0], stop, count, rng.random((n, stop)), orders)
    return orders


def close_transitively(before: np.ndarray) -> np.ndarray:
    """Add what follows from p before q before r (Warshall); bool arrays of shape (n, d, d)."""
    closed = before.copy()
    between = before.any(axis=(0, 1)) & before.any(axis=(0, 2))  # after one and before another
    for q in np.flatnonzero(between):
        closed |= closed[:, :, q, None] & closed[:, None, q, :]
    return closed


def _as_bits(before, allowed, d):
    """Sets as numbers: for every item those before it, for every position those banned."""
    bit = np.int64(1) << np.arange(d)
    none = np.zeros((1, d), np.int64)
    earlier = none if before is None else before.swapaxes(1, 2) @ bit
    banned = none if allowed is None else ~allowed @ bit
    return earlier, banned
