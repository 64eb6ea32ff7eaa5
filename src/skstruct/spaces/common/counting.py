# SPDX-License-Identifier: BSD-3-Clause
"""Exact counts and lists of closed sets of a graph; states that labels may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.uniform import LIMIT


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
