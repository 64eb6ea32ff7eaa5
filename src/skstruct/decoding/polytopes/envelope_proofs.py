# SPDX-License-Identifier: BSD-3-Clause
"""Closing the gap between a row's best known point and its lower bound.

First what the prices exclude is cut away: at prices p a coordinate that costs more than the
gap above its own best cannot be part of a better point. Where that is not enough an integer
program decides, or, for curves that are not piecewise linear, boxes are halved.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from time import monotonic

import numpy as np

from skstruct.decoding.curves.hulls import hull_heights
from skstruct.decoding.polytopes.piecewise_milp import minimize_pieces, pieces_around
from skstruct.decoding.polytopes.relaxations import lowered
from skstruct.exceptions import InfeasibleError

CUTS = 12  # rounds of narrowing of one box
WORTH_IT = 0.9  # a round that leaves more than this of the ranges is the last one
FINEST = 1e-9  # of a coordinate's size: what is narrower is not cut any more
BOXES = 2000  # halved before the gap that is left is reported


def prove_row(curves, polytope, low, high, output, value, bound, tolerance, n_cells, seconds):
    """Output (d,), value and bound of one row, at least as good as those given.

    curves and polytope are of that row alone; low and high (d,).
    ``seconds`` may be None for no limit.
    """
    best = _Best(curves, polytope, output, value, tolerance, n_cells)
    box = best.narrow(low, high)
    if box.bound >= best.value - tolerance:
        proven = best.value
    elif box.exact:
        point, proven = minimize_pieces(*box.samples, polytope.constraints.row(0), seconds)
        proven = max(proven, box.bound)
        if point is not None:
            best.offer(point, 1e-9)
            inside = pieces_around(*box.samples, point)
            best.offer(polytope.relax(*inside).outputs[0])
    else:
        proven = _halve(best, box, np.inf if seconds is None else seconds)
    return best.output, best.value, max(bound, min(proven, best.value))


class _Box:
    """Ranges of the coordinates, samples there and a bound for points that beat the best."""

    def __init__(self, low, high, samples, slack, bound):
        self.low, self.high, self.samples, self.slack = low, high, samples, slack
        self.bound = bound
        self.exact = not (slack > 0).any()

    def halves(self):
        """Two boxes, cut where a curve is highest above its envelope, slack included."""
        points, heights = self.samples
        above = heights - hull_heights(points, heights[None])[0]
        above[:, :-1] += self.slack
        width = np.minimum(points - self.low[:, None], self.high[:, None] - points)
        above[width <= FINEST * np.abs(points)] = -np.inf
        j, k = np.unravel_index(above.argmax(), above.shape)
        if above[j, k] == -np.inf:
            return
        cut = points[j, k]
        for low, high in ((self.low[j], cut), (cut, self.high[j])):
            lows, highs = self.low.copy(), self.high.copy()
            lows[j], highs[j] = low, high
            yield lows, highs


class _Best:
    """The best point of one row so far, and how to bound the others."""

    def __init__(self, curves, polytope, output, value, tolerance, n_cells):
        self.curves, self.polytope, self.n_cells = curves, polytope, n_cells
        self.output, self.value, self.tolerance = output, value, tolerance

    def offer(self, output, violation=np.inf):
        value = float(self.curves.at(output[None]).sum())
        if value < self.value and (
            self.polytope.constraints.relative_violation(output[None])[0] <= violation
        ):
            self.output, self.value = output, value

    def narrow(self, low, high) -> _Box:
        """Cut away what is no better than the best point; the bound is infinite if all is."""
        for _ in range(CUTS):
            samples = self.curves.sample(low[None], high[None], self.n_cells)
            points, heights = samples.points.reshape(samples.values.shape), lowered(samples)
            try:
                relaxed = self.polytope.relax(points, heights)
            except InfeasibleError:
                return _Box(low, high, (points[0], heights[0]), samples.slack[0], np.inf)
            self.offer(relaxed.outputs[0])
            box = _Box(low, high, (points[0], heights[0]), samples.slack[0], relaxed.bounds[0])
            # What a coordinate may cost above its own best without being worse than the best.
            allowed = self.value - box.bound
            if allowed <= self.tolerance:
                break
            excess = heights[0] - self.polytope.worth(relaxed.prices)[0][:, None] * points[0]
            excess -= excess.min(axis=1, keepdims=True)
            left, right = _within(points[0], excess, allowed + self.tolerance)
            left, right = np.maximum(low, left), np.minimum(high, right)
            if (right - left).sum() > WORTH_IT * (high - low).sum():
                break
            low, high = left, right
        return box


def _halve(best, box, seconds):
    """The bound that is left after halving boxes, the one with the least bound first."""
    tie, end = count(), monotonic() + seconds
    boxes = [(box.bound, next(tie), box)]
    for _ in range(BOXES):
        if not boxes or boxes[0][0] >= best.value - best.tolerance or monotonic() > end:
            break
        _, _, box = heappop(boxes)
        for low, high in box.halves():
            part = best.narrow(low, high)
            part.bound = max(part.bound, box.bound)
            if part.bound < best.value - best.tolerance:
                heappush(boxes, (part.bound, next(tie), part))
    return min(boxes[0][0] if boxes else best.value, best.value)


def _within(points, excess, allowed):
    """The first and the last place of each curve (d, k) that is not above ``allowed``."""
    rows, k = np.arange(len(points)), points.shape[1]
    fits = excess <= allowed
    ends = []
    for at, step in ((fits.argmax(axis=1), -1), (k - 1 - fits[:, ::-1].argmax(axis=1), 1)):
        beyond = np.clip(at + step, 0, k - 1)
        low, high = excess[rows, at], excess[rows, beyond]
        rise = high - low
        share = np.divide(allowed - low, rise, out=np.zeros(len(rows)), where=rise > 0)
        ends.append(points[rows, at] + share * (points[rows, beyond] - points[rows, at]))
    return ends
