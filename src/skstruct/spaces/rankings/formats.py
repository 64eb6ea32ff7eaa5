# SPDX-License-Identifier: BSD-3-Clause
"""Rankings in the user's own format: rank vectors, ratings, frames, ordered lists of names."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import (
    check_distinct,
    refuse_empty,
    refuse_missing,
    sorted_names,
    unknown_label,
)
from skstruct.spaces.rankings.constraints import NUMBERS
from skstruct.spaces.rankings.partial import average_ranks

TIED = (set, frozenset, list)  # how tied items are written inside an ordered list


@savable
@dataclass(frozen=True)
class RankingFormat:
    """How rankings were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "frame", "names" or "series"
    dtype: Any = np.int64
    container: Any = list  # of a row of names
    columns: Any = None  # of a frame, in the user's order
    name: Any = None  # of a series
    scores: bool = False  # larger is better

    def write(self, Z: np.ndarray, items: tuple[Any, ...], index: Any = None) -> Any:
        """Canonical rows in this format; items beyond the top have the same rank."""
        if self.kind in ("names", "series"):
            return self._write_names(Z, items, index)
        d = len(items)
        numbers = d + 1 - Z if self.scores else np.minimum(Z, _n_alone(Z)[:, None] + 1)
        if self.kind == "array":
            return _typed(numbers, self.dtype)
        import pandas

        frame = pandas.DataFrame(numbers, index=index, columns=list(items))[list(self.columns)]
        frame.columns = self.columns
        return _typed(frame, self.dtype)

    def _write_names(self, Z: np.ndarray, items: tuple[Any, ...], index: Any) -> Any:
        rows, alone = np.empty(len(Z), dtype=object), _n_alone(Z)
        for i, ranks in enumerate(Z):
            listed = np.argsort(ranks, kind="stable")[: alone[i]]
            rows[i] = self.container(items[j] for j in listed)
        if self.kind == "names":
            return rows
        import pandas

        return pandas.Series(rows, index=index, name=self.name)


