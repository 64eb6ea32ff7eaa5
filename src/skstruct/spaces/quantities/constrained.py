# SPDX-License-Identifier: BSD-3-Clause
"""Points that meet linear constraints: what polytopes and flows share."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.saving import require, savable
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.quantities.base import QuantitySpace
from skstruct.spaces.quantities.boxes import Range
from skstruct.spaces.quantities.quadratic_programs import minimize_quadratic
from skstruct.spaces.quantities.separable.envelopes import minimize_over_polytope
from skstruct.spaces.solvers.curves.base import QuadraticCurves
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.spaces.solving import Solving
from skstruct.tolerances import OUTPUT_FEASIBLE

LARGE = 400  # constraints from which on one linear program per row is faster
SMALL = 40  # coordinates up to which gaps are closed without being asked to
BOXES = 20_000  # that are looked at for that, in a row


@savable
@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Linear constraints and limits of every coordinate, shared by all rows or one per row."""

    constraints: LinearConstraints
    range: Range
    of_training: bool = False  # one per row of training: says nothing of other rows

    def _check_saved(self) -> None:
        same = self.constraints.n_columns == self.range.n_columns
        require(same, "limits that do not fit their space")

    @property
    def n_columns(self) -> int:
        return self.range.n_columns

    @property
    def n_rows(self) -> int | None:
        n = self.constraints.n_rows or self.range.n_rows
        return None if n == 1 else n

    def rows(self, index: Any) -> LinearSystem:
        constraints = for_all(self.constraints.rows(index))
        return LinearSystem(constraints, self.range.rows(index), self.of_training)

    def violation(self, Z: np.ndarray) -> np.ndarray:
        """How far points are from meeting everything, relative to their size; shape (n,)."""
        size = np.maximum(np.abs(Z).max(axis=1, initial=0.0), self.range.size()[:, 0])
        size = np.maximum(size, np.finfo(float).tiny)
        low, high = self.range.low - Z, Z - self.range.high
        outside = np.maximum(low, high).max(axis=1, initial=0.0) / size
        return np.maximum(outside, self.constraints.relative_violation(Z))


def for_all(constraints: LinearConstraints) -> LinearConstraints:
    """Constraints of a single row as constraints for all rows."""
    return constraints.row(0) if constraints.n_rows == 1 else constraints


def boxes_for(d: int, max_boxes: int | None) -> int:
    """Boxes that branch and bound may look at in a row of d coordinates, unless given."""
    if max_boxes is None:
        return BOXES if d <= SMALL else 0
    if not isinstance(max_boxes, Integral) or isinstance(max_boxes, bool) or max_boxes < 0:
        raise ValueError(
            f"max_boxes is how many boxes are looked at in a row, 0 or more; got {max_boxes!r}."
        )
    return int(max_boxes)


