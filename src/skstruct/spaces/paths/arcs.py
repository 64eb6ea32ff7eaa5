# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of named nodes and arcs: how they are read, and in which order they can be passed."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_networkx
from skstruct.spaces.common.formats import (
    check_writable,
    is_missing_name,
    plain_name,
    unknown_label,
)
from skstruct.spaces.constraints import is_label
from skstruct.spaces.edge_sets.table import EdgeTable
from skstruct.spaces.solvers.state_graphs import StateGraph

NAME = "ShortestPaths"


@dataclass(frozen=True, eq=False)
class Steps:
    """Ways to go on from every node: those of node v are first[v]..first[v + 1].

    An edge without direction is two steps with the same column.
    """

    first: np.ndarray  # int64 (N + 1,)
    target: np.ndarray  # int32 (m,): where a step leads
    column: np.ndarray  # int32 (m,): the coordinate that it takes

    @classmethod
    def of(cls, n_nodes: int, tails: Any, heads: Any, columns: Any) -> Self:
        """In the order of columns at every node, so that the first of equal ones wins."""
        order = np.lexsort((columns, tails))
        first = np.searchsorted(tails[order], np.arange(n_nodes + 1)).astype(np.int64)
        return cls(first, heads[order].astype(np.int32), columns[order].astype(np.int32))

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @cached_property
    def origin(self) -> np.ndarray:
        """The node that each step leaves; int32 (m,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)).astype(np.int32)


class ArcTable(EdgeTable):
    """Arcs between named nodes, a column for each; see :class:`.EdgeTable`.

    Attributes
    ----------
    order : int array of shape (N,) or None
        Nodes such that all arcs lead onward; None where there is a cycle, and always
        without directions.
    """

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tails, heads and columns of all steps."""
        (u, v), column = self.edges.T, np.arange(len(self.edges))
        if self.directed:
            return u, v, column
        return np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([column, column])

    @cached_property
    def steps(self) -> Steps:
        """Steps by the node that they leave."""
        return Steps.of(len(self.nodes), *self.ends)

    @cached_property
    def back(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First, target and column of all steps turned round."""
        tails, heads, columns = self.ends
        steps = Steps.of(len(self.nodes), heads, tails, columns)
        return steps.first, steps.target, steps.column

    @cached_property
    def order(self) -> np.ndarray | None:
        if not self.directed:
            return None
        left = np.bincount(self.edges[:, 1], minlength=len(self.nodes)).tolist()
        first, target = self.steps.first.tolist(), self.steps.target.tolist()
        ready = deque(v for v, count in enumerate(left) if not count)
        order: list[int] = []
        while ready:
            v = ready.popleft()
            order.append(v)
            for w in target[first[v] : first[v + 1]]:
                left[w] -= 1
                if not left[w]:
                    ready.append(w)
        return np.array(order, np.int64) if len(order) == len(left) else None

    @cached_property
    def position(self) -> np.ndarray:
        """Place of every node in ``order``; int64 (N,)."""
        place = np.empty(len(self.nodes), np.int64)
        place[self.order] = np.arange(len(self.nodes))
        return place

    @cached_property
    def onward(self) -> StateGraph:
        """The graph without cycles, nodes numbered by their positions."""
        tails, heads, columns = self.ends
        n_nodes, place = len(self.nodes), self.position
        steps = Steps.of(n_nodes, place[tails], place[heads], columns)
        return StateGraph(steps.first, steps.target, steps.column, len(columns), n_nodes - 1)

    def node(self, name: Any, argument: str) -> int:
        """Number of a node."""
        name = plain_name(name)
        if not is_label(name, self.number):
            message = unknown_label(f"{argument} is", name, self.nodes, NAME)
            raise ValueError(message.replace("the label", "the node"))
        return int(self.number[name])

    def find(self, pair: Any, where: str, used_by: str) -> int:
        """Column of an arc; an error says where it stood and what is wrong."""
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            arc = tuple(map(plain_name, pair))
            if is_label(arc, self.column_of):
                return int(self.column_of[arc])
            for name in arc:
                if not is_label(name, self.number):
                    message = unknown_label(where, name, self.nodes, used_by)
                    raise ValueError(message.replace("the label", "the node"))
            turned = self.directed and arc[::-1] in self.column_of
            hint = f"; the arc leads from {arc[1]!r} to {arc[0]!r}" if turned else ""
            kind = "arc" if self.directed else "edge"
            raise ValueError(f"{used_by}: {where} {arc!r}, which is no {kind} of the graph{hint}.")
        return super().find(pair, where, used_by)


def read_graph(graph: Any) -> ArcTable:
    """Named nodes and arcs from a list of arcs, a networkx graph or a sparse adjacency."""
    directed = True
    if is_networkx(graph):
        if graph.is_multigraph():
            raise ValueError(
                f"{NAME}: arcs are known by their two nodes; got a {type(graph).__name__}. Put "
                "a node into each of several arcs between the same nodes."
            )
        directed, nodes, arcs = graph.is_directed(), list(graph.nodes), list(graph.edges)
    elif sparse.issparse(graph):
        nodes, arcs = _from_sparse(graph)
    else:
        nodes, arcs = _from_list(graph)
    if not arcs:
        raise ValueError(f"{NAME}: the graph has no arcs.")
    check_writable(nodes)
    number = {node: v for v, node in enumerate(nodes)}
    edges = np.array([[number[u], number[v]] for u, v in arcs], np.int64)
    table = ArcTable(tuple(nodes), edges, directed)
    _check_arcs(table)
    return table


def _check_arcs(table: ArcTable) -> None:
    loops = np.flatnonzero(table.edges[:, 0] == table.edges[:, 1])
    if len(loops):
        raise ValueError(
            f"{NAME}: arc {loops[0]} is the self-loop {table.labels[loops[0]]!r}, which is on no "
            "path; leave it out."
        )
    seen: set[Any] = set()
    for j, arc in enumerate(table.labels):
        if arc in seen:
            raise ValueError(
                f"{NAME}: arc {j} is {arc!r} once more. Of parallel arcs keep the one that is "
                "never dearer, or put a node into each."
            )
        seen.add(arc)


def _from_sparse(graph: Any) -> tuple[list[Any], list[Any]]:
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"{NAME}: an adjacency matrix is square; got shape {graph.shape}.")
    stored = sparse.coo_array(graph)
    kept = stored.data != 0
    row, column = stored.row[kept], stored.col[kept]
    order = np.lexsort((column, row))
    arcs = list(zip(row[order].tolist(), column[order].tolist()))
    return list(range(graph.shape[0])), list(dict.fromkeys(arcs))


def _from_list(graph: Any) -> tuple[list[Any], list[Any]]:
    graph = graph.tolist() if isinstance(graph, np.ndarray) else graph
    if isinstance(graph, (str, bytes)) or not isinstance(graph, Iterable):
        raise ValueError(
            f"{NAME}: graph is a list of arcs, a networkx graph or a sparse adjacency matrix; got "
            f"{graph!r}."
        )
    nodes: dict[Any, None] = {}
    arcs = []
    for j, arc in enumerate(graph):
        if isinstance(arc, (str, bytes)) or not hasattr(arc, "__len__") or len(arc) != 2:
            raise ValueError(f"{NAME}: an arc is (tail, head); arc {j} is {arc!r}.")
        pair = tuple(map(plain_name, arc))
        if any(map(is_missing_name, pair)):
            raise ValueError(f"{NAME}: arc {j} is {arc!r}; a missing value cannot be a node.")
        try:
            nodes.update(dict.fromkeys(pair))
        except TypeError as error:
            raise ValueError(f"{NAME}: arc {j} is {arc!r}; a node is hashable ({error}).") from None
        arcs.append(pair)
    return list(nodes), arcs


def grid_arcs(rows: int, columns: int) -> list[Any]:
    """Arcs east and south between (row, column): the east arcs of a row, then its south arcs."""
    arcs = []
    for i in range(rows):
        arcs += [((i, j), (i, j + 1)) for j in range(columns - 1)]
        if i < rows - 1:
            arcs += [((i, j), (i + 1, j)) for j in range(columns)]
    return arcs
