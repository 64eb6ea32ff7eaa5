# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise linear curves over a polytope: the optimum of their hulls, and steps from there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from skstruct.decoding.curves.base import Samples
from skstruct.decoding.polytopes.constraints import LinearConstraints
from skstruct.exceptions import InfeasibleError

DENSE = 500  # constraints up to which the own simplex, with its dense inverse, is the faster one
LOCAL_STEPS = 3  # local steps of rows that go to the solver of linear programs
MET = 1e-9  # relative violation that an answer may have


@dataclass(frozen=True)
class Relaxed:
    """Points that meet the constraints, and what the prices of the hull problem prove."""

    outputs: np.ndarray  # shape: (B, d); good for the curves themselves
    prices: np.ndarray  # shape: (B, m); at most 0 for inequalities
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

    def rows(self, index) -> HullProblem:
        return HullProblem(self.constraints.rows(index))

    def worth(self, prices: np.ndarray) -> np.ndarray:
        """What a unit of every coordinate is worth, A'p; prices (B, m), answer (B, d)."""
        return (self.matrix.T @ prices.T).T

    def relax(self, points: np.ndarray, values: np.ndarray, row: int = 0) -> Relaxed:
        """Minimize the piecewise linear curves through samples of B rows.

        points (d, k) or (B, d, k), values (B, d, k). ``row`` is the number of the first row, for
        messages.
        """
        points = points[None] if points.ndim == 2 else points
        points, values = np.ascontiguousarray(points), np.ascontiguousarray(values)
        n, d, _ = values.shape
        m = len(self.equal)
        outputs, prices, bounds = np.empty((n, d)), np.zeros((n, m)), np.full(n, -np.inf)
        done = np.zeros(n, dtype=bool)
        if m <= DENSE:
            from skstruct.decoding.polytopes._compiled_envelopes import minimize_rows

            columns = self._columns()
            sides = np.ascontiguousarray(self.sides)
            done = minimize_rows(
                columns, self.equal, sides, points, values, outputs, prices, bounds
            )
            np.clip(outputs, points[..., 0], points[..., -1], out=outputs, where=done[:, None])
            done[done] = self.rows(done).constraints.relative_violation(outputs[done]) <= MET
        for i in np.flatnonzero(~done):
            t = points[i if len(points) > 1 else 0]
            outputs[i], prices[i], bounds[i] = self._relax_row(i, t, values[i], row)
        return Relaxed(outputs, prices, bounds)

    def _columns(self):
        from skstruct.decoding.polytopes._compiled_basis import Columns

        m = len(self.equal)
        padded = sparse.hstack([self.matrix, sparse.eye_array(m)]).tocsc()
        return Columns(padded.indptr.astype(np.int64), padded.indices.astype(np.int64), padded.data)

    def _relax_row(self, i, points, values, row):
        """The same for one row by linear programs: slower, but for any size and any numbers."""
        from skstruct.decoding.polytopes.piecewise_programs import (
            hull_corners,
            local_corners,
            minimize_corners,
        )

        part = self.constraints.row(i)
        system = part.A_eq, part.b_eq, part.A_ub, part.b_ub
        try:
            output, prices = minimize_corners(hull_corners(points, values), *system)
        except InfeasibleError:
            reason = part.conflict(points[:, 0], points[:, -1])
            raise InfeasibleError(
                f"No point meets the constraints in row {row + i}: {reason}.", row + i
            ) from None
        b = self.sides[i if len(self.sides) > 1 else 0]
        bound = lagrangian(points, values, self.worth(prices[None])[0]).sum() + prices @ b
        cost = chord_cost(points, values, output)
        for _ in range(LOCAL_STEPS):
            if cost - bound <= 1e-11 * abs(cost):
                break
            step, _ = minimize_corners(local_corners(points, values, output), *system)
            if not chord_cost(points, values, step) < cost - 1e-12 * abs(cost):
                break
            output, cost = step, chord_cost(points, values, step)
        return output, prices, bound


def lagrangian(points, values, worth):
    """min over the samples of values - worth * points; (..., d, k) and (..., d) give (..., d)."""
    return (values - worth[..., None] * points).min(axis=-1)


def lowered(samples: Samples) -> np.ndarray:
    """Heights whose chords lie below the curves: each sample less the slack of its cells."""
    slack = np.zeros(samples.values.shape)
    slack[..., 1:] = samples.slack
    slack[..., :-1] = np.maximum(slack[..., :-1], samples.slack)
    return samples.values - slack


def chord_cost(points, values, y) -> float:
    """The sum of the piecewise linear curves of one row at y (d,)."""
    return float(sum(np.interp(t, p, v) for t, p, v in zip(y, points, values)))