class ConstrainedSpace(QuantitySpace):
    """Rows of numbers that meet ``constraints_``, a LinearSystem."""

    constraints_: LinearSystem
    prove = False
    max_boxes: int | None = None

    def contains(self, Z: np.ndarray) -> np.ndarray:
        self._ready()
        Z = np.asarray(Z, dtype=np.float64)
        self._check_rows(len(Z))
        return self.constraints_.violation(Z) <= OUTPUT_FEASIBLE

    def _check_inside(self, Z: np.ndarray, training: bool = False) -> None:
        """Raise where an output breaks a constraint by more than 1e-6 of its size."""
        if self.constraints_.n_rows is not None and not training:
            return  # constraints of other rows say nothing of these
        bad = np.flatnonzero(self.constraints_.violation(Z) > OUTPUT_FEASIBLE)
        if len(bad):
            i = int(bad[0])
            raise ValueError(f"{type(self).__name__}: Y[{i}] {self._fault(i, Z[i])}.")

    def _fault(self, i: int, z: np.ndarray) -> str:
        """What is wrong with an output, in words."""
        part = self.constraints_.rows([i]) if self.constraints_.n_rows else self.constraints_
        low, high = part.range.low[0], part.range.high[0]
        over = np.maximum(low - z, z - high)
        j = int(over.argmax())
        if over[j] > OUTPUT_FEASIBLE * max(np.abs(z).max(), part.range.size()[0, 0]):
            word, limit = ("below", low[j]) if z[j] < low[j] else ("above", high[j])
            return f"is {z[j]:g} in column {self.labels_[j]!r}, {word} {limit:g}"
        return "breaks a constraint: " + self._named(part.constraints.row(0), z)

    def _named(self, constraints: LinearConstraints, z: np.ndarray) -> str:
        return constraints.worst(z)

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Uniform points of the polytope within the flat it lies in; shape (n, d).

        It is cut into simplices once, see :mod:`skstruct.spaces.quantities.sampling`: for up to
        7 free dimensions, and 50 000 simplices.
        """
        from skstruct.spaces.quantities.sampling import uniform_points

        return uniform_points(self, n, rng)

    # ------------------------------------------------------------- decoding

    def _linear(self, costs: np.ndarray) -> Decoded:
        self._check_rows(len(costs))
        return Decoded(*self._flat(self.constraints_, np.zeros_like(costs), costs))

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        self._check_rows(len(b))
        outputs, values, bounds = np.empty(b.shape), np.empty(len(b)), np.empty(len(b))
        bowl, flat = (a > 0).all(axis=1), (a == 0).all(axis=1)
        for rows, solve in (
            (bowl, self._projected), (flat, self._flat), (~bowl & ~flat, self._bent)
        ):  # fmt: skip
            index = np.flatnonzero(rows)
            if len(index):
                try:
                    found = solve(self.rows(index).constraints_, a[index], b[index])
                except InfeasibleError as error:
                    raise InfeasibleError(str(error), int(index[error.row])) from None
                outputs[index], values[index], bounds[index] = found
        return Decoded(outputs, values, bounds)

    @staticmethod
    def _projected(
        system: LinearSystem, a: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return minimize_quadratic(a, b, system.constraints, system.range.low, system.range.high)

    @staticmethod
    def _flat(
        system: LinearSystem, a: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        constraints, low, high = system.constraints, system.range.low, system.range.high
        m = constraints.A_eq.shape[0] + constraints.A_ub.shape[0]
        if m < LARGE and np.isfinite(low).all() and np.isfinite(high).all():
            # One straight piece per coordinate: the simplex method, warm from row to row.
            return minimize_over_polytope(QuadraticCurves(a, b), constraints, low, high, n_cells=1)
        return constraints.minimize_linear(b, low, high)

    def _bent(
        self, system: LinearSystem, a: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Curves that bend down in parts: the minimum is at a vertex, or has a gap."""
        return self._separable(system, QuadraticCurves(a, b), self._n_boxes())

    def _separable(
        self, system: LinearSystem, curves: Any, max_boxes: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high = self._finite(system)
        return minimize_over_polytope(curves, system.constraints, low, high, max_boxes)

    def _n_boxes(self) -> int | None:
        """Boxes to look at for a row whose curves bend down; None for no limit."""
        return None if self.prove else boxes_for(len(self.labels_), self.max_boxes)

    def _finite(
        self, system: LinearSystem, why: str = "this loss"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Finite limits of every coordinate."""
        return system.range.finite(type(self).__name__, why)

    def minimize(self, curves: Any) -> Decoded:
        self._ready()
        self._check_rows(curves.shape[0])
        try:
            return Decoded(*self._separable(self.constraints_, curves, self._n_boxes()))
        except InfeasibleError as error:
            raise self._explained(error) from None

    def argmin(self, costs: Any) -> Decoded:
        self._ready()
        try:
            return super().argmin(costs)
        except InfeasibleError as error:
            raise self._explained(error) from None

    def _explained(self, error: InfeasibleError) -> InfeasibleError:
        """The same error in the words of the space."""
        system = self.constraints_.rows([error.row or 0])
        reason = system.constraints.row(0).conflict(
            system.range.low[0], system.range.high[0], self.labels_
        )
        name = type(self).__name__
        return InfeasibleError(
            f"{name}: no point meets the constraints in row {error.row}: {reason}.", error.row
        )


Solving.at(ConstrainedSpace, "skstruct.spaces.quantities.solving:SolvingOfConstrained")
