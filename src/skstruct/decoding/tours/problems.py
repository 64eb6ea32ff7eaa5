# SPDX-License-Identifier: BSD-3-Clause
"""One problem of a cheapest cycle, and how cycles are written and priced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Costs of arcs and what a cycle must obey, all places being allowed."""

    costs: np.ndarray  # shape: (N, N), inf where there is no arc and on the diagonal
    directed: bool
    low: np.ndarray  # shape: (N,), places that must be visited
    smallest: int  # 3 <= smallest <= largest <= N
    largest: int

    def price(self, tour: np.ndarray) -> float:
        """Cost of a cycle of places in order of travel."""
        return float(self.costs[tour, np.roll(tour, -1)].sum())

    def allows(self, tour: np.ndarray) -> bool:
        """Whether the sizes and the places to visit are met, and all arcs are there."""
        sized = self.smallest <= len(tour) <= self.largest
        return sized and self.low[tour].sum() == self.low.sum() and self.price(tour) < np.inf


def canonical(tours: np.ndarray, directed: bool) -> np.ndarray:
    """Cycles (n, N), padded with -1, from their smallest place on and in the canonical sense."""
    n, N = tours.shape
    length = np.maximum((tours >= 0).sum(axis=1), 1)[:, None]
    first = np.where(tours >= 0, tours, N).argmin(axis=1)[:, None]
    step = np.ones((n, 1), np.int64)
    if not directed:
        after = np.take_along_axis(tours, (first + 1) % length, axis=1)
        before = np.take_along_axis(tours, (first - 1) % length, axis=1)
        step[before < after] = -1
    at = np.arange(N)
    turned = np.take_along_axis(tours, (first + step * at) % length, axis=1)
    return np.where(at < length, turned, -1)


def price_tours(costs: np.ndarray, tours: np.ndarray) -> np.ndarray:
    """Costs of cycles (n, N), padded with -1; infinite for a row that has none."""
    n, N = tours.shape
    length = (tours >= 0).sum(axis=1)[:, None]
    at = np.arange(N)
    ends = np.take_along_axis(tours, (at + 1) % np.maximum(length, 1), axis=1)
    arcs = costs[np.arange(n)[:, None], tours, ends]
    values = np.where(at < length, arcs, 0.0).sum(axis=1)
    return np.where(length[:, 0] > 0, values, np.inf)
