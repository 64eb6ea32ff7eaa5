# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise quadratic curves: exact minima from knots that are sorted once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skstruct.spaces.solvers.curves.base import Samples, WeightedCurves, ends
from skstruct.tolerances import SUM_ROUNDING, TIE


class PiecewiseCurves(WeightedCurves):
    """F_bj(t) = scale_j sum_i w_bi rho(t, y_ij) for a continuous, piecewise quadratic rho.

    rho is straight left of its first knot; at every knot its slope and its second
    derivative jump. The minimum on an interval is at a knot, at an end or where a piece
    that bends up is flat. All of them are visited from left to right for every row in
    O(n), whatever the signs of the weights, after one sort per coordinate.

    The smallest minimizer wins, where values within 1e-12 of the size of their terms
    count as equal; a row of zero weights gets the lower end.

    Parameters
    ----------
    weights, outputs, rho, slope, scale, convex : as for ``WeightedCurves``
    knots : callable
        knots(outputs) gives positions, jumps of the slope and jumps of the second
        derivative, each of shape (k, n, d); a position may be infinite.

    Examples
    --------
    A signed median: the second output speaks against itself.

    >>> curves = PiecewiseCurves(
    ...     [[1.0, -0.5, 1.0]], [[0.0], [1.0], [3.0]],
    ...     rho=lambda t, y: abs(t - y), slope=lambda t, y: np.where(t < y, -1.0, 1.0),
    ...     knots=lambda y: (y[None], np.full((1, *y.shape), 2.0), np.zeros((1, *y.shape))))
    >>> points, values, bounds = curves.minimize(-5.0, 5.0)
    >>> points, values
    (array([[3.]]), array([[2.]]))
    """

    def __init__(
        self,
        weights: Any,
        outputs: Any,
        rho: Callable[..., Any],
        slope: Callable[..., Any],
        knots: Callable[..., Any],
        *,
        scale: np.ndarray | None = None,
        convex: bool = False,
    ) -> None:
        super().__init__(weights, outputs, rho, slope, scale=scale, convex=convex)
        self.is_linear, self._knots = _sorted_knots(self.outputs, knots, self.scale)

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, values and bounds of the minima of F(t) + slope t; exact."""
        from skstruct.spaces.solvers.curves._numba import lowest_points

        low, high = ends(low, high, self.shape)
        slope = np.broadcast_to(0.0 if slope is None else np.asarray(slope, float), self.shape)
        if not low.size:
            return np.empty(self.shape), np.empty(self.shape), np.empty(self.shape)
        # Beyond the first and the last knot F is straight: limits far away cost no digits.
        first, last = (np.clip(knot, low, high) for knot in self._outer_knots())
        start, stop = first.min(axis=0), last.max(axis=0)
        slack = TIE * (self.magnitude(start, stop) + np.abs(slope) * (stop - start))
        points = np.empty(self.shape)
        for j, state in enumerate(self._states(start)):
            state[:, 1] += slope[:, j]
            column = np.empty(len(points))
            knots = _between(self._knots[j], start[j], stop[j])
            args = (first[:, j].copy(), last[:, j].copy(), slack[:, j].copy())
            lowest_points(self.weights, knots, start[j], state, *args, column)
            points[:, j] = column
        values = self.at(points) + slope * points
        return self._or_ends(points, values, low, high, first, last, slope, slack)

    def _outer_knots(self) -> np.ndarray:
        """The first and the last finite knot of every coordinate; two arrays (d,)."""
        finite = [knots[0][np.isfinite(knots[0])] for knots in self._knots]
        outer = [(at[0], at[-1]) if len(at) else (0.0, 0.0) for at in finite]
        return np.array(outer).reshape(-1, 2).T

    def _or_ends(
        self,
        points: np.ndarray,
        values: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        slope: np.ndarray,
        slack: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """An end that a straight tail falls towards; of equals the lower end."""
        bounds = values.copy()
        left, right = self._outer_knots()
        tails = (
            left - 1 - np.abs(left),
            right,
        )  # points on them: slopes at a knot are the right ones
        for end, inner, tail in ((low, first, tails[0]), (high, last, tails[1])):
            away = np.abs(end - inner)
            if not away.any():
                continue
            at_end = self.at(end) + slope * end
            noise = SUM_ROUNDING * (self._absolute_slopes(tail) + np.abs(slope)) * away
            # Limits so far away that rounding hides which is lower: a gap, not a claim.
            drowned = (noise > slack) & (slack > 0)
            unclear = drowned & (away > 0) & (np.abs(at_end - values) <= noise)
            better = (away > 0) & (at_end < values - np.maximum(noise, slack))
            if end is low:
                better |= (away > 0) & (noise <= slack) & (at_end <= values + slack)
            points, values = np.where(better, end, points), np.where(better, at_end, values)
            bounds = np.where(better, values, bounds - np.where(unclear, 2 * noise, 0.0))
        return points, values, bounds

    def _absolute_slopes(self, tail: np.ndarray) -> Any:
        """sum_i |w_i rho'(t, y_i)| on a tail; zero where all are flat."""
        return np.abs(self.weights) @ np.abs(self.scale * self.slope(tail, self.outputs))

    def sample(self, low: Any, high: Any, n_cells: int) -> Samples:
        """All knots between the ends; where rho is not linear, also ``n_cells`` cells."""
        from skstruct.spaces.solvers.curves._numba import follow

        low, high = ends(low, high, self.shape)
        start, stop = low.min(axis=0), high.max(axis=0)
        grids = [self._grid(j, start[j], stop[j], n_cells) for j in range(self.shape[1])]
        m = max(len(grid) for grid in grids)
        points = np.stack([np.append(grid, np.full(m - len(grid), grid[-1])) for grid in grids])
        values, bends = np.empty((*self.shape, m)), np.empty((*self.shape, m))
        for j, state in enumerate(self._states(start)):
            f, q = np.empty((len(state), m)), np.empty((len(state), m))
            knots = _between(self._knots[j], start[j], stop[j])
            follow(self.weights, knots, start[j], state, points[j], f, q)
            values[:, j], bends[:, j] = f, q
        return clipped(self, points, values, bends[..., :-1], low, high)

    def _grid(self, j: int, low: float, high: float, n_cells: int) -> np.ndarray:
        within = _between(self._knots[j], low, high)[0]
        even = np.empty(0) if self.is_linear else np.linspace(low, high, n_cells + 1)
        inner = np.unique(np.concatenate([within, even]))
        return np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]])

    def _states(self, start: np.ndarray) -> Iterator[np.ndarray]:
        """For every coordinate value, slope and second derivative right of ``start``."""
        value = self.weights @ (self.scale * self.rho(start, self.outputs))
        slope = self.weights @ (self.scale * self.slope(start, self.outputs))
        for j, (position, owner, _, jump, _) in enumerate(self._knots):
            passed = position <= start[j]
            bend = np.bincount(owner[passed], jump[passed], minlength=len(self.outputs))
            yield np.stack([value[:, j], slope[:, j], self.weights @ bend], axis=1)


