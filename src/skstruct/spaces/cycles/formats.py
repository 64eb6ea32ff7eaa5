# SPDX-License-Identifier: BSD-3-Clause
"""Cycles as lists of nodes in order of travel, the way back to the first one implied."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import plain_name, refuse_missing, sorted_names, unknown_label
from skstruct.spaces.cycles.tours import SHORTEST, rows_to_tours
from skstruct.spaces.edge_sets.table import EdgeTable

NUMBERS = (int, float, np.number, np.bool_)


@savable
@dataclass(frozen=True)
class TourFormat:
    """How lists of nodes were written: what ``write`` gives back."""

    container: Any = list
    series: Any = None  # the name of a pandas Series, in a tuple of its own

    def write(self, Z: np.ndarray, table: EdgeTable, index: Any = None) -> Any:
        """Indicator rows as lists of names, from the first node in the order of the nodes."""
        tours, _ = rows_to_tours(Z, table)
        rows = np.empty(len(Z), dtype=object)
        for i, tour in enumerate(tours):
            rows[i] = self.container(table.nodes[node] for node in tour[tour >= 0])
        if self.series is not None:
            import pandas

            return pandas.Series(rows, index=index, name=self.series[0])
        return rows


def tour_rows(
    Y: Any, nodes: tuple[Any, ...] | None, used_by: str
) -> tuple[list[Any], TourFormat] | None:
    """The rows and the form of ``Y``, if these are lists of nodes; None if they are not.

    The first entry decides: the name of a node, or something else, such as an edge. Names
    that are pairs themselves are known as such only where ``nodes`` are given. Rows of nothing
    but 0 and 1, or longer than there are nodes, are indicators.
    """
    if is_pandas(Y, "Series"):
        found = tour_rows(list(Y), nodes, used_by)
        return found and (found[0], replace(found[1], series=(Y.name,)))
    if is_networkx(Y) or is_pandas(Y, "DataFrame") or not isinstance(Y, Iterable):
        return None
    if getattr(Y, "ndim", 1) > 2 or any(getattr(row, "ndim", 1) > 1 for row in Y):
        return None
    if isinstance(Y, np.ndarray) and Y.dtype != object and np.all((Y == 0) | (Y == 1)):
        return None
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in Y]
    first = next((row for row in rows if hasattr(row, "__len__") and len(row)), None)
    if first is None or not isinstance(first, (list, tuple, set, frozenset)):
        return None
    if not _is_name(next(iter(first)), nodes) or _are_indicators(rows, nodes):
        return None
    if isinstance(first, (set, frozenset)):
        raise ValueError(
            f"{used_by}: a set of nodes has no order of travel; give lists, or sets of edges."
        )
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple)):
            raise ValueError(
                f"{used_by} expects a list of nodes in order of travel in each row; Y[{i}] is "
                f"{row!r}."
            )
    return rows, TourFormat(tuple if isinstance(first, tuple) else list)


def _is_name(entry: Any, nodes: tuple[Any, ...] | None) -> bool:
    try:
        if nodes is not None and entry in nodes:
            return True
    except (TypeError, ValueError):  # an array, say
        return False
    if isinstance(entry, (list, set, np.ndarray)) or is_networkx(entry):
        return False
    return not (isinstance(entry, (tuple, frozenset)) and len(entry) == 2)  # an edge


def _are_indicators(rows: list[Any], nodes: tuple[Any, ...] | None) -> bool:
    for row in rows:
        if not isinstance(row, (list, tuple)) or not all(isinstance(e, NUMBERS) for e in row):
            return False
    if nodes is not None and max(map(len, rows)) > len(nodes):
        return True
    return all(set(row) <= {0, 1} for row in rows)


def learn_nodes(rows: list[Any], used_by: str) -> tuple[Any, ...]:
    """Names of the nodes that occur, in order."""
    try:
        names = {plain_name(name) for row in rows for name in row}
    except TypeError as error:
        raise ValueError(f"{used_by}: a node must be hashable ({error}).") from None
    refuse_missing(rows, names, used_by, "a node")
    return sorted_names(names)


def read_tours(rows: list[Any], nodes: tuple[Any, ...], used_by: str) -> np.ndarray:
    """Lists of names as tours of node numbers, padded with -1; shape (n, N)."""
    number = {name: node for node, name in enumerate(nodes)}
    tours = np.full((len(rows), len(nodes)), -1)
    for i, row in enumerate(rows):
        tour = [_node(name, number, i, used_by) for name in row]
        _check_simple(tour, nodes, i, used_by)
        tours[i, : len(tour)] = tour
    return tours


def _node(name: str | int, number: dict[Any, Any], i: int, used_by: str) -> int:
    try:
        return int(number[plain_name(name)])
    except (KeyError, TypeError):
        message = unknown_label(f"Y[{i}] holds", name, tuple(number), used_by)
        raise ValueError(message.replace("the label", "the node")) from None


def _check_simple(tour: list[Any], nodes: tuple[Any, ...], i: int, used_by: str) -> None:
    if len(tour) > 1 and tour[0] == tour[-1]:
        raise ValueError(
            f"{used_by}: Y[{i}] ends at {nodes[tour[0]]!r}, where it starts; the way back is "
            "implied, leave the last node off."
        )
    if len(set(tour)) < len(tour):
        twice = next(node for k, node in enumerate(tour) if node in tour[:k])
        raise ValueError(f"{used_by}: Y[{i}] visits {nodes[twice]!r} twice.")
    if len(tour) < SHORTEST:
        raise ValueError(
            f"{used_by}: Y[{i}] visits {len(tour)} nodes; a cycle has at least {SHORTEST}."
        )


def why_not_a_cycle(row: np.ndarray, table: EdgeTable) -> str:
    """What keeps a 0/1 row from being one cycle of at least three nodes; "" if nothing does."""
    tours, good = rows_to_tours(row[None], table)
    if good[0]:
        return ""
    ends = table.edges[np.flatnonzero(row)]
    if not len(ends):
        return f"has no {'arcs' if table.directed else 'edges'}"
    N, nodes = len(table.nodes), table.nodes
    out, into = (np.bincount(ends[:, k], minlength=N) for k in (0, 1))
    if table.directed:
        odd = np.flatnonzero((out != into) | (out > 1))
        if len(odd):
            node = odd[0]
            return (
                f"comes to {nodes[node]!r} {_times(into[node])} and leaves it "
                f"{_times(out[node])}; a cycle does both once"
            )
    else:
        odd = np.flatnonzero(~np.isin(out + into, (0, 2)))
        if len(odd):
            node = odd[0]
            return (
                f"has {_counted((out + into)[node])} at {nodes[node]!r}; a cycle has two at "
                "every node that it visits"
            )
    names = ", ".join(repr(nodes[node]) for node in tours[0] if node >= 0)
    if (tours[0] >= 0).sum() < SHORTEST:
        return f"goes back and forth between {names}; a cycle has at least 3 nodes"
    return f"is more than one cycle; one of them visits {names}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(int(count), f"{count} times")


def _counted(count: int) -> str:
    return "one edge" if count == 1 else f"{count} edges"
