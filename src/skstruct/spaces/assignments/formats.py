# SPDX-License-Identifier: BSD-3-Clause
"""Assignments as users write them: a task for each agent, or 0/1 tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.formats import (
    is_missing_name,
    match_columns,
    name_array,
    plain_name,
    refuse_empty,
    unknown_label,
)


@savable
@dataclass(frozen=True)
class AssignmentFormat:
    """How assignments were written: what ``write`` gives back."""

    kind: str = "names"  # "names", "lists", "dicts", "flat", "tables" or "frame"
    dtype: Any = np.int64  # of 0/1 arrays
    columns: Any = None  # of a frame, in the user's order

    def write(self, Z: np.ndarray, agents: Any, tasks: Any, index: Any = None) -> Any:
        """0/1 rows (n, a * t) in this format; None for agents without a task."""
        tables = Z.reshape(len(Z), len(agents), len(tasks))
        if self.kind == "flat":
            return Z.astype(self.dtype)
        if self.kind == "tables":
            return tables.astype(self.dtype)
        numbers, assigned = tables.argmax(axis=2), tables.any(axis=2)
        names = name_array(tuple(tasks))[numbers]
        if not assigned.all():
            names = names.astype(object)
            names[~assigned] = None
        if self.kind == "names":
            return names
        rows = names.tolist()
        if self.kind == "lists":
            return rows
        if self.kind == "dicts":
            pairs = (zip(agents, row) for row in rows)
            return [{a: task for a, task in row if task is not None} for row in pairs]
        import pandas

        frame = pandas.DataFrame(names, index=index, columns=list(agents))[list(self.columns)]
        frame.columns = self.columns
        return frame


def read_assignments(
    Y: Any, agents: tuple[Any, ...], tasks: tuple[Any, ...], used_by: str
) -> tuple[np.ndarray, AssignmentFormat]:
    """0/1 rows of shape (n, a * t) and the format that they came in.

    Parameters
    ----------
    Y : rows of task names, one for each agent
        Lists, an array of shape (n, a), a frame with a column per agent, or dictionaries from
        agent to task; None for an agent without a task. Or 0/1 arrays of shape (n, a, t) or
        (n, a * t).
    """
    a, t = len(agents), len(tasks)
    if is_pandas(Y, "DataFrame"):
        columns = Y.columns
        frame = match_columns(Y.astype(object).where(Y.notna(), ""), agents, used_by)[1]
        rows = frame.where(frame != "", None).to_numpy(dtype=object).tolist()
        return _from_names(rows, agents, tasks, used_by), AssignmentFormat("frame", columns=columns)
    if isinstance(Y, np.ndarray) and Y.ndim == 3 and Y.shape[1:] == (a, t):
        flat = Y.reshape(len(Y), a * t)
        return _checked(flat, used_by), AssignmentFormat("tables", Y.dtype)
    if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.shape[1] == a * t and t > 1:
        return _checked(Y, used_by), AssignmentFormat("flat", Y.dtype)
    if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.shape[1] == a:
        return _from_names(Y.tolist(), agents, tasks, used_by), AssignmentFormat("names")
    if isinstance(Y, np.ndarray) and Y.ndim != 1:
        raise ValueError(
            f"{used_by} expects a task for each of {a} agents, or 0/1 arrays of shape (n, {a}, "
            f"{t}) or (n, {a * t}); got shape {Y.shape}."
        )
    rows = list(Y)
    refuse_empty(rows, used_by)
    if all(isinstance(row, Mapping) for row in rows):
        return _from_dicts(rows, agents, tasks, used_by), AssignmentFormat("dicts")
    if all(np.ndim(row) == 2 for row in rows) or (t > 1 and all(_is_flat(r, a * t) for r in rows)):
        return read_assignments(np.array(rows), agents, tasks, used_by)
    return _from_names(rows, agents, tasks, used_by), AssignmentFormat("lists")


def _is_flat(row: Any, width: int) -> bool:
    return np.ndim(row) == 1 and len(row) == width and bool(np.isin(row, (0, 1)).all())


def _checked(Y: np.ndarray, used_by: str) -> np.ndarray:
    refuse_empty(Y, used_by)
    bad = np.argwhere((Y != 0) & (Y != 1))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"{used_by} expects 0 or 1 for each pair; Y[{row}] has {Y[row, column]!r} at {column}."
        )
    return np.ascontiguousarray(Y, dtype=np.int8)


def _from_names(
    rows: list[Any], agents: tuple[Any, ...], tasks: tuple[Any, ...], used_by: str
) -> np.ndarray:
    refuse_empty(rows, used_by)
    number = {name: j for j, name in enumerate(tasks)}
    Z = np.zeros((len(rows), len(agents), len(tasks)), np.int8)
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or np.ndim(row) != 1 or len(row) != len(agents):
            raise ValueError(
                f"{used_by} expects a task for each of {len(agents)} agents; Y[{i}] is {row!r}."
            )
        for k, name in enumerate(row):
            if is_missing_name(name):
                continue
            if plain_name(name) not in number:
                message = unknown_label(f"Y[{i}] has", name, tasks, used_by)
                raise ValueError(message.replace("the label", "the task"))
            Z[i, k, number[plain_name(name)]] = 1
    return Z.reshape(len(rows), -1)


def _from_dicts(
    rows: list[Any], agents: tuple[Any, ...], tasks: tuple[Any, ...], used_by: str
) -> np.ndarray:
    known = set(agents)
    for i, row in enumerate(rows):
        for name in row:
            if name not in known:
                message = unknown_label(f"Y[{i}] has", name, agents, used_by)
                raise ValueError(message.replace("the label", "the agent"))
    return _from_names([[row.get(a) for a in agents] for row in rows], agents, tasks, used_by)
