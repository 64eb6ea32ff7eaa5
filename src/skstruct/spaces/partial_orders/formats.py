# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders as users write them: rankings and mappings become collections of pairs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.spaces.constraints import is_label
from skstruct.spaces.edge_sets.table import CONTAINERS
from skstruct.spaces.rankings.formats import read_orders, read_rankings

Items = tuple[Any, ...] | None


def as_pairs(Y: Any, items: Items, used_by: str) -> tuple[Any, Items]:
    """Rows that spaces of edges read, and the items where rankings have told them.

    Collections of pairs, networkx graphs, relation matrices and indicators stay as they are. Rows
    of ranks, ordered lists of names and mappings from an item to those behind it become sets of
    pairs (first, second); items that are tied or not ranked are in no pair.
    """
    if is_pandas(Y, "DataFrame") or _are_ranks(Y, items):
        ranks, items, _ = read_rankings(Y, items, unlisted="unknown", used_by=used_by)
        return [_pairs_of_ranks(row, items) for row in ranks], items
    if isinstance(Y, np.ndarray) and Y.dtype != object:
        return Y, items
    if is_pandas(Y, "Series"):
        import pandas

        rows = _all_pairs(list(Y), items, used_by)
        return pandas.Series(rows, index=Y.index, name=Y.name, dtype=object), items
    if is_networkx(Y) or isinstance(Y, (str, bytes)) or not hasattr(Y, "__iter__"):
        return Y, items
    rows = _all_pairs(list(Y), items, used_by)
    # All of one kind: an empty list has no pairs, and is no kind of its own.
    kinds = {type(row) for row in rows if not is_networkx(row)}
    return ([set(map(tuple, row)) for row in rows] if len(kinds) > 1 else rows), items


def _are_ranks(Y: Any, items: Items) -> bool:
    """Whether this is a table of ranks, rather than of 0/1 indicators of ordered pairs."""
    rows = list(Y) if isinstance(Y, (list, tuple)) else Y
    if isinstance(rows, list):
        if not rows or not all(_are_numbers(row) for row in rows):
            return False
        if _are_names(rows, items):
            return False
        if len({len(row) for row in rows}) > 1:
            _refuse_ranks_as_names(rows, items)
            return False
        rows = np.array([[np.nan if v is None else v for v in row] for row in rows])
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "iufb":
        return False
    if items is not None and len(items) != 2:
        return bool(rows.shape[1] == len(items))
    return not bool(((rows == 0) | (rows == 1)).all())


def _are_numbers(row: Any) -> bool:
    numbers = (int, float, np.number, np.bool_, type(None))
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.kind in "iufb"
    return isinstance(row, (list, tuple)) and all(isinstance(v, numbers) for v in row)


def _are_names(rows: list[Any], items: Items) -> bool:
    """Whether numbers are names of items, in orders: some items have names that are no ranks."""
    known = dict.fromkeys(items or ())
    named = all(is_label(v, known) for row in rows for v in row)
    return named and not set(known) <= set(range(1, len(known) + 1))


def _refuse_ranks_as_names(rows: list[Any], items: Items) -> None:
    """Where names are ranks, a row that lacks some cannot be told from the other kind."""
    short = next((i for i, row in enumerate(rows) if items and len(row) != len(items)), None)
    if short is not None and set(items or ()) <= set(range(1, len(items or ()) + 1)):
        raise ValueError(
            f"Row {short} has {len(rows[short])} numbers for {len(items or ())} items whose names "
            "are numbers: ranks have one for each item, None where it is not ranked; orders of "
            "names cannot be told from them. Give pairs, or other names."
        )


def _pairs_of_ranks(ranks: np.ndarray, items: Any) -> set[tuple[Any, Any]]:
    """All pairs of which the first has the smaller rank."""
    first, second = np.nonzero(ranks[:, None] < ranks)
    return {(items[a], items[b]) for a, b in zip(first.tolist(), second.tolist())}


def _all_pairs(rows: list[Any], items: Items, used_by: str) -> list[Any]:
    """The pairs of every row; what is a collection of pairs already stays as it is."""
    found = [_pairs_of_mapping(row) if isinstance(row, Mapping) else row for row in rows]
    lists = [i for i, row in enumerate(found) if isinstance(row, (list, tuple)) and len(row)]
    named = [i for i in lists if not _is_of_pairs(found[i], items)]
    # What stands for tied names beside a name stands for them in other rows too; a set has no
    # direction.
    ties = {type(part) for i in named for part in found[i] if isinstance(part, CONTAINERS)}
    ties |= {set, frozenset}
    ranked = [i for i in lists if i in set(named) or {type(part) for part in found[i]} <= ties]
    if not ranked:
        return found
    # In place of rows that are no rankings stands one that is: messages have the right number.
    is_ranked = set(ranked)
    orders = [row if i in is_ranked else found[ranked[0]] for i, row in enumerate(found)]
    ranks, names, _ = read_orders(orders, None, "names", "unknown", used_by)
    for i in ranked:
        found[i] = _pairs_of_ranks(ranks[i], names)
    return found


def _pairs_of_mapping(row: Mapping[Any, Any]) -> set[tuple[Any, Any]]:
    """Every item before those that it is mapped to."""
    return {
        (first, second)
        for first, behind in row.items()
        for second in (behind if isinstance(behind, CONTAINERS) else [behind])
    }


def _is_of_pairs(row: Any, items: Items) -> bool:
    """Whether a list holds pairs, not names or groups of tied names."""
    known = dict.fromkeys(items or ())
    return all(
        isinstance(part, (*CONTAINERS, np.ndarray)) and len(part) == 2 and not is_label(part, known)
        for part in row
    )
