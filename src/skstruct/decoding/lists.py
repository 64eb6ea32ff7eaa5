# SPDX-License-Identifier: BSD-3-Clause
"""The cheapest of a list of outputs, each priced by itself; an infinite price forbids one."""

from __future__ import annotations

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
