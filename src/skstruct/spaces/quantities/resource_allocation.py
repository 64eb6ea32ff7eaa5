# SPDX-License-Identifier: BSD-3-Clause
"""Separable costs over amounts that add up to a total, {z >= 0, sum z = total}."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.memory import parse_memory
from skstruct.tolerances import (
    ALLOCATED,
    BEND_FLOOR,
    CANCELED,
    DIFFERENCE_STEP,
    ROOT_ACCURACY,
    STEPS_GAP,
)


def best_vertices(costs: np.ndarray, total: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """All of the total on the minimum-cost coordinate: outputs (n, d) and values (n,).

    >>> outputs, values = best_vertices(np.array([[3.0, 1.0, 2.0]]))
    >>> outputs.tolist(), values.tolist()
    ([[0.0, 1.0, 0.0]], [1.0])
    """
    rows, min_cost = np.arange(len(costs)), np.argmin(costs, axis=1)
    outputs = np.zeros(np.shape(costs))
    outputs[rows, min_cost] = total
    return outputs, total * costs[rows, min_cost]


def quadratic_on_simplex(
    a: np.ndarray, b: np.ndarray, total: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    r"""Minimize :math:`\sum_j a_j z_j^2 + b_j z_j` for a and b of any sign, exactly.

    Where all a are positive this is a weighted Euclidean projection: the coordinates fill
    up like vessels, in the order of b. Of coordinates with :math:`a_j \le 0` at most one is
    in use, because their cost is concave; each is tried, with the vessels sharing the rest.

    Parameters
    ----------
    a, b : arrays of shape (n, d)
    total : float, default=1.0

    Returns
    -------
    outputs : array of shape (n, d)
    values : array of shape (n,)

    Examples
    --------
    >>> outputs, values = quadratic_on_simplex(np.ones((1, 2)), np.array([[-1.0, 0.0]]))
    >>> outputs.tolist(), values.tolist()
    ([[0.75, 0.25]], [-0.125])
    """
    from skstruct.spaces.quantities._numba import quadratic_rows

    a, b = (np.ascontiguousarray(part, dtype=np.float64) for part in (a, b))
    size = total * np.abs(a).max(axis=1, keepdims=True, initial=0.0)
    size = size + np.ptp(b, axis=1, keepdims=True)
    a = np.where(np.abs(a) * total <= CANCELED * size, 0.0, a)
    outputs = np.empty_like(b)
    # Costs relative to the minimum-cost coordinate: a constant in b moves no minimizer.
    relative = b - b.min(axis=1, keepdims=True)
    quadratic_rows(a, relative, np.argsort(relative, axis=1), float(total), outputs)
    return outputs, ((a * outputs + b) * outputs).sum(axis=1)


def roots_on_simplex(costs: np.ndarray, total: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    r"""Minimize :math:`\sum_j c_j \sqrt{z_j}` for costs of any sign, exactly.

    In root coordinates this is a linear cost on the part of a sphere where all
    coordinates are at least zero: with s = -c, the direction of the positive part of s if
    there is one, else the vertex of least cost.

    Returns
    -------
    outputs : array of shape (n, d)
    values : array of shape (n,)

    Examples
    --------
    >>> outputs, values = roots_on_simplex(np.array([[-3.0, -4.0, 1.0]]))
    >>> outputs.round(3).tolist(), values.tolist()
    ([[0.36, 0.64, 0.0]], [-5.0])
    """
    costs = np.asarray(costs, dtype=np.float64)
    wanted = np.maximum(-costs, 0.0)
    # Squares of the largest are one: nothing overflows or vanishes that matters.
    largest = wanted.max(axis=1, keepdims=True, initial=0.0)
    wanted = wanted / np.where(largest > 0, largest, 1.0)
    norm = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    outputs, values = best_vertices(costs, 1.0)
    some = norm[:, 0] > 0
    outputs[some] = (wanted[some] / norm[some]) ** 2
    values[some] = -(norm * largest)[some, 0]
    return total * outputs, np.sqrt(total) * values


Array = Any

N_DUALS = 24  # tried for a row


@dataclass
class Shares:
    """Shares of the total, what they cost, and what is known about better ones."""

    z: Array  # shape: (B, d)
    values: Array  # shape: (B,)
    bounds: Array  # shape: (B,)
    duals: Array  # shape: (B,); mu, minus the slope that coordinates in use have in common


class Bracket:
    """Dual variables of every row at which too much (low) and too little (high) is used."""

    def __init__(self, n: int, d: int) -> None:
        self.dual = np.array([np.full(n, -np.inf), np.full(n, np.inf)])
        self.bound = np.zeros((2, n))
        self.excess = np.zeros((2, n))  # sum of the points less the total
        self.points = np.zeros((2, n, d))

    def add(
        self,
        rows: np.ndarray,
        dual: np.ndarray,
        bound: np.ndarray,
        excess: np.ndarray,
        points: np.ndarray,
    ) -> None:
        side = (excess <= 0).astype(int)  # 1: the dual is high enough
        self.dual[side, rows], self.bound[side, rows] = dual, bound
        self.excess[side, rows], self.points[side, rows] = excess, points

    def closed(self) -> np.ndarray:
        return np.isfinite(self.dual).all(axis=0)

    def crossing(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the tangents of both ends meet, and how high: no bound is higher."""
        (low, high), (left, right), (more, less) = self.dual, self.bound, self.excess
        with np.errstate(divide="ignore", invalid="ignore"):
            dual = (right - left + more * low - less * high) / (more - less)
            return dual, left + more * (dual - low)

    def next_duals(self, reach: np.ndarray, by_excess: bool) -> np.ndarray:
        """Inside the bracket where there is one, else beyond its only end by ``reach``."""
        low, high = self.dual
        open_above = np.isinf(high)
        beyond = np.where(open_above, low + reach, high - reach)
        with np.errstate(invalid="ignore", divide="ignore"):
            more, less = self.excess
            secant = (more * high - less * low) / (more - less)
            dual = secant if by_excess else self.crossing()[0]
            margin = 0.02 * (high - low)
            dual = np.clip(dual, low + margin, high - margin)
            dual = np.where(np.isfinite(dual), dual, 0.5 * (low + high))
        return np.where(self.closed(), dual, beyond)


