# SPDX-License-Identifier: BSD-3-Clause
"""Directed acyclic graphs as arrays, and their closed sets of least cost."""

from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.saving import require, savable, whole_numbers


@savable
class Dag:
    """An immutable graph of ``n_nodes`` nodes with arcs from parents to children.

    Nodes keep the caller's numbers everywhere but in the compiled solvers, which
    see position ``t`` of a topological order: node ``order[t]``. Copying costs
    nothing, since nothing in it can change.

    Parameters
    ----------
    n_nodes : int
    parents, children : arrays of shape (n_arcs,)
        One arc ``parents[e] -> children[e]`` per entry; repeated arcs count once.
    """

    _saved_arguments = ("depth", "parents", "children")

    def __init__(self, n_nodes: int, parents: ArrayLike, children: ArrayLike) -> None:
        arcs = np.column_stack([children, parents]).astype(np.int64).reshape(-1, 2)
        arcs = np.unique(arcs, axis=0)
        self.n_nodes = n_nodes
        self.children, self.parents = arcs[:, 0], arcs[:, 1]  # sorted by child
        self.order, self.depth = _topological(n_nodes, self.parents, self.children)
        self._freeze()

    def _freeze(self) -> None:
        """Number the nodes by their order; nothing changes from here on."""
        self.position = np.empty(self.n_nodes, np.int64)
        self.position[self.order] = np.arange(self.n_nodes)
        for array in (self.children, self.parents, self.order, self.position, self.depth):
            array.setflags(write=False)

    @classmethod
    def _from_saved(cls, depth: np.ndarray, parents: np.ndarray, children: np.ndarray) -> "Dag":
        """The graph, if its arcs lead from each depth to larger ones and depths are no deeper."""
        n = len(whole_numbers(depth, 0, 2**62, "a graph"))
        ends = [
            whole_numbers(part, 0, n, "a graph").astype(np.int64) for part in (children, parents)
        ]
        arcs = np.column_stack(ends).reshape(-1, 2)
        longest = np.zeros(n, np.int64)
        np.maximum.at(longest, arcs[:, 0], depth[arcs[:, 1]] + 1)
        sound = np.array_equal(longest, depth) and np.array_equal(np.unique(arcs, axis=0), arcs)
        require(sound, "a graph that is none, or has a cycle")
        # As __init__ makes it, without its loop over levels, of which a file could have a million.
        made = object.__new__(cls)
        made.n_nodes, made.depth = n, longest
        made.children, made.parents = arcs[:, 0], arcs[:, 1]
        made.order = np.lexsort((np.arange(n), longest))
        made._freeze()
        return made

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    @cached_property
    def n_parents(self) -> np.ndarray:
        return np.bincount(self.children, minlength=self.n_nodes)

    @cached_property
    def n_children(self) -> np.ndarray:
        return np.bincount(self.parents, minlength=self.n_nodes)

    @property
    def is_forest(self) -> bool:
        return self.n_nodes == 0 or int(self.n_parents.max()) <= 1

    @cached_property
    def roots(self) -> np.ndarray:
        return np.flatnonzero(self.n_parents == 0)

    @cached_property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.n_children == 0)

    @cached_property
    def parents_of(self) -> list[np.ndarray]:
        """The parents of every node."""
        start = np.searchsorted(self.children, np.arange(self.n_nodes + 1))
        return [self.parents[a:b] for a, b in pairwise(start)]

    @cached_property
    def parent_of(self) -> np.ndarray:
        """The parent of every node of a forest, -1 for roots."""
        parent = np.full(self.n_nodes, -1, np.int64)
        parent[self.children] = self.parents
        return parent

    @cached_property
    def ancestors(self) -> sparse.csr_array:
        """Row j marks the ancestors of node j and j itself; shape (n_nodes, n_nodes)."""
        rows: list[np.ndarray] = [np.empty(0, np.int64)] * self.n_nodes
        for node in self.order:
            above = [rows[p] for p in self.parents_of[node]]
            rows[node] = np.unique(np.concatenate([*above, [node]]))
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices = np.concatenate(rows) if rows else np.empty(0, np.int64)
        shape = (self.n_nodes, self.n_nodes)
        return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)

    @cached_property
    def arc_arrays(self) -> tuple[np.ndarray, ...]:
        """Arcs in topological positions, by child and by parent, for compiled loops.

        ``(out_start, out, in_start, inn, in_arc)``: the parents of position v are
        ``out[out_start[v]:out_start[v + 1]]``, its children ``inn[in_start[v]:...]``,
        and ``in_arc`` gives the number of the arc that each child has in ``out``.
        """
        child, parent = self.position[self.children], self.position[self.parents]
        by_child = np.lexsort((parent, child))
        child, parent = child[by_child], parent[by_child]
        ends = np.arange(self.n_nodes + 1)
        by_parent = np.lexsort((child, parent))
        out_start = np.searchsorted(child, ends)
        in_start = np.searchsorted(parent[by_parent], ends)
        arrays = (out_start, parent, in_start, child[by_parent], by_parent)
        return tuple(array.astype(np.int32) for array in arrays)

    @cached_property
    def preorder(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes of a forest, each before its subtree, and where each subtree ends."""
        return _preorder(self.parent_of, self.roots)


def _topological(
    n_nodes: int, parents: np.ndarray, children: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Kahn's order, lowest number first within a level; the longest path above each node."""
    if not len(parents):  # often, and there may be millions: edges of a complete graph
        return np.arange(n_nodes), np.zeros(n_nodes, np.int64)
    waiting = np.bincount(children, minlength=n_nodes)
    by_parent = np.argsort(parents, kind="stable")
    below = children[by_parent]
    start = np.searchsorted(parents[by_parent], np.arange(n_nodes + 1))
    depth = np.zeros(n_nodes, np.int64)
    order: list[np.ndarray] = []
    level = np.flatnonzero(waiting == 0)
    while len(level):
        order.append(level)
        depth[level] = len(order) - 1
        count = start[level + 1] - start[level]
        first = np.repeat(start[level] - np.cumsum(count) + count, count)
        reached = below[first + np.arange(len(first))]
        np.subtract.at(waiting, reached, 1)
        reached = np.unique(reached)
        level = reached[waiting[reached] == 0]
    listed = np.concatenate(order) if order else np.empty(0, np.int64)
    if len(listed) < n_nodes:
        raise ValueError(f"cycle through node {np.flatnonzero(waiting > 0)[0]}")
    return listed, depth


def _preorder(parent: np.ndarray, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    below: list[list[int]] = [[] for _ in parent]
    for node in range(len(parent) - 1, -1, -1):
        if parent[node] >= 0:
            below[parent[node]].append(node)
    order, stack = [], list(roots[::-1])
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(below[node])
    position = np.empty(len(parent), np.int64)
    position[order] = np.arange(len(parent))
    size = np.ones(len(parent), np.int64)
    for node in reversed(order):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    order_array = np.array(order, dtype=np.int64)
    return order_array, position[order_array] + size[order_array]


def dag_closed_sets(costs: np.ndarray, dag: Dag) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimum-cost ancestor-closed set of every row, its cost, and a lower bound from the flow."""
    from skstruct.spaces.solvers._numba_closures import closures

    order = np.array(dag.order)  # one that can be written: kernels are compiled once for such
    return closures(np.ascontiguousarray(costs), order, *dag.arc_arrays)


def forest_closed_sets(costs: np.ndarray, dag: Dag) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost ancestor-closed set of every row, and its cost."""
    from skstruct.spaces.solvers._numba_closures import closed_sets

    parent = _parents(dag)
    parent = np.where(parent >= 0, parent, dag.n_nodes)
    return closed_sets(np.ascontiguousarray(costs), dag.order, parent)


def forest_exclusive_sets(costs: np.ndarray, dag: Dag, group: np.ndarray) -> np.ndarray:
    """The same with at most one node of each group of siblings; ``group[j]`` is -1 for none."""
    from skstruct.spaces.solvers._numba_closures import exclusive_sets

    group = np.ascontiguousarray(group[dag.order])
    return exclusive_sets(np.ascontiguousarray(costs), dag.order, _parents(dag), group)


def forest_sized_sets(
    costs: np.ndarray,
    dag: Dag,
    low: np.ndarray,
    high: np.ndarray,
    smallest: int,
    largest: int,
    *,
    per_size: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """The same with smallest..largest nodes: outputs and values, infinite where infeasible."""
    from skstruct.spaces.solvers._numba_closures import sized_sets

    preorder, end = dag.preorder
    largest = min(largest, dag.n_nodes)
    c, must, may = (np.ascontiguousarray(a) for a in (costs, low, high))
    return sized_sets(c, must, may, preorder, end, smallest, largest, per_size)


def _parents(dag: Dag) -> np.ndarray:
    """Topological position of the parent of each topological position; -1 for roots."""
    parent = dag.parent_of[dag.order]
    return np.where(parent >= 0, dag.position[parent], -1)
