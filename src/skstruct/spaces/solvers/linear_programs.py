# SPDX-License-Identifier: BSD-3-Clause
"""Linear programs: what a dual solution proves, and which few constraints conflict.

The solver's word is not taken for the bound: weak duality rebuilds it from the dual variables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.tolerances import FEASIBLE

INFEASIBLE, UNBOUNDED, UNDECIDED = 2, 3, 4  # statuses of linprog and milp
BEYOND = 1e3  # infinite limits count as this many times the largest coordinate of the answer


class UnboundedError(ValueError):
    """The cost falls for ever along some direction of the set."""


@dataclass(frozen=True)
class LinearAnswer:
    """A best point with the dual variables that prove it."""

    point: np.ndarray  # shape: (d,)
    eq_duals: np.ndarray  # shape: (m_eq,), any sign
    ub_duals: np.ndarray  # shape: (m_ub,), <= 0


def solve_linear_program(
    cost: np.ndarray,
    A_eq: Any,
    b_eq: np.ndarray,
    A_ub: Any,
    b_ub: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> LinearAnswer:
    """The x of least cost @ x with A_eq x = b_eq, A_ub x <= b_ub, low <= x <= high.

    Raises InfeasibleError or UnboundedError without saying where; callers know the names.
    """
    from scipy.optimize import linprog

    has_eq, has_ub = A_eq.shape[0] > 0, A_ub.shape[0] > 0
    answer = linprog(
        cost,
        A_ub=A_ub if has_ub else None,
        b_ub=b_ub if has_ub else None,
        A_eq=A_eq if has_eq else None,
        b_eq=b_eq if has_eq else None,
        bounds=np.column_stack([low, high]),
        method="highs",
    )
    if answer.status == UNDECIDED and cost.any():  # infeasible or unbounded: which of the two?
        solve_linear_program(np.zeros_like(cost), A_eq, b_eq, A_ub, b_ub, low, high)
        raise UnboundedError("The cost falls for ever.")
    if answer.status == INFEASIBLE:
        raise InfeasibleError("No point meets the constraints.")
    if answer.status == UNBOUNDED:
        raise UnboundedError("The cost falls for ever.")
    if answer.x is None:
        raise UnverifiedAnswerError(f"The LP solver stopped: {answer.message}")
    eq_duals = answer.eqlin.marginals if has_eq else np.zeros(0)
    ub_duals = np.minimum(answer.ineqlin.marginals, 0.0) if has_ub else np.zeros(0)
    return LinearAnswer(answer.x, eq_duals, ub_duals)


def weak_dual_bounds(
    costs: np.ndarray,
    A_eq: Any,
    b_eq: np.ndarray,
    A_ub: Any,
    b_ub: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    eq_duals: np.ndarray,
    ub_duals: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    r"""Lower bounds that hold for any dual variables q of equalities and p <= 0 of inequalities.

    .. math:: c'x \ge q'b_{eq} + p'b_{ub}
        + \sum_j \min_{l_j \le x_j \le h_j} (c - A_{eq}'q - A_{ub}'p)_j x_j

    All arrays have a row per problem (or one for all). Where a limit is infinite, rounding
    in the reduced costs would make the bound worthless: there it is a bound on points with
    coordinates up to 1000 times the largest of ``points``, the answers.
    """
    reduced = costs - (A_eq.T @ eq_duals.T).T - (A_ub.T @ ub_duals.T).T
    far = BEYOND * np.maximum(np.abs(points).max(axis=1, initial=0.0), 1.0)[:, None]
    low, high = np.maximum(low, -far), np.minimum(high, far)
    least = np.minimum(reduced * low, reduced * high).sum(axis=1)
    return (eq_duals * b_eq).sum(axis=1) + (ub_duals * b_ub).sum(axis=1) + least


FILTERED = 100  # constraints that are tried one by one
NAMED = 10  # constraints that are named


def describe_conflict(
    constraints: Any, low: np.ndarray, high: np.ndarray, labels: tuple[Any, ...] | None = None
) -> str:
    """Constraints that cannot hold together, none of which could be left out; in words.

    A linear program finds the least total violation; the constraints with a dual variable there
    prove that it is positive (Farkas), and each of them that can be spared is taken out
    (deletion filter, Chinneck and Dravnieks 1991). ``labels`` are names of the columns.
    """
    columns = tuple(range(constraints.n_columns)) if labels is None else labels
    low, high = (
        np.broadcast_to(low, constraints.n_columns),
        np.broadcast_to(high, constraints.n_columns),
    )
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        j = int(crossed[0])
        return (
            f"the lower bound of column {columns[j]!r} is above its upper bound, "
            f"{low[j]:.6g} > {high[j]:.6g}"
        )
    system = _System(constraints, low, high, columns)
    keep = system.with_duals(np.ones(system.size, bool))
    for i in np.flatnonzero(keep)[:FILTERED]:
        without = keep.copy()
        without[i] = False
        if system.violation(without) > FEASIBLE:
            keep = without
    names = [system.name(int(i)) for i in np.flatnonzero(keep)]
    if len(names) > NAMED:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    if len(names) < 2:
        return f"{''.join(names) or 'the constraints'} cannot hold"
    return f"{', '.join(names[:-1])} and {names[-1]} conflict"


class _System:
    """All constraints in one list: equalities, inequalities, lower and upper bounds."""

    def __init__(self, constraints: Any, low: np.ndarray, high: np.ndarray, labels: Any) -> None:
        from scipy import sparse

        self.labels = labels

        d = constraints.n_columns
        self.lows, self.highs = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
        eye = sparse.eye_array(d, format="csr")
        blocks = [constraints.A_eq, constraints.A_ub, -eye[self.lows], eye[self.highs]]
        A = sparse.vstack(blocks, format="csr")
        b = np.concatenate([constraints.b_eq, constraints.b_ub, -low[self.lows], high[self.highs]])
        largest = abs(A).max(axis=1).toarray().ravel() if A.shape[0] else np.zeros(0)
        norm = np.where(largest > 0, largest, 1.0)
        self.A, self.b = sparse.diags_array(1 / norm).tocsr() @ A, b / norm
        self.b = self.b / max(np.abs(self.b).max(initial=0.0), np.finfo(float).tiny)
        self.n_eq, self.n_ub = len(constraints.b_eq), len(constraints.b_ub)
        self.size = len(b)

    def name(self, i: int) -> str:
        if i < self.n_eq:
            return f"A_eq row {i}"
        if i < self.n_eq + self.n_ub:
            return f"A_ub row {i - self.n_eq}"
        i -= self.n_eq + self.n_ub
        if i < len(self.lows):
            return f"the lower bound of column {self.labels[self.lows[i]]!r}"
        return f"the upper bound of column {self.labels[self.highs[i - len(self.lows)]]!r}"

    def _elastic(self, keep: np.ndarray) -> tuple[float, np.ndarray]:
        """Least total violation of the constraints kept: min sum s, A x - s <= b, s >= 0."""
        from scipy import sparse

        equal = keep[: self.n_eq]
        A, b = self.A[keep], self.b[keep]
        m, d = A.shape
        n_eq = int(equal.sum())
        under = sparse.eye_array(m, n_eq, format="csr")  # equalities may be missed both ways
        system = sparse.hstack([A, -sparse.eye_array(m), under], format="csr")
        cost = np.concatenate([np.zeros(d), np.ones(m + n_eq)])
        low = np.concatenate([np.full(d, -np.inf), np.zeros(m + n_eq)])
        high = np.full(d + m + n_eq, np.inf)
        answer = solve_linear_program(
            cost, system[:n_eq], b[:n_eq], system[n_eq:], b[n_eq:], low, high
        )
        return float(cost @ answer.point), np.concatenate([answer.eq_duals, answer.ub_duals])

    def violation(self, keep: np.ndarray) -> float:
        return self._elastic(keep)[0]

    def with_duals(self, keep: np.ndarray) -> np.ndarray:
        """Those of the constraints kept that the least violation depends on."""
        total, duals = self._elastic(keep)
        chosen = keep.copy()
        chosen[np.flatnonzero(keep)] = np.abs(duals) > FEASIBLE
        return chosen if total > FEASIBLE and chosen.any() else keep
