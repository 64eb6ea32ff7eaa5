# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates of another view."""

import numpy as np

from skstruct.spaces.coordinates import Coordinates


class CoordinatesOfView(Coordinates):
    """Those of the view whose embedding elements have."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        return Coordinates.of(self.space.view).lift(costs, embedding)

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        return Coordinates.of(self.space.view).project(means, embedding)
