# SPDX-License-Identifier: BSD-3-Clause
"""Directions: unit vectors."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.spheres import sphere_quadratic
from skstruct.spaces.base import Decoded
from skstruct.spaces.quantities.base import QuantitySpace

TOLERANCE = 1e-6  # by which the length of an output may differ from one


class Sphere(QuantitySpace):
    r"""Unit vectors in :math:`R^d`: directions, orientations, axes of a measurement.

    A linear cost c is least at :math:`z = -c / |c|`, for weights of any sign (where c = 0
    all directions cost the same, and the first basis vector is given back). Under the
    squared loss of equal coordinate weights nothing else happens, since
    :math:`|z - y|^2 = 2 - 2 \langle z, y \rangle`; unequal ones lead to a secular equation,
    which is solved to machine precision.

    Parameters
    ----------
    dimension : int, default=None
        Number of coordinates; that of the outputs in training when None.
    labels : sequence, default=None
        Names of the coordinates; columns of a frame, or numbers, when None.

    Examples
    --------
    >>> import numpy as np
    >>> space = Sphere().fit([[1.0, 0.0], [0.6, 0.8]])
    >>> space.argmin(np.array([[3.0, -4.0]])).outputs
    array([[-0.6,  0.8]])

    Angles are turned into directions and back:

    >>> angles = np.radians([10.0, 350.0])
    >>> directions = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> space = Sphere(2).fit(directions)
    >>> mean = space.argmin(-directions.sum(axis=0, keepdims=True)).outputs
    >>> np.degrees(np.arctan2(mean[:, 1], mean[:, 0])).round(6) + 0.0
    array([0.])
    """

    separable = False  # no sum over coordinates but a quadratic one is minimized over it

    def __init__(self, dimension=None, *, labels=None):
        self.dimension = dimension
        self.labels = labels

    def _names_alone(self):
        if self.labels is not None or self.dimension is None:
            return self._given_labels()
        return tuple(range(int(self.dimension)))

    def _learn(self, Z):
        d = Z.shape[1]
        if self.dimension is not None and self.dimension != d:
            raise ValueError(
                f"Sphere: directions of dimension {self.dimension} are expected; Y has {d} columns."
            )
        self._check_outputs(Z)

    def _check_outputs(self, Z):
        lengths = np.linalg.norm(Z, axis=1)
        bad = np.flatnonzero(np.abs(lengths - 1.0) > TOLERANCE)
        if len(bad):
            row = bad[0]
            advice = (
                "a vector of zeros has no direction."
                if lengths[row] == 0
                else "divide each row by its norm."
            )
            raise ValueError(
                f"Sphere expects unit vectors; the length of Y[{row}] is {lengths[row]:.8g}: "
                f"{advice}"
            )

    def contains(self, Z):
        lengths = np.linalg.norm(np.asarray(Z, dtype=np.float64), axis=1)
        return np.abs(lengths - 1.0) <= TOLERANCE

    def sample(self, n, rng):
        """Uniform directions; shape (n, d)."""
        points = np.random.default_rng(rng).standard_normal((n, len(self.labels_)))
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def _linear(self, costs):
        return self._quadratic(np.zeros_like(costs), costs)

    def _quadratic(self, a, b):
        points, values, bounds = sphere_quadratic(a, b)
        return Decoded(points, values, bounds)

    def minimize(self, curves):
        raise ValueError(
            "Sphere: how to minimize this loss over unit vectors is not known. Known are the "
            "squared loss, kernel losses, and any loss over a list: loss=Listed(...)."
        )