def best_duals(curves: Any, start: Shares, total: float, tolerance: np.ndarray) -> Shares:
    """Maximize L(mu) = sum_j min_t [F_j(t) + mu t] - mu total over mu, row by row in step.

    L is concave and the excess of the points is its slope, so two of them bracket the best
    one: tangents from both ends and the zero of the excess are tried by turns. The shares
    are the best of those given and of some made of both ends of the bracket.
    """
    n, d = start.z.shape
    best, duals, bracket = start.bounds.copy(), start.duals.copy(), Bracket(n, d)
    mu = _common_slopes(curves, start)
    reach = np.maximum(1e-4 * np.abs(mu), 1e3 * tolerance / total) + 1e-300
    active = np.arange(n)
    for turn in range(N_DUALS):
        points, _, bounds = curves.rows(active).minimize(0.0, total, slope=mu[active, None])
        bound, excess = bounds.sum(axis=1) - mu[active] * total, points.sum(axis=1) - total
        bracket.add(active, mu[active], bound, excess, points)
        better = bound > best[active]
        duals[active[better]] = mu[active[better]]
        best[active[better]] = bound[better]
        proposed = bracket.next_duals(reach, by_excess=turn % 2 == 0)
        with np.errstate(invalid="ignore"):
            done = bracket.closed() & (bracket.crossing()[1] - best <= 0.1 * tolerance)
        done |= (start.values - best <= tolerance) | (proposed == mu)
        done[active] |= np.abs(excess) <= ROOT_ACCURACY * total
        reach, mu = 8.0 * reach, proposed
        active = active[~done[active]]
        if len(active) == 0:
            break
    z, values = _shares_between(curves, bracket, start, total)
    return Shares(z, values, best, duals)


