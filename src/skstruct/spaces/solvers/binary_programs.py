# SPDX-License-Identifier: BSD-3-Clause
"""Linear costs over 0/1 points of a polytope: a compiled search, else HiGHS.

Programs of some hundred columns and rows are searched by a compiled kernel, all costs in one
call, each for so many nodes; what is left goes to HiGHS, an LP first and branch and bound if it
must be. Within the limits of the settings, the best point found is the answer, and the bound what
was proven by then. The solver's word is never taken: answers are rounded, checked against the
constraints and evaluated anew, and the LP's lower bound is rebuilt from its dual variables by weak
duality.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.progress import track
from skstruct._arrays.stopping import Limit
from skstruct.exceptions import InfeasibleError, UndecidableError, UnverifiedAnswerError
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.spaces.solvers.linear_programs import (
    INFEASIBLE,
    solve_linear_program,
    weak_dual_bounds,
)
from skstruct.tolerances import FEASIBLE, INTEGRAL, SOLVER_GAP

SOLVED, UNFINISHED = 0, 2  # statuses of the search
MOST_ENTRIES = 2**15  # of the dense matrix of a program that is searched
FIRST_WORK = 2**20  # entries read in the search of one row, before its linear program is solved
MORE_WORK = 2**28  # the same where the vertex of that is not integral, before HiGHS branches
WORK_PER_SECOND = 2**28  # nominally


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
        self,
        cost: np.ndarray,
        low: np.ndarray | None = None,
        high: np.ndarray | None = None,
        limit: Limit | None = None,
    ) -> tuple[np.ndarray, float]:
        """The best point and a lower bound on its cost, for one finite cost vector.

        Raises UndecidableError where no point was found within the limits of the settings.
        """
        d = len(cost)
        limit = Limit() if limit is None else limit
        low = np.zeros(d) if low is None else np.asarray(low, dtype=np.float64)
        high = np.ones(d) if high is None else np.asarray(high, dtype=np.float64)
        scale = max(np.abs(cost).max(initial=0.0), np.finfo(float).tiny)
        point, bound = self._relax(cost / scale, low, high)
        if np.abs(point - np.rint(point)).max(initial=0.0) > INTEGRAL:
            point, bound = self._branch(cost / scale, low, high, bound, limit)
        point = np.rint(point)
        self._verify(point, low, high)
        value = float(cost @ point)
        return point.astype(np.int8), min(_close(bound * scale, value, scale), value)

    def solve_rows(
        self, costs: np.ndarray, low: Any = False, high: Any = True, b_ub: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best point of every row of costs, its value and a lower bound.

        Parameters
        ----------
        costs : array of shape (n, d)
        low, high : bool arrays that broadcast to (1 or n, d)
            Coordinates that must and that may be 1.
        b_ub : array of shape (1 or n, m), default=None
            Other right-hand sides, which may differ from row to row.

        Returns
        -------
        points : int8 array of shape (n, d)
        values, bounds : arrays of shape (n,)
            Infinite where a row has no point.
        """
        d = costs.shape[1]
        low, high = (np.broadcast_to(np.atleast_2d(mask), (_rows(mask), d)) for mask in (low, high))
        points, values, left = self.search_rows(costs, low, high, b_ub)
        bounds = values.copy()
        for i in track(left.tolist(), "integer programs"):
            must, may = (mask[min(i, len(mask) - 1)] for mask in (low, high))
            if (must & ~may).any():
                continue
            right = self.b_ub if b_ub is None else b_ub[min(i, len(b_ub) - 1)]
            program = self if b_ub is None else replace(self, b_ub=right)
            try:
                points[i], bounds[i] = program.solve(costs[i], must, may)
            except InfeasibleError:
                continue
            except UndecidableError as error:
                raise UndecidableError(f"In row {i}: {error}") from None
            values[i] = costs[i] @ points[i]
        return points, values, bounds

    def search_rows(
        self, costs: np.ndarray, low: np.ndarray, high: np.ndarray, b_ub: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same by the search alone: points, values, and the rows that it has left, (k,)."""
        n, d = costs.shape
        points, values, left = np.zeros((n, d), np.int8), np.full(n, np.inf), np.arange(n)
        if n and self._system is not None:
            points, status = self._search(costs, low, high, b_ub, FIRST_WORK, Limit())
            solved, left = np.flatnonzero(status == SOLVED), np.flatnonzero(status == UNFINISHED)
            values[solved] = (costs[solved] * points[solved]).sum(axis=1)
            points[status != SOLVED] = 0
        return points, values, left

    @cached_property
    def _system(self) -> np.ndarray | None:
        """All constraints as rows of A x <= b, dense; None where that is too large to search."""
        m, d = self.A_ub.shape[0] + 2 * self.A_eq.shape[0], self.A_ub.shape[1]
        if (m + 1) * (m + d) > MOST_ENTRIES:
            return None
        equal = self.A_eq.toarray()
        return np.ascontiguousarray(np.vstack([self.A_ub.toarray(), equal, -equal]))

    def _search(
        self,
        costs: np.ndarray,
        low: Any,
        high: Any,
        b_ub: np.ndarray | None,
        work: int,
        limit: Limit,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, d) and whether each is the best; see ``_numba_binary_programs``."""
        from skstruct.spaces.solvers._numba_binary_programs import solve_rows

        A = self._system
        assert A is not None
        above = np.atleast_2d(self.b_ub if b_ub is None else b_ub)
        equal = np.tile(np.concatenate([self.b_eq, -self.b_eq]), (len(above), 1))
        # What no point can exceed is no constraint, whatever stands there.
        b = np.minimum(np.hstack([above, equal]), np.maximum(A, 0.0).sum(axis=1)) + FEASIBLE
        points, status = np.zeros(costs.shape, np.int8), np.empty(len(costs), np.int64)
        masks = (np.array(np.atleast_2d(mask), dtype=bool, order="C") for mask in (low, high))
        costs = np.array(costs, dtype=np.float64, order="C")
        solve_rows(costs, A, b, *masks, self._most_nodes(work, limit), points, status)
        return points, status

    def _most_nodes(self, work: int, limit: Limit) -> int:
        """Nodes of the search that are so much work, or that the limit leaves."""
        of_node = self.A_ub.shape[0] + 2 * self.A_eq.shape[0] + 8
        return limit.nodes(work // of_node, WORK_PER_SECOND / of_node)

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
        self, cost: np.ndarray, low: np.ndarray, high: np.ndarray, lp_bound: float, limit: Limit
    ) -> tuple[np.ndarray, float]:
        found = None
        if self._system is not None:
            points, status = self._search(
                cost[None], low[None] > 0, high[None] > 0, None, MORE_WORK, limit
            )
            if points.min() >= 0 and status[0] in (SOLVED, UNFINISHED):
                found = points[0].astype(np.float64)
                if status[0] == SOLVED:
                    return found, float(cost @ found)
                if not limit.take(self._most_nodes(MORE_WORK, limit)):
                    return found, lp_bound
        return self._branch_by_highs(cost, low, high, lp_bound, found, limit)

    def _branch_by_highs(
        self,
        cost: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        lp_bound: float,
        found: np.ndarray | None,
        limit: Limit,
    ) -> tuple[np.ndarray, float]:
        """The best of a point that was ``found`` and that of HiGHS, and a bound."""
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
            options=limit.of_program(),
        )
        if answer.status == INFEASIBLE:
            raise InfeasibleError("No 0/1 point meets the constraints.")
        limit.take(int(answer.mip_node_count or 1))
        points = [point for point in (found, answer.x) if point is not None]
        if not points and limit.is_set:
            raise UndecidableError(
                "no 0/1 point was found within the limits, nor that there is none; raise "
                "time_limit or node_limit."
            )
        if not points:
            raise UnverifiedAnswerError(f"The MILP solver stopped: {answer.message}")
        claimed = lp_bound if answer.mip_dual_bound is None else answer.mip_dual_bound
        best = min(points, key=lambda point: float(cost @ np.rint(point)))
        return best, max(lp_bound, float(claimed))

    def _verify(self, point: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        violation = self.violation(point[None])[0]
        outside = max((low - point).max(initial=0.0), (point - high).max(initial=0.0))
        if max(violation, outside) > INTEGRAL:
            raise UnverifiedAnswerError(
                f"The solver's answer breaks a constraint by {max(violation, outside):.3g}."
            )


def _rows(mask: Any) -> int:
    return len(mask) if np.ndim(mask) == 2 else 1


def _close(bound: float, value: float, scale: float) -> float:
    """The bound, or the value itself where the two differ by rounding alone."""
    return value if abs(value - bound) <= SOLVER_GAP * max(scale, abs(value)) else bound
