# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise linear curves over a polytope: the optimum of their hulls, and steps from there.

With only a few corners kept on each curve the linear program is small. Its duals tell which
corner of the full curve each coordinate would choose; these come in, until the bound that the
duals prove for all corners meets the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.spaces.solvers.curves.base import Samples
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.tolerances import (
    FEASIBLE,
    REFINEMENT_GAP,
    ROW_SUM_ROUNDING,
    SOLVER_FEASIBILITY,
    STEPS_GAP,
    TIE,
)

FIRST_CORNERS = 10  # corners of a curve in the first program
REFINEMENT_ROUNDS = 60
FEASIBILITIES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
INFEASIBLE = 2


@dataclass(frozen=True)
class Corners:
    """Convex curves by their corners; columns from ``size[j]`` on repeat the last one."""

    points: np.ndarray  # shape: (d, k)
    heights: np.ndarray  # shape: (d, k)
    size: np.ndarray  # shape: (d,)


def hull_corners(points: np.ndarray, values: np.ndarray) -> Corners:
    """Corners of the lower hulls of samples (d, m)."""
    from skstruct.spaces.solvers.curves._numba import corner_indices

    points, values = np.ascontiguousarray(points), np.ascontiguousarray(values)
    chosen, size = corner_indices(points, values)
    at = np.arange(len(points))[:, None], chosen[:, : size.max()]
    return Corners(points[at], values[at], size)


def local_corners(points: np.ndarray, values: np.ndarray, y: np.ndarray) -> Corners:
    """Corners of the convex functions that touch the curves at y from above."""
    from skstruct.spaces.quantities.separable._numba_envelopes import local_corners as fill

    return Corners(*fill(np.ascontiguousarray(points), np.ascontiguousarray(values), y))


