# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted cycle must obey, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.constraints import RowArrays, check_size
from skstruct.spaces.cycles.tours import SHORTEST
from skstruct.spaces.edge_sets.table import EdgeTable


@savable
@dataclass(frozen=True, eq=False)
class CycleConstraints(RowArrays):
    """Known edges, known nodes and a number of nodes, the same for all rows or per row."""

    low: np.ndarray  # bool, shape (1 or n, d): edges that must be used
    high: np.ndarray  # bool, shape (1 or n, d): edges that may be used
    visited: np.ndarray  # bool, shape (1 or n, N): nodes that must be visited
    open: np.ndarray  # bool, shape (1 or n, N): nodes that may be visited
    smallest: np.ndarray  # int, shape (1 or n,): number of nodes
    largest: np.ndarray

    def check_saved(self, d: int, n_places: int) -> None:
        """Raise a ModelFileError unless these are constraints of tours, as from a file."""
        for mask in (self.low, self.high):
            check_row_constraints(mask, "b", (d,))
        for mask in (self.visited, self.open):
            check_row_constraints(mask, "b", (n_places,))
        for size in (self.smallest, self.largest):
            check_row_constraints(size, "i", (), 0, 2**31)

    @classmethod
    def none(cls, n_nodes: int, d: int) -> CycleConstraints:
        return cls(
            np.zeros((1, d), bool), np.ones((1, d), bool),
            np.zeros((1, n_nodes), bool), np.ones((1, n_nodes), bool),
            np.array([SHORTEST]), np.array([n_nodes]),
        )  # fmt: skip

    def __repr__(self) -> str:
        parts, n_nodes = [], self.open.shape[1]
        for low, high, what in ((self.visited, self.open, "nodes"), (self.low, self.high, "edges")):
            if low.any() or not high.all():
                parts.append(f"{int(low.sum())} {what} known in, {int((~high).sum())} known out")
        if (self.smallest > SHORTEST).any() or (self.largest < n_nodes).any():
            parts.append(f"{self.smallest.min()} to {self.largest.max()} of {n_nodes} nodes")
        return f"CycleConstraints({'; '.join(parts) or 'none'})"

    @property
    def has_edges(self) -> bool:
        return bool(self.low.any() or not self.high.all())

    @property
    def has_nodes(self) -> bool:
        return bool(self.visited.any() or not self.open.all())

    @property
    def is_free(self) -> bool:
        sized = (self.smallest > SHORTEST).any() or (self.largest < self.open.shape[1]).any()
        return not (sized or self.has_nodes or self.has_edges)

    def narrow(self, other: CycleConstraints) -> CycleConstraints:
        """What obeys both."""
        self._check_as_many(other)
        return CycleConstraints(
            self.low | other.low, self.high & other.high,
            self.visited | other.visited, self.open & other.open,
            np.maximum(self.smallest, other.smallest), np.minimum(self.largest, other.largest),
        )  # fmt: skip

    def allow(self, Z: np.ndarray) -> np.ndarray:
        """Which 0/1 rows meet the constraints on edges and sizes; shape (n,)."""
        Z = np.asarray(Z).astype(bool)
        size = Z.sum(axis=1)  # a cycle has as many edges as nodes
        good: np.ndarray = (size >= self.smallest) & (size <= self.largest)
        good &= ((self.low <= Z) & (self.high >= Z)).all(axis=1)
        return good

    def allow_nodes(self, visited: np.ndarray) -> np.ndarray:
        """Which rows visit (n, N) what they must and nothing that they must not; shape (n,)."""
        return np.all((self.visited <= visited) & (self.open >= visited), axis=1)

    def arcs(self, table: EdgeTable) -> tuple[CycleConstraints, np.ndarray, np.ndarray]:
        """The constraints with what follows from known edges, and known edges as matrices.

        Ends of an edge that must be used are visited; where the way out of a node or into
        it is known, there is no other.

        Returns
        -------
        constraints : CycleConstraints
        must, may : bool arrays of shape (1 or n, N, N)
        """
        must, may = _matrix(self.low, table), _matrix(self.high, table)
        out, into = np.any(must, axis=2, keepdims=True), np.any(must, axis=1, keepdims=True)
        visited = self.visited | out[:, :, 0] | into[:, 0]
        if not table.directed:  # a node has two edges: others go when both are known
            out = must.sum(axis=2, keepdims=True) > 1
            into = out.swapaxes(1, 2)
        may = may & (must | ~(out | into))
        may = may & self.open[:, :, None] & self.open[:, None, :]
        return replace(self, visited=visited), must, may


def _matrix(mask: np.ndarray, table: EdgeTable) -> np.ndarray:
    matrix = np.zeros((len(mask), len(table.nodes), len(table.nodes)), bool)
    u, v = table.edges.T
    matrix[:, u, v] = mask
    if not table.directed:
        matrix[:, v, u] = mask
    return matrix


def read_sizes(value: Any, argument: str, used_by: str) -> np.ndarray | None:
    """A number of nodes, or one for each row, as an array; None where none is given."""
    if value is None:
        return None
    values = [value] if np.ndim(value) == 0 else list(value)
    if not values:
        raise ValueError(f"{used_by}: {argument} is a number of nodes, or one per row; got none.")
    return np.array([check_size(size, argument, used_by) for size in values], dtype=np.int64)
