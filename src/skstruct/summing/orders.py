# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all orders of a few items under any mixture of position and pair scores."""

from __future__ import annotations

import numpy as np

LARGEST_EXPONENT = 300.0  # products of weights up to exp(300), times 20!, are ordinary numbers
BLOCK = 10**6  # random numbers held at once


class OrderSums:
    r"""Laws of orders, by scores of items at positions and of items before others.

    .. math:: p \propto \exp\Bigl(\sum_i s_{i, t(i)} + \sum_{t(i) < t(q)} w_{iq}\Bigr)

    Every set of items placed first is visited once, :math:`2^d d` steps for a row. Rows whose
    scores are moderate are summed as they are, all others as logarithms: no score is too large.

    Parameters
    ----------
    n, d : int
        Rows and items.
    places : array s of shape (n or 1, d, d), default=None
        ``places[:, i, t]`` is the score of item i at position t.
    pairs : array w of shape (n or 1, d, d), default=None
        ``pairs[:, i, q]`` is the score of item i somewhere before item q.
    before : bool array of shape (n or 1, d, d), default=None
        ``before[:, i, q]`` demands that i comes before q.
    allowed : bool array of shape (n or 1, d, d), default=None
        ``allowed[:, t, i]``: whether item i may stand at position t.
    stop : int, default=None
        Only the first ``stop`` positions count; orders that differ behind them are the same.

    Attributes
    ----------
    log_partition : array of shape (n,)
        Minus infinity where no order meets the constraints.
    placed : array of shape (n, d, d)
        Chance of item i at position t; 0 from ``stop`` on.
    ahead : array of shape (n, d, d)
        Chance that item i is among the first ``stop``, and q not before it; of no rows where
        ``pairs`` is None.

    Examples
    --------
    The partition function of scores of positions is a permanent.

    >>> sums = OrderSums(1, 2, places=np.log([[[1.0, 2.0], [3.0, 4.0]]]))
    >>> np.exp(sums.log_partition).round(12), sums.placed[0].round(12)
    (array([10.]), array([[0.4, 0.6], [0.6, 0.4]]))
    >>> sums.draw(3, np.random.default_rng(0)).shape
    (1, 3, 2)

    References
    ----------
    M. Held and R. Karp (1962). A dynamic programming approach to sequencing problems.
    """

    def __init__(self, n, d, *, places=None, pairs=None, before=None, allowed=None, stop=None):
        from skstruct.summing._compiled_orders import sum_rows

        zeros, bit = np.zeros((1, d, d)), np.int64(1) << np.arange(d)
        none = np.zeros((1, d), np.int64)
        self.n, self.d, self.stop = n, d, d if stop is None else stop
        self.places = zeros if places is None else np.ascontiguousarray(places, dtype=np.float64)
        self.pairs = zeros if pairs is None else np.ascontiguousarray(pairs, dtype=np.float64)
        # Sets as numbers: for every item those before it, for every position those banned.
        self.earlier = none if before is None else before.swapaxes(1, 2) @ bit
        self.banned = none if allowed is None else ~allowed @ bit
        self.logs = self._are_large()
        self.log_partition = np.empty(n)
        self.placed = np.zeros((n, d, d))
        self.ahead = np.zeros((0 if pairs is None else n, d, d))
        sum_rows(*self._rows(slice(None)), self.log_partition, self.placed, self.ahead)

    def _are_large(self) -> np.ndarray:
        """Which rows are summed as logarithms; bool (n,)."""
        by_place = np.abs(self.places).max(axis=1).sum(axis=1)
        sizes = np.abs(self.pairs)
        by_pair = np.maximum(sizes, sizes.swapaxes(1, 2)).sum(axis=(1, 2)) / 2
        return np.broadcast_to(by_place + by_pair > LARGEST_EXPONENT, self.n).copy()

    def _rows(self, rows: slice) -> tuple:
        """What the compiled functions take, for some rows."""
        shared = (self.places, self.pairs, self.earlier, self.banned)
        own = [part if len(part) == 1 else part[rows] for part in shared]
        return *own, self.stop, self.logs[rows]

    def draw(self, n_draws: int, rng) -> np.ndarray:
        """Independent orders of every row, best item first; int64 (n, n_draws, d).

        The items from ``stop`` on come in their own order.
        """
        from skstruct.summing._compiled_orders import draw_rows

        orders = np.empty((self.n, n_draws, self.d), np.int64)
        step = max(1, BLOCK // max(1, n_draws * self.stop))
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            uniform = rng.random((len(orders[rows]), n_draws, self.stop))
            arrays = (*self._rows(rows), uniform, orders[rows])
            draw_rows(*arrays)
        return orders
