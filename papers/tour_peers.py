# SPDX-License-Identifier: BSD-3-Clause
"""Measures of recommended tours, the simplest recommendations, and a loss for tours.

Definitions of Chen, Ong and Xie (2016): F1 compares the sets of places, pairs-F1 the pairs of
places that both tours visit in the same order.
"""

from __future__ import annotations

import copy
from itertools import combinations

import numpy as np

from skstruct.losses.base import BaseLoss


def places_f1(true, found):
    """2 P R / (P + R) with P, R = places in common / places of the found, of the true tour.

    >>> places_f1([1, 2, 3, 4], [1, 5, 3, 4])
    0.75
    """
    return 2 * len(set(true) & set(found)) / (len(true) + len(found))


def pairs_f1(true, found):
    """The same with the pairs of places in order: all of them, not only neighbours.

    >>> pairs_f1([1, 2, 3], [1, 3, 2])  # of three pairs, 2 before 3 is lost
    0.6666666666666666
    """
    common = set(combinations(true, 2)) & set(combinations(found, 2))
    n_pairs = len(true) * (len(true) - 1) // 2 + len(found) * (len(found) - 1) // 2
    return 2 * len(common) / n_pairs


class Popularity:
    """The places most users visited, most popular first, between start and end."""

    def fit(self, tours, users):
        visitors = {}
        for tour, user in zip(tours, users):
            for place in tour:
                visitors.setdefault(place, set()).add(user)
        self.order_ = sorted(visitors, key=lambda place: (-len(visitors[place]), place))
        return self

    def recommend(self, start, end, length):
        between = [place for place in self.order_ if place not in (start, end)]
        return [start, *between[: length - 2], end]


def random_tour(places, start, end, length, rng):
    """Places drawn without replacement between start and end."""
    between = [place for place in places if place not in (start, end)]
    return [start, *rng.permutation(between)[: length - 2].tolist(), end]


class TourLoss(BaseLoss):
    r"""Places that differ, and ``arcs`` times the arcs that differ, of directed cycles.

    With :math:`n_v(z)` the arcs into v, one or none, the places that differ are
    :math:`\sum_v n_v(z) + n_v(y) - 2 n_v(z) n_v(y)`: bilinear in the arcs.

    >>> from skstruct.spaces import Cycles
    >>> space = Cycles(4, embedding="indicators")
    >>> z, y = space.fit([[0, 1, 2]]).validate([[0, 1, 2], [0, 1, 3]])
    >>> TourLoss(arcs=0.5).bind(space)(z[None], y[None])  # 2 places and 4 arcs
    array([4.])
    """

    def __init__(self, arcs=0.5):
        self.arcs = arcs

    def bind(self, space):
        bound = copy.copy(self)
        bound.into_ = np.eye(len(space.nodes_))[space.edges_[:, 1]]  # shape: (d, N)
        return bound

    def __call__(self, Y_pred, Y_true):
        Z, Y = np.asarray(Y_pred, dtype=np.float64), np.asarray(Y_true, dtype=np.float64)
        places = np.abs(Z @ self.into_ - Y @ self.into_).sum(axis=1)
        return places + self.arcs * np.abs(Z - Y).sum(axis=1)

    def cost(self, g, total):
        places = (total - 2.0 * g @ self.into_) @ self.into_.T
        return places + self.arcs * (total - 2.0 * g)

    def offset(self, g, total):
        return (1.0 + self.arcs) * g.sum(axis=1)
