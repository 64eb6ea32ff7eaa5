# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of labels, read from whatever the user has."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skstruct._arrays.optional import is_networkx
from skstruct.spaces.forms import unknown_label


def node_names(graph) -> list:
    """The nodes that a graph brings itself: those of a graph of networkx."""
    return list(graph.nodes) if is_networkx(graph) else []


def read_edges(graph, labels: tuple, used_by: str) -> np.ndarray:
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


def _positions(pair, number, k, used_by):
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
