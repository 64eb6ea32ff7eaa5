# SPDX-License-Identifier: BSD-3-Clause
"""Named labels, the arcs and the edges between them, read from whatever the user has."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.foreign import of_pandas
from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.saving import require, savable
from skstruct.spaces.common.formats import (
    check_distinct,
    check_writable,
    in_columns,
    in_order,
    is_missing_name,
    number_columns,
    unknown_label,
)
from skstruct.spaces.solvers.dags import Dag


@savable
class LabelGraph:
    """An immutable hierarchy of named labels; copying it costs nothing.

    Parameters
    ----------
    names : tuple
        The labels, in the order of the columns of an indicator array.
    arcs : sequence of (parent, child) pairs of positions in ``names``
    used_by : str
        Who asks, for messages.
    """

    unordered = False  # whether labels are numbers, and nobody said which column is which

    def __init__(self, names: tuple[Any, ...], arcs: Any, used_by: str = "A hierarchy") -> None:
        arcs = np.array(list(arcs), dtype=np.int64).reshape(-1, 2)
        self.names = tuple(names)
        try:
            self.dag = Dag(len(self.names), arcs[:, 0], arcs[:, 1])
        except ValueError:
            cycle = " -> ".join(repr(self.names[v]) for v in _find_cycle(len(names), arcs))
            raise ValueError(f"{used_by} has no cycles, but here is one: {cycle}.") from None

    def _check_saved(self) -> None:
        fits = type(self.names) is tuple and isinstance(self.dag, Dag)
        require(fits and len(self.names) == self.dag.n_nodes, "a graph of labels that is none")

    @classmethod
    def read(cls, edges: Any, labels: Any = None) -> LabelGraph:
        """From (parent, child) pairs, a child -> parent mapping, a DiGraph or path strings."""
        if isinstance(edges, LabelGraph) and labels is None:
            return edges
        names, pairs = _all_names(edges, labels, "Hierarchy")
        number = {name: j for j, name in enumerate(names)}
        return cls(names, [(number[p], number[c]) for p, c in pairs])._marked(edges, labels)

    @classmethod
    def of_order(cls, relation: Any, labels: Any = None) -> LabelGraph:
        """The covers of a partial order: arcs that follow from others are left out.

        ``relation`` is anything that ``read`` takes, transitive or not; pairs of an element
        with itself say nothing.
        """
        names, pairs = _all_names(relation, labels, "Poset")
        number = {name: j for j, name in enumerate(names)}
        arcs = [(number[p], number[c]) for p, c in pairs if number[p] != number[c]]
        above = cls(names, arcs, "A partial order").dag.ancestors
        strictly = above - sparse.eye_array(len(names))
        strictly.eliminate_zeros()
        child, parent = (strictly - strictly.multiply(strictly @ strictly > 0)).nonzero()
        return cls(names, np.column_stack([parent, child]))._marked(relation, labels)

    def _marked(self, edges: Any, labels: Any) -> Self:
        """This graph, which notes whether its labels are numbers in an order of nobody's."""
        given = labels is not None or isinstance(edges, LabelGraph)
        if not given and not number_columns(self.names):
            self.unordered = True
        return self

    def check_columns(self, kind: str, used_by: str) -> None:
        """Raise where columns without names cannot be matched with labels that are numbers."""
        if self.unordered and kind in ("array", "sparse"):
            some = ", ".join(map(repr, self.names[:4]))
            raise ValueError(
                f"{used_by}: the columns of Y have no names, and the labels are numbers other "
                f"than 0 to {len(self.names) - 1} ({some}, in order of appearance): say which "
                "column is which, labels=[...], or give a DataFrame."
            )

    @cached_property
    def number(self) -> dict[Any, Any]:
        return {name: j for j, name in enumerate(self.names)}

    def __reduce__(self) -> tuple[Any, ...]:
        """Names and arcs alone: what can be computed again is not stored."""
        arcs = np.column_stack([self.dag.parents, self.dag.children])
        return LabelGraph, (self.names, arcs), {"unordered": True} if self.unordered else None

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        shape = "forest" if self.dag.is_forest else "DAG"
        return f"LabelGraph({len(self.names)} labels, {len(self.dag.parents)} arcs, {shape})"


def _all_names(edges: Any, labels: Any, used_by: str) -> tuple[tuple[Any, ...], list[Any]]:
    """All labels in the order of columns, and (parent, child) pairs of them."""
    names, pairs = _named_pairs(edges, used_by)
    if labels is not None:
        labels = check_distinct(labels, used_by)
        known = set(labels)
        for name in names:
            if name not in known:
                raise ValueError(unknown_label("edges hold", name, labels, used_by))
        names = labels
    elif not isinstance(edges, LabelGraph):
        names = in_columns(names)
    if not names:
        raise ValueError(f"{used_by}: no label at all; give edges or labels.")
    for name in filter(is_missing_name, names):
        raise ValueError(f"{used_by}: edges hold {name!r}; a missing value cannot be a label.")
    check_writable(names)
    return tuple(names), pairs


