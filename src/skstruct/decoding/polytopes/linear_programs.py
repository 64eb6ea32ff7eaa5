# SPDX-License-Identifier: BSD-3-Clause
"""One linear program and what its dual prices prove.

The solver's word is not taken for the bound: weak duality rebuilds it from the prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError

INFEASIBLE, UNBOUNDED, UNDECIDED = 2, 3, 4  # statuses of linprog and milp
BEYOND = 1e3  # infinite limits count as this many times the largest coordinate of the answer


class UnboundedError(ValueError):
    """The cost falls for ever along some direction of the set."""


@dataclass(frozen=True)
class LinearAnswer:
    """A best point with the prices that prove it."""

    point: np.ndarray  # shape: (d,)
    eq_prices: np.ndarray  # shape: (m_eq,), any sign
    ub_prices: np.ndarray  # shape: (m_ub,), <= 0


def solve_linear_program(cost, A_eq, b_eq, A_ub, b_ub, low, high) -> LinearAnswer:
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
    eq_prices = answer.eqlin.marginals if has_eq else np.zeros(0)
    ub_prices = np.minimum(answer.ineqlin.marginals, 0.0) if has_ub else np.zeros(0)
    return LinearAnswer(answer.x, eq_prices, ub_prices)


def weak_dual_bounds(costs, A_eq, b_eq, A_ub, b_ub, low, high, eq_prices, ub_prices, points):
    r"""Lower bounds that hold for any prices q of equalities and p <= 0 of inequalities.

    .. math:: c'x \ge q'b_{eq} + p'b_{ub}
        + \sum_j \min_{l_j \le x_j \le h_j} (c - A_{eq}'q - A_{ub}'p)_j x_j

    All arrays have a row per problem (or one for all). Where a limit is infinite, rounding
    in the reduced costs would make the bound worthless: there it is a bound on points with
    coordinates up to 1000 times the largest of ``points``, the answers.
    """
    reduced = costs - (A_eq.T @ eq_prices.T).T - (A_ub.T @ ub_prices.T).T
    far = BEYOND * np.maximum(np.abs(points).max(axis=1, initial=0.0), 1.0)[:, None]
    low, high = np.maximum(low, -far), np.minimum(high, far)
    least = np.minimum(reduced * low, reduced * high).sum(axis=1)
    return (eq_prices * b_eq).sum(axis=1) + (ub_prices * b_ub).sum(axis=1) + least
