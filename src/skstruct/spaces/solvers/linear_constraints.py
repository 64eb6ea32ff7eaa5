# SPDX-License-Identifier: BSD-3-Clause
"""Linear constraints, with right-hand sides for all rows or one per row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.saving import require, savable
from skstruct.spaces.solvers.linear_programs import (
    LinearAnswer,
    UnboundedError,
    solve_linear_program,
    weak_dual_bounds,
)
from skstruct.tolerances import TRUSTED_VIOLATION

TOGETHER = 1600  # columns of linear programs that are solved as one, block by block
NOTHING = 1e-30  # what numbers that should be zero may be
FLOOR = 1e-3  # coordinates count as at least this share of the largest one


@savable
@dataclass(frozen=True, eq=False)
class LinearConstraints:
    r"""The points with :math:`A_{eq} z = b_{eq}` and :math:`A_{ub} z \le b_{ub}`.

    Matrices are the same for all rows; right-hand sides are of shape (m,), or (n, m) with
    one per row.

    Examples
    --------
    >>> one_in_all = read_constraints([[1, 1, 1]], [1.0])
    >>> zero = np.zeros(3)
    >>> points, values, bounds = one_in_all.minimize_linear(np.array([[3.0, 1, 2]]), zero, zero + 1)
    >>> points.tolist(), values.tolist(), bounds.tolist()
    ([[0.0, 1.0, 0.0]], [1.0], [1.0])
    >>> one_in_all.worst(np.array([0.5, 0.5, 0.5]))
    'A_eq row 0: 1.5, not 1'
    """

    _saved_arguments = ("A_eq", "b_eq", "A_ub", "b_ub")

    A_eq: sparse.csr_array  # shape: (m_eq, d)
    b_eq: np.ndarray  # shape: (m_eq,) or (n, m_eq)
    A_ub: sparse.csr_array  # shape: (m_ub, d)
    b_ub: np.ndarray  # shape: (m_ub,) or (n, m_ub)
    plans: dict[Any, Any] = field(
        default_factory=dict, repr=False
    )  # what solvers prepare from A alone

    def _check_saved(self) -> None:
        for A, b in ((self.A_eq, self.b_eq), (self.A_ub, self.b_ub)):
            rows = isinstance(b, np.ndarray) and b.dtype == np.float64 and b.ndim in (1, 2)
            fits = rows and getattr(A, "format", "") == "csr" and A.shape[0] == b.shape[-1]
            fits = fits and A.shape[1] == self.A_eq.shape[1]
            require(fits, "linear constraints that do not fit together")

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    @property
    def n_columns(self) -> int:
        return int(self.A_eq.shape[1])

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        counts = [len(b) for b in (self.b_eq, self.b_ub) if b.ndim == 2]
        return counts[0] if counts else None

    @property
    def sides(self) -> np.ndarray:
        """Right-hand sides of equations, then inequalities; (1, m) or (n, m)."""
        n = self.n_rows or 1
        parts = (self.b_eq, self.b_ub)
        return np.hstack([np.broadcast_to(part, (n, part.shape[-1])) for part in parts])

    def rows(self, index: Any) -> LinearConstraints:
        """The constraints of some rows."""
        if self.n_rows is None:
            return self
        b_eq, b_ub = (b[index] if b.ndim == 2 else b for b in (self.b_eq, self.b_ub))
        return replace(self, b_eq=b_eq, b_ub=b_ub)

    def row(self, i: int) -> LinearConstraints:
        """The constraints of one row, as constraints for all."""
        b_eq, b_ub = (b[i] if b.ndim == 2 else b for b in (self.b_eq, self.b_ub))
        return replace(self, b_eq=b_eq, b_ub=b_ub)

    # ------------------------------------------------------------- violation
    def excess(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much points break each equality and inequality; (n, m_eq) and (n, m_ub)."""
        points = np.asarray(points, dtype=np.float64)
        off = np.abs((self.A_eq @ points.T).T - self.b_eq)
        over = np.maximum((self.A_ub @ points.T).T - self.b_ub, 0.0)
        return off, over

    def violation(self, points: np.ndarray) -> np.ndarray:
        """Largest amount by which each row breaks a constraint; shape (n,)."""
        return _largest(self.excess(points))

    def relative_violation(self, points: np.ndarray) -> np.ndarray:
        r"""The same relative to :math:`|b_i| + \sum_j |A_{ij}| |z_j|`; shape (n,).

        Coordinates count as at least a thousandth of the largest one, so that rounding
        errors of constraints among zeros do not count as full violations.
        """
        return _largest(self._relative_excess(points))

    def _relative_excess(self, points: np.ndarray) -> list[np.ndarray]:
        size = np.abs(np.asarray(points, dtype=np.float64))
        size = np.maximum(size, FLOOR * size.max(axis=1, keepdims=True, initial=0.0))
        parts = zip(self.excess(points), (self.A_eq, self.A_ub), (self.b_eq, self.b_ub))
        return [part / (np.abs(b) + (abs(A) @ size.T).T + NOTHING) for part, A, b in parts]

    def worst(self, point: np.ndarray) -> str:
        """The constraint that one point breaks most (relatively), in words."""
        point = np.asarray(point, dtype=np.float64)
        off, over = (part[0] for part in self._relative_excess(point[None]))
        if off.max(initial=0.0) >= over.max(initial=0.0):
            i, name, A, b, relation = int(off.argmax()), "A_eq", self.A_eq, self.b_eq, "not"
        else:
            i, name, A, b, relation = int(over.argmax()), "A_ub", self.A_ub, self.b_ub, "above"
        return f"{name} row {i}: {(A @ point)[i]:.6g}, {relation} {b[i]:.6g}"

    # ------------------------------------------------------------- linear costs
    def minimize_linear(
        self, costs: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every row of costs the minimum-cost point, its value and a lower bound.

        Parameters
        ----------
        costs : array of shape (n, d)
        low, high : arrays of shape (d,) or (n, d)
            May be infinite.

        Raises
        ------
        InfeasibleError
            Where a row has no point; ``row`` says which.
        ValueError
            Where the cost of a row falls for ever.
        """
        costs = np.asarray(costs, dtype=np.float64)
        points, eq_duals, ub_duals = self.solve_linear(costs, low, high)
        broken = self.relative_violation(points)
        if broken.max(initial=0.0) > TRUSTED_VIOLATION:
            i = int(broken.argmax())
            raise UnverifiedAnswerError(
                f"The LP solver's answer for row {i} breaks {self.row(i).worst(points[i])}."
            )
        bounds = weak_dual_bounds(
            costs, self.A_eq, self.b_eq, self.A_ub, self.b_ub, low, high, eq_duals, ub_duals, points
        )
        values = (costs * points).sum(axis=1)
        return points, values, np.minimum(bounds, values)

    def solve_linear(
        self, costs: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The solver's points (n, d) and the dual variables of equalities and inequalities."""
        n, d = costs.shape
        low, high = np.broadcast_to(low, costs.shape), np.broadcast_to(high, costs.shape)
        answers: list[LinearAnswer] = []
        together = max(1, TOGETHER // max(d, 1))
        for start in range(0, n, together):
            block = slice(start, min(start + together, n))
            answers += self._solve_together(block, costs[block], low[block], high[block])
        points = np.array([answer.point for answer in answers]).reshape(n, d)
        eq_duals = np.array([answer.eq_duals for answer in answers]).reshape(n, -1)
        ub_duals = np.array([answer.ub_duals for answer in answers]).reshape(n, -1)
        return np.clip(points, low, high), eq_duals, ub_duals

    def _solve_together(
        self, rows: slice, costs: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> list[LinearAnswer]:
        """One program of independent blocks; row by row where that fails, to name the row."""
        n = len(costs)
        parts = [self.row(i) for i in range(rows.start, rows.stop)]
        scales = [_scales(part, *rest) for part, *rest in zip(parts, costs, low, high)]
        if n > 1:
            try:
                stacked = _stacked(parts, costs, low, high, scales)
                return _split(solve_linear_program(*stacked), scales)
            except (ValueError, UnverifiedAnswerError):  # which of them it was is found below
                pass
        return [
            self._solve_row(rows.start + i, costs[i], low[i], high[i], scales[i]) for i in range(n)
        ]

    def _solve_row(
        self,
        i: int,
        cost: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        scale: tuple[float, float],
    ) -> LinearAnswer:
        part = self.row(i)
        try:
            stacked = _stacked([part], cost[None], low[None], high[None], [scale])
            return _split(solve_linear_program(*stacked), [scale])[0]
        except InfeasibleError:
            reason = part.conflict(low, high)
            raise InfeasibleError(
                f"No point meets the constraints in row {i}: {reason}.", i
            ) from None
        except UnboundedError:
            j, way = _falling(part, cost, low, high)
            raise ValueError(
                f"The cost of row {i} falls for ever as column {j} {way}; give it a finite bound."
            ) from None

    def conflict(
        self, low: np.ndarray, high: np.ndarray, labels: tuple[Any, ...] | None = None
    ) -> str:
        """A few constraints that no point meets together, in words."""
        from skstruct.spaces.solvers.linear_programs import describe_conflict

        return describe_conflict(self, low, high, labels)


def _largest(parts: Any) -> np.ndarray:
    """The largest entry of each row over several arrays, at least zero."""
    return np.maximum.reduce([part.max(axis=1, initial=0.0) for part in parts])


def _scales(
    constraints: LinearConstraints, cost: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[float, float]:
    """Powers of two that bring costs and coordinates to about one: tolerances are absolute."""
    sides = np.concatenate([constraints.b_eq, constraints.b_ub, low, high])
    size = np.abs(sides[np.isfinite(sides)]).max(initial=0.0)
    return _power_of_two(np.abs(cost).max(initial=0.0)), _power_of_two(size)


def _power_of_two(size: float) -> float:
    return float(2.0 ** np.round(np.log2(size))) if size > 0 else 1.0


def _stacked(
    parts: list[LinearConstraints],
    costs: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    scales: list[tuple[float, float]],
) -> tuple[Any, ...]:
    """Arguments of one linear program in which every row is a block of its own."""
    cost_unit, unit = np.array(scales).T
    n = len(parts)
    A_eq, A_ub = parts[0].A_eq, parts[0].A_ub
    if n > 1:
        A_eq = sparse.kron(sparse.eye_array(n), A_eq, format="csr")
        A_ub = sparse.kron(sparse.eye_array(n), A_ub, format="csr")
    b_eq = np.concatenate([part.b_eq / u for part, u in zip(parts, unit)])
    b_ub = np.concatenate([part.b_ub / u for part, u in zip(parts, unit)])
    cost = (costs / cost_unit[:, None]).ravel()
    limits = [(limit / unit[:, None]).ravel() for limit in (low, high)]
    return cost, A_eq, b_eq, A_ub, b_ub, *limits


def _split(answer: LinearAnswer, scales: list[tuple[float, float]]) -> list[LinearAnswer]:
    n = len(scales)
    points, eq, ub = (
        part.reshape(n, -1) for part in (answer.point, answer.eq_duals, answer.ub_duals)
    )
    return [
        LinearAnswer(points[i] * unit, eq[i] * cost_unit, ub[i] * cost_unit)
        for i, (cost_unit, unit) in enumerate(scales)
    ]


def _falling(
    constraints: LinearConstraints, cost: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[int, str]:
    """A column that goes for ever along a direction of falling cost, and which way."""
    down, up = np.where(np.isfinite(low), 0.0, -1.0), np.where(np.isfinite(high), 0.0, 1.0)
    A_eq, A_ub = constraints.A_eq, constraints.A_ub
    scaled = cost / np.abs(cost).max()
    still = np.zeros(A_eq.shape[0]), np.zeros(A_ub.shape[0])
    answer = solve_linear_program(scaled, A_eq, still[0], A_ub, still[1], down, up)
    j = int(np.abs(answer.point).argmax())
    return j, "grows" if answer.point[j] > 0 else "falls"


def read_constraints(
    A_eq: Any = None,
    b_eq: Any = None,
    A_ub: Any = None,
    b_ub: Any = None,
    *,
    n_columns: int | None = None,
    used_by: str = "LinearConstraints",
) -> LinearConstraints:
    """Checked constraints from whatever a user gives for them; None for none."""
    if n_columns is None:
        n_columns = columns_of(A_eq, A_ub, used_by=used_by)
        if n_columns is None:
            raise ValueError(f"{used_by}: give A_eq or A_ub.")
    A_eq, b_eq = _checked(A_eq, b_eq, n_columns, "eq", used_by)
    A_ub, b_ub = _checked(A_ub, b_ub, n_columns, "ub", used_by)
    if b_eq.ndim == b_ub.ndim == 2 and len(b_eq) != len(b_ub):
        raise ValueError(f"{used_by}: b_eq is for {len(b_eq)} rows and b_ub for {len(b_ub)}.")
    return LinearConstraints(A_eq, b_eq, A_ub, b_ub)


def columns_of(*matrices: Any, used_by: str) -> int | None:
    """Number of columns of the first matrix that was given; None when none was."""
    for matrix in matrices:
        if matrix is not None:
            if np.ndim(matrix) != 2 and not sparse.issparse(matrix):
                raise ValueError(
                    f"{used_by}: A_eq and A_ub have a row per constraint; got "
                    f"shape {np.shape(matrix)}."
                )
            return int(matrix.shape[1] if sparse.issparse(matrix) else np.shape(matrix)[1])
    return None


def side_by_position(A: Any, b: Any, labels: Any, used_by: str) -> tuple[Any, Any]:
    """A matrix and its right-hand side as arrays, where they come as frames and Series.

    Columns are found by the labels, and what is right by the index of the matrix. A Series beside
    a single constraint has a number for each row of outputs.
    """
    constraints = tuple(A.index) if is_pandas(A, "DataFrame") else range((np.shape(A) or (0,))[0])
    if not (len(constraints) == 1 and is_pandas(b, "Series")):
        b = by_position(b, constraints, what="a right-hand side", used_by=used_by)
    return by_position(A, labels, what="a matrix of constraints", used_by=used_by), b


def _checked(A: Any, b: Any, d: int, name: str, used_by: str) -> tuple[Any, np.ndarray]:
    if A is None:
        if b is not None and np.size(b):
            raise ValueError(f"{used_by}: b_{name} was given without A_{name}.")
        return sparse.csr_array((0, d)), np.zeros(0)
    if b is None:
        raise ValueError(f"{used_by}: A_{name} was given without b_{name}.")
    A = sparse.csr_array(A, dtype=np.float64)
    b = np.asarray(b, dtype=np.float64)
    b = b.reshape(-1) if b.ndim < 2 else b
    if b.ndim > 2 or A.shape != (b.shape[-1], d):
        raise ValueError(
            f"{used_by}: A_{name} has shape {A.shape} and b_{name} {b.shape[-1]} entries "
            f"for {d} labels."
        )
    if not np.isfinite(A.data).all():
        raise ValueError(f"{used_by}: A_{name} and b_{name} must be finite.")
    if not np.isfinite(b).all():
        at = "".join(f"[{i}]" for i in np.argwhere(~np.isfinite(b))[0])
        raise ValueError(
            f"{used_by}: A_{name} and b_{name} must be finite; b_{name}{at} is not. "
            "Leave out a constraint that does not hold."
        )
    return A, b
