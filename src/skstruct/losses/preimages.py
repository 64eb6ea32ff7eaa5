# SPDX-License-Identifier: BSD-3-Clause
"""Pre-images: points whose features are nearest to a weighted sum of features."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from skstruct._arrays.stopping import Limit, check_cancelled
from skstruct.tolerances import (
    CELL_MARGIN,
    CONVERGED,
    DIFFERENCE_ROUNDING,
    DIFFERENCE_STEP,
    PREIMAGE_GAP,
    SMALLEST_STEP,
)

STEEPEST = 2.0 * np.exp(-1.5)  # the curvature of a Gaussian is at most twice gamma times this
TINY = 1e-290  # weights so far away that they pull nothing


def gaussian_sums(weights: Any, Y: Any, points: np.ndarray, gamma: float) -> np.ndarray:
    r"""The terms :math:`w_{bi} e^{-\gamma |z_b - y_i|^2}` of every row; shape (B, n).

    Subtract a common centre from both first: what cancels in the product is then small.
    """
    G: np.ndarray = points @ Y.T
    G *= 2.0
    G -= np.einsum("bj,bj->b", points, points)[:, None]
    G -= np.einsum("ij,ij->i", Y, Y)
    np.minimum(G, 0.0, out=G)
    G *= gamma
    np.exp(G, out=G)
    G *= weights
    return G


def climb_gaussians(
    weights: np.ndarray,
    Y: Any,
    starts: np.ndarray,
    gamma: float,
    project: Callable[..., Any],
    *,
    n_steps: int = 200,
    tol: float = CONVERGED,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Climb :math:`G_b(z) = \sum_i w_{bi} e^{-\gamma |z - y_i|^2}` within a set, for any signs.

    A step is that of mean shift, :math:`z + \sum_i w_i k_i (y_i - z) / \sum_i |w_i| k_i`, and
    longer as long as that pays. Where G falls, the step is divided by
    :math:`\sum_{w_i > 0} w_i k_i + 2 e^{-3/2} \sum_{w_i < 0} |w_i|` instead: a quadratic then
    lies below G, touches it at z, and is maximized over the set by projection, convex or not,
    so that G never falls.

    Parameters
    ----------
    weights : array of shape (B, n)
    Y : array of shape (n, d)
    starts : array of shape (B, d)
        Points of the set.
    project : callable (points (r, d), rows (r,)) -> nearest points of the set

    Returns
    -------
    points (B, d), sums (B,) : where the climb ended, and G there

    Examples
    --------
    >>> points, sums = climb_gaussians(
    ...     np.array([[1.0, 1.0]]), np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0,
    ...     lambda z, rows: z,
    ... )
    >>> points.round(4), sums.round(4)
    (array([[0.5]]), array([1.5576]))
    """
    centre = Y.mean(axis=0)
    Y, points = Y - centre, starts - centre
    negative = np.maximum(-weights, 0.0).sum(axis=1)
    terms = gaussian_sums(weights, Y, points, gamma)
    sums, stretch, active = terms.sum(axis=1), np.ones(len(points)), np.arange(len(points))
    scale = np.abs(weights).sum(axis=1)
    for _ in range(n_steps):
        w, z, P = weights[active], points[active], terms
        pull = P @ Y - P.sum(axis=1, keepdims=True) * z
        near = np.abs(P).sum(axis=1)
        length = np.divide(stretch[active], near, out=np.zeros_like(near), where=near > TINY)
        new, new_terms = _moved(w, Y, z + length[:, None] * pull, gamma, project, active, centre)
        failed = np.flatnonzero(~(new_terms.sum(axis=1) > sums[active]))
        if len(failed):
            rows = active[failed]
            safe = np.maximum(P[failed], 0.0).sum(axis=1) + STEEPEST * negative[rows]
            safe = np.divide(1.0, safe, out=np.zeros_like(safe), where=safe > TINY)
            goal = z[failed] + safe[:, None] * pull[failed]
            new[failed], new_terms[failed] = _moved(
                w[failed], Y, goal, gamma, project, rows, centre
            )
        gains = new_terms.sum(axis=1) - sums[active]
        better = gains > 0
        points[active[better]] = new[better]
        sums[active] += np.maximum(gains, 0.0)
        stretch[active] = np.minimum(1.4 * stretch[active], 100.0)
        stretch[active[failed]] = 1.0
        going = gains > tol * scale[active]
        active, terms = active[going], new_terms[going]
        if not len(active):
            break
    return points + centre, sums


