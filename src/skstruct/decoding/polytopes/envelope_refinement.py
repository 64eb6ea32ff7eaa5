# SPDX-License-Identifier: BSD-3-Clause
"""Curves that are not piecewise linear: finer samples where they matter, round after round.

The envelope problem is solved on samples. Its prices say where each curve, on its own, would
be best (and prove a bound); samples there and around the best point come in, ever closer
together. This is column generation with one column per coordinate.
"""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import InfeasibleError

ROUNDS = 14
SHRINK = 0.25  # of the spread of new samples from round to round
PATTERN = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # where they lie, in units of the spread
NARROWEST = 1e-6  # spread, relative to the range of the coordinate
APART = 1e-8  # distance of samples, relative to the same
STUCK = 3  # rounds without progress after which a row is left as it is


def refine(curves, polytope, low, high, points, values, outputs, prices, tolerance):
    """Best outputs (B, d), their values and bounds (B,) from a first sampling of the curves.

    points (d, k) or (B, d, k), values (B, d, k): samples; outputs (B, d) and prices (B, m): what
    was found on them.
    """
    n, _, k = values.shape
    points = np.broadcast_to(points, values.shape)
    best, cost = outputs.copy(), curves.at(outputs).sum(axis=1)
    bounds = np.full(n, -np.inf)
    stuck = np.zeros(n, dtype=np.int64)
    spread = (high - low) / (k - 1)
    todo = np.arange(n)
    for _ in range(ROUNDS):
        part, here = curves.rows(todo), polytope.rows(todo)
        wanted, proven = _price(part, here, low[todo], high[todo], prices[todo])
        progress = proven > bounds[todo] + tolerance[todo]
        bounds[todo] = np.maximum(bounds[todo], proven)
        box = spread[todo], low[todo], high[todo]
        new = np.concatenate([_around(at, *box) for at in (wanted, best[todo])], axis=2)
        heights = np.stack([part.at(new[..., i]) for i in range(new.shape[2])], axis=2)
        points, values = _merged(points, values, new, heights)
        try:
            relaxed = here.relax(points, values)
        except InfeasibleError:  # samples too close together for the solver: enough is known
            break
        found = part.at(relaxed.outputs).sum(axis=1)
        better = found < cost[todo]
        progress |= found < cost[todo] - tolerance[todo]
        cost[todo] = np.where(better, found, cost[todo])
        best[todo] = np.where(better[:, None], relaxed.outputs, best[todo])
        prices[todo] = relaxed.prices
        spread = np.maximum(spread * SHRINK, NARROWEST * (high - low))
        stuck[todo] = np.where(progress, 0, stuck[todo] + 1)
        stay = (cost[todo] - bounds[todo] > tolerance[todo]) & (stuck[todo] < STUCK)
        todo, points, values = todo[stay], points[stay], values[stay]
        if not len(todo):
            break
    return best, cost, bounds


def _price(curves, polytope, low, high, prices):
    """Where each curve is best at these prices (B, d), and the bounds they prove (B,)."""
    wanted, _, least = curves.minimize(low, high, slope=-polytope.worth(prices))
    return wanted, least.sum(axis=1) + (prices * polytope.sides).sum(axis=1)


def _around(center, spread, low, high):
    """Points around a center (B, d), within the bounds; shape (B, d, 5)."""
    near = center[..., None] + spread[..., None] * PATTERN
    return np.clip(near, low[..., None], high[..., None])


def _merged(points, values, more_points, more_values):
    """All samples in order. Of samples next to each other the first one counts for all."""
    points = np.concatenate([points, more_points], axis=2)
    values = np.concatenate([values, more_values], axis=2)
    order = np.argsort(points, axis=2, kind="stable")
    points = np.take_along_axis(points, order, axis=2)
    # Slopes between samples any closer than this would be rounding.
    close = np.diff(points, axis=2) < APART * (points[..., -1:] - points[..., :1])
    close[..., -1] = False  # the ends stay
    chosen = np.zeros(points.shape, dtype=np.int64)
    chosen[..., 1:] = np.where(close, 0, np.arange(1, points.shape[2]))
    chosen = np.maximum.accumulate(chosen, axis=2)
    order = np.take_along_axis(order, chosen, axis=2)
    return np.take_along_axis(points, chosen, axis=2), np.take_along_axis(values, order, axis=2)
