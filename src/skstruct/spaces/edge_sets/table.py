# SPDX-License-Identifier: BSD-3-Clause
"""Named nodes, the edges that are possible between them, and the column of each edge."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import is_networkx
from skstruct.spaces.common.formats import (
    check_distinct,
    check_numbered,
    in_columns,
    in_order,
    plain_name,
    unknown_label,
)
from skstruct.spaces.constraints import is_label, label_mask

CONTAINERS = (set, frozenset, list, tuple)


def complete_edges(n_nodes: int, directed: bool) -> np.ndarray:
    """All pairs u < v, or all ordered pairs u != v, row by row; shape (d, 2)."""
    if not directed:
        return np.column_stack(np.triu_indices(n_nodes, 1)).astype(np.int64)
    return np.argwhere(~np.eye(n_nodes, dtype=bool)).astype(np.int64)


def edge_numbers(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """Number of the edge between two nodes, in either order; -1 for none; (n_nodes, n_nodes)."""
    number = np.full((n_nodes, n_nodes), -1, np.int64)
    u, v = edges.T
    number[u, v] = number[v, u] = np.arange(len(edges))
    return number


def read_nodes(nodes: Any, used_by: str) -> tuple[Any, ...]:
    """Names of the nodes from names, their number, or a networkx graph that has them."""
    if isinstance(nodes, (int, np.integer)) and not isinstance(nodes, bool):
        nodes = range(int(nodes))
    elif is_networkx(nodes):
        nodes = in_columns(nodes.nodes)
    elif isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable) or runs_dry(nodes):
        raise ValueError(
            f"{used_by}: nodes are a sequence of names, or how many there are; got {nodes!r}."
        )
    names = check_distinct(map(plain_name, in_order(nodes)), used_by)
    if len(names) < 2:
        raise ValueError(f"{used_by}: edges need at least two nodes; got {len(names)}.")
    return names


def check_numbered_nodes(nodes: Any, names: tuple[Any, ...], used_by: str) -> None:
    """Raise where an array is to be matched with nodes of a graph that are other numbers than those
    of its columns: their order is nobody's. That of a list was said.
    """
    if is_networkx(nodes):
        check_numbered(names, "an array", "give nodes=[...] in the order of Y", used_by)


def runs_dry(nodes: Any) -> bool:
    """Whether this can be read but once; a clone reads it again."""
    return hasattr(nodes, "__next__")


def edges_of(row: Any) -> Any:
    """Pairs of names, from a networkx graph or a collection of them."""
    return row.edges() if is_networkx(row) else row


class EdgeTable:
    """The possible edges between named nodes, and the column of each.

    Parameters
    ----------
    nodes : tuple of names
    edges : int array of shape (d, 2)
        Positions in ``nodes``, an edge per column of the indicators.
    directed : bool
        Without direction a pair of names means the same in either order.
    """

    def __init__(self, nodes: tuple[Any, ...], edges: np.ndarray, directed: bool) -> None:
        self.nodes, self.edges, self.directed = nodes, edges, directed
        self.number = {name: v for v, name in enumerate(nodes)}

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """Pairs of names, one per column."""
        return tuple((self.nodes[u], self.nodes[v]) for u, v in self.edges.tolist())

    @cached_property
    def column(self) -> np.ndarray:
        """Column of the edge between two positions, -1 where none is possible; (N, N)."""
        if not self.directed:
            return edge_numbers(len(self.nodes), self.edges)
        column = np.full((len(self.nodes), len(self.nodes)), -1, np.int64)
        column[tuple(self.edges.T)] = np.arange(len(self.edges))
        return column

    @cached_property
    def column_of(self) -> dict[Any, Any]:
        """Column of every possible pair of names, in either order without direction."""
        columns = {pair: j for j, pair in enumerate(self.labels)}
        if not self.directed:
            columns |= {(v, u): j for (u, v), j in columns.items()}
        return columns

    def is_pair(self, item: Any) -> bool:
        """Whether this is a pair of names of nodes."""
        if not isinstance(item, (tuple, list, set, frozenset)) or len(item) != 2:
            return False
        try:
            return all(name in self.number for name in item)
        except TypeError:  # not hashable, so not a name
            return False

    def find(self, pair: Any, where: str, used_by: str) -> int:
        """Column of a pair of names; an error says where it stood and what is wrong."""
        if isinstance(pair, tuple) and is_label(pair, self.column_of):
            return int(self.column_of[pair])
        if not isinstance(pair, (tuple, list, set, frozenset, np.ndarray)) or len(pair) != 2:
            loop = isinstance(pair, (set, frozenset)) and len(pair) == 1
            what = "a self-loop" if loop else "not a pair of nodes"
            raise ValueError(f"{used_by}: {where} {pair!r}, which is {what}.")
        if self.directed and isinstance(pair, (set, frozenset)):
            raise ValueError(f"{used_by}: {where} {pair!r}, which has no direction.")
        ends = [plain_name(name) for name in pair]
        for name in ends:
            if not is_label(name, self.number):
                message = unknown_label(where, name, self.nodes, used_by)
                raise ValueError(message.replace("the label", "the node"))
        u, v = (self.number[name] for name in ends)
        if u == v:
            raise ValueError(f"{used_by}: {where} the self-loop {tuple(ends)!r}.")
        if self.column[u, v] < 0:
            raise ValueError(
                f"{used_by}: {where} {tuple(ends)!r}, which is not one of the {len(self.edges)} "
                "possible edges."
            )
        return int(self.column[u, v])

    def check_kind(self, graph: Any, where: str, used_by: str) -> None:
        """Refuse a networkx graph with directions where edges have none, or without."""
        if graph.is_directed() != self.directed:
            given = "directed" if graph.is_directed() else "not directed"
            raise ValueError(
                f"{used_by}: {where} is {given}, but edges here are "
                f"{'directed' if self.directed else 'not'}."
            )

    def mask(self, pairs: Any, argument: str, used_by: str) -> np.ndarray:
        """Marks the named edges: (1, d), or (n, d) when there is a collection per row."""
        if pairs is None or isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
            return label_mask(pairs, self.labels, argument, used_by)
        if isinstance(pairs, np.ndarray) and pairs.dtype != object:
            if pairs.ndim == 1 or pairs.shape[-1] != 2 or len(self.edges) == 2:
                return label_mask(pairs, self.labels, argument, used_by)
            pairs = pairs.tolist()
        if is_networkx(pairs):
            self.check_kind(pairs, argument, used_by)
        items = list(edges_of(pairs))
        if self.is_pair(items) and not any(self.is_pair(item) for item in items):
            raise ValueError(
                f"{used_by}: {argument} is a list of pairs of nodes; for one pair give "
                f"[{tuple(items)!r}]."
            )
        by_row = bool(items) and all(
            is_networkx(item) or (isinstance(item, CONTAINERS) and not self._means_edge(item))
            for item in items
        )
        rows = items if by_row else [items]
        mask = np.zeros((len(rows), len(self.edges)), bool)
        for i, row in enumerate(rows):
            where = f"{argument}[{i}] holds" if by_row else f"{argument} holds"
            if is_networkx(row):
                self.check_kind(row, f"{argument}[{i}]", used_by)
            for pair in edges_of(row):
                mask[i, self.find(pair, where, used_by)] = True
        return mask

    def _means_edge(self, item: Any) -> bool:
        """Whether this is an edge or a mistaken one, rather than a row of edges."""
        return self.is_pair(item) or not all(isinstance(part, CONTAINERS) for part in item)
