# SPDX-License-Identifier: BSD-3-Clause
"""A set of points by linear constraints, of which some coordinates may be whole numbers."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from skstruct._arrays.stopping import Limit
from skstruct.exceptions import InfeasibleError, UndecidableError, UnverifiedAnswerError
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.spaces.solvers.linear_programs import INFEASIBLE
from skstruct.tolerances import INTEGRAL, TRUSTED_VIOLATION


class LinearSet(Protocol):
    """What ``program()`` of a space returns: points x with A_ub x <= b_ub, A_eq x = b_eq and
    low <= x <= high, whole numbers where ``integral``.
    """

    @property
    def A_ub(self) -> Any: ...  # shape: (m_ub, d)
    @property
    def b_ub(self) -> np.ndarray: ...
    @property
    def A_eq(self) -> Any: ...  # shape: (m_eq, d)
    @property
    def b_eq(self) -> np.ndarray: ...
    @property
    def low(self) -> np.ndarray: ...  # shape: (d,), may be infinite
    @property
    def high(self) -> np.ndarray: ...
    @property
    def integral(self) -> np.ndarray: ...  # bool, shape: (d,)


@dataclass(frozen=True, eq=False)
class MixedProgram:
    """A :class:`LinearSet` by its parts."""

    A_ub: sparse.csr_array
    b_ub: np.ndarray
    A_eq: sparse.csr_array
    b_eq: np.ndarray
    low: np.ndarray
    high: np.ndarray
    integral: np.ndarray


def simplex_program(d: int, total: float = 1.0) -> MixedProgram:
    """The points of at least zero that add up to a total."""
    one = sparse.csr_array(np.ones((1, d)))
    none, unlimited = sparse.csr_array((0, d)), np.full(d, np.inf)
    return MixedProgram(
        none, np.zeros(0), one, np.array([total]), np.zeros(d), unlimited, np.zeros(d, bool)
    )


def solve_mixed_program(cost: np.ndarray, program: LinearSet) -> tuple[np.ndarray, float]:
    """The best point and the lower bound that HiGHS claims for its branch and bound.

    Within the limits of the settings, the best point found; UndecidableError where there is none.
    Whole numbers are rounded, and the point is checked against all constraints.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    constraints = []
    if program.A_ub.shape[0]:
        below = np.full(program.A_ub.shape[0], -np.inf)
        constraints.append(LinearConstraint(program.A_ub, below, program.b_ub))
    if program.A_eq.shape[0]:
        constraints.append(LinearConstraint(program.A_eq, program.b_eq, program.b_eq))
    limit = Limit()
    answer = milp(
        cost,
        integrality=program.integral.astype(np.int64),
        bounds=Bounds(program.low, program.high),
        constraints=constraints,
        options=limit.of_program(),
    )
    if answer.status == INFEASIBLE:
        raise InfeasibleError("No point meets the constraints.")
    if answer.x is None and limit.is_set:
        raise UndecidableError(
            "No point was found within the limits; raise time_limit or node_limit."
        )
    if answer.x is None:
        raise UnverifiedAnswerError(f"The MILP solver stopped: {answer.message}")
    claimed = -np.inf if answer.mip_dual_bound is None else float(answer.mip_dual_bound)
    return np.asarray(answer.x), claimed


def rounded_point(point: np.ndarray, program: LinearSet) -> np.ndarray | None:
    """A point with its whole numbers as such, within the limits; None where one is none."""
    point = np.clip(point, program.low, program.high)
    whole = np.rint(point)
    if np.abs(point - whole)[program.integral].max(initial=0.0) > INTEGRAL:
        return None
    return np.where(program.integral, whole, point)


def check_point(point: np.ndarray, program: LinearSet) -> None:
    """Raise where a solver's answer breaks a constraint."""
    system = LinearConstraints(program.A_eq, program.b_eq, program.A_ub, program.b_ub)
    if system.relative_violation(point[None])[0] > TRUSTED_VIOLATION:
        raise UnverifiedAnswerError(f"The solver's answer breaks {system.worst(point)}.")
