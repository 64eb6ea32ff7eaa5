# SPDX-License-Identifier: BSD-3-Clause
"""Closing the gap between a row's best known point and its lower bound, by branch and bound.

Piecewise linear curves are done with once their samples are. For others branch and bound runs
on samples from which the slack of their cells was taken, so that all chords lie below the
curve. The point that it finds is either better than the best one, or a point where the samples
are too coarse; there finer ones come in, and so on.
"""

from typing import Any

import numpy as np

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.stopping import Limit
from skstruct.spaces.quantities.separable.relaxations import DENSE, lowered
from skstruct.spaces.solvers.curves.base import Samples
from skstruct.tolerances import FEASIBLE, NARROWEST_CELL, PROVEN_GAP, PROVEN_GAP_OF_TERMS

MEMORY = "400MB"  # for the samples of the rows that are worked on together
ROUNDS = 40  # of finer samples
FINER = 16  # cells around a point where samples are too coarse
EARLY = 0.1  # of the gap: how exactly coarse samples are minimized
UNLIMITED = 2**62
BOXES_PER_SECOND = 20_000  # nominally


def close_enough(
    values: np.ndarray, samples: Samples, tolerance: np.ndarray, max_boxes: int | None
) -> np.ndarray:
    """Gaps (B,) at which branch and bound ends: wider ones where boxes are counted."""
    if max_boxes is None:
        return tolerance
    size = np.abs(samples.values).max(axis=2).sum(axis=1)
    return np.maximum(tolerance, PROVEN_GAP * np.abs(values) + PROVEN_GAP_OF_TERMS * size)


