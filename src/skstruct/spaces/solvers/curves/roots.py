# SPDX-License-Identifier: BSD-3-Clause
"""Curves of one number t >= 0 that are simple in s = sqrt(t)."""

import copy
from typing import Any

import numpy as np

from skstruct.spaces.solvers.curves.base import Samples, ends


def nonnegative_ends(low: Any, high: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Both ends as contiguous arrays of the shape of the curves, none below zero."""
    low, high = ends(low, high, shape)
    if (low < 0).any():
        row, column = np.argwhere(low < 0)[0]
        raise ValueError(
            f"Losses of histograms need numbers of at least 0; the range of coordinate {column} "
            f"begins at {low[row, column]:g}."
        )
    return np.array(low), np.array(high)


def roots_of(T: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Roots of points, where rounding may have put some below zero."""
    return np.sqrt(np.maximum(np.broadcast_to(np.asarray(T, dtype=np.float64), shape), 0.0))


def root_grid(low: Any, high: Any, n_cells: int, shape: tuple[int, int]) -> np.ndarray:
    """Roots of points from low to high, evenly spaced: (1, d, m), or (B, d, m) if rows differ."""
    low, high = (np.sqrt(limit) for limit in nonnegative_ends(low, high, shape))
    if (low == low[:1]).all() and (high == high[:1]).all():
        low, high = low[:1], high[:1]
    return np.linspace(low, high, n_cells + 1, axis=-1)


def squares(roots: np.ndarray, low: Any, high: Any, shape: tuple[int, int]) -> np.ndarray:
    """Points (d, m) or (B, d, m) from their roots (1 or B, d, m), none beyond the ends."""
    low, high = (limit[: len(roots), :, None] for limit in nonnegative_ends(low, high, shape))
    points = np.clip(roots**2, low, high)
    return points[0] if len(points) == 1 else points


def chord_gaps(roots: np.ndarray) -> np.ndarray:
    r"""How far :math:`-\sqrt t` is below its chord at most, on cells given by their roots.

    That is :math:`(s_1 - s_0)^2 / (4 (s_0 + s_1))`, where s is in the middle.
    """
    both = roots[..., :-1] + roots[..., 1:]
    return np.diff(roots, axis=-1) ** 2 / (4.0 * np.where(both > 0, both, 1.0))


def per_unit(slopes: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Slopes in t from slopes in sqrt(t): infinite at zero unless flat."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slopes == 0, 0.0, slopes / (2.0 * roots))


class LinearRootCurves:
    r"""Curves :math:`a t + b \sqrt t` + constant, t >= 0; a, b and constant of shape (B, d).

    Examples
    --------
    >>> curves = LinearRootCurves(np.array([[1.0]]), np.array([[-1.0]]))
    >>> points, values, bounds = curves.minimize(0.0, 1.0)
    >>> points.item(), values.item()
    (0.25, -0.25)
    """

    def __init__(
        self, linear: np.ndarray, roots: np.ndarray, constant: np.ndarray | None = None
    ) -> None:
        self.linear, self.roots = np.asarray(linear, float), np.asarray(roots, float)
        self.constant = np.zeros(self.shape) if constant is None else np.asarray(constant, float)

    @property
    def shape(self) -> tuple[int, int]:
        return self.linear.shape

    @property
    def convex(self) -> np.ndarray:
        return np.asarray((self.roots <= 0).all(axis=1))

    def rows(self, index: Any) -> "LinearRootCurves":
        return LinearRootCurves(self.linear[index], self.roots[index], self.constant[index])

    def at(self, T: np.ndarray) -> np.ndarray:
        s = roots_of(T, self.shape)
        return (self.linear * s + self.roots) * s + self.constant

    def slopes(self, T: np.ndarray) -> np.ndarray:
        return self.linear + per_unit(self.roots, roots_of(T, self.shape))

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        limits = nonnegative_ends(low, high, self.shape)
        low, high = (np.sqrt(limit) for limit in limits)
        a, b = self.linear if slope is None else self.linear + slope, self.roots
        bowl = (a > 0) & (b < 0)
        with np.errstate(over="ignore"):
            middle = np.clip(-b / (2.0 * np.where(bowl, a, 1.0)), low, high)
        lower_end = (a * low + b) * low <= (a * high + b) * high
        s = np.where(bowl, middle, np.where(lower_end, low, high))
        values = (a * s + b) * s + self.constant
        return np.clip(s**2, *limits), values, values.copy()

    def sample(self, low: float, high: float, n_cells: int) -> Samples:
        """Points evenly spaced in their roots, with exact slack."""
        roots = root_grid(low, high, n_cells, self.shape)
        a, b = self.linear[..., None], self.roots[..., None]
        values = (a * roots + b) * roots + self.constant[..., None]
        slack = np.maximum(-b, 0.0) * chord_gaps(roots)
        return Samples(squares(roots, low, high, self.shape), values, slack)


class RootCurves:
    r"""Curves :math:`c_j \sum_i w_i |\sqrt t - \sqrt{y_{ij}}|` for weights of any sign, t >= 0.

    Piecewise linear in :math:`s = \sqrt t`, with knots that depend on the outputs only.

    Parameters
    ----------
    weights : array of shape (B, n)
    outputs : array of shape (n, d)
        At least zero.
    scale : array of shape (d,), default=None
        Weights c of the coordinates; ones when None.

    Examples
    --------
    >>> curves = RootCurves(np.array([[2.0, 1.0]]), np.array([[0.25], [1.0]]))
    >>> points, values, bounds = curves.minimize(0.0, 1.0)
    >>> points.item(), values.item()
    (0.25, 0.5)
    """

    def __init__(
        self, weights: np.ndarray, outputs: np.ndarray, scale: np.ndarray | None = None
    ) -> None:
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        roots = np.ascontiguousarray(np.sqrt(np.asarray(outputs, dtype=np.float64)).T)
        self.roots = roots  # (d, n)
        order = np.argsort(roots, axis=1, kind="stable")
        self.order, self.knots = order.astype(np.int32), np.take_along_axis(roots, order, axis=1)
        self.scale = np.ones(len(roots)) if scale is None else np.asarray(scale, dtype=np.float64)
        self._heights: Any = None
        self._position: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), len(self.knots)

    @property
    def convex(self) -> np.ndarray:
        # Beyond its knot even a single term is concave in t.
        return np.asarray(~self.weights.any(axis=1))

    def rows(self, index: Any) -> "RootCurves":
        some = copy.copy(self)
        some.weights = self.weights[index]
        some._position = None if self._position is None else self._position[index]
        return some

    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What minimizing and evaluating need: knots, values at them, and the last slopes.

        Values (*, d, n) are computed once and shared by objects for some of the rows, whose
        ``_position`` says where theirs are.
        """
        if self._position is None:
            from skstruct.spaces.solvers.curves._numba import heights_at_knots

            self._position = np.arange(len(self.weights))
            self._heights = np.empty((*self.shape, self.knots.shape[1]))
            first = self._sums_at(self.knots[None, :, 0])
            heights_at_knots(self.weights, self.knots, self.order, self.scale, first, self._heights)
        totals = self.weights.sum(axis=1)[:, None] * self.scale
        return self.knots, self._heights, self._position, totals

    def _sums_at(self, s: np.ndarray) -> Any:
        """sum_i w_i |s - r_i| at one root for each coordinate, (1, d), or also row, (B, d)."""
        if len(s) == 1:
            return self.weights @ np.abs(s[0, :, None] - self.roots).T
        columns = [np.abs(s[:, j, None] - self.roots[j]) for j in range(len(self.roots))]
        return np.stack([(self.weights * column).sum(axis=1) for column in columns], axis=1)

    def _evaluate(self, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values and slopes in root coordinates, and the roots."""
        from skstruct.spaces.solvers.curves._numba import evaluate

        S = roots_of(T, self.shape)
        values, slopes = np.empty(self.shape), np.empty(self.shape)
        evaluate(*self._pieces(), S, values, slopes)
        return values, slopes, S

    def at(self, T: np.ndarray) -> np.ndarray:
        return self._evaluate(T)[0]

    def slopes(self, T: np.ndarray) -> np.ndarray:
        return per_unit(*self._evaluate(T)[1:])

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from skstruct.spaces.solvers.curves._numba import least_rows

        limits = nonnegative_ends(low, high, self.shape)
        low, high = (np.sqrt(limit) for limit in limits)
        mu = np.array(np.broadcast_to(0.0 if slope is None else slope, self.shape), float)
        at, best = np.empty(self.shape), np.empty(self.shape)
        least_rows(*self._pieces(), mu, low, high, at, best)
        return np.clip(at**2, *limits), best, best.copy()

    def sample(self, low: Any, high: Any, n_cells: int) -> Samples:
        """All knots, and n_cells more so that long pieces are not left to their chords."""
        from skstruct.spaces.solvers.curves._numba import sample_rows

        grid = root_grid(low, high, n_cells, self.shape)
        n, m = self.roots.shape[1], self.roots.shape[1] + grid.shape[-1]
        roots = np.broadcast_to(self.roots, (len(grid), *self.roots.shape))
        roots = np.clip(roots, grid[..., :1], grid[..., -1:])
        # Knots that were clipped stand at the ends: at the lower one before it, so that
        # their weights are counted on the way.
        S = np.concatenate([roots, grid], axis=-1)
        owner = np.argsort(S, axis=-1, kind="stable")
        S = np.take_along_axis(S, owner, axis=-1)
        values, slack = np.empty((*self.shape, m)), np.empty((*self.shape, m - 1))
        owner, depths = np.minimum(owner, n).astype(np.int32), chord_gaps(S)
        first = self._sums_at(S[..., 0])
        sample_rows(self.weights, first, S, owner, depths, self.scale, values, slack)
        return Samples(squares(S, low, high, self.shape), values, slack)
