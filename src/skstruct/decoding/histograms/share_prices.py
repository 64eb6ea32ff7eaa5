# SPDX-License-Identifier: BSD-3-Clause
"""The price of a unit at which coordinates, left to themselves, share the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any

N_PRICES = 24  # tried for a row


@dataclass
class Shares:
    """Shares of the total, what they cost, and what is known about better ones."""

    z: Array  # shape: (B, d)
    values: Array  # shape: (B,)
    bounds: Array  # shape: (B,)
    prices: Array  # shape: (B,); mu, minus the slope that coordinates in use have in common


class Bracket:
    """Prices of every row at which too much (low) and too little (high) is used."""

    def __init__(self, n, d):
        self.price = np.array([np.full(n, -np.inf), np.full(n, np.inf)])
        self.bound = np.zeros((2, n))
        self.excess = np.zeros((2, n))  # sum of the points less the total
        self.points = np.zeros((2, n, d))

    def add(self, rows, price, bound, excess, points):
        side = (excess <= 0).astype(int)  # 1: the price is high enough
        self.price[side, rows], self.bound[side, rows] = price, bound
        self.excess[side, rows], self.points[side, rows] = excess, points

    def closed(self):
        return np.isfinite(self.price).all(axis=0)

    def crossing(self):
        """Where the tangents of both ends meet, and how high: no bound is higher."""
        (low, high), (left, right), (more, less) = self.price, self.bound, self.excess
        with np.errstate(divide="ignore", invalid="ignore"):
            price = (right - left + more * low - less * high) / (more - less)
            return price, left + more * (price - low)

    def next_prices(self, reach, by_excess):
        """Inside the bracket where there is one, else beyond its only end by ``reach``."""
        low, high = self.price
        open_above = np.isinf(high)
        beyond = np.where(open_above, low + reach, high - reach)
        with np.errstate(invalid="ignore", divide="ignore"):
            more, less = self.excess
            secant = (more * high - less * low) / (more - less)
            price = secant if by_excess else self.crossing()[0]
            margin = 0.02 * (high - low)
            price = np.clip(price, low + margin, high - margin)
            price = np.where(np.isfinite(price), price, 0.5 * (low + high))
        return np.where(self.closed(), price, beyond)


def best_prices(curves, start: Shares, total, tolerance) -> Shares:
    """Maximize L(mu) = sum_j min_t [F_j(t) + mu t] - mu total over mu, row by row in step.

    L is concave and the excess of the points is its slope, so two prices bracket the best
    one: tangents from both ends and the zero of the excess are tried by turns. The shares
    are the best of those given and of some made of both ends of the bracket.
    """
    n, d = start.z.shape
    best, prices, bracket = start.bounds.copy(), start.prices.copy(), Bracket(n, d)
    mu = _common_slopes(curves, start)
    reach = np.maximum(1e-4 * np.abs(mu), 1e3 * tolerance / total) + 1e-300
    active = np.arange(n)
    for turn in range(N_PRICES):
        points, _, bounds = curves.rows(active).minimize(0.0, total, slope=mu[active, None])
        bound, excess = bounds.sum(axis=1) - mu[active] * total, points.sum(axis=1) - total
        bracket.add(active, mu[active], bound, excess, points)
        better = bound > best[active]
        prices[active[better]] = mu[active[better]]
        best[active[better]] = bound[better]
        proposed = bracket.next_prices(reach, by_excess=turn % 2 == 0)
        with np.errstate(invalid="ignore"):
            done = bracket.closed() & (bracket.crossing()[1] - best <= 0.1 * tolerance)
        done |= (start.values - best <= tolerance) | (proposed == mu)
        done[active] |= np.abs(excess) <= 1e-14 * total
        reach, mu = 8.0 * reach, proposed
        active = active[~done[active]]
        if len(active) == 0:
            break
    z, values = _shares_between(curves, bracket, start, total)
    return Shares(z, values, best, prices)


def _common_slopes(curves, start):
    """Minus the slope of the coordinates in use where they agree on it, else the prices given."""
    slopes = np.where(start.z > 0, curves.slopes(start.z), np.nan)
    with np.errstate(invalid="ignore"):
        width = np.nanmax(slopes, axis=1) - np.nanmin(slopes, axis=1)
        middle = np.nanmedian(slopes, axis=1)
    agree = width <= 1e-3 * np.abs(middle)
    return np.where(agree, -middle, start.prices)


def _shares_between(curves, bracket, start, total):
    """The best of a few ways to reach the total from both ends of the bracket."""
    z, values = start.z.copy(), start.values.copy()
    rows = np.flatnonzero(bracket.closed())
    if len(rows) == 0:
        return z, values
    some = curves.rows(rows)
    more, less = bracket.points[:, rows]
    (too_much, too_little) = bracket.excess[:, rows, None]
    share = too_little / np.where(too_little < too_much, too_little - too_much, 1.0)
    order = np.argsort(more - less, axis=1)
    for found in (
        _switch(more, less, order, total),
        _switch(more, less, order[:, ::-1], total),
        less + share * (more - less),
    ):
        _keep_better(some, found, total, rows, z, values)
    return z, values


def _switch(more, less, order, total):
    """From ``less``, coordinates go over to ``more`` in turn; the last one in part."""
    steps = np.take_along_axis(np.maximum(more - less, 0.0), order, axis=1)
    left = np.maximum(total - less.sum(axis=1), 0.0)[:, None]
    taken = np.clip(left - (np.cumsum(steps, axis=1) - steps), 0.0, steps)
    z = less.copy()
    np.put_along_axis(z, order, np.take_along_axis(less, order, axis=1) + taken, axis=1)
    return z


def _keep_better(curves, found, total, rows, z, values):
    """Take over what adds up to the total and costs less, in place."""
    used = found.sum(axis=1)
    fits = np.abs(used - total) <= 1e-6 * total
    found = found * (total / np.where(used > 0, used, 1.0))[:, None]
    new = curves.at(found).sum(axis=1)
    better = fits & (new < values[rows])
    z[rows[better]], values[rows[better]] = found[better], new[better]