def close_gaps(
    curves: Any,
    polytope: Any,
    low: np.ndarray,
    high: np.ndarray,
    start: tuple[np.ndarray, np.ndarray, np.ndarray],
    tolerance: np.ndarray,
    n_cells: int,
    max_boxes: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs (B, d), values and bounds (B,), none worse than those of ``start``.

    Parameters
    ----------
    curves, polytope : Curves and HullProblem of the rows with a gap
    low, high : arrays of shape (B, d)
    start : outputs (B, d), values (B,), bounds (B,)
    tolerance : array of shape (B,)
        Gap that is called rounding; see ``close_enough``.
    max_boxes : int or None
        Boxes to look at in a row; None for no limit but those of the settings.
    """
    outputs, values, bounds = (np.array(part) for part in start)
    if not len(values) or len(polytope.equal) > DENSE:
        return outputs, values, bounds
    probe = curves.rows(slice(0, 1)).sample(low[:1], high[:1], n_cells)
    for part in row_blocks(len(values), 40 * probe.values.size, MEMORY):
        block = curves.rows(part), polytope.rows(part), low[part], high[part]
        begin = outputs[part], values[part], bounds[part]
        _close_block(*block, *begin, tolerance[part], n_cells, max_boxes)  # in place
    return outputs, values, np.minimum(bounds, values)


def _close_block(
    curves: Any,
    polytope: Any,
    low: np.ndarray,
    high: np.ndarray,
    outputs: np.ndarray,
    values: np.ndarray,
    bounds: np.ndarray,
    tolerance: np.ndarray,
    n_cells: int,
    most: int | None,
) -> None:
    left = Limit().nodes(UNLIMITED if most is None else int(most), BOXES_PER_SECOND)
    samples = curves.sample(low, high, n_cells)
    aim = close_enough(values, samples, tolerance, most)
    bent = (samples.slack > 0).any(axis=(1, 2))
    rows = np.flatnonzero(~bent)
    if len(rows):
        points = samples.points[rows] if samples.points.ndim == 3 else samples.points
        search = outputs[rows], values[rows], aim[rows], left
        found = _branch(polytope.rows(rows), points, samples.values[rows], *search)
        _keep(curves.rows(rows), polytope.rows(rows), rows, found, outputs, values)
        bounds[rows] = np.maximum(bounds[rows], found[2])
    for i in np.flatnonzero(bent):
        one = slice(i, i + 1)
        row = _BentRow(curves.rows(one), polytope.rows(one), samples, int(i))
        row.close(outputs[i], values[i], bounds[i], aim[i], left)
        outputs[i], values[i], bounds[i] = row.output, row.value, row.bound


def _branch(
    polytope: Any,
    points: np.ndarray,
    heights: np.ndarray,
    outputs: np.ndarray,
    values: np.ndarray,
    tolerance: np.ndarray,
    max_boxes: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points, their values and bounds, and boxes looked at, for piecewise linear curves."""
    from skstruct.spaces.quantities.separable._numba_branch_and_bound import branch_rows

    points = points[None] if points.ndim == 2 else points
    points, heights = np.ascontiguousarray(points), np.ascontiguousarray(heights)
    outputs, best = np.array(outputs), np.array(values)
    bounds, looked = branch_rows(
        polytope._columns(),
        polytope.equal,
        np.ascontiguousarray(polytope.sides),
        points,
        heights,
        outputs,
        best,
        tolerance,
        max_boxes,
    )
    return outputs, best, bounds, looked


def _keep(
    curves: Any,
    polytope: Any,
    rows: np.ndarray,
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    outputs: np.ndarray,
    values: np.ndarray,
) -> None:
    """Take over points that meet the constraints and cost less, in place."""
    new = curves.at(found[0]).sum(axis=1)
    meets = polytope.constraints.relative_violation(found[0]) <= FEASIBLE
    better = (new < values[rows]) & meets
    outputs[rows[better]], values[rows[better]] = found[0][better], new[better]


class _BentRow:
    """One row of curves that are not piecewise linear: its samples and its best point."""

    def __init__(self, curves: Any, polytope: Any, samples: Samples, i: int) -> None:
        self.curves, self.polytope = curves, polytope
        points = samples.points[i] if samples.points.ndim == 3 else samples.points
        self.points, self.values = np.array(points), np.array(samples.values[i])
        self.slack = np.array(samples.slack[i])

    def close(
        self, output: np.ndarray, value: float, bound: float, tolerance: float, max_boxes: int
    ) -> None:
        self.output, self.value, self.bound = np.array(output), float(value), float(bound)
        range_ = self.points[:, -1] - self.points[:, 0]
        for _ in range(ROUNDS):
            heights = lowered(Samples(self.points[None], self.values[None], self.slack[None]))
            aim = max(0.5 * tolerance, EARLY * (self.value - self.bound))
            search = self.output[None], np.array([self.value]), np.array([aim]), max_boxes
            found = _branch(self.polytope, self.points, heights, *search)
            max_boxes -= int(found[3][0])
            self.bound = max(self.bound, min(float(found[2][0]), self.value))
            self._offer(found[0][0])
            if self.value - self.bound <= tolerance or max_boxes <= 0:
                break
            points = [found[0][0]]
            if not np.array_equal(self.output, points[0]):
                points.append(self.output)
            finer = [self._refine(point, NARROWEST_CELL * range_) for point in points]
            if not any(finer):
                break  # as fine as numbers are

    def _offer(self, point: np.ndarray) -> None:
        value = float(self.curves.at(point[None]).sum())
        meets = self.polytope.constraints.relative_violation(point[None])[0] <= FEASIBLE
        if value < self.value and meets:
            self.output, self.value = point.copy(), value

    def _refine(self, at: np.ndarray, narrowest: np.ndarray) -> bool:
        """Finer samples in the cells next to a point; False where all are fine enough."""
        from skstruct.spaces.quantities.separable._numba_branch_and_bound import (
            cells_around,
            merge_samples,
        )

        low, high, wide = cells_around(self.points, at, narrowest)
        if not wide.any():
            return False
        new = self.curves.sample(low[None], high[None], FINER)
        points = new.points if new.points.ndim == 2 else new.points[0]
        self.points, self.values, self.slack = merge_samples(
            self.points, self.values, self.slack, np.ascontiguousarray(points), new.values[0],
            new.slack[0], wide)  # fmt: skip
        return True