def _common_slopes(curves: Any, start: Shares) -> np.ndarray:
    """Minus the slope of the coordinates in use where they agree on it, else the duals given."""
    slopes = np.where(start.z > 0, curves.slopes(start.z), np.nan)
    with np.errstate(invalid="ignore"):
        width = np.nanmax(slopes, axis=1) - np.nanmin(slopes, axis=1)
        middle = np.nanmedian(slopes, axis=1)
    agree = width <= 1e-3 * np.abs(middle)
    return np.where(agree, -middle, start.duals)


def _shares_between(
    curves: Any, bracket: Bracket, start: Shares, total: float
) -> tuple[np.ndarray, np.ndarray]:
    """The best of a few ways to reach the total from both ends of the bracket."""
    z, values = start.z.copy(), start.values.copy()
    rows = np.flatnonzero(bracket.closed())
    if len(rows) == 0:
        return z, values
    some = curves.rows(rows)
    more, less = bracket.points[:, rows]
    (too_much, too_little) = bracket.excess[:, rows, None]
    share = too_little / np.where(too_little < too_much, too_little - too_much, 1.0)
    order = np.argsort(more - less, axis=1)
    for found in (
        _switch(more, less, order, total),
        _switch(more, less, order[:, ::-1], total),
        less + share * (more - less),
    ):
        _keep_better(some, found, total, rows, z, values)
    return z, values


def _switch(more: np.ndarray, less: np.ndarray, order: np.ndarray, total: float) -> np.ndarray:
    """From ``less``, coordinates go over to ``more`` in turn; the last one in part."""
    steps = np.take_along_axis(np.maximum(more - less, 0.0), order, axis=1)
    left = np.maximum(total - less.sum(axis=1), 0.0)[:, None]
    taken = np.clip(left - (np.cumsum(steps, axis=1) - steps), 0.0, steps)
    z = less.copy()
    np.put_along_axis(z, order, np.take_along_axis(less, order, axis=1) + taken, axis=1)
    return z


def _keep_better(
    curves: Any,
    found: np.ndarray,
    total: float,
    rows: np.ndarray,
    z: np.ndarray,
    values: np.ndarray,
) -> None:
    """Take over what adds up to the total and costs less, in place."""
    used = found.sum(axis=1)
    fits = np.abs(used - total) <= ALLOCATED * total
    found = found * (total / np.where(used > 0, used, 1.0))[:, None]
    new = curves.at(found).sum(axis=1)
    better = fits & (new < values[rows])
    z[rows[better]], values[rows[better]] = found[better], new[better]


N_STEPS = 12  # Newton steps at most
LENGTHS = (0.5, 0.2, 0.05, 0.01)  # tried of a step that is too long
N_EXCHANGES = 12  # tried for one row at most
WORTHWHILE = 2e-3  # of the gap that is left: what an exchange has to gain
PATIENCE = 3  # coordinates that find no partner before the others are not asked