def _moved(
    weights: np.ndarray,
    Y: Any,
    goal: np.ndarray,
    gamma: float,
    project: Callable[..., Any],
    rows: np.ndarray,
    centre: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    new = project(goal + centre, rows) - centre
    return new, gaussian_sums(weights, Y, new, gamma)


def descend(
    value: Callable[..., Any],
    starts: np.ndarray,
    project: Callable[..., Any],
    *,
    size: float,
    n_steps: int = 60,
    tol: float = CONVERGED,
) -> tuple[np.ndarray, np.ndarray]:
    """Projected gradient descent in every row, with slopes by central differences.

    Parameters
    ----------
    value : callable (points (r, d), rows (r,)) -> values (r,)
    starts : array of shape (B, d)
        Points of the set.
    project : callable (points (r, d), rows (r,)) -> nearest points of the set
    size : float
        A typical distance between points: steps begin at a tenth of it, and slopes are
        taken over a hundred-thousandth.

    Returns
    -------
    points (B, d), values (B,) : where the descent ended; never above the start
    """
    points, active = starts.copy(), np.arange(len(starts))
    values, step = value(points, active), np.full(len(starts), 0.1 * size)
    for _ in range(n_steps):
        z = points[active]
        slopes = _slopes(value, z, active, DIFFERENCE_STEP * size)
        steep = np.linalg.norm(slopes, axis=1)
        unit = np.divide(
            slopes, steep[:, None], out=np.zeros_like(slopes), where=steep[:, None] > 0
        )
        new = project(z - step[active, None] * unit, active)
        new_values = value(new, active)
        gains = values[active] - new_values
        better = gains > 0
        points[active[better]], values[active[better]] = new[better], new_values[better]
        step[active] *= np.where(better, 1.5, 0.25)
        small = np.where(
            better, gains <= tol * np.abs(new_values), step[active] < SMALLEST_STEP * size
        )
        active = active[~small & (steep > 0)]
        if not len(active):
            break
    return points, values


def _slopes(value: Callable[..., Any], z: np.ndarray, rows: np.ndarray, h: float) -> np.ndarray:
    slopes = np.empty_like(z)
    for j in range(z.shape[1]):
        shift = np.zeros(z.shape[1])
        shift[j] = h
        slopes[:, j] = (value(z + shift, rows) - value(z - shift, rows)) / (2.0 * h)
    return slopes


def feature_bounds(totals: np.ndarray, lengths: np.ndarray, low: Any, high: Any) -> np.ndarray:
    r"""Lower bounds of :math:`s |\phi|^2 - 2 \langle \phi, m \rangle`, where |m| is known.

    At least :math:`\min_r s r^2 - 2 r |m|` over the lengths r that :math:`\phi` may have.

    Parameters
    ----------
    totals, lengths : arrays of shape (B,)
        s, of any sign, and |m|.
    low, high : float or arrays of shape (B,)
        Range of r; high may be infinite.

    Examples
    --------
    >>> feature_bounds(np.array([1.0, -1.0]), np.array([2.0, 2.0]), 0.0, np.inf)
    array([ -4., -inf])
    """
    totals, lengths, low, high = np.broadcast_arrays(totals, lengths, low, high)
    bent = totals > 0
    inside = np.divide(lengths, totals, out=np.array(low, dtype=np.float64), where=bent)
    best = totals * low**2 - 2.0 * low * lengths
    for r in (np.clip(inside, low, high), np.where(np.isfinite(high), high, low)):
        best = np.minimum(best, totals * r**2 - 2.0 * r * lengths)
    falls = ~np.isfinite(high) & ~bent & ((totals < 0) | (lengths > 0))
    return np.where(falls, -np.inf, best)


GRID = {1: 64, 2: 24, 3: 8}  # cells along each side of the first grid
BLOCK = 1 << 20  # distances held at a time
NEGLIGIBLE_EXPONENT = 28.0  # exp of minus this is nothing


class GaussianCells:
    r"""Upper bounds of :math:`G_b(z) = \sum_i w_{bi} e^{-\gamma |z - y_i|^2}` over a set.

    In a cell of centre c and half-widths e, with r = |e|,

    .. math:: G(z) \le G(c) + \sum_j |\partial_j G(c)| e_j + C r^2 / 2,

    C an upper bound of the eigenvalues of the second derivative there; with C < 0 at most
    :math:`|\nabla G(c)|^2 / (2 |C|)` is added. All rows share a first grid (a few matrix
    products); then cells that may hold more than the best known point are split.

    Parameters
    ----------
    weights : array of shape (B, n), of any sign
    Y : array of shape (n, d), d <= 3
    gamma : float
    project : callable (points (r, d), rows (r,)) -> nearest points of the set
        Cells farther from the set than r are dropped.
    low, high : arrays of shape (d,)
        A box around the set; may be infinite.
    """

    def __init__(
        self,
        weights: np.ndarray,
        Y: Any,
        gamma: float,
        project: Callable[..., Any],
        low: np.ndarray,
        high: np.ndarray,
    ) -> None:
        self.centre = Y.mean(axis=0)
        self.low, self.high = low - self.centre, high - self.centre
        self.W, self.Y, self.gamma, self.project = weights, Y - self.centre, gamma, project
        self.positive, self.negative = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)

    def run(
        self, points: np.ndarray, sums: np.ndarray, *, budget: int = 400, tol: float = PREIMAGE_GAP
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Better points where there are, their sums, and upper bounds of all sums.

        Parameters
        ----------
        points (B, d), sums (B,) : good points of the set and G there
        budget : int
            Cells looked at in each row, beside the first grid; the settings may allow less.
        tol : float
            Gap that is good enough, relative to sum_i |w_i|.
        """
        self.points, self.sums = points - self.centre, sums.copy()
        slack = tol * np.abs(self.W).sum(axis=1)
        centres, half = self._grid()
        owner, cell, bounds = self._first(centres, half, slack)
        top = self.sums.copy()
        if not self._covered(centres, half):  # beyond the grid every term is nothing
            top = np.maximum(top, np.exp(-NEGLIGIBLE_EXPONENT) * self.positive.sum(axis=1))
        centres, halves = centres[cell], np.tile(half, (len(owner), 1))
        shifts = np.array(list(product((-0.5, 0.5), repeat=len(half))))
        at_once = max(1, 64 // len(shifts))  # cells of a row that are split together
        for _ in range(Limit().nodes(budget) // (at_once * len(shifts))):
            check_cancelled()
            is_open = bounds > (self.sums + slack)[owner]
            np.maximum.at(top, owner[~is_open], bounds[~is_open])
            owner, bounds = owner[is_open], bounds[is_open]
            centres, halves = centres[is_open], halves[is_open]
            if not len(owner):
                break
            now = _highest(owner, bounds, at_once)
            new_owner, new_halves = np.repeat(owner[now], len(shifts)), 0.5 * halves[now]
            new = (centres[now][:, None] + shifts * halves[now][:, None]).reshape(-1, len(half))
            new_halves = np.repeat(new_halves, len(shifts), axis=0)
            kept = self._is_near(new_owner, new, np.linalg.norm(new_halves, axis=1))
            new_owner, new, new_halves = new_owner[kept], new[kept], new_halves[kept]
            new_bounds = self._bounds(new_owner, new, new_halves)
            owner = np.concatenate([owner[~now], new_owner])
            centres = np.concatenate([centres[~now], new])
            halves = np.concatenate([halves[~now], new_halves])
            bounds = np.concatenate([bounds[~now], new_bounds])
        np.maximum.at(top, owner, bounds)
        return self.points + self.centre, self.sums, np.maximum(top, self.sums)

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Centres and half-widths of cells that cover all of the set where G is not nothing."""
        d = self.Y.shape[1]
        margin = np.sqrt(NEGLIGIBLE_EXPONENT / self.gamma)
        low = np.maximum(self.Y.min(axis=0) - margin, self.low)
        high = np.maximum(np.minimum(self.Y.max(axis=0) + margin, self.high), low)
        half = 0.5 * (high - low) / GRID[d]
        sides = [low[j] + half[j] * (2 * np.arange(GRID[d]) + 1) for j in range(d)]
        return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, d), half

    def _covered(self, centres: np.ndarray, half: np.ndarray) -> bool:
        """Whether the grid covers the whole set."""
        low, high = centres.min(axis=0) - half, centres.max(axis=0) + half
        near = DIFFERENCE_ROUNDING * np.maximum(np.abs(low), np.abs(high))
        return bool(((low <= self.low + near) & (high >= self.high - near)).all())

    def _first(
        self, centres: np.ndarray, half: np.ndarray, slack: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Open cells of the first grid as rows and numbers of cells, with their bounds."""
        r = np.linalg.norm(half)
        kernel, bend, peak = self._terms(centres, r)
        height = self.W @ kernel.T
        differences = (self.Y[:, j] - centres[:, j, None] for j in range(centres.shape[1]))
        slopes = [2.0 * self.gamma * self.W @ (kernel * gap).T for gap in differences]
        curvature = self.positive @ bend.T + self.negative @ peak.T
        bounds = _upper(height, np.stack(slopes, axis=-1), curvature, half)
        owner, cell = np.nonzero(bounds > (self.sums + slack)[:, None])
        bounds = bounds[owner, cell]
        kept = self._is_near(owner, centres[cell], r)
        return owner[kept], cell[kept], bounds[kept]

    def _terms(
        self, centres: np.ndarray, r: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # r: one number, or shape (cells, 1)
        """exp(-v) at the centres; the largest eigenvalues of w k, for w = 1 and -1, in cells."""
        squares = np.zeros((len(centres), len(self.Y)))
        for c, y in zip(centres.T, self.Y.T):
            squares += (c[:, None] - y) ** 2
        distance = np.sqrt(squares)
        near = self.gamma * np.maximum(distance - r, 0.0) ** 2
        v = np.clip(1.5, near, self.gamma * (distance + r) ** 2)
        twice = 2.0 * self.gamma
        bend = twice * (2.0 * v - 1.0) * np.exp(-v)
        return np.exp(-self.gamma * squares), bend, twice * np.exp(-near)

    def _bounds(self, owner: np.ndarray, centres: np.ndarray, halves: np.ndarray) -> np.ndarray:
        step = max(1, BLOCK // len(self.Y))
        bounds, r = np.empty(len(owner)), np.linalg.norm(halves, axis=1, keepdims=True)
        for start in range(0, len(owner), step):
            part = slice(start, start + step)
            rows, c = owner[part], centres[part]
            kernel, bend, peak = self._terms(c, r[part])
            kernel *= self.W[rows]
            height = kernel.sum(axis=1)
            slopes = 2.0 * self.gamma * (kernel @ self.Y - height[:, None] * c)
            curvature = (self.positive[rows] * bend + self.negative[rows] * peak).sum(axis=1)
            bounds[part] = _upper(height, slopes, curvature, halves[part])
            self._improve(rows, c, height)
        return bounds

    def _improve(self, rows: np.ndarray, centres: np.ndarray, height: np.ndarray) -> None:
        """Centres within the set that are better than what is known."""
        better = np.flatnonzero(height > self.sums[rows])
        inside = self._distance(rows[better], centres[better]) <= DIFFERENCE_ROUNDING
        better = better[inside]
        for i in better[np.argsort(height[better])]:
            self.points[rows[i]], self.sums[rows[i]] = centres[i], height[i]

    def _distance(self, rows: np.ndarray, centres: np.ndarray) -> Any:
        if not len(rows):
            return np.zeros(0)
        nearest = self.project(centres + self.centre, rows) - self.centre
        return np.linalg.norm(nearest - centres, axis=1)

    def _is_near(self, rows: np.ndarray, centres: np.ndarray, r: Any) -> Any:
        return self._distance(rows, centres) <= r * (1.0 + CELL_MARGIN)


def _highest(owner: np.ndarray, bounds: np.ndarray, k: int) -> np.ndarray:
    """Mask of the k highest bounds of each owner."""
    order = np.lexsort((-bounds, owner))
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    position = np.arange(len(owner)) - np.repeat(starts, np.diff(starts, append=len(owner)))
    mask = np.zeros(len(owner), dtype=bool)
    mask[order[position < k]] = True
    return mask


def _upper(height: np.ndarray, slopes: np.ndarray, curvature: np.ndarray, half: np.ndarray) -> Any:
    along = (np.abs(slopes) * half).sum(axis=-1)
    steep = (slopes**2).sum(axis=-1)
    down = np.divide(steep, -2.0 * curvature, out=np.full_like(steep, np.inf), where=curvature < 0)
    rise = 0.5 * np.maximum(curvature, 0.0) * (half * half).sum(axis=-1)
    return height + np.minimum(along, down) + rise