def clipped(
    curves: Any,
    points: np.ndarray,
    values: np.ndarray,
    bends: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> Samples:
    """Samples from curves at common points (d, m): rows of other ends have their own points.

    A row's points outside its ends move to them. ``bends`` (n_rows, d, m - 1) are upper
    bounds of F'' on the cells, so that F is at most max(bend, 0) h^2 / 8 below the chord.
    """
    inner = np.clip(points, low[..., None], high[..., None])  # (n_rows, d, m)
    if (inner == points).all():
        return Samples(points, values, np.maximum(bends, 0) * np.diff(points) ** 2 / 8)
    values = np.where(points <= low[..., None], curves.at(low)[..., None], values)
    values = np.where(points >= high[..., None], curves.at(high)[..., None], values)
    return Samples(inner, values, np.maximum(bends, 0) * np.diff(inner) ** 2 / 8)


def _sorted_knots(
    outputs: np.ndarray, knots: Callable[..., Any], scale: np.ndarray
) -> tuple[bool, list[tuple[Any, ...]]]:
    """Whether all pieces are straight, and for every coordinate its knots from left to right."""
    n, d = outputs.shape
    position, slope_jump, curvature_jump = (np.asarray(part) for part in knots(outputs))
    owner = np.tile(np.arange(n), len(position))
    columns = []
    for j in range(d):
        at, ds, dq = (part[..., j].ravel() for part in (position, slope_jump, curvature_jump))
        order = np.argsort(at, kind="stable")
        at, ds, dq = at[order], scale[j] * ds[order], scale[j] * dq[order]
        straight = np.cumsum(np.sign(dq)) == 0
        columns.append((at, owner[order], ds, dq, straight))
    return not np.any(curvature_jump), columns


def _between(knots: tuple[np.ndarray, ...], low: float, high: float) -> tuple[np.ndarray, ...]:
    """The knots in (low, high)."""
    first = np.searchsorted(knots[0], low, side="right")
    last = np.searchsorted(knots[0], high, side="left")
    return tuple(np.ascontiguousarray(part[first : max(first, last)]) for part in knots)
