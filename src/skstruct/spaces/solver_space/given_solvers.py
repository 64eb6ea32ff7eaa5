# SPDX-License-Identifier: BSD-3-Clause
"""Solvers that somebody already has: called row by row, and nothing they say is taken on trust."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skstruct._arrays.progress import track
from skstruct._arrays.rows import distinct
from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.sizes import AT_ONCE
from skstruct.tolerances import SOLVER_GAP

Options = Mapping[str, Any]


def solve_rows(
    solve: Callable[..., Any],
    costs: np.ndarray,
    options: Callable[[int], Options],
    n_jobs: int | None,
    verbose: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Solutions (n, d) and bounds (n,) of ``solve(c, **options(i))``, a call for each row.

    Bounds are minus infinity where the solver states none.

    >>> from types import MappingProxyType
    >>> nothing = lambda row: MappingProxyType({})
    >>> solve_rows(lambda c: c < 0, np.array([[1.0, -2.0]]), nothing, None, 0)
    (array([[0., 1.]]), array([-inf]))
    """
    d = costs.shape[1]

    def one(i: int) -> tuple[np.ndarray, float]:
        try:
            return read_answer(solve(costs[i].copy(), **options(i)), d, i)
        except Exception as error:
            error.add_note(f"In row {i} of the costs, by the solver of a SolverSpace.")
            raise

    rows = track(range(len(costs)), "solving, rows", verbose)
    if effective_n_jobs(n_jobs) == 1:
        found = [one(i) for i in rows]
    else:
        found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(i) for i in rows)
    points = np.array([point for point, _ in found]).reshape(len(costs), d)
    return points, np.array([bound for _, bound in found], dtype=np.float64)


def solve_together(
    solve: Callable[..., Any], costs: np.ndarray, options: Options
) -> tuple[np.ndarray, np.ndarray]:
    """The same by a single call for all rows, ``solve(costs, **options)``."""
    n = len(costs)
    answer = solve(costs.copy(), **options)
    points, bounds = answer if _is_pair(answer, 2) else (answer, np.full(n, -np.inf))
    try:
        points, bounds = (np.array(part, dtype=np.float64) for part in (points, bounds))
    except (TypeError, ValueError):
        raise ValueError(
            f"solve(costs) returns numbers of shape {costs.shape}; got {answer!r:.80}."
        ) from None
    if points.shape != costs.shape or bounds.shape != (n,):
        raise ValueError(
            f"solve(costs) of a batched solver returns solutions of shape {costs.shape}, or these "
            f"and bounds of shape {(n,)}; got shapes {points.shape} and {bounds.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1) | np.isnan(bounds))
    if len(bad):
        read_answer((points[bad[0]], bounds[bad[0]]), costs.shape[1], int(bad[0]))
    return points, bounds


def read_answer(answer: Any, d: int, row: int) -> tuple[np.ndarray, float]:
    """A solution (d,) and a bound: solvers return the first, or both, or None."""
    if answer is None:
        raise InfeasibleError(f"SolverSpace: solve found no solution in row {row}.", row)
    point, bound = answer if _is_pair(answer, 1) else (answer, -np.inf)
    try:
        point, bound = np.array(point, dtype=np.float64), float(-np.inf if bound is None else bound)
    except (TypeError, ValueError):
        raise ValueError(
            f"solve(costs) returns {d} numbers, or these and a bound; got {answer!r:.80} in row "
            f"{row}."
        ) from None
    if point.shape != (d,):
        raise ValueError(
            f"solve(costs) returns a number for each of {d} costs; got shape {point.shape} in row "
            f"{row}."
        )
    if not np.isfinite(point).all():
        j = int(np.flatnonzero(~np.isfinite(point))[0])
        raise ValueError(
            f"solve(costs) returns finite numbers; got {point[j]} at position {j} in row {row}."
        )
    if np.isnan(bound):
        raise ValueError(f"solve(costs) returned a bound that is NaN in row {row}.")
    return point, bound


def _is_pair(answer: Any, ndim: int) -> bool:
    """Whether this is a solution with a bound, and not a tuple of two numbers."""
    return isinstance(answer, tuple) and len(answer) == 2 and np.ndim(answer[0]) >= ndim


def options_taken(function: Callable[..., Any], options: Options) -> dict[str, Any]:
    """Those of the options that a function has arguments for; all where nobody can tell."""
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled, without a signature
        return dict(options)
    if any(part.kind is inspect.Parameter.VAR_KEYWORD for part in known.values()):
        return dict(options)
    return {name: value for name, value in options.items() if name in known}


class SolutionPool:
    """Solutions that a solver has returned: what one row has found may refute what another claims.

    The set of solutions is the same for all rows, so that each of them is one for all: if any
    costs less than a bound that was claimed, the claim is wrong. At most ``most`` are kept.

    >>> pool = SolutionPool(10)
    >>> costs, solutions = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[0, 1], [0, 1]])
    >>> pool.check(costs, solutions, np.array([2.0, 1.0]))
    >>> pool.check(costs, 1 - solutions, np.array([1.0, 2.0]))
    Traceback (most recent call last):
        ...
    skstruct.exceptions.UnverifiedAnswerError: SolverSpace: in row 1 nothing was said to cost \
less than 2, but a solution that the solver returned earlier costs 1. Is it exact, and are all \
rows solved over the same set?
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: np.ndarray | None = None  # shape: (m, d)

    def check(self, costs: np.ndarray, points: np.ndarray, claimed: np.ndarray) -> None:
        """Raise where a known solution costs less than was claimed; keep the new ones.

        Parameters
        ----------
        costs, points : arrays of shape (n, d)
        claimed : array of shape (n,)
            What nothing is said to cost less than; lowered in place by what is rounding.
        """
        before = np.zeros((0, points.shape[1])) if self.known is None else self.known
        if before.shape[1] != points.shape[1]:  # of problems of another size
            before = before[:0].reshape(0, points.shape[1])
        first = np.sort(distinct(points)[0]) if len(points) else np.zeros(0, int)
        first = first[: self.most]
        old = before[: max(self.most - len(first), 0)]
        tried, step = np.vstack([points[first], old]), max(1, AT_ONCE // max(1, self.most))
        for start in range(0, len(costs), step):
            rows = slice(start, start + step)
            self._compare(costs[rows], tried, first, claimed[rows], start)
        self.known = tried if len(old) == 0 else tried[np.sort(distinct(tried)[0])]

    @staticmethod
    def _compare(
        costs: np.ndarray, tried: np.ndarray, first: np.ndarray, claimed: np.ndarray, start: int
    ) -> None:
        paid = costs @ tried.T  # shape: (rows, m)
        if not paid.size:
            return
        best = paid.argmin(axis=1)
        least = paid[np.arange(len(costs)), best]
        terms = np.abs(costs * tried[best]).max(axis=1, initial=0.0)
        wrong = np.flatnonzero(least < claimed - SOLVER_GAP * np.maximum(terms, np.abs(least)))
        if len(wrong):
            i = int(wrong[0])
            k = int(best[i])
            where = f"that of row {first[k]}" if k < len(first) else "a solution that the solver " \
                "returned earlier"  # fmt: skip
            raise UnverifiedAnswerError(
                f"SolverSpace: in row {start + i} nothing was said to cost less than "
                f"{claimed[i]:.10g}, but {where} costs {least[i]:.10g}. Is it exact, and are all "
                "rows solved over the same set?"
            )
        np.minimum(claimed, least, out=claimed)
