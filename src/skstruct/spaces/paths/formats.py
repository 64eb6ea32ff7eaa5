# SPDX-License-Identifier: BSD-3-Clause
"""Paths in the user's own format: nodes along the way, arcs, or 0/1 rows with a column per arc."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import plain_name, read_label_sets, refuse_empty, unknown_label
from skstruct.spaces.constraints import is_label
from skstruct.spaces.paths.arcs import NAME, ArcTable


@savable
@dataclass(frozen=True)
class PathFormat:
    """How paths were written: what ``write`` gives back."""

    kind: str = "nodes"  # "nodes", "arcs" or "table"
    container: Any = list  # of a row
    series: Any = None  # the name of a pandas Series, in a tuple of its own
    table: Any = None  # a LabelSetFormat

    def write(self, Z: np.ndarray, nodes: np.ndarray, table: ArcTable, index: Any = None) -> Any:
        """Paths Z (n, d) along nodes (n, longest + 1), -1 behind the end, in this format."""
        if self.kind == "table":
            return self.table.write(Z, table.labels, index)
        rows = np.empty(len(Z), dtype=object)
        for i, row in enumerate(nodes.tolist()):
            names = [table.nodes[v] for v in row if v >= 0]
            if self.kind == "arcs":
                names = [self._arc(pair, table) for pair in itertools.pairwise(names)]
            rows[i] = self.container(names)
        if self.series is not None:
            import pandas

            return pandas.Series(rows, index=index, name=self.series[0])
        return rows

    @staticmethod
    def _arc(pair: Any, table: ArcTable) -> Any:
        return table.labels[table.column_of[pair]]


def read_paths(Y: Any, table: ArcTable) -> tuple[np.ndarray, PathFormat]:
    """Arcs of every row, int8 (n, d), and the format of ``Y``; whether these are paths is open."""
    if is_pandas(Y, "DataFrame") or sparse.issparse(Y) or _is_numeric(Y):
        return _from_table(Y, table)
    if is_pandas(Y, "Series"):
        Z, format = read_paths(list(Y), table)
        if format.kind == "table":
            raise ValueError(f"{NAME}: a Series holds lists of nodes, or of arcs.")
        return Z, replace(format, series=(Y.name,))
    if isinstance(Y, (str, bytes)) or not isinstance(Y, Iterable):
        raise ValueError(f"{NAME} expects a list of paths, one per sample; got {Y!r}.")
    rows: list[Any] = list(Y)
    refuse_empty(rows, NAME)
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes, set, frozenset)) or not hasattr(row, "__len__"):
            raise ValueError(
                f"{NAME} expects a list of nodes, or of arcs, in each row; Y[{i}] is {row!r}."
            )
    if _are_indicators(rows, table):
        return _from_table(np.array(rows), table)
    container = tuple if isinstance(rows[0], tuple) else list
    entry = next((row[0] for row in rows if len(row)), None)
    of_nodes = is_label(plain_name(entry), table.number) or not isinstance(entry, (tuple, list))
    kind = "nodes" if of_nodes and any(map(len, rows)) else "arcs"
    Z = np.zeros((len(rows), len(table.edges)), np.int8)
    for i, row in enumerate(rows):
        arcs = _steps(row, table, i) if kind == "nodes" else row
        for arc in arcs:
            j = table.find(arc, f"Y[{i}] holds", NAME)
            if Z[i, j]:
                raise ValueError(f"{NAME}: Y[{i}] takes {table.labels[j]!r} twice.")
            Z[i, j] = 1
    return Z, PathFormat(kind, container)


def _from_table(Y: Any, table: ArcTable) -> tuple[np.ndarray, PathFormat]:
    Z, _, format = read_label_sets(Y, table.labels, used_by=NAME)
    return Z, PathFormat("table", table=format)


def _is_numeric(Y: Any) -> bool:
    return isinstance(Y, np.ndarray) and Y.dtype != object and Y.ndim == 2


def _are_indicators(rows: list[Any], table: ArcTable) -> bool:
    """Whether rows are 0/1 numbers, one per arc, rather than a few of the nodes."""
    numbers, d = (int, float, np.number, np.bool_), len(table.edges)
    if any(len(row) != d for row in rows):
        return False
    if not all(isinstance(entry, numbers) and entry in (0, 1) for row in rows for entry in row):
        return False
    return not all(len(set(row)) == d and set(row) <= set(table.number) for row in rows)


def _steps(row: Any, table: ArcTable, i: int) -> list[Any]:
    """Arcs between the nodes of a path."""
    names = [plain_name(name) for name in row]
    if not names:
        raise ValueError(f"{NAME}: Y[{i}] has no nodes; a path has at least its source.")
    for name in names:
        if not is_label(name, table.number):
            message = unknown_label(f"Y[{i}] holds", name, table.nodes, NAME)
            raise ValueError(message.replace("the label", "the node"))
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"{NAME}: Y[{i}] visits {twice!r} twice; a path visits a node once.")
    return list(itertools.pairwise(names))


def trace_paths(
    table: ArcTable, Z: np.ndarray, source: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes along 0/1 rows, int64 (n, longest + 1), -1 behind the end; which rows are paths.

    Parameters
    ----------
    source, target : int arrays of shape (n,)
        The ends that paths have; -1 for any.
    """
    from skstruct.spaces.paths._numba_enumeration import trace

    Z = np.ascontiguousarray(Z, dtype=np.int8)
    longest = int(Z.sum(axis=1, dtype=np.int64).max(initial=0))
    nodes, is_path = np.full((len(Z), longest + 1), -1, np.int64), np.zeros(len(Z), bool)
    ends = (np.ascontiguousarray(end, dtype=np.int64) for end in (source, target))
    steps = table.steps
    graph = table.edges, table.directed, steps.first, steps.target, steps.column
    trace(Z, *graph, *ends, nodes, is_path)
    return nodes, is_path
