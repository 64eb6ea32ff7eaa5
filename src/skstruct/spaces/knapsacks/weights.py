# SPDX-License-Identifier: BSD-3-Clause
"""Weights and capacities as users give them, and the unit of which all are multiples."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from skstruct._arrays.by_name import are_named, by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.formats import check_distinct, in_columns
from skstruct.tolerances import FEASIBLE

MOST_UNITS = 2**40  # a weight of more units is none of a table's


def read_weights(
    weights: Any, labels: Any, used_by: str = "Knapsacks"
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Weights of shape (m, d), one row per constraint, and the names of the items.

    Parameters
    ----------
    weights : array of shape (d,) or (m, d), Series, DataFrame with a column per item, or dict
        A dict has a number, or a sequence of m numbers, for every name.
    labels : sequence or None
        Names of the items; those that weights bring, or numbers, when None.

    Examples
    --------
    >>> read_weights({"tent": 3, "stove": 1}, None)
    (array([[3., 1.]]), ('tent', 'stove'))
    """
    names, weights = None if labels is None else check_distinct(labels, used_by), in_memory(weights)
    if names is None and are_named(weights):
        own = weights.columns if is_pandas(weights, "DataFrame") else weights.keys()
        names = check_distinct(in_columns(own), used_by)
    of_items = isinstance(weights, Mapping)
    weights = by_position(weights, names, what="weights", used_by=used_by)
    weights = np.array(weights).T if of_items else weights
    try:
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{used_by}: weights are numbers; got {weights!r:.80}.") from None
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"{used_by}: weights have shape (d,), or (m, d) with a row per constraint; got shape "
            f"{np.shape(weights)}."
        )
    names = check_distinct(range(table.shape[1]), used_by) if names is None else names
    if len(names) != table.shape[1]:
        raise ValueError(f"{used_by}: {len(names)} labels for {table.shape[1]} weights.")
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if len(bad):
        i, j = bad[0].tolist()
        raise ValueError(
            f"{used_by}: weights are finite and at least 0; constraint {i} has {table[i, j]} for "
            f"item {names[j]!r}."
        )
    return table, names


def constraint_names(weights: Any) -> tuple[Any, ...] | None:
    """Names of the constraints: those of the rows of a frame; else there are none."""
    return tuple(weights.index) if is_pandas(weights, "DataFrame") else None


def read_capacity(
    capacity: Any, m: int, names: tuple[Any, ...] | None = None, used_by: str = "Knapsacks"
) -> np.ndarray:
    """The capacity of every constraint, shape (m,); infinite where there is none."""
    table = _numbers(by_position(capacity, names, what="capacity", used_by=used_by), used_by)
    if table.size != m or table.ndim > 1:
        raise ValueError(
            f"{used_by}: capacity is one number for each of {m} constraints; got shape "
            f"{table.shape}."
        )
    if (table < 0).any():
        raise ValueError(f"{used_by}: capacity is at least 0; got {table.min()}.")
    return table.reshape(m)


def read_capacities(
    capacity: Any, m: int, names: tuple[Any, ...] | None = None, used_by: str = "Knapsacks"
) -> np.ndarray:
    """Capacities of shape (1, m), or (n, m) where they differ from row to row.

    A number, (m,) or (n, m); with a single constraint also (n,).
    """
    if not (m == 1 and is_pandas(capacity, "Series")):  # which is one per row
        capacity = by_position(capacity, names, what="capacity", used_by=used_by)
    table = _numbers(capacity, used_by)
    if table.ndim < 2:
        table = table.reshape(-1, 1) if m == 1 else np.atleast_1d(table)[None]
    if table.ndim != 2 or table.shape[1] != m or not len(table):
        raise ValueError(
            f"{used_by}: capacity is a number for each of {m} constraints, or a row of them for "
            f"each row; got shape {np.shape(capacity)}."
        )
    return table


def _numbers(capacity: Any, used_by: str) -> np.ndarray:
    try:
        table = np.array(capacity, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{used_by}: capacity is a number; got {capacity!r:.80}.") from None
    missing = np.argwhere(np.isnan(table))
    if len(missing):
        at = "".join(f"[{i}]" for i in missing[0])
        raise ValueError(f"{used_by}: capacity is a number; capacity{at} is {np.nan}.")
    return table


def sizes_of(weights: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """What rounding in each constraint is measured by: the capacity, or all weights; (m,)."""
    total = weights.sum(axis=1)
    size = np.where((capacity > 0) & np.isfinite(capacity), capacity, total)
    return np.where(size > 0, size, 1.0)


def whole_units(weights: np.ndarray, size: float) -> tuple[np.ndarray, float] | None:
    """Weights (d,) as whole multiples of the largest possible unit, and that unit; or None.

    All items together are off by less than a quarter of what a constraint of this size may be.

    Examples
    --------
    >>> whole, unit = whole_units(np.array([0.3, 0.5, 0.0]), 1.0)
    >>> whole, round(unit, 12)
    (array([3, 5, 0]), 0.1)
    """
    used = weights[weights > 0]
    if not len(used):
        return np.zeros(len(weights), np.int64), max(size, 1.0)
    noise = FEASIBLE * used.max()
    unit = reduce(lambda a, b: _common_divisor(a, b, noise), used.tolist())
    if unit <= 0 or used.max() / unit > MOST_UNITS:
        return None
    whole = np.rint(weights / unit)
    unit = float(weights @ whole / (whole @ whole))
    if np.abs(weights - unit * whole).sum() > FEASIBLE * size / 4:
        return None
    return whole.astype(np.int64), unit


def _common_divisor(a: float, b: float, noise: float) -> float:
    """Euclid's algorithm, where what is left up to the noise counts as nothing."""
    while b > noise:
        rest = a % b
        a, b = b, 0.0 if b - rest <= noise else rest
    return a