def _typed(numbers: Any, dtype: Any) -> Any:
    """As the type that was given, if it holds them: halves and large numbers may not fit."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            typed = numbers.astype(dtype)
        return typed if np.asarray(typed == numbers).all() else numbers
    except (TypeError, ValueError):
        return numbers


def _n_alone(Z: np.ndarray) -> Any:
    """How many items have a rank of their own; the others are tied behind them."""
    ordered = np.sort(Z, axis=1)
    return (ordered == np.arange(1, Z.shape[1] + 1)).cumprod(axis=1).sum(axis=1)


def read_rankings(
    Y: Any,
    items: tuple[Any, ...] | None,
    *,
    scores: bool = False,
    unlisted: str = "last",
    names: bool = False,
    used_by: str,
) -> tuple[np.ndarray, tuple[Any, ...], RankingFormat]:
    """Canonical rankings (float, smaller is better, NaN not ranked), items, and the form.

    Parameters
    ----------
    Y : rank vectors or ratings (array, frame), or ordered lists of names, best first
    items : tuple or None
        Known items; None learns them from ``Y``.
    names : bool
        Whether rows of numbers that are items stand for these, and not for ranks.
    """
    if unlisted not in ("last", "unknown"):
        raise ValueError(f'{used_by}: unlisted is "last" or "unknown"; got {unlisted!r}.')
    if is_pandas(Y, "DataFrame"):
        items, values = _match_columns(Y, items, used_by)
        dtypes = set(Y.dtypes)  # a nullable type comes back, too
        dtype = dtypes.pop() if len(dtypes) == 1 else _dtype(values)
        format = RankingFormat("frame", dtype, columns=Y.columns, scores=scores)
        return _check_numbers(values, items, scores, used_by), items, format
    if is_pandas(Y, "Series"):
        Z, items, format = read_orders(list(Y), items, "series", unlisted, used_by)
        return Z, items, replace(format, name=Y.name)
    if isinstance(Y, np.ma.MaskedArray):
        Y = np.ma.filled(Y.astype(np.float64), np.nan)
    rows = Y if isinstance(Y, np.ndarray) else list(Y)
    refuse_empty(rows, used_by)
    if _is_numeric(rows) and not (names and _are_items(rows, items)):
        values = np.asarray(rows)
        values = values.astype(np.float64) if values.dtype == object else values
        items = tuple(range(values.shape[1])) if items is None else items
        format = RankingFormat("array", _dtype(values), scores=scores)
        return _check_numbers(values, items, scores, used_by), items, format
    if scores:
        raise ValueError(f"{used_by}: with scores=True, Y holds numbers, one column per item.")
    return read_orders(list(rows), items, "names", unlisted, used_by)


def _is_numeric(rows: Any) -> bool:
    """Whether the rows are equally many numbers each: ranks or ratings, not names."""
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return rows.dtype.kind in "iufb" and rows.ndim == 2
    vectors = all(isinstance(row, (list, tuple, np.ndarray)) for row in rows)
    return (
        vectors
        and len({len(row) for row in rows}) == 1
        and all(v is None or isinstance(v, NUMBERS) for row in rows for v in row)
        and any(v is not None for row in rows for v in row)
    )


def _are_items(rows: Any, items: Any) -> bool:
    """Whether every number is the name of an item."""
    known = set(items or ())
    return all(v in known for row in rows for v in row)


def _dtype(values: np.ndarray) -> Any:
    return values.dtype if values.dtype.kind in "iuf" else np.dtype(np.int64)


def _match_columns(
    frame: Any, items: tuple[Any, ...] | None, used_by: str
) -> tuple[tuple[Any, ...], np.ndarray]:
    columns = check_distinct(frame.columns, used_by)
    if items is not None:
        unknown = [name for name in columns if name not in set(items)]
        missing = [name for name in items if name not in set(columns)]
        if unknown or missing:
            raise ValueError(
                f"{used_by} expects one column per item; missing: {missing[:3]}, "
                f"unknown: {unknown[:3]}."
            )
        frame = frame[list(items)]
    values = frame.to_numpy()
    refuse_empty(values, used_by)
    if values.dtype == object:  # missing entries of pandas' own types
        values = _numbers_of(frame, used_by)
    return columns if items is None else items, values


def _numbers_of(frame: Any, used_by: str) -> np.ndarray:
    """Floats, NaN where an entry is missing; text and truth values are no ranks."""
    missing = frame.isna().to_numpy()
    values = np.full(frame.shape, np.nan)
    for row, column in np.argwhere(~missing):
        entry = frame.iat[row, column]
        if not isinstance(entry, NUMBERS) or isinstance(entry, (bool, np.bool_)):
            raise ValueError(
                f"{used_by} expects numbers; row {frame.index[row]!r}, column "
                f"{frame.columns[column]!r} of Y is {entry!r}."
            )
        values[row, column] = entry
    return values


def _check_numbers(
    values: np.ndarray, items: tuple[Any, ...], scores: bool, used_by: str
) -> np.ndarray:
    d = len(items)
    if values.shape[1] == 0:
        raise ValueError(f"{used_by}: there are no items; Y has shape {values.shape}.")
    if values.shape[1] != d:
        raise ValueError(
            f"{used_by} expects Y of shape (n_samples, {d}), one column per item; "
            f"got shape {values.shape}."
        )
    Z = values.astype(np.float64)
    bad = np.isinf(Z)
    if not scores:
        bad |= (Z < 1) | (d < Z)
    if bad.any() or values.dtype.kind == "b":
        row, column = np.argwhere(bad)[0] if bad.any() else (0, 0)
        expected = "finite numbers" if scores else f"ranks from 1 (best) to {d}, the same for ties"
        hint = "" if scores else " Larger is better? Then scores=True."
        raise ValueError(
            f"{used_by} expects {expected} and NaN for items not ranked; "
            f"Y[{row}, {column}] is {values[row, column].item()!r}.{hint}"
        )
    empty = np.flatnonzero(np.isnan(Z).all(axis=1))
    if len(empty):
        raise ValueError(f"{used_by}: row {empty[0]} of Y ranks no item at all.")
    if not scores:
        return average_ranks(Z)
    ranks = average_ranks(-Z)
    Z = d + 1 - Z
    merged = np.flatnonzero((np.nan_to_num(average_ranks(Z)) != np.nan_to_num(ranks)).any(axis=1))
    if len(merged):
        raise ValueError(
            f"{used_by}: ratings in row {merged[0]} of Y differ by less than rounding errors; "
            "give them on another scale, or their ranks."
        )
    return Z


def read_orders(
    rows: list[Any], items: tuple[Any, ...] | None, kind: str, unlisted: str, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], RankingFormat]:
    """Canonical rankings, items and form of ordered lists of names, best first."""
    refuse_empty(rows, used_by)
    if unlisted not in ("last", "unknown"):
        raise ValueError(f'{used_by}: unlisted is "last" or "unknown"; got {unlisted!r}.')
    orders = [_groups(row, i, items, used_by) for i, row in enumerate(rows)]
    names = {name for order in orders for group in order for name in group}
    listed = [[name for group in order for name in group] for order in orders]
    refuse_missing(listed, names, used_by, "an item")
    if items is None:
        items = sorted_names(names)
    if not items:
        raise ValueError(f"{used_by}: there are no items.")
    number = {name: j for j, name in enumerate(items)}
    Z = np.full((len(rows), len(items)), np.nan)
    for i, order in enumerate(orders):
        for position, group in enumerate(order):
            for name in group:
                if name not in number:
                    raise ValueError(unknown_label(f"Y[{i}] holds", name, items, used_by))
                if not np.isnan(Z[i, number[name]]):
                    raise ValueError(f"{used_by}: Y[{i}] lists {name!r} twice.")
                Z[i, number[name]] = position
        if not order:
            raise ValueError(f"{used_by}: row {i} of Y ranks no item at all.")
    if unlisted == "last":
        Z[np.isnan(Z)] = len(items)
    first = rows[0]
    format = RankingFormat(kind, container=tuple if isinstance(first, tuple) else list)
    return average_ranks(Z), items, format


def _groups(row: Any, i: int, items: tuple[Any, ...] | None, used_by: str) -> list[Any]:
    """A row as groups of tied names, best first."""
    if isinstance(row, (str, bytes, set, frozenset, dict)) or not isinstance(row, Iterable):
        raise ValueError(
            f"{used_by} expects ranks, or a list of names with the best first, in each row; "
            f"Y[{i}] is {row!r}."
        )
    groups = [list(entry) if isinstance(entry, TIED) else [entry] for entry in row]
    try:
        _ = {name for group in groups for name in group}
    except TypeError as error:
        raise ValueError(f"{used_by}: an item must be hashable ({error}).") from None
    return groups
