# SPDX-License-Identifier: BSD-3-Clause
"""Smooth curves of many valleys: the global minimum, by branch and bound on the line."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from skstruct._arrays.stopping import Limit, check_cancelled
from skstruct.spaces.solvers.curves.base import WeightedCurves, blocks_of, ends
from skstruct.spaces.solvers.curves.piecewise import clipped
from skstruct.tolerances import BOUND_ROUNDING, CURVE_GAP, SUM_ROUNDING


@dataclass
class Cells:
    """Intervals [left, right] with values and slopes at both ends, one entry per cell.

    ``bend`` is a lower bound of F'' on the cell, so that F - bend t^2 / 2 is convex there
    and lies above its tangents at both ends.
    """

    owner: np.ndarray  # the row whose curve it is
    left: np.ndarray
    right: np.ndarray
    left_value: np.ndarray
    right_value: np.ndarray
    left_slope: np.ndarray
    right_slope: np.ndarray
    bend: np.ndarray

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, index: np.ndarray) -> "Cells":
        return Cells(*(getattr(self, field.name)[index] for field in fields(self)))

    def bounds(self) -> np.ndarray:
        """min over each cell of the larger of the two lower parabolas

            F(left) + F'(left) (t - left) + bend (t - left)^2 / 2    and its mirror image.

        Their difference is linear in t: left of where they meet the first is larger,
        right of it the second.
        """
        h = self.right - self.left
        near, far, bend = self.left_slope, -self.right_slope, self.bend
        # With x = t - left: first - second = gap + x (near + far + bend h).
        gap = self.left_value - self.right_value - far * h - 0.5 * bend * h * h
        steep = -(near + far + bend * h)  # >= 0 up to rounding: a convex function's slopes grow
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            meet = gap / steep
        meet = np.where(steep > 0, np.clip(np.where(np.isnan(meet), 0, meet), 0, h), 0.5 * h)
        first = _lowest(self.left_value, near, bend, meet)
        second = _lowest(self.right_value, far, bend, h - meet)
        return np.minimum(first, second)

    def split(self, at: np.ndarray, value: np.ndarray, slope: np.ndarray) -> "Cells":
        """Two cells out of each; they inherit the bound of the second derivative."""
        left = replace(self, right=at, right_value=value, right_slope=slope)
        right = replace(self, left=at, left_value=value, left_slope=slope)
        return joined([left, right])

    def bottoms(self) -> np.ndarray:
        """Where the cubic with the cell's values and slopes is lowest inside; else the middle."""
        h = self.right - self.left
        middle = 0.5 * (self.left + self.right)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = self.left_slope + self.right_slope
            z -= 3 * (self.right_value - self.left_value) / h
            root = np.sqrt(z * z - self.left_slope * self.right_slope)
            share = (self.right_slope + root - z) / (self.right_slope - self.left_slope + 2 * root)
        inside = (share > 0) & (share < 1)  # False for NaN
        return np.where(inside, self.right - h * np.where(inside, share, 0.5), middle)

    def next_bottoms(self, at: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """One step of Newton's method from ``at``, with F'' from the slopes at three points."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            to_left = (slope - self.left_slope) / (at - self.left)
            to_right = (self.right_slope - slope) / (self.right - at)
            across = (self.right_slope - self.left_slope) / (self.right - self.left)
            moved = at - slope / (to_left + to_right - across)
        inside = (moved > self.left) & (moved < self.right)
        return np.where(inside, moved, at)


def joined(parts: list[Cells]) -> Cells:
    """All cells of several lists of cells."""
    columns = zip(*([getattr(part, field.name) for field in fields(Cells)] for part in parts))
    return Cells(*(np.concatenate(column) for column in columns))


def _lowest(value: np.ndarray, slope: np.ndarray, bend: np.ndarray, length: np.ndarray) -> Any:
    """min over x in [0, length] of value + slope x + bend x^2 / 2."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bottom = -slope / bend
    x = np.where((bend > 0) & (slope < 0), np.minimum(np.where(bend > 0, bottom, 0), length), 0.0)
    inner = value + x * (slope + 0.5 * bend * x)
    end = value + length * (slope + 0.5 * bend * length)
    return np.minimum(inner, end)


SEARCH_ROUNDS = 110  # half of them halve: as many as a double has bits
MOST_CELLS = 2000  # open cells per row
CELLS_PER_SECOND = 50_000  # nominally
MANY = 200  # outputs from which on cells are cut by matrix products
SEVERAL, PARTS = 4, 8  # rows with the same cell open, and the parts it is cut into


class CellSearch:
    """Best points and bounds of one coordinate j of smooth curves, for a block of rows.

    What is minimized is F(t) + tilt t, to a gap of ``tolerance`` (n_rows,); ``rounding`` is
    taken off every bound.
    """

    def __init__(
        self,
        curves: "SmoothCurves",
        j: int,
        tilt: np.ndarray,
        tolerance: np.ndarray,
        rounding: np.ndarray,
    ) -> None:
        self.curves, self.j, self.tilt = curves, j, tilt
        self.tolerance, self.rounding = tolerance, rounding

    def value(self, t: np.ndarray, owner: np.ndarray | None = None) -> np.ndarray:
        tilt = self.tilt if owner is None else self.tilt[owner]
        c = self.curves
        return c.scale[self.j] * c.sums(c.rho, t, self.j, owner) + tilt * t

    def slope(self, t: np.ndarray, owner: np.ndarray | None = None) -> np.ndarray:
        tilt = self.tilt if owner is None else self.tilt[owner]
        c = self.curves
        return c.scale[self.j] * c.sums(c.slope, t, self.j, owner) + tilt

    def run(self, grid: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Points, values and bounds; shape (3, n_rows)."""
        self.at, self.best = low.copy(), np.full(len(low), np.inf)
        rows = np.arange(len(low))
        cells = self._grid_cells(rows, grid, low, high)
        self.lowest = self.best.copy()  # the least bound of all cells that are done with
        if len(self.curves.outputs) >= MANY:
            cells = self._subdivided(cells, grid, low, high)
        cells, bounds = self._refined(cells)
        np.minimum.at(self.lowest, cells.owner, bounds)
        rounding = np.where(low == high, 0.0, self.rounding)
        return np.stack([self.at, self.best, np.minimum(self.lowest, self.best) - rounding])

    def _refined(self, cells: Cells) -> tuple[Cells, np.ndarray]:
        """Split until nothing is open; what is left after many rounds comes back."""
        bounds, left = cells.bounds(), Limit().nodes(per_second=CELLS_PER_SECOND) * len(self.best)
        for round in range(SEARCH_ROUNDS):
            check_cancelled()
            # The first round also polishes what is good enough: one cell of each row.
            cells, bounds = self._open(cells, bounds, self.tolerance if round else self.rounding)
            left -= len(cells)
            if not len(cells) or len(cells) > MOST_CELLS * len(self.best) or left < 0:
                break  # flat to rounding all over, or too long: what is left shows as a gap
            now = _first_of_each(cells.owner, bounds) if round == 0 else np.full(len(cells), True)
            # Every other round in the middle: guesses may hug one end for ever.
            halves = self._split(cells.take(now), guess=round % 2 == 0, polish=round == 0)
            half_bounds = self._renewed(halves, halves.bounds())
            cells = joined([cells.take(~now), halves])
            bounds = np.concatenate([bounds[~now], half_bounds])
        return cells, bounds

    def _grid_cells(
        self, rows: np.ndarray, grid: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> Cells:
        """The cells of a grid that a rough bound leaves to some rows; improves their best."""
        curves, j, tilt = self.curves, self.j, self.tilt[rows, None]
        w = curves.weights if len(rows) == len(curves.weights) else curves.weights[rows]
        values = curves.products(curves.rho, w, j, grid) + tilt * grid
        slopes = curves.products(curves.slope, w, j, grid) + tilt
        bend = curves.least_bends(w, j, grid)
        points = np.broadcast_to(grid, values.shape)
        if (low > grid[0]).any() or (high < grid[-1]).any():
            points = np.clip(grid, low[:, None], high[:, None])
            for end, outside in ((low, grid <= low[:, None]), (high, grid >= high[:, None])):
                values = np.where(outside, self.value(end, rows)[:, None], values)
                slopes = np.where(outside, self.slope(end, rows)[:, None], slopes)
        at = np.arange(len(rows)), values.argmin(axis=1)
        self._improve(rows, points[at], values[at])
        h = np.diff(points)
        fall = 0.5 * np.minimum(bend, 0) * h * h
        rough = np.maximum(values[:, :-1] + np.minimum(slopes[:, :-1], 0) * h,
                           values[:, 1:] - np.maximum(slopes[:, 1:], 0) * h) + fall  # fmt: skip
        row, k = np.nonzero(rough < self.best[rows, None])
        return Cells(rows[row], points[row, k], points[row, k + 1], values[row, k],
                     values[row, k + 1], slopes[row, k], slopes[row, k + 1],
                     bend[row, k])  # fmt: skip

    def _subdivided(
        self, cells: Cells, grid: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> Cells:
        """Cells of the grid that are open in several rows are cut by matrix products too.

        With many outputs one product for eight parts is cheaper than one split.
        """
        cells, _ = self._open(cells, cells.bounds(), self.rounding)
        position = np.searchsorted(grid, 0.5 * (cells.left + cells.right)) - 1
        parts = []
        for k, count in zip(*np.unique(position, return_counts=True)):
            here = position == k
            if count < SEVERAL:
                parts.append(cells.take(here))
                continue
            rows, finer = cells.owner[here], np.linspace(grid[k], grid[k + 1], PARTS + 1)
            parts.append(self._grid_cells(rows, finer, low[rows], high[rows]))
        return joined(parts) if parts else cells

    def _open(
        self, cells: Cells, bounds: np.ndarray, tolerance: np.ndarray
    ) -> tuple[Cells, np.ndarray]:
        """The cells that may hold something lower; the others leave their bounds behind."""
        width = cells.right - cells.left
        splits = width > 4 * np.spacing(np.maximum(np.abs(cells.left), np.abs(cells.right)))
        is_open = splits & (bounds < (self.best - tolerance)[cells.owner])
        np.minimum.at(self.lowest, cells.owner[~is_open], bounds[~is_open])
        return cells.take(is_open), bounds[is_open]

    def _split(self, cells: Cells, guess: bool, polish: bool) -> Cells:
        """Cut at the bottom of what looks like a valley, otherwise in the middle."""
        valley = ((cells.bend > 0) & guess) | polish
        at = 0.5 * (cells.left + cells.right)
        inside = cells.take(valley)
        bottom = inside.bottoms()
        at[valley] = inside.next_bottoms(bottom, self.slope(bottom, inside.owner))
        value, slope = self.value(at, cells.owner), self.slope(at, cells.owner)
        self._improve(cells.owner, at, value)
        return cells.split(at, value, slope)

    def _improve(self, owner: np.ndarray, at: np.ndarray, value: np.ndarray) -> None:
        order = np.lexsort((at, value))
        first = order[np.unique(owner[order], return_index=True)[1]]
        better = first[value[first] < self.best[owner[first]]]
        self.best[owner[better]], self.at[owner[better]] = value[better], at[better]

    def _renewed(self, cells: Cells, bounds: np.ndarray) -> np.ndarray:
        """Bounds with F'' of the smaller cell, where the inherited ones are not enough."""
        loose = np.flatnonzero(bounds < (self.best - self.tolerance)[cells.owner])
        if not len(loose):
            return bounds
        part = cells.take(loose)
        cells.bend[loose] = np.maximum(part.bend, self._least_bend(part))
        bounds[loose] = np.maximum(bounds[loose], cells.take(loose).bounds())
        return bounds

    def _least_bend(self, cells: Cells) -> Any:
        y = self.curves.outputs[:, self.j]
        least_bend = np.empty(len(cells))
        for part in blocks_of(len(cells), len(y)):
            w = self.curves.weights[cells.owner[part]]
            least, most = self.curves.curvature_range(
                cells.left[part, None], cells.right[part, None], y
            )
            least_bend[part] = (w * np.where(w > 0, least, most)).sum(axis=1)
        return self.curves.scale[self.j] * least_bend


def _first_of_each(owner: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Mask of the cell of least bound of each owner."""
    order = np.lexsort((bounds, owner))
    mask = np.zeros(len(owner), dtype=bool)
    mask[order[np.unique(owner[order], return_index=True)[1]]] = True
    return mask


TABLE = 1 << 21  # entries of a table of grid values: 16 MB


class SmoothCurves(WeightedCurves):
    r"""F_bj(t) = scale_j sum_i w_bi rho(t, y_ij) for rho with a second derivative.

    F and F' on a common grid are two matrix products for all rows, and so is a lower
    bound L of F'' on every cell. On a cell F lies above

    .. math:: F(l) + F'(l) (t - l) + L (t - l)^2 / 2

    and above the same from its right end; cells whose bound is not below the best value
    are done with. The others, few, are split where a cubic through the ends has its
    minimum (in the middle where F may bend down), for all rows at once, until the bound
    is within ``tolerance`` of the best value. Near a minimum L is close to F'', so that
    the bound closes with the third power of the cell and one split is mostly enough.

    Parameters
    ----------
    weights, outputs, rho, slope, scale, convex : as for ``WeightedCurves``
    curvature_range : callable
        curvature_range(low, high, y): the smallest and the largest second derivative of
        rho(., y) on [low, high], elementwise with broadcasting.
    region : callable, default=None
        region(y) for the outputs y (n,) of a coordinate: left, right and width, where
        the curves bend between left and right on lengths of about width. Where the grid
        is fine; the result does not depend on it.
    tolerance : float, default=1e-10
        Largest gap, relative to sum_i |w_i| rho(t, y_i) at the worse end.

    Examples
    --------
    Two outputs for zero, three for four, and none of them pulls far:

    >>> def cauchy_range(low, high, y):
    ...     return np.full(np.broadcast(low, high, y).shape, -0.125), np.ones(())
    >>> curves = SmoothCurves(
    ...     [[2.0, 3.0]], [[0.0], [4.0]], rho=lambda t, y: 0.5 * np.log1p((t - y) ** 2),
    ...     slope=lambda t, y: (t - y) / (1 + (t - y) ** 2), curvature_range=cauchy_range)
    >>> points, values, bounds = curves.minimize(-10.0, 10.0)
    >>> points.round(3), (values - bounds < 1e-6).all()
    (array([[3.833]]), np.True_)
    """

    def __init__(
        self,
        weights: Any,
        outputs: Any,
        rho: Callable[..., Any],
        slope: Callable[..., Any],
        curvature_range: Callable[..., Any],
        *,
        region: Callable[..., Any] | None = None,
        scale: np.ndarray | None = None,
        convex: bool = False,
        tolerance: float = CURVE_GAP,
    ) -> None:
        super().__init__(weights, outputs, rho, slope, scale=scale, convex=convex)
        self.curvature_range, self.region = curvature_range, region
        self.tolerance = tolerance

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, values and bounds of the global minima of F(t) + slope t."""
        low, high = ends(low, high, self.shape)
        slope = np.broadcast_to(0.0 if slope is None else np.asarray(slope, float), self.shape)
        tolerance, rounding = self._tolerances(low, high, slope)
        found = np.empty((3, *self.shape))
        for j in range(self.shape[1] if len(self.weights) else 0):
            grid = self._grid(j, low[:, j].min(), high[:, j].max())
            for part in blocks_of(len(self.weights), len(grid), TABLE):
                limits = tolerance[part, j], rounding[part, j]
                search = CellSearch(self.rows(part), j, slope[part, j], *limits)
                found[:, part, j] = search.run(grid, low[part, j], high[part, j])
        return found[0], found[1], found[2]

    def sample(self, low: Any, high: Any, n_cells: int) -> Any:
        """An even grid of ``n_cells`` cells; the slack is U h^2 / 8 with U >= F'' on the cell."""
        low, high = ends(low, high, self.shape)
        points = np.linspace(low.min(axis=0), high.max(axis=0), n_cells + 1, axis=-1)
        values = np.empty((*self.shape, n_cells + 1))
        bends = np.empty((*self.shape, n_cells))
        for j, grid in enumerate(points):
            values[:, j] = self.products(self.rho, self.weights, j, grid)
            bends[:, j] = -self.least_bends(-self.weights, j, grid)
        return clipped(self, points, values, bends, low, high)

    def products(
        self, function: Callable[..., Any], weights: np.ndarray, j: int, grid: np.ndarray
    ) -> np.ndarray:
        """scale_j sum_i w_i function(t, y_ij) for all t of a grid; shape (n_rows, m)."""
        total = np.zeros((len(weights), len(grid)))
        for part in blocks_of(len(self.outputs), len(grid), TABLE):
            total += weights[:, part] @ function(grid, self.outputs[part, j, None])
        return self.scale[j] * total

    def least_bends(self, weights: np.ndarray, j: int, grid: np.ndarray) -> np.ndarray:
        """A lower bound of F'' on every cell of a grid; shape (n_rows, m - 1)."""
        # F'' >= sum_{w > 0} w min rho'' + sum_{w < 0} w max rho''
        total = np.zeros((len(weights), len(grid) - 1))
        for part in blocks_of(len(self.outputs), len(grid), TABLE):
            w, y = weights[:, part], self.outputs[part, j, None]
            least, most = self.curvature_range(grid[:-1], grid[1:], y)
            shape = (len(y), len(grid) - 1)
            total += w @ np.broadcast_to(most, shape)
            total -= np.maximum(w, 0) @ np.broadcast_to(most - least, shape)
        return self.scale[j] * total

    def _tolerances(
        self, low: np.ndarray, high: np.ndarray, slope: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Largest gap and what rounding may take, both (n_rows, d).

        The gap is relative to the terms where the curves bend: limits far away are no reason
        to be content with less, but rounding there has to be reckoned with.
        """
        if not low.size:
            return np.zeros(self.shape), np.zeros(self.shape)
        low, high = low.min(axis=0), high.max(axis=0)
        regions = [self._bending(j, low[j], high[j])[:2] for j in range(self.shape[1])]
        near, far = (
            self.magnitude(left, right) + np.abs(slope) * (right - left)
            for left, right in (np.array(regions).T, (low, high))
        )
        rounding = BOUND_ROUNDING * near + SUM_ROUNDING * far
        return np.maximum(self.tolerance * near, 2 * rounding), rounding

    def _bending(self, j: int, low: float, high: float) -> tuple[float, float, float]:
        """Where the curves of a coordinate bend, within the limits: left, right, width."""
        y = self.outputs[:, j]
        region = (y.min(), y.max(), np.ptp(y) / 24) if self.region is None else self.region(y)
        left, right, width = (float(number) for number in region)
        left, right = max(low, left - 2 * width), min(high, right + 2 * width)
        return (left, right, width) if left < right else (low, high, width)

    def _grid(self, j: int, low: float, high: float) -> Any:
        """Even where the curves bend, in steps that grow from there on."""
        left, right, width = self._bending(j, low, high)
        finer = (
            4 if len(self.outputs) < MANY else 2
        )  # many outputs: cells in doubt are cut later, all at once
        n_cells = 32 if width <= 0 else int(np.clip(finer * (right - left) / width, 24, 256))
        growing = np.cumsum(1.5 ** np.arange(1, 21)) * (right - left) / n_cells
        even = np.linspace(left, right, n_cells + 1)
        points = np.concatenate([[low], left - growing, even, right + growing, [high]])
        return np.unique(points[(points >= low) & (points <= high)])
