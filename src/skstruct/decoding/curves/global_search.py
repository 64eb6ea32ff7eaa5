# SPDX-License-Identifier: BSD-3-Clause
"""Smooth curves of many valleys: the global minimum, with a proof that nothing is lower."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.curves.base import WeightedCurves, blocks_of, ends
from skstruct.decoding.curves.breakpoints import clipped
from skstruct.decoding.curves.cell_search import MANY, CellSearch

TABLE = 1 << 21  # entries of a table of grid values: 16 MB
NEAR_ROUNDING, FAR_ROUNDING = 1e-13, 1e-15  # of terms where the curves bend, and at the limits


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

    def __init__(self, weights, outputs, rho, slope, curvature_range, *, region=None, scale=None,
                 convex=False, tolerance=1e-10):  # fmt: skip
        super().__init__(weights, outputs, rho, slope, scale=scale, convex=convex)
        self.curvature_range, self.region = curvature_range, region
        self.tolerance = tolerance

    def minimize(self, low, high, slope=None):
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
        return tuple(found)

    def sample(self, low, high, n_cells):
        """An even grid of ``n_cells`` cells; the slack is U h^2 / 8 with U >= F'' on the cell."""
        low, high = ends(low, high, self.shape)
        points = np.linspace(low.min(axis=0), high.max(axis=0), n_cells + 1, axis=-1)
        values = np.empty((*self.shape, n_cells + 1))
        bends = np.empty((*self.shape, n_cells))
        for j, grid in enumerate(points):
            values[:, j] = self.products(self.rho, self.weights, j, grid)
            bends[:, j] = -self.least_bends(-self.weights, j, grid)
        return clipped(self, points, values, bends, low, high)

    def products(self, function, weights, j, grid):
        """scale_j sum_i w_i function(t, y_ij) for all t of a grid; shape (n_rows, m)."""
        total = np.zeros((len(weights), len(grid)))
        for part in blocks_of(len(self.outputs), len(grid), TABLE):
            total += weights[:, part] @ function(grid, self.outputs[part, j, None])
        return self.scale[j] * total

    def least_bends(self, weights, j, grid):
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

    def _tolerances(self, low, high, slope):
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
        rounding = NEAR_ROUNDING * near + FAR_ROUNDING * far
        return np.maximum(self.tolerance * near, 2 * rounding), rounding

    def _bending(self, j, low, high):
        """Where the curves of a coordinate bend, within the limits: left, right, width."""
        y = self.outputs[:, j]
        region = (y.min(), y.max(), np.ptp(y) / 24) if self.region is None else self.region(y)
        left, right, width = (float(number) for number in region)
        left, right = max(low, left - 2 * width), min(high, right + 2 * width)
        return (left, right, width) if left < right else (low, high, width)

    def _grid(self, j, low, high):
        """Even where the curves bend, in steps that grow from there on."""
        left, right, width = self._bending(j, low, high)
        finer = (
            4 if len(self.outputs) < MANY else 2
        )  # many outputs: cells in doubt are cut later, all at once
        n_cells = 32 if width <= 0 else int(np.clip(finer * (right - left) / width, 24, 256))
        growing = np.cumsum(1.5 ** np.arange(1, 21)) * (right - left) / n_cells
        points = [[low], left - growing, np.linspace(left, right, n_cells + 1), right + growing]
        points = np.concatenate([*points, [high]])
        return np.unique(points[(points >= low) & (points <= high)])
