# SPDX-License-Identifier: BSD-3-Clause
"""Curves of the chi-square distance, with bounds that hold however small the outputs are."""

from typing import Any

import numpy as np

from skstruct.spaces.solvers.curves.base import Samples, WeightedCurves
from skstruct.spaces.solvers.curves.roots import nonnegative_ends
from skstruct.tolerances import CHI_SQUARE_GAP


def rho(t: np.ndarray, y: Any) -> np.ndarray:
    """(t - y)^2 / (t + y), zero where both are zero."""
    both = np.asarray(t + y)
    return (t - y) ** 2 / np.where(both > 0, both, 1.0)


def slope(t: Any, y: Any) -> np.ndarray:
    """d rho / dt = 1 - 4 y^2 / (t + y)^2; one where both are zero."""
    both = np.asarray(t + y)
    return 1.0 - 4.0 * (y / np.where(both > 0, both, 1.0)) ** 2


class ChiSquareCurves(WeightedCurves):
    r"""Curves :math:`c_j \sum_i w_i (t - y_{ij})^2 / (t + y_{ij})`, t >= 0, weights of any sign.

    The terms are convex in t. With P the sum of those of positive weight and N the rest,
    F = P - N is at least the tangents of P less the chord of N on every cell: unlike a
    bound by :math:`\rho'' \le 8 / y` this stays good for outputs next to zero.

    Parameters
    ----------
    weights : array of shape (B, n)
    outputs : array of shape (n, d)
        At least zero.
    scale : array of shape (d,), default=None
        Weights c of the coordinates; ones when None.

    Examples
    --------
    >>> curves = ChiSquareCurves(np.array([[1.0, 1.0]]), np.array([[0.1], [0.4]]))
    >>> points, values, bounds = curves.minimize(0.0, 1.0)
    >>> points.round(3).item(), bool(values - bounds < 1e-9)
    (0.227, True)
    """

    def __init__(
        self, weights: np.ndarray, outputs: np.ndarray, scale: np.ndarray | None = None
    ) -> None:
        super().__init__(weights, outputs, rho, slope, scale=scale, convex=True)
        self.columns = np.ascontiguousarray(self.outputs.T)  # (d, n)

    def _jets(self, T: np.ndarray) -> np.ndarray:
        from skstruct.spaces.solvers.curves._numba_chi_square import jets

        T = np.maximum(np.broadcast_to(np.asarray(T, dtype=np.float64), self.shape), 0.0)
        found = np.empty((3, *self.shape))
        jets(self.weights, self.columns, T, *found)
        return found * self.scale

    def at(self, T: np.ndarray) -> np.ndarray:
        return self._jets(T)[0]

    def slopes(self, T: np.ndarray) -> np.ndarray:
        return self._jets(T)[1]

    def curvatures(self, T: np.ndarray) -> np.ndarray:
        """Second derivatives at T."""
        return self._jets(T)[2]

    def _signed_parts(self) -> tuple[np.ndarray, np.ndarray]:
        return np.maximum(self.weights, 0.0), np.maximum(-self.weights, 0.0)

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from skstruct.spaces.solvers.curves._numba_chi_square import least_rows

        low, high = nonnegative_ends(low, high, self.shape)
        # Where a coordinate has no weight only the slope is left; any scale will do there.
        scale = np.where(self.scale > 0, self.scale, 1.0)
        mu = np.broadcast_to(0.0 if slope is None else slope, self.shape) / scale
        tolerance = (
            CHI_SQUARE_GAP * np.abs(self.weights).sum(axis=1) * high.max(axis=1, initial=0.0)
        )
        found = np.empty((3, *self.shape))
        least_rows(*self._signed_parts(), self.columns, mu, low, high, tolerance, *found)
        points, values, bounds = found[0], found[1] * scale, found[2] * scale
        idle = self.scale == 0
        if idle.any():
            ends_of = np.where(mu < 0, high, low)[:, idle]
            points[:, idle] = ends_of
            values[:, idle] = bounds[:, idle] = mu[:, idle] * ends_of
        return points, values, bounds

    def sample(self, low: Any, high: Any, n_cells: int) -> Samples:
        """Points that crowd towards the lower end, with the slack of tangents and chord."""
        low, high = nonnegative_ends(low, high, self.shape)
        alike = bool((low == low[:1]).all() and (high == high[:1]).all())
        if alike:
            low, high = low[:1], high[:1]
        steps = np.linspace(0.0, 1.0, n_cells + 1) ** 4
        points = low[..., None] + (high - low)[..., None] * steps
        points[..., -1] = high
        values, slack = np.empty((*self.shape, n_cells + 1)), np.empty((*self.shape, n_cells))
        positive = self._signed_parts()[0]
        for j in range(self.shape[1]):
            values[:, j], slack[:, j] = self._sample_column(points[:, j], j, positive)
        return Samples(points[0] if alike else points, values, slack)

    def _sample_column(
        self, points: np.ndarray, j: int, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values (B, m) and slack (B, m - 1) of one coordinate; points (1 or B, m)."""
        y = self.columns[j]
        F, P, slopes = (np.empty((len(self.weights), points.shape[1])) for _ in range(3))
        for b in range(len(points)):
            rows = slice(None) if len(points) == 1 else slice(b, b + 1)
            t = points[b][:, None]
            u = y / np.where(t + y > 0, t + y, 1.0)
            size, steep = t + y - 4.0 * t * u, 1.0 - 4.0 * u**2
            F[rows], P[rows] = self.weights[rows] @ size.T, positive[rows] @ size.T
            slopes[rows] = positive[rows] @ steep.T
        width, rise, bend = (np.diff(part, axis=1) for part in (points, P, slopes))
        # The tangents at both ends meet this far below the chord.
        above = np.maximum(rise - slopes[:, :-1] * width, 0.0)
        slack = above * np.maximum(slopes[:, 1:] * width - rise, 0.0)
        slack /= np.where(bend * width > 0, bend * width, 1.0)
        return self.scale[j] * F, self.scale[j] * slack
