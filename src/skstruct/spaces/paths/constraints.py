# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted path must obey, as arrays; on graphs without cycles all of it closes arcs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.constraints import RowArrays, check_size
from skstruct.spaces.paths.arcs import NAME, ArcTable

OPEN_END = -1  # in place of a node: whatever the space says


@savable
@dataclass(frozen=True, eq=False)
class PathConstraints(RowArrays):
    """Known arcs, known nodes, ends and lengths, the same for all rows or per row."""

    low: np.ndarray  # bool, shape (1 or n, d): arcs that must be used
    high: np.ndarray  # bool, shape (1 or n, d): arcs that may be used
    visited: np.ndarray  # bool, shape (1 or n, N): nodes that must be visited
    open: np.ndarray  # bool, shape (1 or n, N): nodes that may be visited
    source: np.ndarray  # int, shape (1 or n,): numbers of nodes, -1 where the space says it
    target: np.ndarray
    longest: np.ndarray  # int, shape (1 or n,): arcs of a path, at most

    @classmethod
    def none(cls, n_nodes: int, d: int) -> PathConstraints:
        open_end = np.array([OPEN_END])
        return cls(
            np.zeros((1, d), bool), np.ones((1, d), bool),
            np.zeros((1, n_nodes), bool), np.ones((1, n_nodes), bool),
            open_end, open_end, np.array([n_nodes - 1]),
        )  # fmt: skip

    def __repr__(self) -> str:
        parts = []
        for low, high, what in ((self.visited, self.open, "nodes"), (self.low, self.high, "arcs")):
            if low.any() or not high.all():
                parts.append(f"{int(low.sum())} {what} known in, {int((~high).sum())} known out")
        if (self.source != OPEN_END).any() or (self.target != OPEN_END).any():
            parts.append("other ends")
        if self.is_short:
            parts.append(f"at most {self.longest.max()} arcs")
        return f"PathConstraints({'; '.join(parts) or 'none'})"

    def check_saved(self, d: int, n_nodes: int) -> None:
        """Raise a ModelFileError unless these are constraints of paths, as from a file."""
        for mask in (self.low, self.high):
            check_row_constraints(mask, "b", (d,))
        for mask in (self.visited, self.open):
            check_row_constraints(mask, "b", (n_nodes,))
        for end in (self.source, self.target):
            check_row_constraints(end, "i", (), OPEN_END, n_nodes)
        check_row_constraints(self.longest, "i", (), 0, 2**31)

    @property
    def is_short(self) -> bool:
        """Whether some row limits the length."""
        return bool((self.longest < self.open.shape[1] - 1).any())

    @property
    def only_closes(self) -> bool:
        """Whether arcs and nodes are closed at most, and nothing is asked of a path."""
        return not (self.is_short or self.low.any() or self.visited.any())

    def narrow(self, other: PathConstraints) -> PathConstraints:
        """What obeys both, from and to the ends of the other where it has some."""
        self._check_as_many(other)
        return PathConstraints(
            self.low | other.low, self.high & other.high,
            self.visited | other.visited, self.open & other.open,
            np.where(other.source == OPEN_END, self.source, other.source),
            np.where(other.target == OPEN_END, self.target, other.target),
            np.minimum(self.longest, other.longest),
        )  # fmt: skip

    def allow(self, Z: np.ndarray, visited: np.ndarray) -> np.ndarray:
        """Which paths with arcs Z (n, d) through nodes (n, N) meet all but the ends; (n,)."""
        arcs = np.all((self.low <= Z) & (self.high >= Z), axis=1)
        nodes = np.all((self.visited <= visited) & (self.open >= visited), axis=1)
        return arcs & nodes & (Z.sum(axis=1) <= self.longest)

    def usable(self, table: ArcTable) -> np.ndarray:
        """Arcs that are open and lead from open nodes to open ones; bool (1 or n, d)."""
        if self.open.all():
            return self.high
        u, v = table.edges.T
        return np.asarray(self.high & self.open[:, u] & self.open[:, v])

    def usable_onward(self, table: ArcTable) -> np.ndarray:
        """The same on a graph without cycles, where what must be used closes other arcs.

        A path that must visit v takes no arc that leads past it in the order of the nodes; with
        these closed, every path from before v to behind it goes through v.
        """
        usable = self.usable(table)
        if not (self.low.any() or self.visited.any()):
            return usable
        usable, required = usable & self.beside_low(table), self.required(table)
        upto = np.zeros((len(required), required.shape[1] + 1), np.int32)  # at positions before p
        upto[:, 1:] = np.cumsum(required[:, table.order], axis=1)
        first, last = table.position[table.edges].T
        return np.asarray(usable & (upto[:, last] == upto[:, first + 1]))

    def beside_low(self, table: ArcTable) -> np.ndarray:
        """Directed arcs that are not ruled out by another one that must be used; bool (1 or n, d).

        Of the arcs that leave a node, and of those that enter it, a path takes one at most. So two
        that must be used at one node rule out each other, and no way leads through that node.
        """
        (u, v), (row, arc) = table.edges.T, np.nonzero(self.low)
        leaving = np.zeros((len(self.low), self.open.shape[1]), np.int32)
        entering = np.zeros_like(leaving)
        np.add.at(leaving, (row, u[arc]), 1)
        np.add.at(entering, (row, v[arc]), 1)
        return np.asarray(leaving[:, u] + entering[:, v] == 2 * self.low)

    def required(self, table: ArcTable) -> np.ndarray:
        """Nodes that must be visited, those of arcs that must be used included; (1 or n, N)."""
        row, arc = np.nonzero(self.low)
        ends = np.zeros((len(self.low), self.open.shape[1]), bool)
        ends[row[:, None], table.edges[arc]] = True
        return np.asarray(ends | self.visited)

    def spans(self, table: ArcTable) -> np.ndarray:
        """Whether all that must be visited is between the ends, in the order; bool (1 or n,)."""
        place, required = table.position, self.required(table)
        first = np.where(required, place, len(place)).min(axis=1)
        last = np.where(required, place, -1).max(axis=1)
        return np.asarray((first >= place[self.source]) & (last <= place[self.target]))


def read_ends(names: Any, table: ArcTable, argument: str) -> np.ndarray:
    """Numbers of nodes (1 or n,): of one name, or of a list with one for every row."""
    if names is None:
        return np.array([OPEN_END])
    try:
        one = names in table.number
    except (TypeError, ValueError):  # a list or an array
        one = False
    if one or isinstance(names, (str, bytes)) or not hasattr(names, "__len__"):
        return np.array([table.node(names, argument)])
    if not len(names):
        raise ValueError(f"{NAME}: {argument} is a node, or one for each row; got none.")
    return np.array([table.node(name, f"{argument}[{i}]") for i, name in enumerate(names)])


def read_length(value: Any) -> np.ndarray | None:
    """A number of arcs, or one for each row, as an array; None where none is given."""
    if value is None:
        return None
    values = [value] if np.ndim(value) == 0 else list(value)
    if not values:
        raise ValueError(f"{NAME}: max_length is a number of arcs, or one per row; got none.")
    return np.array([check_size(size, "max_length", NAME) for size in values], dtype=np.int64)


def with_ends(limits: PathConstraints) -> PathConstraints:
    """Constraints of which no end is open, or an error that names it."""
    for end, number in (("source", limits.source), ("target", limits.target)):
        if (number == OPEN_END).any():
            raise ValueError(f"{NAME}: the {end} is open; give restrict({end}=...).")
    return limits
