# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets within constraints, uniformly: counts, moments, samples, lists."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import CountedSpace
from skstruct.spaces.common.counting import LIMIT, check_few, count_dag, list_closed_sets
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.state_graphs import StateGraph


def sized_graph(
    steps: tuple[np.ndarray, np.ndarray, np.ndarray],
    smallest: int,
    largest: int,
    low: Any = None,
    high: Any = None,
) -> StateGraph:
    """Closed sets of a forest as paths: the level of a state is how many labels were taken.

    At a label the path takes it and goes on to its first child, or skips it and goes on past all
    that is below. Members of an exclusive group stand side by side, and whoever takes one goes on
    behind the group. ``low`` and ``high`` are closed.
    """
    d, largest = len(steps[0]), min(largest, len(steps[0]))
    # Once there are enough, and none can be too many, more need not be told apart.
    saturated = smallest <= d <= largest
    top = max(min(smallest, d) if saturated else largest, 0)
    final = (np.arange(top + 1) >= smallest) & (largest >= 0)
    one_more, most = np.ones(d, np.int64), d if saturated else top
    return StateGraph.of_choices(
        *steps, one_more, final, most, low=low, high=high, saturated=saturated
    )


def path_steps(dag: Dag, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels in the order of paths, and the positions where each goes on: taken, or skipped."""
    d, group = dag.n_nodes, np.arange(dag.n_nodes)
    for members in groups:
        group[members] = np.min(members)
    below: list[list[int]] = [[] for _ in range(d + 1)]  # the last one: above all roots
    for v in np.lexsort((np.arange(d), group)).tolist():
        below[int(dag.parent_of[v])].append(v)
    order, stack = [], below[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack.extend(below[order[-1]][::-1])
    position = np.empty(d + 1, np.int64)
    position[order] = np.arange(d)
    position[-1] = d
    behind = np.full(d + 1, d)  # where a path goes on once all below a taken label is settled
    skip, take = np.empty(d, np.int64), np.empty(d, np.int64)
    for parent in [-1, *order]:
        onward = passed = behind[parent]
        for v, after in zip(below[parent][::-1], [None, *below[parent][:0:-1]]):
            if after is not None and group[v] != group[after]:
                passed = position[after]
            skip[position[v]] = onward if after is None else position[after]
            behind[v] = passed
    for v in order:
        take[position[v]] = position[below[v][0]] if below[v] else behind[v]
    return np.array(order, dtype=np.int64), take, skip


SHORT = 10**5  # outputs that are listed rather than counted again and again


class UniformSets(CountedSpace):
    """0/1 rows closed in a graph, within constraints: which they are and how many.

    Moments and samples are closed forms where a child has them; else they come from the list
    of outputs where it is short, and from counting with some labels fixed in where it is not,
    which works for every kind of limit.
    """

    _from_parameters: ClassVar[tuple[str, ...]] = ("dag_", "_given_labels")
    _from_constraints: ClassVar[tuple[str, ...]] = ("_count",)

    constraints: Any  # those of :meth:`restrict`, or None

    @property
    @abstractmethod
    def labels_(self) -> tuple[Any, ...]:
        """Names of the labels, one per column."""

    @property
    @abstractmethod
    def dag_(self) -> Dag:
        """The graph in which sets are closed."""

    @property
    def constraints_(self) -> Constraints:
        """What predicted sets must obey."""
        known: Constraints | None = self.constraints
        return Constraints.none(len(self.labels_)) if known is None else known

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        Z, width = np.asarray(Z), self.dag_.n_nodes
        self._check_outputs(Z, width, f"(n, {width}) of 0 and 1")
        closed = (Z[:, self.dag_.children] <= Z[:, self.dag_.parents]).all(axis=1)
        return closed & np.isin(Z, (0, 1)).all(axis=1) & self.constraints_.allow(Z)

    def _close_masks(self, constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
        return constraints.closed(self.dag_)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        constraints = self._one_row().within(low, high)
        extra = constraints.is_sized or constraints.groups or constraints.one_path
        if not self.dag_.is_forest and not extra:
            return count_dag(self.dag_, constraints.low[0], constraints.high[0])
        paths = self._forest_paths(constraints)
        if paths is not None:
            return paths.total
        listed = self.enumerate()
        return int(((listed >= low) & (listed <= high)).all(axis=1).sum())

    def _forest_paths(self, constraints: Constraints) -> StateGraph | None:
        """Closed sets as paths, where the graph is a forest and groups are siblings."""
        if constraints.one_path or not self.dag_.is_forest or not self._sibling_groups(constraints):
            return None
        low, high = (mask[0] for mask in self._close_masks(constraints))
        steps = path_steps(self.dag_, constraints.groups)
        return sized_graph(steps, constraints.smallest, constraints.largest, low, high)

    def _uniform(self) -> Any:
        """What knows ``mean()``, ``second_moment()`` and ``sample(n, rng)``, or None."""
        return None

    def _sibling_groups(self, constraints: Constraints) -> bool:
        """Whether exclusive groups are disjoint sets of siblings."""
        members = np.concatenate([*constraints.groups, np.empty(0, np.int64)]).astype(np.int64)
        alike = all(len(set(self.dag_.parent_of[g].tolist())) == 1 for g in constraints.groups)
        return alike and len(set(members.tolist())) == len(members)

    @cached_property
    def _count(self) -> int:
        d = len(self.labels_)
        return self._count_within(np.zeros(d, bool), np.ones(d, bool))

    def size(self) -> int:
        """Exact number of outputs."""
        return self._count

    def _check_not_empty(self) -> None:
        if self._count == 0:
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs; shape (d,)."""
        self._check_not_empty()
        uniform = self._uniform()
        if uniform is not None:
            return uniform.mean()
        if self._count <= SHORT:
            return self.enumerate().mean(axis=0)
        d = len(self.labels_)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        return np.array([self._count_within(eye[j], free) / self._count for j in range(d)])

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        self._check_not_empty()
        d = len(self.labels_)
        check_square_fits(
            d, "The second moment", "covariance() needs no matrix where labels are alike."
        )
        uniform = self._uniform()
        if uniform is not None:
            return uniform.second_moment()
        if self._count <= SHORT:
            listed = self.enumerate().astype(np.float64)
            return listed.T @ listed / len(listed)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        moment = np.empty((d, d))
        for j in range(d):
            for k in range(j + 1):
                both = self._count_within(eye[j] | eye[k], free) / self._count
                moment[j, k] = moment[k, j] = both
        return moment

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        constraints = self._one_row()
        low, high = constraints.low[0], constraints.high[0]
        paths = self._forest_paths(constraints)
        if paths is not None:
            check_few(paths.total, limit, self)
        listed = list_closed_sets(
            self.dag_, low, high, constraints.largest, limit, constraints.groups
        )
        return listed[self.contains(listed)]

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        rng = np.random.default_rng(rng)
        self._check_not_empty()
        uniform = self._uniform()
        if uniform is not None:
            return uniform.sample(n, rng)
        if self._count <= SHORT:
            listed = self.enumerate()
            return listed[rng.integers(len(listed), size=n)]
        return np.array([self._sample_one(rng) for _ in range(n)], dtype=np.int8)

    def _sample_one(self, rng: Any) -> Any:
        """Label by label, each taken with the share of outputs that have it."""
        d = len(self.labels_)
        low, high, left = np.zeros(d, bool), np.ones(d, bool), self._count
        for j in self.dag_.order:
            low[j] = True
            with_j = self._count_within(low, high)
            if rng.random() >= with_j / left:  # a ratio of integers, however large
                low[j] = high[j] = False
                left -= with_j
            else:
                left = with_j
        return low.astype(np.int8)


def mean_of_products(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Mean of (y_i) and (y_i y_j) over all labels between low and high; shape (n + E,)."""
    probability = 0.5 * (low.astype(float) + high)
    return np.concatenate([probability, probability[edges[:, 0]] * probability[edges[:, 1]]])


def second_moment_of_products(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Mean of psi psi' over all labels between low and high; shape (n + E, n + E).

    A product of labels is 1 when none of them is known to be out and all coins of their
    union fall on 1: a probability of 1/2 to the number of coins, and coins in both count once.
    """
    n, count = len(low), len(edges)
    check_square_fits(n + count, "The second moment", "Fewer labels or pairs take less.")
    row = np.concatenate([np.arange(n), np.repeat(np.arange(n, n + count), 2)])
    column = np.concatenate([np.arange(n), edges.ravel()])
    member = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n + count, n))
    coins, possible = member * (high & ~low), member @ ~high == 0
    number = coins.sum(axis=1)
    union = number[:, None] + number - (coins @ coins.T).toarray()
    return np.where(possible[:, None] & possible, 0.5**union, 0.0)
