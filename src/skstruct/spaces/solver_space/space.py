# SPDX-License-Identifier: BSD-3-Clause
"""Decisions of a solver that somebody already has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.exceptions import UnverifiedAnswerError
from skstruct.saving import require, savable
from skstruct.spaces.common.narrowing import one_or_more
from skstruct.spaces.contracts import Decoded, Guarantee
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.quantities.base import QuantitySpace
from skstruct.spaces.solver_space.given_solvers import (
    SolutionPool,
    options_taken,
    solve_rows,
    solve_together,
)
from skstruct.spaces.solving import Solving
from skstruct.tolerances import INTEGRAL, SOLVER_GAP

CLAIMED = Guarantee("exact", reference="claimed by who wrote the solver")
UNKNOWN = Guarantee("bound only", reference="as the solver states, or none")


@savable
@dataclass(frozen=True, eq=False)
class SolverOptions:
    """Options of a solver: the same for all rows, or a list with one for each."""

    shared: dict[str, Any] = field(default_factory=dict)
    per_row: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int | None:
        return next((len(values) for values in self.per_row.values()), None)

    def rows(self, index: Any) -> SolverOptions:
        chosen = np.arange(self.n_rows or 0)[index]
        return SolverOptions(
            self.shared,
            {name: [values[i] for i in chosen] for name, values in self.per_row.items()},
        )

    def of_row(self, i: int) -> dict[str, Any]:
        return {**self.shared, **{name: values[i] for name, values in self.per_row.items()}}


@savable
class SolverSpace(QuantitySpace):
    r"""What a solver chooses from: ``solve(c)`` returns z of least :math:`\langle c, z \rangle`.

    :math:`\psi(z) = z`, a number for each cost. A function around a solver of integer, constraint
    or convex programs is all that is needed to learn decisions from costs, with
    :class:`~skstruct.losses.Regret` or :class:`~skstruct.losses.Cost`.

    What it returns is checked: shape, finite numbers, ``feasible``; what it costs is computed
    anew. Bounds that it states, or that ``exact`` says it has, are compared with all solutions that
    other rows have found: one that costs less is an ``UnverifiedAnswerError``.

    Parameters
    ----------
    solve : callable
        Of costs (d,), to be made small, to a solution (d,), or to a solution and a number that no
        solution costs less than; None where there is no solution.
    labels : sequence, default=None
        Names of the coordinates; columns of a frame of costs, or numbers, when None.
    exact : bool, default=False
        Whether nothing costs less than what ``solve`` returns, up to 1e-7 of its cost. Bounds are
        then the values themselves. Otherwise they are what it states, and minus infinity where it
        states nothing.
    bound : callable, default=None
        Of costs (d,) to a number that no solution costs less than, such as the value of a
        relaxation.
    feasible : callable, default=None
        Of z (d,) to whether it is a solution. Without it, membership is not known, and all rows of
        d numbers are taken.
    binary : bool, default=False
        Whether solutions are of zeros and ones: what is as close as 1e-6 is rounded, and anything
        else an error. Losses of label sets, such as ``"hamming"``, then learn from solutions.
    batched : bool, default=False
        Whether ``solve`` takes costs (n, d) of all rows at once and returns solutions (n, d), or
        these and bounds (n,).
    options : dict, default=None
        Keyword arguments of ``solve``. ``bound`` and ``feasible`` get those that they take.
    pool_size : int, default=1000
        Solutions that are kept to compare bounds with; 0 for none.
    n_jobs : int, default=None
        Threads, of which each solves a row. Solvers that hold the interpreter gain nothing.
    verbose : int, default=0

    Notes
    -----
    Model files hold no code: a model with a function is kept with pickle, which needs the function
    to be importable. An object with ``__call__`` whose class is :func:`~skstruct.saving.savable` is
    saved with the model.

    References
    ----------
    .. [1] A. Elmachtoub, P. Grigas, "Smart 'predict, then optimize'", Management Science 68, 2022.

    Examples
    --------
    The two cheapest of four things:

    >>> import numpy as np
    >>> def cheapest(costs, n=2):
    ...     z = np.zeros(len(costs))
    ...     z[np.argsort(costs)[:n]] = 1
    ...     return z
    >>> space = SolverSpace(cheapest, exact=True)
    >>> found = space.argmin(np.array([[3.0, 1.0, 2.0, 4.0]]))
    >>> found.outputs, found.values
    (array([[0., 1., 1., 0.]]), array([3.]))
    >>> space.restrict(n=1).argmin(np.array([[3.0, 1.0, 2.0, 4.0]])).outputs
    array([[0., 1., 0., 0.]])
    """

    default_loss = "regret"
    _learned: ClassVar[tuple[str, ...]] = ("labels_", "format_", "mean_")
    _from_parameters: ClassVar[tuple[str, ...]] = ("_pool",)

    def __init__(
        self,
        solve: Callable[..., Any],
        *,
        labels: Iterable[Any] | None = None,
        exact: bool = False,
        bound: Callable[..., Any] | None = None,
        feasible: Callable[..., Any] | None = None,
        binary: bool = False,
        batched: bool = False,
        options: Mapping[str, Any] | None = None,
        pool_size: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.solve = solve
        self.labels = labels
        self.exact = exact
        self.bound = bound
        self.feasible = feasible
        self.binary = binary
        self.batched = batched
        self.options = options
        self.pool_size = pool_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def embedding(self) -> str:  # type: ignore[override]
        return "indicators" if self.binary else "coordinates"

    @property
    def guarantee(self) -> Guarantee:
        return CLAIMED if self.exact else UNKNOWN

    def _not_saved(self) -> tuple[str, ...]:
        return ("_pool",)

    def _check_saved(self) -> None:
        require(callable(self.solve), "a solver that cannot be called")
        options = self.constraints_
        known = options is None or isinstance(options, SolverOptions)
        require(known, "options of a solver that are none")

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z, dtype=np.float64)

    # ------------------------------------------------------------- options
    def restrict(self, *, per_row: Mapping[str, Any] | None = None, **options: Any) -> Self:
        """The same solver with other options.

        Parameters
        ----------
        per_row : dict of lists, or frame
            Options that differ from row to row: a list of values for each of them.
        **options
            Keyword arguments of ``solve``, the same for all rows.
        """
        before = self._all_options()
        listed = {} if per_row is None else {name: list(per_row[name]) for name in per_row}
        taken = options_taken(self.solve, {**options, **listed})
        unknown = [name for name in (*options, *listed) if name not in taken]
        if unknown:
            raise ValueError(
                f"SolverSpace: solve has no argument {unknown[0]!r}, which restrict() was given."
            )
        merged = {name: v for name, v in before.per_row.items() if name not in options} | listed
        lengths = {name: len(values) for name, values in merged.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"SolverSpace: options for different numbers of rows; got {lengths}.")
        return self._within(SolverOptions({**before.shared, **options}, merged))

    def _all_options(self) -> SolverOptions:
        given = self.constraints_
        return SolverOptions(dict(self.options or {})) if given is None else given

    def _within(self, constraints: Any) -> Self:
        other = super()._within(constraints)
        other.__dict__.pop("_pool", None)  # solutions of other options need not be among these
        return other

    # ------------------------------------------------------------- membership
    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Which rows may be solutions, as far as ``binary`` and ``feasible`` tell; shape (n,)."""
        Z = np.asarray(Z, dtype=np.float64)
        self._check_outputs(Z, len(self.labels_) if self._knows_width() else None, "(n, d)")
        inside: np.ndarray = np.isfinite(Z).all(axis=1)
        if self.binary:
            inside &= ((Z == 0) | (Z == 1)).all(axis=1)
        for i in np.flatnonzero(inside) if self.feasible is not None else ():
            inside[i] = self._is_feasible(Z[i], self._all_options().of_row(int(i)))
        return inside

    def _is_feasible(self, z: np.ndarray, options: dict[str, Any]) -> bool:
        tells = self.feasible
        return tells is None or bool(tells(z, **options_taken(tells, options)))

    def _check_inside(self, Z: np.ndarray) -> None:
        if self._all_options().n_rows is not None:
            return  # options of other rows say nothing of these
        bad = np.flatnonzero(~self.contains(Z))
        if len(bad):
            raise ValueError(f"SolverSpace: Y[{bad[0]}] is no solution; got {Z[bad[0]]!r:.80}.")

    def _knows_width(self) -> bool:
        return "labels_" in vars(self) or self.labels is not None

    # ------------------------------------------------------------- decoding
    def argmin(self, costs: Any) -> Decoded:
        costs = np.asarray(costs, dtype=np.float64)
        width = len(self.labels_) if self._knows_width() else costs.shape[-1]
        costs = check_costs(costs, width, used_by="SolverSpace")
        self._check_rows(len(costs))
        return self._linear(costs)

    def _linear(self, costs: np.ndarray) -> Decoded:
        options = self._all_options()
        if self.batched:
            points, bounds = solve_together(
                self.solve, costs, {**options.shared, **options.per_row}
            )
        else:
            points, bounds = solve_rows(
                self.solve, costs, options.of_row, self.n_jobs, self.verbose
            )
        points = self._checked(points)
        values = (costs * points).sum(axis=1)
        if self.bound is not None:
            for i, row in enumerate(costs):
                known = options_taken(self.bound, options.of_row(i))
                bounds[i] = max(bounds[i], float(self.bound(row.copy(), **known)))
        self._check_bounds(costs, points, values, bounds)
        bounds = values.copy() if self.exact else np.minimum(bounds, values)
        if self.pool_size and options.n_rows is None and np.isfinite(bounds).any():
            self._solutions().check(costs, points, bounds)
        return Decoded(points, values, bounds)

    def _checked(self, points: np.ndarray) -> np.ndarray:
        """Solutions that are of zeros and ones, and feasible, where that is known."""
        if self.binary:
            rounded = np.rint(points)
            off = (np.abs(points - rounded) > INTEGRAL) | (rounded < 0) | (rounded > 1)
            if off.any():
                row, j = (int(k) for k in np.argwhere(off)[0])
                raise UnverifiedAnswerError(
                    f"SolverSpace: solutions are said to be of zeros and ones; solve returned "
                    f"{points[row, j]:g} at position {j} in row {row}."
                )
            points = np.abs(rounded)  # no zero with a sign
        options = self._all_options()
        for i in range(len(points)) if self.feasible is not None else ():
            if not self._is_feasible(points[i], options.of_row(i)):
                raise UnverifiedAnswerError(
                    f"SolverSpace: solve returned what is not feasible in row {i}, "
                    f"{points[i]!r:.80}."
                )
        return points

    @staticmethod
    def _check_bounds(
        costs: np.ndarray, points: np.ndarray, values: np.ndarray, bounds: np.ndarray
    ) -> None:
        size = np.maximum(np.abs(costs * points).max(axis=1, initial=0.0), np.abs(values))
        wrong = np.flatnonzero(bounds > values + SOLVER_GAP * size)
        if len(wrong):
            i = int(wrong[0])
            raise UnverifiedAnswerError(
                f"SolverSpace: in row {i} nothing was said to cost less than {bounds[i]:.10g}, but "
                f"the solution itself costs {values[i]:.10g}. A bound is a lower one, of "
                "<costs, z> alone."
            )

    def _solutions(self) -> SolutionPool:
        if "_pool" not in vars(self):
            self._pool = SolutionPool(int(self.pool_size))
        return self._pool

    def _keep_names(self) -> None:
        if self._knows_width():
            super()._keep_names()

    def rows(self, index: Any) -> Self:
        if self._all_options().n_rows is None:
            return self
        return super()._within(self.constraints_.rows(one_or_more(index)))

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        raise NotImplementedError("SolverSpace: a solver of linear costs is all there is.")

    def minimize(self, curves: Any) -> Decoded:
        raise NotImplementedError("SolverSpace: a solver of linear costs is all there is.")


Solving.at(SolverSpace, "skstruct.spaces.solver_space.solving:SolvingBySolvers")
Marginals.at(SolverSpace, "skstruct.spaces.quantities.marginals:NoMeansOfQuantities")
Description.at(SolverSpace, "skstruct.spaces.quantities.description:DescriptionOfDecisions")
Embeddings.at(SolverSpace, Embeddings)
