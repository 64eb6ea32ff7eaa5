# SPDX-License-Identifier: BSD-3-Clause
"""States of labels in the user's own format: arrays, frames with a column per label, rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import (
    in_order,
    is_missing_name,
    match_columns,
    sorted_names,
    unknown_label,
)


@savable
@dataclass(frozen=True)
class StateFormat:
    """How outputs were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "frame" or "rows"
    dtype: Any = None  # of an array; None is what the states ask for
    container: Any = list  # of a row
    columns: Any = None  # of a frame, in the user's order
    dtypes: Any = None  # of these columns

    def write(
        self, Z: np.ndarray, states: tuple[Any, ...], labels: tuple[Any, ...], index: Any = None
    ) -> Any:
        """Canonical rows in this format."""
        if self.kind == "array":
            return _state_array(states, self.dtype)[Z]
        if self.kind == "frame":
            return self._frame(_objects(states)[Z], labels, index)
        return _objects([self.container(states[a] for a in row) for row in Z.tolist()])

    def _frame(self, table: np.ndarray, labels: tuple[Any, ...], index: Any) -> Any:
        import pandas

        frame = pandas.DataFrame(table, index=index, columns=list(labels))[list(self.columns)]
        typed = [_typed(frame.iloc[:, j], dtype) for j, dtype in enumerate(self.dtypes)]
        frame = pandas.concat(typed, axis=1)
        frame.columns = self.columns
        return frame


def _typed(column: Any, dtype: Any) -> Any:
    """A column of the type it had, if that has all its states: categories may lack some."""
    if hasattr(dtype, "categories") and not column.isin(dtype.categories).all():
        return column
    try:
        typed = column.astype(dtype)
    except (TypeError, ValueError):
        return column
    return typed if typed.tolist() == column.tolist() else column


def _state_array(states: tuple[Any, ...], dtype: Any) -> np.ndarray:
    """States as an array to pick from, of the given type if it holds them."""
    kinds = {type(state) for state in states}
    if dtype is None and len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return np.array(states)
    if dtype is not None and dtype.kind in "iufbU":
        table = np.array(states)  # as wide a text as is needed
        table = table if dtype.kind == "U" else table.astype(dtype)
        if table.tolist() == list(states):
            return table
    return _objects(states)


def _objects(items: Any) -> np.ndarray:
    """A one-dimensional array of objects, whatever they are."""
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def read_states(
    Y: Any, states: tuple[Any, ...] | None, labels: tuple[Any, ...] | None, *, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], tuple[Any, ...], StateFormat]:
    """State numbers (n, number of labels), states, labels, and the form of ``Y``.

    Parameters
    ----------
    Y : array, DataFrame with a column for each label, or rows with a state for each label
    states, labels : tuples, or None where they are learned from ``Y``
    """
    if is_pandas(Y, "DataFrame"):
        format = StateFormat("frame", columns=Y.columns, dtypes=list(Y.dtypes))
        labels, frame = match_columns(Y, labels, used_by)
        rows = list(zip(*(column.tolist() for _, column in frame.items())))
    elif isinstance(Y, np.ndarray) and Y.ndim == 2:
        format, rows = StateFormat(dtype=Y.dtype), Y.tolist()
    else:
        format, rows = _rows_of(Y, used_by)
    if not rows or not len(rows[0]):
        raise ValueError(f"{used_by}: Y has no rows." if not rows else f"{used_by}: Y is empty.")
    labels = tuple(range(len(rows[0]))) if labels is None else labels
    for i, row in enumerate(rows):
        if len(row) != len(labels):
            raise ValueError(
                f"{used_by} expects a state for each of {len(labels)} labels; Y[{i}] has "
                f"{len(row)}."
            )
    if states is None:
        states = _distinct(rows, used_by)
    number = {state: a for a, state in enumerate(states)}
    Z = np.empty((len(rows), len(labels)), np.int64)
    for i, row in enumerate(rows):
        for j, state in enumerate(row):
            Z[i, j] = state_number(state, number, f"Y[{i}] gives {labels[j]!r}", used_by)
    return Z, states, labels, format


