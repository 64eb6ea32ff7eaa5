# SPDX-License-Identifier: BSD-3-Clause
"""Exact counts, lists and uniform draws: closed sets of a graph, independent states."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.base import CountedSpace
from skstruct.spaces.solvers.dags import Dag

LIMIT = 10**6  # outputs listed, or subproblems counted, before giving up


def check_few(size: int, limit: int, space: Any, outputs: str = "outputs") -> None:
    """Refuse to list more outputs than the limit, and say how many there are."""
    if size > limit:
        # Very large integers have no decimal form that Python is willing to write.
        many = f"{size:,}" if size < 10**15 else f"about 10**{size.bit_length() * 0.30103:.0f}"
        name = space if isinstance(space, str) else type(space).__name__
        raise UndecidableError(
            f"{name}: there are {many} {outputs}, more than the limit of {limit:,}."
        )


def count_dag(dag: Dag, low: np.ndarray, high: np.ndarray, limit: int = LIMIT) -> int:
    """Number of closed sets of an acyclic graph, by branching with memory.

    Sets of nodes are bits of an integer. A set that holds v holds all above it, one that
    does not holds nothing below it, so a branch removes many nodes at once; unconnected
    parts multiply. Counting is hard in general: past ``limit`` subproblems it gives up.
    """
    above = [0] * dag.n_nodes
    for v in dag.order:
        above[v] |= 1 << int(v)
    for v in dag.order:
        for p in dag.parents_of[v]:
            above[v] |= above[p]
    below = [0] * dag.n_nodes
    for v in range(dag.n_nodes):
        for u in _bits(above[v]):
            below[u] |= 1 << v
    left = (1 << dag.n_nodes) - 1
    taken = gone = 0
    for v in np.flatnonzero(low):
        taken |= above[v]
    for v in np.flatnonzero(~high):
        gone |= below[v]
    if taken & gone:
        return 0
    return _count_left(left & ~taken & ~gone, above, below, {0: 1}, limit)


def _count_left(
    left: int, above: list[int], below: list[int], known: dict[Any, Any], limit: int
) -> int:
    if left in known:
        return int(known[left])
    if len(known) > limit:
        raise UndecidableError(
            f"Counting the closed sets of this graph takes more than {limit} steps. "
            "Trees are counted in no time; restrict the space, or sample by other means."
        )
    part = _component(left, above, below)
    if part != left:
        answer = _count_left(part, above, below, known, limit)
        answer *= _count_left(left & ~part, above, below, known, limit)
    else:
        v = max(_bits(left), key=lambda u: ((above[u] | below[u]) & left).bit_count())
        answer = _count_left(left & ~above[v], above, below, known, limit)
        answer += _count_left(left & ~below[v], above, below, known, limit)
    known[left] = answer
    return answer


def _component(left: int, above: list[int], below: list[int]) -> int:
    """The nodes of ``left`` connected to its lowest bit."""
    part = front = left & -left
    while front:
        reach = 0
        for v in _bits(front):
            reach |= above[v] | below[v]
        front = reach & left & ~part
        part |= front
    return part


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def list_closed_sets(
    dag: Dag, low: np.ndarray, high: np.ndarray, largest: int, limit: int = LIMIT, groups: Any = ()
) -> np.ndarray:
    """All closed sets with at most ``largest`` nodes, low..high; shape (count, d) of int8.

    Of each group at most one node is in.
    """
    rows = np.zeros((1, dag.n_nodes), np.int8)
    for v in dag.order:
        if not high[v]:
            rows = rows[:0] if low[v] else rows
            continue
        free = rows[:, dag.parents_of[v]].all(axis=1) & (rows.sum(axis=1) < largest)
        for group in groups:
            if v in group:
                free &= ~rows[:, group].any(axis=1)
        added = rows[free]
        added[:, v] = 1
        rows = added if low[v] else np.concatenate([rows, added])
        if len(rows) > limit:
            raise UndecidableError(f"The space has more than {limit} outputs; raise limit.")
    return rows


@savable
@dataclass(frozen=True, eq=False)
class StateConstraints:
    """States that labels may have, the same for all rows or one table per row."""

    allowed: np.ndarray  # bool, shape (1 or n, labels, states)

    def check_saved(self, *shape: int) -> None:
        """Raise a ModelFileError unless every row says of this many things what they may be."""
        check_row_constraints(self.allowed, "b", shape)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"StateConstraints({int((~self.allowed).sum())} states barred)"

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        return None if len(self.allowed) == 1 else len(self.allowed)

    def rows(self, index: Any) -> StateConstraints:
        return self if self.n_rows is None else StateConstraints(self.allowed[index])

    def narrow(self, allowed: np.ndarray) -> StateConstraints:
        counts = {len(self.allowed), len(allowed)} - {1}
        if len(counts) > 1 or 0 in counts:
            raise ValueError(f"States are given for different numbers of rows: {sorted(counts)}.")
        return StateConstraints(self.allowed & allowed)


class UniformStates(CountedSpace):
    """Every label has any of its allowed states: how many outputs, samples, moments, the list."""

    @property
    @abstractmethod
    def constraints_(self) -> StateConstraints:
        """Which states labels may have."""

    @abstractmethod
    def _requirements(self) -> np.ndarray:
        """The state that each coordinate of psi asks of each label, -1 for any; (d, labels)."""

    def _allowed(self) -> Any:
        """Allowed states of all labels, bool (labels, states)."""
        return self._one_row().allowed[0]

    def size(self) -> int:
        """Exact number of outputs."""
        return math.prod(self._allowed().sum(axis=1).tolist())

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, number of labels)."""
        check_few(self.size(), limit, self)
        allowed = self._allowed()
        listed = list(product(*(np.flatnonzero(states).tolist() for states in allowed)))
        return np.array(listed, dtype=np.int64).reshape(-1, len(allowed))

    def _counts(self) -> Any:
        """Number of states of each label, none of them zero."""
        counts = self._allowed().sum(axis=1)
        if not counts.all():
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")
        return counts

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, number of labels)."""
        counts = self._counts()
        rank = np.random.default_rng(rng).integers(counts, size=(n, len(counts)))
        first = np.argsort(~self._allowed(), axis=1, kind="stable")  # allowed states come first
        return first[np.arange(len(counts)), rank]

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all outputs; shape (d,)."""
        asked, probability = self._requirements(), self._probabilities()
        return np.prod(probability[np.arange(asked.shape[1]), asked], axis=1)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d).

        Two coordinates hold together with the product, over labels, of the probability that one
        state is what both ask for.
        """
        asked, probability, mean = (
            self._requirements(),
            self._probabilities(),
            self.mean_embedding(),
        )
        check_square_fits(len(mean), "The second moment", "Fewer labels or pairs take less.")
        moment = np.outer(mean, mean)  # right where no label is asked by both
        for wanted, p in zip(asked.T, probability):
            asking = np.flatnonzero(wanted >= 0)
            p, wanted = p[wanted[asking]], wanted[asking]
            p[p == 0] = 1.0  # a barred state: the moment is zero already
            both = (wanted[:, None] == wanted) / p  # instead of p p' the probability of one state
            moment[np.ix_(asking, asking)] *= both
        return moment

    def _probabilities(self) -> np.ndarray:
        """Probability of each state of each label, and one for any, last: (labels, states + 1)."""
        probability = self._allowed() / self._counts()[:, None]
        return np.hstack([probability, np.ones((len(probability), 1))])
