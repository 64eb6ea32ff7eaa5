# SPDX-License-Identifier: BSD-3-Clause
"""Sets of edges in the user's own format: pairs of names, networkx graphs, arrays."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import (
    is_missing_name,
    plain_name,
    refuse_empty,
    sorted_names,
    unknown_label,
)
from skstruct.spaces.edge_sets.table import CONTAINERS, EdgeTable, edges_of, read_nodes


@savable
@dataclass(frozen=True)
class GraphFormat:
    """How sets of edges were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "adjacency", "pairs" or "networkx"
    dtype: Any = np.int64
    container: Any = set  # of a row of pairs
    pair: Any = tuple  # of one edge: a tuple, a list or a frozenset
    series: Any = None  # the name of a pandas Series, in a tuple of its own

    def write(self, Z: np.ndarray, table: EdgeTable, index: Any = None) -> Any:
        """Indicator rows in this format."""
        if self.kind == "array":
            return Z.astype(self.dtype)
        if self.kind == "adjacency":
            n_nodes = len(table.nodes)
            adjacency = np.zeros((len(Z), n_nodes, n_nodes), self.dtype)
            u, v = table.edges.T
            adjacency[:, u, v] = Z
            if not table.directed:
                adjacency[:, v, u] = Z
            return adjacency
        rows = np.empty(len(Z), dtype=object)
        for i, row in enumerate(Z):
            if self.kind == "networkx":
                rows[i] = as_networkx(table, row)
            else:
                pairs = (self.pair(table.labels[j]) for j in np.flatnonzero(row))
                rows[i] = self.container(pairs)
        if self.series is not None:
            import pandas

            return pandas.Series(rows, index=index, name=self.series[0])
        return rows


def as_networkx(table: EdgeTable, row: np.ndarray) -> Any:
    """A row of indicators as a networkx graph with all nodes."""
    import networkx

    graph = networkx.DiGraph() if table.directed else networkx.Graph()
    graph.add_nodes_from(table.nodes)
    graph.add_edges_from(table.labels[j] for j in np.flatnonzero(row))
    return graph


def read_format(Y: Any, used_by: str) -> tuple[Any, GraphFormat]:
    """The rows of ``Y`` and the form they are written in.

    Rows are an indicator array (n, d), an adjacency array (n, N, N), or a list: of networkx
    graphs or of collections of pairs.
    """
    if is_networkx(Y) or is_pandas(Y, "DataFrame"):
        raise ValueError(
            f"{used_by} expects one graph per sample: a list of collections of pairs or of "
            f"networkx graphs, or an array (n, edges) or (n, nodes, nodes); got a "
            f"{type(Y).__name__}."
        )
    if is_pandas(Y, "Series"):
        rows, format = read_format(list(Y), used_by)
        if format.kind in ("array", "adjacency"):
            raise ValueError(f"{used_by}: a Series holds collections of pairs or networkx graphs.")
        return rows, replace(format, series=(Y.name,))
    if isinstance(Y, np.ndarray) and Y.dtype != object:
        if Y.ndim not in (2, 3) or len(Y) == 0:
            raise ValueError(
                f"{used_by} expects indicators of shape (n, edges) or adjacency arrays of shape "
                f"(n, nodes, nodes); got shape {Y.shape}."
            )
        return Y, GraphFormat("array" if Y.ndim == 2 else "adjacency", Y.dtype)
    if not isinstance(Y, Iterable):
        raise ValueError(f"{used_by} expects a list of graphs, one per sample; got {Y!r}.")
    rows = list(Y)
    refuse_empty(rows, used_by)
    if all(is_networkx(row) for row in rows):
        return rows, GraphFormat("networkx")
    if _are_arrays(rows):
        return read_format(np.array(rows), used_by)
    return rows, _pair_format(rows, used_by)


def _are_arrays(rows: list[Any]) -> bool:
    """Whether these are rows of 0/1 numbers, or square arrays of three rows or more.

    Two rows of two are a list of edges, each a pair of nodes.
    """
    if all(isinstance(row, np.ndarray) and row.ndim == 2 for row in rows):
        return len({row.shape for row in rows}) == 1 and rows[0].shape[0] == rows[0].shape[1]
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        return False
    return _are_number_rows(rows) or all(
        len(row) > 2 and len(row) == len(rows[0]) and _are_number_rows(row, len(row))
        for row in rows
    )


def _are_number_rows(rows: Any, width: int | None = None) -> bool:
    """Whether these are rows of so many numbers, or all of as many as the first."""
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        return False
    numbers = (int, float, np.number, np.bool_)
    width = len(rows[0]) if width is None else width
    return width > 0 and all(
        len(row) == width and all(isinstance(entry, numbers) for entry in row) for row in rows
    )


