# SPDX-License-Identifier: BSD-3-Clause
"""Exact laws of rankings: sums over all orders within limits."""

from __future__ import annotations

import math

import numpy as np

from skstruct.decoding.linear_ordering import pair_matrix, pair_numbers
from skstruct.decoding.orders import MOST_ITEMS
from skstruct.spaces.base import check_feasible
from skstruct.spaces.limits import check_n_rows
from skstruct.spaces.rankings.partial import tied_behind
from skstruct.summing.base import Law
from skstruct.summing.orders import OrderSums

LARGEST_WORK = 2**29  # steps n 2**d d that are taken: some seconds


def summable(n_rows: int, d: int) -> bool:
    """Whether sums over all orders are taken for so many rows and items.

    Up to 10,000 rows of 12 items, 500 of 16, and 25 of 20.

    >>> summable(2000, 12), summable(2000, 16), summable(1, 21)
    (True, False, False)
    """
    return d <= MOST_ITEMS and n_rows * 2**d * d <= LARGEST_WORK


def ranking_law(space, scores) -> Law:
    """The law of rankings within the limits of their space, which may differ from row to row."""
    d, limits = len(space.items_), space.limits_
    check_n_rows(limits, len(scores), "Rankings")
    by = PairLaw if space._scheme.family == "pairs" else PlaceLaw
    law = by(space._scheme, scores, d, limits)
    check_feasible(law.log_partition > -math.inf, space)
    return law


class RankingLaw(Law):
    """Laws of orders, all items beyond the top tied behind it."""

    def __init__(self, sums: OrderSums, top: int | None):
        self.sums, self.top = sums, top
        self.log_partition = sums.log_partition

    def sample(self, n, rng):
        orders = self.sums.draw(n, rng)
        d = orders.shape[2]
        return tied_behind(orders.reshape(-1, d), self.top).reshape(orders.shape)


class PlaceLaw(RankingLaw):
    r"""Of rankings by positions or ranks: Z is the permanent of :math:`e^{s_{it}}`.

    Items beyond the top share the positions there: each scores their mean.
    """

    def __init__(self, scheme, scores, d, limits):
        self.scheme = scheme
        places, rest = scheme.places(scores, d, limits.top), 0.0
        if limits.top is not None:  # what an item gains over being left behind
            rest = places[:, :, -1]
            places, rest = places - rest[:, :, None], rest.sum(axis=1)
        super().__init__(OrderSums(len(scores), d, places=places, **bounds(limits)), limits.top)
        self.log_partition = self.log_partition + rest

    def marginals(self):
        placed = self.sums.placed.copy()  # what is returned may be written to
        if self.top is not None:
            n_behind = placed.shape[1] - self.top
            behind = 1.0 - placed[:, :, : self.top].sum(axis=2, keepdims=True)
            placed[:, :, self.top :] = behind.clip(min=0.0) / n_behind  # rounding
        return self.scheme.from_places(placed)


class PairLaw(RankingLaw):
    """Of rankings by pairs: sums over all linear orders; pairs behind the top have no sign."""

    def __init__(self, scheme, scores, d, limits):
        pairs = pair_matrix(scores[:, : math.comb(d, 2)], d)
        super().__init__(OrderSums(len(scores), d, pairs=pairs, **bounds(limits)), limits.top)
        self.width = scores.shape[1]

    def marginals(self):
        ahead = self.sums.ahead
        n, d = ahead.shape[:2]
        p, q = pair_numbers(d)
        mean = np.zeros((n, self.width))  # with weights, a last column that is 0 in outputs
        mean[:, : len(p)] = ahead[:, p, q] - ahead[:, q, p]
        return mean


def bounds(limits) -> dict:
    """Limits as :class:`OrderSums` takes them."""
    return {
        "before": limits.before if limits.has_before else None,
        "allowed": limits.allowed().swapaxes(1, 2) if limits.has_fixed else None,
        "stop": limits.top,
    }
