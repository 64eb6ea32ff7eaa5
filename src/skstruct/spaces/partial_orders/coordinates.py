# SPDX-License-Identifier: BSD-3-Clause
"""Ordered pairs of items."""

from skstruct.spaces.indicator_sets.coordinates import CoordinatesOfSets


class CoordinatesOfOrders(CoordinatesOfSets):
    """An indicator for each ordered pair."""

    __slots__ = ()

    @property
    def order_pairs(self) -> bool:
        return True