def _named_pairs(edges: Any, used_by: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Names in order of appearance, and (parent, child) pairs of names."""
    if isinstance(edges, LabelGraph):
        dag, names = edges.dag, edges.names
        return list(names), [(names[p], names[c]) for p, c in zip(dag.parents, dag.children)]
    if is_networkx(edges):
        if not edges.is_directed():
            raise ValueError(f"{used_by}: the graph is not directed; give a networkx.DiGraph.")
        return list(edges.nodes), list(edges.edges())
    if isinstance(edges, Mapping):
        pairs: list[tuple[Any, ...]] = []
        found: list[Any] = []
        for child, parents in edges.items():
            several = isinstance(parents, (list, tuple, set, frozenset))
            above = [] if parents is None else list(in_order(parents)) if several else [parents]
            pairs += [(parent, child) for parent in above]
            found += [parent for parent in above if parent not in edges]
            found.append(child)
        return _in_order(found, used_by), pairs
    edges = _rows_of_pairs(edges, used_by)
    if not (edges is None or isinstance(edges, Iterable)):
        raise ValueError(
            f"{used_by}: edges are (parent, child) pairs, a child -> parent mapping, a "
            f"networkx.DiGraph or path strings; got {edges!r}."
        )
    items = [] if edges is None else list(in_order(edges))
    if items and all(isinstance(item, str) for item in items):
        return _path_pairs(items, used_by)
    for i, item in enumerate(items):
        if isinstance(item, (str, bytes)) or not hasattr(item, "__len__") or len(item) != 2:
            raise ValueError(
                f"{used_by}: edges are (parent, child) pairs, a child -> parent mapping, a "
                f"networkx.DiGraph or path strings; edges[{i}] is {item!r}."
            )
    pairs = [(parent, child) for parent, child in items]
    return _in_order([name for pair in pairs for name in pair], used_by), pairs


def _rows_of_pairs(edges: Any, used_by: str) -> Any:
    """The rows of a frame of two columns, which iterates over columns; anything else as it is."""
    edges = of_pandas(edges)
    if not is_pandas(edges, "DataFrame"):
        return edges
    if edges.shape[1] != 2:
        raise ValueError(
            f"{used_by}: a frame of edges has two columns, parents and children; got "
            f"{edges.shape[1]}."
        )
    return list(edges.itertuples(index=False, name=None))


def _path_pairs(paths: list[str], used_by: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Every prefix of a path string is a label: "1/2/3" is a child of "1/2"."""
    names, pairs = [], []
    for i, path in enumerate(paths):
        steps = path.split("/")
        if not all(steps):
            raise ValueError(f"{used_by}: the path {path!r} (number {i}) has an empty step.")
        prefixes = ["/".join(steps[: k + 1]) for k in range(len(steps))]
        names += prefixes
        pairs += list(itertools.pairwise(prefixes))
    return _in_order(names, used_by), pairs


def _in_order(names: list[Any], used_by: str) -> list[Any]:
    try:
        return list(dict.fromkeys(names))
    except TypeError as error:
        raise ValueError(f"{used_by}: a label must be hashable ({error}).") from None


def _find_cycle(n: int, arcs: np.ndarray) -> list[int]:
    """Nodes of some cycle, the first one repeated at the end."""
    above: dict[int, list[int]] = {}
    for parent, child in arcs:
        above.setdefault(int(child), []).append(int(parent))
    # A node whose ancestors never end lies on or below a cycle: walk up from it.
    alive = set(range(n))
    while True:
        dead = {v for v in alive if not any(p in alive for p in above.get(v, []))}
        if not dead:
            break
        alive -= dead
    path = [min(alive)]
    while True:
        step = next(p for p in above[path[-1]] if p in alive)
        if step in path:
            return [step, *reversed(path[path.index(step) :])]
        path.append(step)


def node_names(graph: Any) -> list[Any]:
    """The nodes that a graph brings itself: those of a graph of networkx."""
    return in_columns(graph.nodes) if is_networkx(graph) else []


def read_edges(graph: Any, labels: tuple[Any, ...], used_by: str) -> np.ndarray:
    """Pairs i < j of positions in ``labels``, sorted, each once; int64 of shape (E, 2).

    Parameters
    ----------
    graph : "empty", "full", pairs of labels, or a networkx graph
    labels : tuple

    Examples
    --------
    >>> read_edges([("c", "a"), ("b", "c"), ("a", "c")], ("a", "b", "c"), "PairwiseLabels")
    array([[0, 2],
           [1, 2]])
    """
    if isinstance(graph, str) and graph in ("empty", "full"):
        n = len(labels) if graph == "full" else 0
        return np.column_stack(np.triu_indices(n, 1)).astype(np.int64)
    if isinstance(graph, (str, bytes)) or not (is_networkx(graph) or isinstance(graph, Iterable)):
        raise ValueError(
            f"{used_by}: graph is 'empty', 'full', a list of pairs of labels or a networkx "
            f"graph; got {graph!r}."
        )
    if hasattr(graph, "__next__"):
        raise ValueError(f"{used_by}: graph is read more than once; give list(graph).")
    number = {name: j for j, name in enumerate(labels)}
    pairs = list(graph.edges()) if is_networkx(graph) else list(graph)
    found = {_positions(pair, number, k, used_by) for k, pair in enumerate(pairs)}
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _positions(
    pair: tuple[Any, Any], number: dict[Any, Any], k: int, used_by: str
) -> tuple[int, int]:
    """The two labels of an edge as positions, the lower first."""
    try:
        first, second = pair if not isinstance(pair, (str, bytes)) else ()
    except (TypeError, ValueError):
        raise ValueError(
            f"{used_by}: an edge is a pair of labels; graph[{k}] is {pair!r}."
        ) from None
    for name in (first, second):
        try:
            known = name in number
        except TypeError as error:
            raise ValueError(f"{used_by}: a label must be hashable ({error}).") from None
        if not known:
            raise ValueError(unknown_label(f"graph[{k}] holds", name, number, used_by))
    if first == second:
        raise ValueError(f"{used_by}: graph[{k}] joins the label {first!r} with itself.")
    i, j = number[first], number[second]
    return min(i, j), max(i, j)
