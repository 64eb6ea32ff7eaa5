# SPDX-License-Identifier: BSD-3-Clause
"""Branch and bound on the line, for all rows at once."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.curves.base import blocks_of
from skstruct.decoding.curves.cells import Cells, joined

ROUNDS = 110  # half of them halve: as many as a double has bits
MOST = 2000  # open cells per row
MANY = 200  # outputs from which on cells are cut by matrix products
SEVERAL, PARTS = 4, 8  # rows with the same cell open, and the parts it is cut into


class CellSearch:
    """Best points and bounds of one coordinate j of smooth curves, for a block of rows.

    What is minimized is F(t) + tilt t, to a gap of ``tolerance`` (n_rows,); ``rounding`` is
    taken off every bound.
    """

    def __init__(self, curves, j, tilt, tolerance, rounding):
        self.curves, self.j, self.tilt = curves, j, tilt
        self.tolerance, self.rounding = tolerance, rounding

    def value(self, t, owner=None):
        tilt = self.tilt if owner is None else self.tilt[owner]
        c = self.curves
        return c.scale[self.j] * c.sums(c.rho, t, self.j, owner) + tilt * t

    def slope(self, t, owner=None):
        tilt = self.tilt if owner is None else self.tilt[owner]
        c = self.curves
        return c.scale[self.j] * c.sums(c.slope, t, self.j, owner) + tilt

    def run(self, grid, low, high):
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

    def _refined(self, cells):
        """Split until nothing is open; what is left after many rounds comes back."""
        bounds = cells.bounds()
        for round in range(ROUNDS):
            # The first round also polishes what is good enough: one cell of each row.
            cells, bounds = self._open(cells, bounds, self.tolerance if round else self.rounding)
            if not len(cells) or len(cells) > MOST * len(self.best):
                break  # flat to rounding all over: what is left shows as a gap
            now = _first_of_each(cells.owner, bounds) if round == 0 else np.full(len(cells), True)
            # Every other round in the middle: guesses may hug one end for ever.
            halves = self._split(cells.take(now), guess=round % 2 == 0, polish=round == 0)
            half_bounds = self._renewed(halves, halves.bounds())
            cells = joined([cells.take(~now), halves])
            bounds = np.concatenate([bounds[~now], half_bounds])
        return cells, bounds

    def _grid_cells(self, rows, grid, low, high):
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

    def _subdivided(self, cells, grid, low, high):
        """Cells of the grid that are open in several rows are cut by matrix products too.

        With many outputs one product for eight parts is cheaper than one split.
        """
        cells, _ = self._open(cells, cells.bounds(), self.rounding)
        place = np.searchsorted(grid, 0.5 * (cells.left + cells.right)) - 1
        parts = []
        for k, count in zip(*np.unique(place, return_counts=True)):
            here = place == k
            if count < SEVERAL:
                parts.append(cells.take(here))
                continue
            rows, finer = cells.owner[here], np.linspace(grid[k], grid[k + 1], PARTS + 1)
            parts.append(self._grid_cells(rows, finer, low[rows], high[rows]))
        return joined(parts) if parts else cells

    def _open(self, cells, bounds, tolerance):
        """The cells that may hold something lower; the others leave their bounds behind."""
        width = cells.right - cells.left
        splits = width > 4 * np.spacing(np.maximum(np.abs(cells.left), np.abs(cells.right)))
        is_open = splits & (bounds < (self.best - tolerance)[cells.owner])
        np.minimum.at(self.lowest, cells.owner[~is_open], bounds[~is_open])
        return cells.take(is_open), bounds[is_open]

    def _split(self, cells, guess, polish):
        """Cut at the bottom of what looks like a valley, otherwise in the middle."""
        valley = ((cells.bend > 0) & guess) | polish
        at = 0.5 * (cells.left + cells.right)
        inside = cells.take(valley)
        bottom = inside.bottoms()
        at[valley] = inside.next_bottoms(bottom, self.slope(bottom, inside.owner))
        value, slope = self.value(at, cells.owner), self.slope(at, cells.owner)
        self._improve(cells.owner, at, value)
        return cells.split(at, value, slope)

    def _improve(self, owner, at, value):
        order = np.lexsort((at, value))
        first = order[np.unique(owner[order], return_index=True)[1]]
        better = first[value[first] < self.best[owner[first]]]
        self.best[owner[better]], self.at[owner[better]] = value[better], at[better]

    def _renewed(self, cells, bounds):
        """Bounds with F'' of the smaller cell, where the inherited ones are not enough."""
        loose = np.flatnonzero(bounds < (self.best - self.tolerance)[cells.owner])
        if not len(loose):
            return bounds
        part = cells.take(loose)
        cells.bend[loose] = np.maximum(part.bend, self._least_bend(part))
        bounds[loose] = np.maximum(bounds[loose], cells.take(loose).bounds())
        return bounds

    def _least_bend(self, cells):
        y = self.curves.outputs[:, self.j]
        least_bend = np.empty(len(cells))
        for part in blocks_of(len(cells), len(y)):
            w = self.curves.weights[cells.owner[part]]
            least, most = self.curves.curvature_range(
                cells.left[part, None], cells.right[part, None], y
            )
            least_bend[part] = (w * np.where(w > 0, least, most)).sum(axis=1)
        return self.curves.scale[self.j] * least_bend


def _first_of_each(owner, bounds):
    """Mask of the cell of least bound of each owner."""
    order = np.lexsort((bounds, owner))
    mask = np.zeros(len(owner), dtype=bool)
    mask[order[np.unique(owner[order], return_index=True)[1]]] = True
    return mask