def minimize_corners(
    corners: Corners, A_eq: Any, b_eq: np.ndarray, A_ub: Any, b_ub: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best point (d,) and the dual variables (m_eq + m_ub,) that prove it, to rounding.

    Raises InfeasibleError without saying where; the caller knows the row.
    """
    kept = _spread(corners.size, corners.points.shape[1])
    A, b = sparse.vstack([A_eq, A_ub]).tocsr(), np.concatenate([b_eq, b_ub])
    size = np.abs(corners.heights).max(axis=1, initial=0.0).sum()
    best_bound, best_duals = -np.inf, np.zeros(len(b))
    for _ in range(REFINEMENT_ROUNDS):
        point, value, duals = _restricted(corners, kept, A_eq, b_eq, A_ub, b_ub)
        worth = A.T @ duals
        reduced = corners.heights - worth[:, None] * corners.points
        bound = duals @ b + reduced.min(axis=1).sum()
        if bound > best_bound:
            best_bound, best_duals = bound, duals
        if value - best_bound <= REFINEMENT_GAP * abs(value) + ROW_SUM_ROUNDING * size:
            break
        wanted = _wanted(corners, kept, reduced, point)
        if not (wanted & ~kept).any():
            break
        kept |= wanted
    return point, best_duals


def _spread(size: np.ndarray, k: int) -> np.ndarray:
    """A mask (d, k) of at most FIRST_CORNERS corners of each curve, first and last among them."""
    kept = np.zeros((len(size), k), dtype=bool)
    share = np.linspace(0.0, 1.0, FIRST_CORNERS)
    at = np.rint(share * (size[:, None] - 1)).astype(np.int64)
    kept[np.arange(len(size))[:, None], at] = True
    return kept


def _wanted(
    corners: Corners, kept: np.ndarray, reduced: np.ndarray, point: np.ndarray
) -> np.ndarray:
    """Corners to bring in: the choice at these duals, and the middles of the cells in use."""
    d, k = kept.shape
    rows = np.arange(d)
    wanted = np.zeros_like(kept)
    choice = reduced.argmin(axis=1)
    for shift in (-1, 0, 1):
        wanted[rows, np.clip(choice + shift, 0, corners.size - 1)] = True
    # the cell between kept corners that holds the point, halved
    column = np.arange(k)
    left = np.where(kept & (corners.points <= point[:, None]), column, 0).max(axis=1)
    right = np.where(kept & (corners.points >= point[:, None]), column, k).min(axis=1)
    right = np.minimum(right, corners.size - 1)
    for low, high in ((left, choice), (choice, right), (left, right)):
        wanted[rows, (low + high) // 2] = True
    wanted[rows, np.minimum(left + 1, corners.size - 1)] = True
    wanted[rows, np.maximum(right - 1, 0)] = True
    return wanted


def _restricted(
    corners: Corners, kept: np.ndarray, A_eq: Any, b_eq: np.ndarray, A_ub: Any, b_ub: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """The linear program with the kept corners: a variable per cell, as long as the cell."""
    from scipy.optimize import linprog

    j, k = np.nonzero(kept & (np.arange(kept.shape[1]) < corners.size[:, None]))
    same = j[1:] == j[:-1]
    owner = j[1:][same]
    points, heights = corners.points[j, k], corners.heights[j, k]
    length = np.diff(points)[same]
    slope = np.divide(np.diff(heights)[same], length, out=np.zeros(len(length)), where=length > 0)
    low = corners.points[:, 0]
    unit = max(np.abs(corners.points).max(initial=0.0), np.finfo(float).tiny)
    scale = max(np.abs(slope).max(initial=0.0), np.finfo(float).tiny)
    has_eq, has_ub = A_eq.shape[0] > 0, A_ub.shape[0] > 0
    answer = linprog(
        slope / scale,
        A_ub=A_ub.tocsc()[:, owner] if has_ub else None,
        b_ub=(b_ub - A_ub @ low) / unit if has_ub else None,
        A_eq=A_eq.tocsc()[:, owner] if has_eq else None,
        b_eq=(b_eq - A_eq @ low) / unit if has_eq else None,
        bounds=np.column_stack([np.zeros(len(length)), length / unit]),
        method="highs-ds",
        options=dict.fromkeys(FEASIBILITIES, SOLVER_FEASIBILITY),
    )
    if answer.status == INFEASIBLE:
        raise InfeasibleError("No point meets the constraints.")
    if answer.x is None:
        raise UnverifiedAnswerError(f"The LP solver stopped: {answer.message}")
    point = low + unit * np.bincount(owner, answer.x, minlength=len(low))
    value = corners.heights[:, 0].sum() + scale * unit * (slope / scale @ answer.x)
    eq = answer.eqlin.marginals if has_eq else np.zeros(0)
    ub = np.minimum(answer.ineqlin.marginals, 0.0) if has_ub else np.zeros(0)
    return point, value, scale * np.concatenate([eq, ub])


DENSE = 500  # constraints up to which the own simplex, with its dense inverse, is the faster one
LOCAL_STEPS = 3  # local steps of rows that go to the solver of linear programs


@dataclass(frozen=True)
class Relaxed:
    """Points that meet the constraints, and what the dual variables of the hull problem prove."""

    outputs: np.ndarray  # shape: (B, d); good for the curves themselves
    duals: np.ndarray  # shape: (B, m); at most 0 for inequalities
    bounds: np.ndarray  # shape: (B,); no point of the curves through the samples costs less


@dataclass(frozen=True)
class HullProblem:
    """Linear constraints in the form that the compiled simplex takes."""

    constraints: LinearConstraints

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Equations first, then inequalities; shape (m, d)."""
        return sparse.csr_array(sparse.vstack([self.constraints.A_eq, self.constraints.A_ub]))

    @cached_property
    def equal(self) -> np.ndarray:
        return np.arange(self.matrix.shape[0]) < self.constraints.A_eq.shape[0]

    @cached_property
    def sides(self) -> np.ndarray:
        """Right-hand sides, (1, m) or (B, m)."""
        return self.constraints.sides

    def rows(self, index: Any) -> HullProblem:
        return HullProblem(self.constraints.rows(index))

    def worth(self, duals: np.ndarray) -> np.ndarray:
        """What a unit of every coordinate is worth, A'p; duals (B, m), answer (B, d)."""
        return (self.matrix.T @ duals.T).T

    def relax(self, points: np.ndarray, values: np.ndarray, row: int = 0) -> Relaxed:
        """Minimize the piecewise linear curves through samples of B rows.

        points (d, k) or (B, d, k), values (B, d, k). ``row`` is the number of the first row, for
        messages.
        """
        points = points[None] if points.ndim == 2 else points
        points, values = np.ascontiguousarray(points), np.ascontiguousarray(values)
        n, d, _ = values.shape
        m = len(self.equal)
        outputs, duals, bounds = np.empty((n, d)), np.zeros((n, m)), np.full(n, -np.inf)
        done = np.zeros(n, dtype=bool)
        if m <= DENSE:
            from skstruct.spaces.quantities.separable._numba_envelopes import minimize_rows

            columns = self._columns()
            sides = np.ascontiguousarray(self.sides)
            done = minimize_rows(columns, self.equal, sides, points, values, outputs, duals, bounds)
            np.clip(outputs, points[..., 0], points[..., -1], out=outputs, where=done[:, None])
            done[done] = self.rows(done).constraints.relative_violation(outputs[done]) <= FEASIBLE
        for i in np.flatnonzero(~done):
            t = points[i if len(points) > 1 else 0]
            outputs[i], duals[i], bounds[i] = self._relax_row(int(i), t, values[i], row)
        return Relaxed(outputs, duals, bounds)

    def _columns(self) -> Any:
        from skstruct.spaces.quantities.separable._numba_simplex import Columns

        m = len(self.equal)
        padded = sparse.hstack([self.matrix, sparse.eye_array(m)]).tocsc()
        return Columns(padded.indptr.astype(np.int64), padded.indices.astype(np.int64), padded.data)

    def _relax_row(
        self, i: int, points: np.ndarray, values: np.ndarray, row: int
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The same for one row by linear programs: slower, but for any size and any numbers."""
        part = self.constraints.row(i)
        system = part.A_eq, part.b_eq, part.A_ub, part.b_ub
        try:
            output, duals = minimize_corners(hull_corners(points, values), *system)
        except InfeasibleError:
            reason = part.conflict(points[:, 0], points[:, -1])
            raise InfeasibleError(
                f"No point meets the constraints in row {row + i}: {reason}.", row + i
            ) from None
        b = self.sides[i if len(self.sides) > 1 else 0]
        bound = lagrangian(points, values, self.worth(duals[None])[0]).sum() + duals @ b
        cost = chord_cost(points, values, output)
        for _ in range(LOCAL_STEPS):
            if cost - bound <= STEPS_GAP * abs(cost):
                break
            step, _ = minimize_corners(local_corners(points, values, output), *system)
            if not chord_cost(points, values, step) < cost - TIE * abs(cost):
                break
            output, cost = step, chord_cost(points, values, step)
        return output, duals, bound


def lagrangian(points: np.ndarray, values: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """min over the samples of values - worth * points; (..., d, k) and (..., d) give (..., d)."""
    return (values - worth[..., None] * points).min(axis=-1)


def lowered(samples: Samples) -> np.ndarray:
    """Heights whose chords lie below the curves: each sample less the slack of its cells."""
    slack = np.zeros(samples.values.shape)
    slack[..., 1:] = samples.slack
    slack[..., :-1] = np.maximum(slack[..., :-1], samples.slack)
    return samples.values - slack


def chord_cost(points: np.ndarray, values: np.ndarray, y: Any) -> float:
    """The sum of the piecewise linear curves of one row at y (d,)."""
    return float(sum(np.interp(t, p, v) for t, p, v in zip(y, points, values)))
