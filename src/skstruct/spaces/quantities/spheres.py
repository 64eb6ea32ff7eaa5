# SPDX-License-Identifier: BSD-3-Clause
"""Directions: unit vectors, and diagonal quadratic costs over them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.quantities.base import QuantitySpace
from skstruct.spaces.solving import Solving
from skstruct.spaces.uniform import Uniform
from skstruct.tolerances import OUTPUT_FEASIBLE, UNIT_SQUARE


def sphere_quadratic(
    a: np.ndarray, b: np.ndarray, n_steps: int = 100
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Minimize sum_j a_j z_j^2 + b_j z_j over |z| = 1 in every row, for any signs.

    With d_j = a_j - min a, the minimizer is z_j = -b_j / (2 (d_j + s)) for the s >= 0 that
    solves :math:`\sum_j b_j^2 / (4 (d_j + s)^2) = 1`. Where no s does (b is zero wherever a is
    least, the *hard case*), s = 0 and a coordinate of least a takes what is missing. Any s
    >= 0 gives the lower bound :math:`\min a - s - \sum_j b_j^2 / (4 (d_j + s))`.

    Parameters
    ----------
    a, b : arrays of shape (n, d)

    Returns
    -------
    points (n, d), values (n,), bounds (n,)

    Examples
    --------
    >>> sphere_quadratic(np.array([[0.0, 1.0]]), np.array([[0.0, -1.0]]))[0].round(3)
    array([[0.866, 0.5  ]])
    """
    least = a.min(axis=1, keepdims=True)
    d = a - least
    # In units of the largest entry, squares neither overflow nor underflow.
    unit = np.maximum(np.abs(b).max(axis=1), d.max(axis=1))[:, None]
    unit = np.where(unit > 0, unit, 1.0)
    d, half = d / unit, 0.5 * (np.abs(b) / unit)
    half[half < 1e-150] = 0.0
    s = _secular_root(d, half, n_steps)
    z = _stationary(d, half, s)
    z = np.where(b > 0, -z, z)
    low = d == 0
    missing = np.sqrt(np.maximum(1.0 - (np.where(low, 0.0, z) ** 2).sum(axis=1), 0.0))
    at_low = np.linalg.norm(np.where(low, z, 0.0), axis=1)
    first = low.argmax(axis=1)
    rows = np.flatnonzero(at_low**2 < missing**2 - UNIT_SQUARE)
    # What is missing goes along b where b is least but not zero, else to the first coordinate.
    push = np.where(low, -b, 0.0)[rows]
    size = np.abs(push).max(axis=1, keepdims=True)
    push = np.divide(push, size, out=np.zeros_like(push), where=size > 0)
    push[np.arange(len(rows)), first[rows]] += size[:, 0] == 0
    push /= np.linalg.norm(push, axis=1, keepdims=True)
    z[rows] = np.where(low[rows], missing[rows, None] * push, z[rows])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    values = ((a * z + b) * z).sum(axis=1)
    terms = np.divide(half**2, d + s, out=np.zeros_like(d), where=half > 0)
    bounds = least[:, 0] - unit[:, 0] * (s[:, 0] + terms.sum(axis=1))
    # The bound is exact up to rounding, which must not lift it above the value.
    return z, values, np.minimum(bounds, values)


def _stationary(d: np.ndarray, half: np.ndarray, s: np.ndarray) -> Any:
    """Sizes of the coordinates at the multiplier s; zero where b is."""
    return np.divide(half, d + s, out=np.zeros_like(d), where=half > 0)


def _secular_root(d: np.ndarray, half: np.ndarray, n_steps: int) -> Any:
    """The s >= 0 with |half / (d + s)| = 1, or the lower end where that is nowhere reached.

    1 / |half / (d + s)| is concave and increasing: a Newton step from the left stays left. A
    bisection of what remains beside it makes slow starts short.
    """
    # One coordinate alone, and those of least a together, must not be longer than one.
    low = np.maximum((half - d).max(axis=1, keepdims=True), 0.0)
    low = np.maximum(low, _length(np.where(d == 0, half, 0.0)))
    high = _length(half)
    for _ in range(n_steps):
        z = _stationary(d, half, low)
        size = _length(z)
        slope = _stationary(d, z**2, low).sum(axis=1, keepdims=True)
        step = np.where(size > 1, size**2 * (size - 1) / np.where(slope > 0, slope, np.inf), 0.0)
        left = np.minimum(low + step, high)
        middle = 0.5 * (left + high)
        is_left = _length(_stationary(d, half, middle)) >= 1
        moved = np.where(is_left, middle, left)
        high = np.where(is_left, high, middle)
        if (moved <= low).all():
            break
        low = moved
    return low


def _length(rows: np.ndarray) -> Any:
    return np.linalg.norm(rows, axis=1, keepdims=True)


@savable
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

    def __init__(
        self, dimension: int | None = None, *, labels: Iterable[Any] | None = None
    ) -> None:
        self.dimension = dimension
        self.labels = labels

    def _names_alone(self) -> tuple[Any, ...] | None:
        if self.labels is not None or self.dimension is None:
            return self._given_labels()
        return tuple(range(int(self.dimension)))

    def _learn(self, Z: np.ndarray) -> None:
        d = Z.shape[1]
        if self.dimension is not None and self.dimension != d:
            raise ValueError(
                f"Sphere: directions of dimension {self.dimension} are expected; Y has {d} columns."
            )
        self._check_inside(Z)

    def _check_inside(self, Z: np.ndarray) -> None:
        lengths = np.linalg.norm(Z, axis=1)
        bad = np.flatnonzero(np.abs(lengths - 1.0) > OUTPUT_FEASIBLE)
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

    def contains(self, Z: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(np.asarray(Z, dtype=np.float64), axis=1)
        return np.abs(lengths - 1.0) <= OUTPUT_FEASIBLE

    def _linear(self, costs: np.ndarray) -> Decoded:
        return self._quadratic(np.zeros_like(costs), costs)

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        points, values, bounds = sphere_quadratic(a, b)
        return Decoded(points, values, bounds)

    def minimize(self, curves: Any) -> Decoded:
        raise ValueError(
            "Sphere: how to minimize this loss over unit vectors is not known. Known are the "
            "squared loss, kernel losses, and any loss over a list: loss=Listed(...)."
        )


Solving.at(Sphere, "skstruct.spaces.quantities.solving:SolvingWithoutCurves")
Marginals.at(Sphere, "skstruct.spaces.quantities.marginals:NoMeansOfQuantities")
Uniform.at(Sphere, "skstruct.spaces.quantities.uniform:UniformOfSpheres")
