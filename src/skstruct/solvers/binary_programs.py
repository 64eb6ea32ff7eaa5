# SPDX-License-Identifier: BSD-3-Clause
"""Linear costs over 0/1 points of a polytope: an LP first, branch and bound if it must be.

The solver's word is never taken: answers are rounded, checked against the constraints and
evaluated anew, and the LP's lower bound is rebuilt from its dual variables by weak duality.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.solvers.linear_constraints import LinearConstraints
from skstruct.solvers.linear_programs import INFEASIBLE, solve_linear_program, weak_dual_bounds
from skstruct.tolerances import INTEGRAL, SOLVER_GAP


@dataclass(frozen=True)
class BinaryProgram:
    """The points x in {0, 1}^d with A_ub x <= b_ub and A_eq x = b_eq."""

    A_ub: sparse.csr_array
    b_ub: np.ndarray
    A_eq: sparse.csr_array
    b_eq: np.ndarray

    @property
    def constraints(self) -> LinearConstraints:
        return LinearConstraints(self.A_eq, self.b_eq, self.A_ub, self.b_ub)

    # What a mixed program has beside: see ``solvers.mixed_programs.LinearSet``.
    @property
    def low(self) -> np.ndarray:
        return np.zeros(self.A_ub.shape[1])

    @property
    def high(self) -> np.ndarray:
        return np.ones(self.A_ub.shape[1])

    @property
    def integral(self) -> np.ndarray:
        return np.ones(self.A_ub.shape[1], bool)

    def violation(self, points: np.ndarray) -> np.ndarray:
        """Largest amount by which each row breaks a constraint; shape (n,)."""
        return self.constraints.violation(points)

    def solve(
        self, cost: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """The best point and a lower bound on its cost, for one finite cost vector."""
        d = len(cost)
        low = np.zeros(d) if low is None else np.asarray(low, dtype=np.float64)
        high = np.ones(d) if high is None else np.asarray(high, dtype=np.float64)
        scale = max(np.abs(cost).max(initial=0.0), np.finfo(float).tiny)
        point, bound = self._relax(cost / scale, low, high)
        if np.abs(point - np.rint(point)).max(initial=0.0) > INTEGRAL:
            point, bound = self._branch(cost / scale, low, high, bound)
        point = np.rint(point)
        self._verify(point, low, high)
        value = float(cost @ point)
        return point.astype(np.int8), min(_close(bound * scale, value, scale), value)

    def relax_costs(self, cost: np.ndarray) -> tuple[np.ndarray, float]:
        """The best point of the relaxation and a proven lower bound on any 0/1 point."""
        scale = max(np.abs(cost).max(initial=0.0), np.finfo(float).tiny)
        point, bound = self._relax(cost / scale, np.zeros(len(cost)), np.ones(len(cost)))
        return point, bound * scale

    def _relax(
        self, cost: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, float]:
        system = self.A_eq, self.b_eq, self.A_ub, self.b_ub, low, high
        try:
            answer = solve_linear_program(cost, *system)
        except InfeasibleError:
            raise InfeasibleError("No 0/1 point meets the constraints.") from None
        duals = answer.eq_duals[None], answer.ub_duals[None]
        bound = weak_dual_bounds(cost[None], *system, *duals, answer.point[None])[0]
        return answer.point, float(bound)

    def _branch(
        self, cost: np.ndarray, low: np.ndarray, high: np.ndarray, lp_bound: float
    ) -> tuple[np.ndarray, float]:
        from scipy.optimize import Bounds, LinearConstraint, milp

        below = np.full(self.A_ub.shape[0], -np.inf)
        constraints = [LinearConstraint(self.A_ub, below, self.b_ub)] if len(below) else []
        if self.A_eq.shape[0]:
            constraints.append(LinearConstraint(self.A_eq, self.b_eq, self.b_eq))
        answer = milp(
            cost,
            integrality=np.ones(len(cost)),
            bounds=Bounds(low, high),
            constraints=constraints,
            options={"mip_rel_gap": 0.0},  # the default stops at a gap of 1e-4
        )
        if answer.status == INFEASIBLE:
            raise InfeasibleError("No 0/1 point meets the constraints.")
        if answer.x is None:
            raise UnverifiedAnswerError(f"The MILP solver stopped: {answer.message}")
        claimed = lp_bound if answer.mip_dual_bound is None else answer.mip_dual_bound
        return answer.x, max(lp_bound, float(claimed))

    def _verify(self, point: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        violation = self.violation(point[None])[0]
        outside = max((low - point).max(initial=0.0), (point - high).max(initial=0.0))
        if max(violation, outside) > INTEGRAL:
            raise UnverifiedAnswerError(
                f"The solver's answer breaks a constraint by {max(violation, outside):.3g}."
            )


def _close(bound: float, value: float, scale: float) -> float:
    """The bound, or the value itself where the two differ by rounding alone."""
    return value if abs(value - bound) <= SOLVER_GAP * max(scale, abs(value)) else bound
