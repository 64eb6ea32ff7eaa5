# SPDX-License-Identifier: BSD-3-Clause
"""Points of a polytope."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.quantities.boxes import Range
from skstruct.spaces.quantities.constrained import ConstrainedSpace, LinearSystem, for_all
from skstruct.spaces.solvers.linear_constraints import (
    columns_of,
    read_constraints,
    side_by_position,
)


@savable
class Polytope(ConstrainedSpace):
    r"""Points with :math:`A_{eq} z = b_{eq},\ A_{ub} z \le b_{ub},\ l \le z \le u`.

    The squared loss is a projection (a quadratic program per row, warm from row to row),
    exact while the weights sum to more than zero. Losses made of straight lines are linear
    programs where no weight is negative. For weights of any sign every coordinate's cost is
    replaced by its lower convex hull: a bound, and the point that it leads to is improved
    from there; for up to 40 coordinates branch and bound then closes the gap to 1e-7 of the risk.
    Every answer is checked against the constraints, every bound is a dual value.

    Parameters
    ----------
    A_eq, b_eq, A_ub, b_ub : arrays or sparse arrays, default=None
        Right-hand sides are of shape (m,), or (n, m) with one row per training sample.
    bounds : pair, sequence of d pairs, or None
        Lower and upper limits, as in ``scipy.optimize.linprog``; None within a pair for no
        limit, None in all for no limits at all. Losses other than the squared one need
        finite ones: those that follow from the other constraints are found.
    labels : sequence, default=None
        Names of the coordinates; columns of a frame, or numbers, when None.
    prove : bool, default=False
        Whether gaps are closed, however long that takes.
    max_boxes : int, default=None
        Boxes that branch and bound looks at in each row that has a gap, before the gap that is
        left is reported in ``bounds``; 0 for none. None means 20,000 for up to 40 coordinates,
        where it mostly takes milliseconds, and none for more.

    Examples
    --------
    >>> shares = Polytope(A_eq=[[1, 1, 1]], b_eq=[1], bounds=(0, 0.5)).fit([[0.5, 0.3, 0.2]])
    >>> shares.argmin(np.array([[1.0, 2.0, 3.0]])).outputs
    array([[0.5, 0.5, 0. ]])
    >>> shares.restrict(b_eq=[1.2]).argmin(np.array([[1.0, 2.0, 3.0]])).outputs.round(9)
    array([[0.5, 0.5, 0.2]])
    """

    def __init__(
        self,
        A_eq: Any = None,
        b_eq: Any = None,
        A_ub: Any = None,
        b_ub: Any = None,
        bounds: Any = None,
        *,
        labels: Iterable[Any] | None = None,
        prove: bool = False,
        max_boxes: int | None = None,
    ) -> None:
        self.A_eq = A_eq
        self.b_eq = b_eq
        self.A_ub = A_ub
        self.b_ub = b_ub
        self.bounds = bounds
        self.labels = labels
        self.prove = prove
        self.max_boxes = max_boxes

    def _names_alone(self) -> tuple[Any, ...] | None:
        if any(map(_differ_by_row, (self.A_eq, self.A_ub), (self.b_eq, self.b_ub))):
            return None  # right-hand sides are those of the rows of training
        if self.labels is not None:
            return self._given_labels()
        for matrix in (self.A_eq, self.A_ub):
            if is_pandas(matrix, "DataFrame"):
                return tuple(matrix.columns)
        d = columns_of(self.A_eq, self.A_ub, used_by="Polytope")
        return None if d is None else tuple(range(d))

    def _learn(self, Z: np.ndarray) -> None:
        d = columns_of(self.A_eq, self.A_ub, used_by="Polytope")
        if d is not None and d != len(self.labels_):
            raise ValueError(
                f"Polytope: the constraints have {d} columns and the outputs {len(self.labels_)}."
            )
        self.constraints_ = self._system(self.b_eq, self.b_ub, self.bounds)
        if self.constraints_.n_rows not in (None, len(Z)):
            raise ValueError(
                f"Polytope: right-hand sides are given for {self.constraints_.n_rows} rows; Y has "
                f"{len(Z)}."
            )
        if self.constraints_.n_rows is not None:
            self.constraints_ = replace(self.constraints_, of_training=True)
        self._check_inside(Z, training=True)

    def _system(self, b_eq: Any, b_ub: Any, bounds: Any) -> LinearSystem:
        d = len(self.labels_)
        A_eq, b_eq = self._side(self.A_eq, b_eq)
        A_ub, b_ub = self._side(self.A_ub, b_ub)
        constraints = read_constraints(A_eq, b_eq, A_ub, b_ub, n_columns=d, used_by="Polytope")
        system = LinearSystem(for_all(constraints), _read_bounds(bounds, self.labels_))
        self._check_feasible(system)
        return system

    def _side(self, A: Any, b: Any) -> tuple[Any, Any]:
        """Columns and rows of a frame by name, and one number per row for a single constraint."""
        A, b = side_by_position(A, b, self.labels_, used_by="Polytope")
        b = b if b is None else np.asarray(b, dtype=np.float64)
        return A, b[:, None] if np.ndim(b) == 1 and _differ_by_row(A, b) else b

    def _check_feasible(self, system: LinearSystem) -> None:
        """Raise where some row has no point, and say which constraints conflict."""
        d, n = len(self.labels_), system.n_rows or 1
        try:
            self._flat(system, np.zeros((n, d)), np.zeros((n, d)))
        except InfeasibleError as error:
            raise self._within(system)._explained(error) from None

    def restrict(
        self,
        *,
        b_eq: ArrayLike | None = None,
        b_ub: ArrayLike | None = None,
        bounds: Any = None,
    ) -> Self:
        """The same constraints with other right-hand sides, for all rows or one per row.

        Parameters
        ----------
        b_eq, b_ub, bounds : as in the constructor; those of it when None
        """
        self._ready()
        system = self._system(
            self.b_eq if b_eq is None else b_eq,
            self.b_ub if b_ub is None else b_ub,
            self.bounds if bounds is None else bounds,
        )
        return self._within(system)

    def _finite(self, system: LinearSystem, why: str = "this loss") -> Any:
        low, high = system.range.low, system.range.high
        if np.isfinite(low).all() and np.isfinite(high).all():
            return low, high
        if system.n_rows is not None:
            raise ValueError(
                f"Polytope: {why} needs finite bounds where constraints differ from row to row; "
                "give bounds."
            )
        plans = system.constraints.plans
        key = ("implied", low.tobytes(), high.tobytes(), system.constraints.b_eq.tobytes(),
               system.constraints.b_ub.tobytes())  # fmt: skip
        if key not in plans:
            plans[key] = _implied(system, self.labels_, why)
        return plans[key]


def _differ_by_row(A: Any, b: Any) -> bool:
    """Whether there are right-hand sides for several rows of outputs."""
    return np.ndim(b) > 1 or (A is not None and np.shape(A)[0] == 1 and np.size(b) > 1)


def _implied(
    system: LinearSystem, labels: tuple[Any, ...], why: str
) -> tuple[np.ndarray, np.ndarray]:
    """Limits of every coordinate that follow from all constraints, by linear programs."""
    low, high = system.range.low[0].copy(), system.range.high[0].copy()
    for side, sign in ((low, 1.0), (high, -1.0)):
        for j in np.flatnonzero(~np.isfinite(side)):
            cost = np.zeros((1, len(labels)))
            cost[0, j] = sign
            try:
                bound = system.constraints.minimize_linear(
                    cost, system.range.low[0], system.range.high[0]
                )[2][0]
            except InfeasibleError:
                raise
            except ValueError:
                word = "below" if sign > 0 else "above"
                raise ValueError(
                    f"Polytope: column {labels[j]!r} has no limit {word}, and {why} needs one; "
                    "give bounds."
                ) from None
            side[j] = sign * bound
    return low[None], high[None]


def _read_bounds(bounds: Any, labels: tuple[Any, ...]) -> Range:
    """Limits (1, d) from None, one pair, or a pair per column, by position or by name."""
    d = len(labels)
    if bounds is None:
        bounds = (None, None)
    bounds = by_position(bounds, labels, what="bounds", used_by="Polytope", default=(None, None))
    pairs = list(bounds)
    if len(pairs) == 2 and not any(hasattr(side, "__len__") for side in pairs):
        pairs = [tuple(pairs)] * d
    if len(pairs) != d or any(not hasattr(pair, "__len__") or len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"Polytope: bounds is one pair (low, high) or {d} of them, one per column; got "
            f"{len(pairs)}."
        )
    low = np.array([-np.inf if pair[0] is None else pair[0] for pair in pairs], dtype=float)
    high = np.array([np.inf if pair[1] is None else pair[1] for pair in pairs], dtype=float)
    bad = np.flatnonzero(np.isnan(low) | np.isnan(high) | (low > high))
    if len(bad):
        j = bad[0]
        raise ValueError(f"Polytope: the bounds of column {j} are {low[j]:g} and {high[j]:g}.")
    return Range(low[None], high[None])
