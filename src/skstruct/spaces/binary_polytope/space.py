# SPDX-License-Identifier: BSD-3-Clause
"""The 0/1 points of a polytope."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.common.formats import check_distinct
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.decoding import with_limits
from skstruct.spaces.inference import Inference
from skstruct.spaces.label_sets.space import IndicatorSpace
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.linear_constraints import (
    columns_of,
    read_constraints,
    side_by_position,
)
from skstruct.spaces.solving import Solving
from skstruct.tolerances import FEASIBLE


@savable
class BinaryPolytope(IndicatorSpace):
    r"""0/1 vectors with :math:`A_{ub} z \le b_{ub}` and :math:`A_{eq} z = b_{eq}`.

    :math:`\psi(z) = z`. Programs of some hundred coordinates and constraints are searched, with
    bounds by the multipliers of the linear relaxation. Where the search has not ended after so
    many nodes: one linear program, exact when its vertex is integral (always so for totally
    unimodular constraints), branch and bound otherwise; answers are checked against the
    constraints and bounds rebuilt from dual variables. Slower than the spaces made for one
    structure, and right for all of them.

    Parameters
    ----------
    A_ub, b_ub, A_eq, b_eq : arrays or sparse arrays, default=None
    labels : sequence, default=None
        Names of the coordinates; numbers when None.
    constraints : Constraints, default=None
        Further constraints, made by :meth:`restrict`.

    Examples
    --------
    >>> import numpy as np
    >>> one_of_first_two = BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1])
    >>> one_of_first_two.argmin(np.array([[0.2, 0.1, -1.0]])).outputs
    array([[0, 1, 1]], dtype=int8)
    """

    _from_parameters = ("_names", "_parsed")
    _from_constraints = ("program_",)
    _constraints_rest_on = ("A_ub", "A_eq", "labels")

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        *,
        labels: Iterable[Any] | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.A_ub = A_ub
        self.b_ub = b_ub
        self.A_eq = A_eq
        self.b_eq = b_eq
        self.labels = labels
        self.constraints = constraints

    def _dimension(self) -> int:
        d = columns_of(self.A_ub, self.A_eq, used_by="BinaryPolytope")
        if d is not None:
            return d
        if self.labels is None:
            raise ValueError("BinaryPolytope: give A_ub, A_eq or labels.")
        return len(check_distinct(self.labels, "BinaryPolytope"))

    @cached_property
    def _names(self) -> tuple[Any, ...]:
        if self.labels is not None:
            return check_distinct(self.labels, "BinaryPolytope")
        frames = [A for A in (self.A_ub, self.A_eq) if is_pandas(A, "DataFrame")]
        return tuple(frames[0].columns if frames else range(self._dimension()))

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self._names

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self.labels_), [], [])

    @cached_property
    def _parsed(self) -> BinaryProgram:
        sides = ((self.A_eq, self.b_eq), (self.A_ub, self.b_ub))
        named = [side_by_position(*side, self.labels_, "BinaryPolytope") for side in sides]
        (A_eq, b_eq), (A_ub, b_ub) = ((A, None if b is None else np.ravel(b)) for A, b in named)
        read = read_constraints(
            A_eq, b_eq, A_ub, b_ub, n_columns=len(self.labels_), used_by="BinaryPolytope"
        )
        return BinaryProgram(read.A_ub, read.b_ub, read.A_eq, read.b_eq)

    @cached_property
    def program_(self) -> BinaryProgram:
        """The constraints of parameters, sizes and groups; what is known stays bounds."""
        return with_limits(self._parsed, self.dag_, self.constraints_)

    def validate(self, Y: Any) -> np.ndarray:
        Z = super().validate(Y)
        violation = self._parsed.violation(Z)
        if violation.max(initial=0.0) > FEASIBLE:
            row = int(violation.argmax())
            raise ValueError(
                f"BinaryPolytope: Y[{row}] breaks a constraint by {violation[row]:.3g}."
            )
        return Z

    def contains(self, Z: np.ndarray) -> np.ndarray:
        return super().contains(Z) & (self._parsed.violation(Z) <= FEASIBLE)

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.program_.solve_rows(costs, constraints.low, constraints.high)

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: int | None = None,
        max_size: int | None = None,
        exclusive: Iterable[Any] | None = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : names of coordinates, the same for all rows or a collection per row
            Coordinates known to be 1 and known to be 0; also 0/1 arrays of shape (n, d). A
            single row of them serves all rows.
        min_size, max_size : int
            Constraints on the number of ones.
        exclusive : list of groups of names
            At most one of each group is 1.
        """
        return self._narrowed(include, exclude, min_size, max_size, self._groups(exclusive), False)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        listed = self.enumerate()
        return int(((listed >= low) & (listed <= high)).all(axis=1).sum())

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        listed = self.enumerate()
        if not len(listed):
            raise InfeasibleError("BinaryPolytope: no 0/1 point meets the constraints.")
        return listed[np.random.default_rng(rng).integers(len(listed), size=n)]


Solving.at(BinaryPolytope, "skstruct.spaces.binary_polytope.solving:SolvingOfBinaryPolytopes")
Embeddings.at(BinaryPolytope, "skstruct.spaces.indicator_sets.coordinates:EmbeddingsOfPrograms")
Inference.at(BinaryPolytope, "skstruct.spaces.indicator_sets.inference:InferenceOfPrograms")