def polish(
    curves: Any, z: np.ndarray, total: float, tolerance: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton's method on the simplex, as long as it helps and a gap is left.

    Every step minimizes a quadratic model with curvature at least zero. Where a curve has a
    kink the difference of slopes makes the model so steep that the coordinate stays.

    Returns
    -------
    z, values : shares that cost no more than those given, up to rounding
    lower : array (B,); where the row is convex, the bound of its tangents,
        F(z) + min over shares s of <F'(z), s - z>, otherwise minus infinity
    """
    z = z.copy()
    values, lower = curves.at(z).sum(axis=1), np.full(len(z), -np.inf)
    convex = np.asarray(curves.convex)
    active = np.flatnonzero(values - bounds > tolerance)
    for step in range(N_STEPS + 1):
        some, at = curves.rows(active), z[active]
        slopes = some.slopes(at)
        bowl = active[convex[active]]
        tangent = values[active] + _least_tangent(slopes, at, total)
        lower[bowl] = np.maximum(lower[bowl], tangent[convex[active]])
        open_ = values[active] - np.maximum(bounds[active], lower[active]) > tolerance[active]
        if step == N_STEPS or not open_.any():
            break
        aim = _newton(some, at, slopes, total) - at
        gain = _line_search(some, at, aim, values[active], 1e-4 * tolerance[active])
        z[active], values[active] = at, values[active] - gain
        # The bound of a convex row still gains when its value does no more.
        helps = np.where(convex[active], gain != 0, gain > 1e-3 * tolerance[active])
        active = active[helps & open_]
        if len(active) == 0:
            break
    return z, values, lower


def _least_tangent(slopes: np.ndarray, z: np.ndarray, total: float) -> np.ndarray:
    """min over shares s of <slopes, s - z>; minus infinity where a slope in use is infinite."""
    with np.errstate(invalid="ignore"):
        least = total * slopes.min(axis=1) - np.where(z > 0, slopes * z, 0.0).sum(axis=1)
    return np.where(np.isnan(least), -np.inf, least)


def _newton(curves: Any, z: np.ndarray, slopes: np.ndarray, total: float) -> np.ndarray:
    """Minimizers of <slopes, s - z> + sum_j h_j (s_j - z_j)^2 / 2 over shares s."""
    bend = np.abs(_curvatures(curves, z, total))
    usable = np.isfinite(slopes) & np.isfinite(bend)
    steepest = np.abs(np.where(usable, slopes, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    unit = np.where(steepest > 0, steepest, 1.0) / total
    bend = np.clip(np.where(usable, bend, np.inf), BEND_FLOOR * unit, 1e12 * unit)
    slopes = np.where(usable, slopes, 0.0)
    return quadratic_on_simplex(0.5 * bend, slopes - bend * z, total)[0]


def _curvatures(curves: Any, z: np.ndarray, total: float) -> Any:
    known = getattr(curves, "curvatures", None)
    if known is not None:
        return known(z)
    width = DIFFERENCE_STEP * np.maximum(z, 1e-3 * total)
    low = np.maximum(z - width, 0.0)
    with np.errstate(invalid="ignore"):
        return (curves.slopes(z + width) - curves.slopes(low)) / (z + width - low)


def _line_search(
    curves: Any, z: np.ndarray, aim: np.ndarray, values: np.ndarray, rounding: np.ndarray
) -> Any:
    """Move z along aim, in place; returns what was gained, up to ``rounding`` less than zero.

    The whole step is tried first, and kept where it does not cost more.
    """
    length = np.zeros(len(z))
    gain = values - curves.at(np.maximum(z + aim, 0.0)).sum(axis=1)
    length[gain > -rounding] = 1.0
    short = np.flatnonzero(length == 0)
    gain[short] = 0.0
    for shorter in LENGTHS if len(short) else ():
        there = np.maximum(z[short] + shorter * aim[short], 0.0)
        found = values[short] - curves.rows(short).at(there).sum(axis=1)
        better = short[found > gain[short]]
        length[better], gain[better] = shorter, found[found > gain[short]]
    z += length[:, None] * aim
    np.maximum(z, 0.0, out=z)
    return gain


def exchange(
    points: np.ndarray, sampled: np.ndarray, shares: Shares, total: float, tolerance: np.ndarray
) -> np.ndarray:
    """Move amounts between two coordinates at a time, while samples say that it helps.

    points (B or 1, d, m) and sampled (B, d, m) stand for the curves; between them they
    are taken as straight. Returns shares; whether they are better is for the curves to say.
    """
    from skstruct.spaces.quantities._numba import exchange_rows

    z, sampled = shares.z.copy(), np.ascontiguousarray(sampled)
    worth = np.maximum(tolerance, WORTHWHILE * (shares.values - shares.bounds))
    exchange_rows(points, sampled, shares.duals, z, N_EXCHANGES, PATIENCE, worth)
    z = np.maximum(z, 0.0)
    return z * (total / z.sum(axis=1, keepdims=True))


def separable_on_simplex(
    curves: Any, total: float = 1.0, *, n_cells: int = 64, memory: str = "200MB"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Minimize :math:`\sum_j F_j(z_j)` for curves of any shape on the simplex.

    One constraint couples the coordinates. Without it, at a dual variable :math:`\mu` per unit,

    .. math:: L(\mu) = \sum_j \min_{0 \le t \le T} [F_j(t) + \mu t] - \mu T

    is a lower bound; the best one belongs to the lower convex hulls of the curves, whose
    minimum-cost pieces are filled in until the total is reached. At most one coordinate is then
    off its curve's hull, so the gap is that of a single coordinate at most. Steps that
    exchange amounts between coordinates, and Newton's, make it smaller.

    Parameters
    ----------
    curves : Curves of shape (B, d)
    total : float, default=1.0
    n_cells : int, default=64
        Cells of a first sample of smooth curves.
    memory : str or int, default="200MB"
        Room for the samples; rows are worked on in blocks.

    Returns
    -------
    outputs : array of shape (B, d)
    values, bounds : arrays of shape (B,)

    Examples
    --------
    >>> from skstruct.spaces.solvers.curves.base import QuadraticCurves
    >>> curves = QuadraticCurves([[1.0, 1.0]], [[-1.0, 0.0]])
    >>> outputs, values, bounds = separable_on_simplex(curves)
    >>> outputs.round(6).tolist(), bool(values - bounds < 1e-9)
    ([[0.75, 0.25]], True)
    """
    n, d = curves.shape
    outputs, values, bounds = np.empty((n, d)), np.empty(n), np.empty(n)
    start, step, room = 0, 16, parse_memory(memory)
    while start < n:
        rows = slice(start, min(n, start + step))
        found = _minimize_block(curves.rows(rows), float(total), n_cells)
        outputs[rows], values[rows], bounds[rows], size = found
        start, step = rows.stop, max(1, room // max(1, 4 * size))
    return outputs, values, bounds


def _minimize_block(
    curves: Any, total: float, n_cells: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Outputs, values, bounds, and the size of a row's samples in bytes."""
    from skstruct.spaces.quantities._numba import mix_rows

    samples = curves.sample(0.0, total, n_cells)
    points = samples.points if samples.points.ndim == 3 else samples.points[None]
    points = np.ascontiguousarray(points)
    n, d, _m = samples.values.shape
    z, bounds, duals, spans = np.empty((n, d)), np.empty(n), np.empty(n), np.empty(n)
    mix_rows(points, samples.values, samples.slack, total, z, bounds, duals, spans)
    z *= total / z.sum(axis=1, keepdims=True)
    tolerance = STEPS_GAP * spans

    z, values, lower = polish(curves, z, total, tolerance, bounds)
    bounds = np.maximum(bounds, lower)
    still = np.flatnonzero(values - bounds > tolerance)
    if len(still):
        some = curves.rows(still)
        near = points if len(points) == 1 else points[still], samples.values[still]
        start = Shares(z[still], values[still], bounds[still], -duals[still])
        found = _closer(some, near, start, total, tolerance[still])
        z[still], values[still], bounds[still] = found.z, found.values, found.bounds
    # Rounding may put a closed bound above the value by some last bits.
    return z, values, np.minimum(bounds, values), samples.values.nbytes // n


def _closer(
    curves: Any,
    samples: tuple[np.ndarray, np.ndarray],
    start: Shares,
    total: float,
    tolerance: np.ndarray,
) -> Shares:
    """Better bounds by the best dual variable, then better shares at it."""
    improved = best_duals(curves, start, total, tolerance)
    points, sampled = samples
    moved = exchange(points, sampled, improved, total, tolerance)
    z, values, _ = polish(curves, moved, total, tolerance, improved.bounds)
    better = values < improved.values
    z = np.where(better[:, None], z, improved.z)
    return Shares(z, np.where(better, values, improved.values), improved.bounds, improved.duals)