def _rows_of(Y: Any, used_by: str) -> tuple[StateFormat, list[Any]]:
    if isinstance(Y, (str, bytes)) or not isinstance(Y, Iterable) or is_pandas(Y, "Series"):
        raise ValueError(
            f"{used_by} expects an array, a DataFrame with a column for each label, or rows with "
            f"a state for each label; got {type(Y).__name__}."
        )
    rows = list(Y)
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple, np.ndarray)):
            raise ValueError(f"{used_by} expects a list of states in each row; Y[{i}] is {row!r}.")
    container = tuple if rows and isinstance(rows[0], tuple) else list
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return StateFormat("rows", container=container), rows


def _distinct(rows: list[Any], used_by: str) -> tuple[Any, ...]:
    try:
        found = {state for row in rows for state in row}
    except TypeError as error:
        raise ValueError(f"{used_by}: a state must be hashable ({error}).") from None
    if any(map(is_missing_name, found)):
        i, state = next((i, s) for i, row in enumerate(rows) for s in row if is_missing_name(s))
        raise ValueError(f"{used_by}: Y[{i}] holds {state!r}; {state!r} cannot be a state.")
    return check_states(sorted_names(found), used_by)


def check_states(states: Any, used_by: str) -> tuple[Any, ...]:
    """States as a tuple: all different, none of them None or NaN."""
    states = states.tolist() if isinstance(states, np.ndarray) else states
    if isinstance(states, (int, np.integer)) or not isinstance(states, Iterable):
        raise ValueError(f"{used_by}: states is a list of states; got {states!r}.")
    found = tuple(in_order(states))
    for i, state in enumerate(found):
        if is_missing_name(state):
            raise ValueError(f"{used_by}: {state!r} cannot be a state.")
        if state in found[:i]:
            raise ValueError(f"{used_by}: the state {state!r} is listed twice.")
    if not found:
        raise ValueError(f"{used_by}: there are no states.")
    return found


def state_number(state: Any, number: dict[Any, Any], where: str, used_by: str) -> int:
    """The number of a state, or an error that says where it was met."""
    try:
        if state in number:
            return int(number[state])
    except TypeError as error:
        raise ValueError(f"{used_by}: a state must be hashable ({error}).") from None
    message = unknown_label(where, state, number, used_by)
    raise ValueError(message.replace("the label ", "the state ", 1))


def read_allowed(
    given: Any, labels: tuple[Any, ...], states: tuple[Any, ...], argument: str, used_by: str
) -> np.ndarray:
    """Marks the states given to labels: bool of shape (1 or n, labels, states).

    ``given`` maps labels to a state, or to a list, set or tuple of states that is itself no
    state; one such mapping for all rows, or a list of them, one for each row.
    """
    maps = [given] if isinstance(given, Mapping) else given
    if isinstance(maps, (str, bytes)) or not isinstance(maps, Iterable):
        raise ValueError(f"{used_by}: {argument} maps labels to states; got {given!r}.")
    maps = list(maps)
    column = {name: j for j, name in enumerate(labels)}
    number = {state: a for a, state in enumerate(states)}
    marked = np.zeros((len(maps), len(labels), len(states)), bool)
    for i, mapping in enumerate(maps):
        if not isinstance(mapping, Mapping):
            raise ValueError(f"{used_by}: {argument}[{i}] maps labels to states; got {mapping!r}.")
        for name, value in mapping.items():
            if name not in column:
                raise ValueError(unknown_label(f"{argument} holds", name, labels, used_by))
            where = f"{argument} gives {name!r}"
            for state in _each_state(value, number):
                marked[i, column[name], state_number(state, number, where, used_by)] = True
    return marked


def _each_state(value: Any, number: dict[Any, Any]) -> Iterable[Any]:
    """One state, or the states of a collection, unless that is itself a state."""
    if isinstance(value, (list, set)):
        return value
    if isinstance(value, (tuple, frozenset)) and value not in number:
        return value
    return [value]
