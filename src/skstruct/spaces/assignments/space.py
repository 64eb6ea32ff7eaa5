# SPDX-License-Identifier: BSD-3-Clause
"""Agents and tasks, one to one."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import perm
from typing import Any, Self

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.assignments.counting import FreeAssignments, count_injections
from skstruct.spaces.assignments.formats import AssignmentFormat, read_assignments
from skstruct.spaces.base import check_k
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.common.description import number_of_names
from skstruct.spaces.common.formats import check_distinct
from skstruct.spaces.constraints import Constraints, check_feasible, label_mask
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.label_sets.space import IndicatorSpace
from skstruct.spaces.solvers.assignment import min_cost_assignments
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.k_best import k_best_sequences
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets

PAIR_BYTES = 112  # a tuple of two names, and the numbers of a graph without arcs


@savable
class Assignments(IndicatorSpace):
    r"""Assignments of agents to tasks: no agent and no task twice, and as many as there can be.

    Each of the smaller side is assigned. :math:`\psi(z)_{(i, j)} = 1` where agent i has task j, in
    the order of the agents, then the tasks. Minimum-cost assignments are found by shortest
    augmenting paths [1]_, the k best by partition of the set [2]_. Always exact.

    Parameters
    ----------
    agents : int or sequence of names
        The agents, or how many.
    tasks : int or sequence of names, default=None
        The tasks, or how many; as many as agents when None.
    constraints : Constraints, default=None
        Further constraints, made by :meth:`restrict`.

    Attributes
    ----------
    agents_, tasks_ : tuple
    labels_ : tuple
        Pairs of an agent and a task, one per column.

    See Also
    --------
    Matchings : pairs of which there may be fewer.

    References
    ----------
    .. [1] R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse
       linear assignment problems", Computing 38, 1987.
    .. [2] K. G. Murty, "An algorithm for ranking all the assignments in order of increasing
       cost", Operations Research 16, 1968.

    Examples
    --------
    >>> space = Assignments(["ann", "bob"], ["dig", "cook", "mend"])
    >>> costs = np.array([[1.0, 2.0, 3.0, 0.0, 4.0, 4.0]])  # of ann, then of bob
    >>> space.restore(space.argmin(costs).outputs)
    array([['cook', 'dig']], dtype='<U4')
    >>> space.restrict(exclude=[("ann", "cook")]).argmin(costs).values
    array([3.])
    >>> space.size(), space.kbest(costs, 3).values
    (6, array([[2., 3., 5.]]))
    """

    _from_parameters = ("_names", "_pairs")
    _constraints_rest_on = ("agents", "tasks")

    def __init__(
        self,
        agents: int | Iterable[Any],
        tasks: int | Iterable[Any] | None = None,
        *,
        constraints: Constraints | None = None,
    ) -> None:
        self.agents = agents
        self.tasks = tasks
        self.constraints = constraints

    # ------------------------------------------------------------- names
    @cached_property
    def _names(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        agents = _named(self.agents, "agents")
        return agents, _named(len(agents) if self.tasks is None else self.tasks, "tasks")

    @property
    def agents_(self) -> tuple[Any, ...]:
        return self._names[0]

    @property
    def tasks_(self) -> tuple[Any, ...]:
        return self._names[1]

    @classmethod
    def _bytes_when_used(cls, state: dict[str, Any]) -> int:
        """Names and numbers of all pairs of an agent and a task."""
        agents = number_of_names(state.get("agents"))
        tasks = agents if state.get("tasks") is None else number_of_names(state["tasks"])
        return PAIR_BYTES * agents * tasks

    @cached_property
    def _pairs(self) -> tuple[Any, ...]:
        return tuple((agent, task) for agent in self.agents_ for task in self.tasks_)

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self._pairs

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self._pairs), [], [])

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.agents_), len(self.tasks_)

    # ------------------------------------------------------------- the user's format
    def _fit(self, Y: Any) -> np.ndarray:
        Z, self.format_ = read_assignments(Y, *self._names, "Assignments")
        self._check_members(Z)
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, a * t), one column per pair."""
        Z, _ = read_assignments(Y, *self._names, "Assignments")
        self._check_members(Z)
        return Z

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``; a task per agent before."""
        format: AssignmentFormat = getattr(self, "format_", AssignmentFormat())
        return format.write(np.asarray(Z), *self._names, index)

    def _sums(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many tasks each agent has, and how many agents each task."""
        tables = np.asarray(Z, dtype=np.int64).reshape(len(Z), *self._shape)
        return tables.sum(axis=2), tables.sum(axis=1)

    def _check_members(self, Z: np.ndarray) -> None:
        a, t = self._shape
        sides = zip(self._sums(Z), self._names, ("agent", "task"), (a <= t, t <= a))
        for sums, names, what, complete in sides:
            wrong = np.argwhere((sums != 1) if complete else (sums > 1))
            if len(wrong):
                row, k = wrong[0]
                raise ValueError(
                    f"Assignments: Y[{row}] has {sums[row, k]} pairs of the {what} {names[k]!r}; "
                    f"expected {'one' if complete else 'one at most'}."
                )

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        inside = super().contains(Z)  # 0/1 rows within constraints
        agents, tasks = self._sums(np.where(inside[:, None], Z, 0))
        once = (agents <= 1).all(axis=1) & (tasks <= 1).all(axis=1)
        return inside & once & (agents.sum(axis=1) == min(self._shape))

    # ------------------------------------------------------------- decoding
    def _by_smaller(self, tables: np.ndarray) -> np.ndarray:
        """Tables (n, a, t) with the smaller side first: views where agents are no more."""
        return tables if self._shape[0] <= self._shape[1] else tables.swapaxes(1, 2)

    def _flat(self, chosen: np.ndarray) -> np.ndarray:
        """Canonical outputs by the partner of each of the smaller side; chosen (n, smaller)."""
        n, (small, large) = len(chosen), sorted(self._shape)
        tables = np.zeros((n, small, large), np.int8)
        tables[np.arange(n)[:, None], np.arange(small), chosen] = 1
        return np.ascontiguousarray(self._by_smaller(tables)).reshape(n, small * large)

    def _allowed(self, constraints: Constraints) -> np.ndarray | None:
        """Pairs that are left, the smaller side first, (1 or n, smaller, larger); None for all.

        Who has a known partner has no other: two known pairs of one rule out each other, and
        nobody is left for the one of the smaller side.
        """
        if not constraints.is_masked:
            return None
        low, high = np.broadcast_arrays(constraints.low, constraints.high)
        low, high = (self._by_smaller(mask.reshape(-1, *self._shape)) for mask in (low, high))
        known = low.sum(axis=1, keepdims=True) + low.sum(axis=2, keepdims=True)
        return np.asarray(high & (known == 2 * low))

    def _assign(
        self, tables: np.ndarray, allowed: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best partner of each of the smaller side, tables (n, smaller, larger), and values."""
        n, small, _ = tables.shape
        scaled = tables
        if allowed is not None:
            # Powers of two bring costs to about one: what is barred is dearer by a constant.
            exponent = np.frexp(np.abs(tables).max(axis=(1, 2), initial=0.0))[1]
            scaled = np.ldexp(tables, -exponent[:, None, None])
        chosen, values = min_cost_assignments(scaled, allowed)
        at = np.arange(n)[:, None], np.arange(small), chosen
        return chosen, np.where(np.isfinite(values), tables[at].sum(axis=1), np.inf)

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tables = self._by_smaller(costs.reshape(len(costs), *self._shape))
        chosen, values = self._assign(tables, self._allowed(constraints))
        return self._flat(chosen), values, values

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost assignments of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, "Assignments")
        costs = self._checked_costs(costs, len(self.labels_))
        tables = self._by_smaller(costs.reshape(len(costs), *self._shape))
        known = self.constraints_

        def best_within(rows: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            left = self._allowed(known.rows(rows))
            return self._assign(tables[rows], allowed if left is None else allowed & left)

        small, large = sorted(self._shape)
        chosen, values = k_best_sequences(best_within, len(costs), small, large, k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        n, ranks = values.shape
        return Decoded(self._flat(chosen.reshape(-1, small)).reshape(n, ranks, -1), values, values)

    def restrict(self, *, include: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : pairs (agent, task), the same for all rows or a collection per row
            Pairs known to be in and known to be out; also dictionaries from agent to task, or 0/1
            arrays of shape (n, a, t) or (n, a * t). A single row of them serves all rows.
        """
        masks = (self._mask(include, "include"), self._mask(exclude, "exclude"))
        constraints = self.constraints_.narrow(
            low=masks[0], high=~masks[1], min_size=None, max_size=None, groups=(), one_path=False
        )
        return self._limited(constraints)

    def _mask(self, pairs: Any, argument: str) -> np.ndarray:
        if isinstance(pairs, Mapping):
            pairs = list(pairs.items())
        elif isinstance(pairs, np.ndarray) and pairs.shape[1:] == self._shape:
            pairs = pairs.reshape(len(pairs), -1)
        elif isinstance(pairs, (list, tuple)) and pairs:
            by_row = all(isinstance(row, Mapping) for row in pairs)
            pairs = [list(row.items()) if by_row else _as_pair(row) for row in pairs]
            pairs = [pairs] if any(map(_is_pair, pairs)) else pairs
        return label_mask(pairs, self.labels_, argument, "Assignments")

    # ------------------------------------------------------------- all outputs
    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        constraints = self._one_row().within(low, high)
        left, (small, large) = self._allowed(constraints), sorted(self._shape)
        if left is None:
            return perm(large, small)
        return count_injections(left[0])

    def _uniform(self) -> Any:
        known = self._one_row()
        return None if known.is_masked else FreeAssignments(*self._shape)

    def covariance(self) -> Covariance:
        """Covariance of the pairs under the uniform distribution."""
        uniform = self._uniform()
        return super().covariance() if uniform is None else uniform.covariance()

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All assignments in canonical form; shape (size, a * t)."""
        known, (small, large) = self._one_row(), sorted(self._shape)
        left = self._allowed(known)
        if left is None:
            check_few(perm(large, small), limit, self, "assignments")
        allowed = np.ones((small, large), bool) if left is None else left[0]
        chosen, free = np.zeros((1, 0), np.int64), np.ones((1, large), bool)
        for i in range(small):
            row, column = np.nonzero(free & allowed[i])
            chosen, free = np.column_stack([chosen[row], column]), free[row]
            free[np.arange(len(row)), column] = False
            if len(row) > limit:
                raise UndecidableError(
                    f"Assignments: there are more than {limit} beginnings of assignments; raise "
                    "limit."
                )
        return self._flat(chosen)


def _as_pair(item: Any) -> Any:
    """Two names in a list, as JSON writes a pair, as a tuple; pairs within a row likewise."""
    if not isinstance(item, list):
        return item
    return tuple(item) if _is_pair(tuple(item)) else [_as_pair(each) for each in item]


def _is_pair(item: Any) -> bool:
    """Whether this is two names, be they known or not, and no row of pairs."""
    named = isinstance(item, tuple) and len(item) == 2
    return named and not any(isinstance(each, (list, tuple)) for each in item)


def _named(given: Any, what: str) -> tuple[Any, ...]:
    if is_count(given):
        return tuple(range(int(given)))
    if isinstance(given, (str, bytes, int, float)):
        raise ValueError(f"Assignments: {what} are names, or how many; got {given!r}.")
    names = check_distinct(given, "Assignments")
    if not names:
        raise ValueError(f"Assignments: there are no {what}.")
    return names


Solving.at(Assignments, "skstruct.spaces.assignments.solving:SolvingOfAssignments")
Known.at(Assignments, "skstruct.spaces.indicator_sets.known:KnownAsWhole")
Description.at(Assignments, "skstruct.spaces.assignments.description:DescriptionOfAssignments")
Embeddings.at(Assignments, Embeddings)
Targets.at(Assignments, Targets)
Inference.at(Assignments, Inference)