def _pair_format(rows: list[Any], used_by: str) -> GraphFormat:
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise ValueError(
                f"{used_by} expects a collection of pairs of nodes in each row; Y[{i}] is {row!r}."
            )
        if is_networkx(row):
            raise ValueError(f"{used_by}: Y[{i}] is a networkx graph, others are not.")
    container = type(rows[0]) if type(rows[0]) in CONTAINERS else list
    first = next((pair for row in rows for pair in row), ())
    pair = type(first) if type(first) in (list, frozenset) else tuple
    return GraphFormat("pairs", container=container, pair=pair)


def learn_nodes(rows: Any, format: GraphFormat, directed: bool, used_by: str) -> tuple[Any, ...]:
    """Names of the nodes that occur: sorted, or numbers where arrays do not name them."""
    if format.kind == "adjacency":
        return read_nodes(rows.shape[1], used_by)
    if format.kind == "array":
        d = rows.shape[1] * (1 if directed else 2)  # N (N - 1)
        n_nodes = round((1 + (1 + 4 * d) ** 0.5) / 2)
        if n_nodes < 2 or n_nodes * (n_nodes - 1) != d:
            raise ValueError(
                f"{used_by}: no number of nodes has {rows.shape[1]} pairs; give nodes, or one "
                "column per pair."
            )
        return read_nodes(n_nodes, used_by)
    names = set()
    for i, row in enumerate(rows):
        for item in [row.nodes] if format.kind == "networkx" else row:
            try:
                names |= {plain_name(name) for name in item}
            except TypeError:
                raise ValueError(
                    f"{used_by}: Y[{i}] holds {item!r}, which is not a pair of hashable nodes."
                ) from None
            if format.kind == "pairs" and isinstance(item, (str, bytes)):
                raise ValueError(f"{used_by}: Y[{i}] holds {item!r}, which is not a pair of nodes.")
            if any(map(is_missing_name, item)):
                raise ValueError(
                    f"{used_by}: Y[{i}] holds {item!r}, where a missing value cannot be a node."
                )
    return read_nodes(sorted_names(names), used_by)


def read_rows(rows: Any, format: GraphFormat, table: EdgeTable, used_by: str) -> np.ndarray:
    """The indicators of rows that :func:`read_format` gave; int8 of shape (n, d)."""
    if format.kind == "adjacency":
        return _from_adjacency(rows, table, used_by)
    if format.kind == "array":
        return _checked_bits(rows, len(table.edges), "edge", used_by)
    Z = np.zeros((len(rows), len(table.edges)), np.int8)
    for i, row in enumerate(rows):
        if format.kind == "networkx":
            _check_kind(row, table, i, used_by)
        for pair in edges_of(row):
            j = table.find(pair, f"Y[{i}] holds", used_by)
            if Z[i, j]:
                raise ValueError(f"{used_by}: Y[{i}] holds the edge {pair!r} twice.")
            Z[i, j] = 1
    return Z


def _check_kind(graph: Any, table: EdgeTable, i: int, used_by: str) -> None:
    table.check_kind(graph, f"Y[{i}]", used_by)
    for name in graph.nodes:
        if name not in table.number:
            message = unknown_label(f"Y[{i}] holds", name, table.nodes, used_by)
            raise ValueError(message.replace("the label", "the node"))


def _checked_bits(Y: Any, width: int, column: str, used_by: str) -> np.ndarray:
    if Y.shape[1] != width:
        raise ValueError(
            f"{used_by} expects Y of shape (n_samples, {width}), one column per possible "
            f"{column}; got shape {Y.shape}."
        )
    bad = ~((Y == 0) | (Y == 1))
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        position = ", ".join(str(k) for k in at)
        raise ValueError(f"{used_by} expects 0 or 1; Y[{position}] is {Y[at]!r}.")
    return np.ascontiguousarray(Y, dtype=np.int8)


def _from_adjacency(Y: Any, table: EdgeTable, used_by: str) -> np.ndarray:
    n_nodes = len(table.nodes)
    if Y.shape[1:] != (n_nodes, n_nodes):
        raise ValueError(
            f"{used_by} expects adjacency arrays of shape (n_samples, {n_nodes}, {n_nodes}); got "
            f"shape {Y.shape}."
        )
    Y = _checked_bits(Y, n_nodes, "node", used_by)
    if not table.directed and (Y.swapaxes(1, 2) != Y).any():
        i, u, v = np.argwhere(Y.swapaxes(1, 2) != Y)[0]
        raise ValueError(
            f"{used_by}: adjacency array Y[{i}] is not symmetric at [{u}, {v}], but edges here "
            "have no direction."
        )
    stray = np.argwhere((Y == 1) & (table.column < 0))
    if len(stray):
        i, u, v = (int(k) for k in stray[0])
        table.find((table.nodes[u], table.nodes[v]), f"Y[{i}] holds", used_by)  # says why
    u, v = table.edges.T
    return np.ascontiguousarray(Y[:, u, v])
