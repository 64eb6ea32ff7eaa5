# SPDX-License-Identifier: BSD-3-Clause
"""Which columns of a table are inputs, outputs and weights, and what they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skstruct._arrays.optional import require
from skstruct.exceptions import DataFormatError


@dataclass(frozen=True)
class TableColumns:
    """Names of columns, and how batches of Arrow become X, y and weights."""

    inputs: tuple[str, ...]
    outputs: str | tuple[str, ...] | None
    weight: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        weight = () if self.weight is None else (self.weight,)
        return self.inputs + self.output_names + weight

    @property
    def output_names(self) -> tuple[str, ...]:
        if self.outputs is None:
            return ()
        return (self.outputs,) if isinstance(self.outputs, str) else self.outputs

    def values(self, batch, rows) -> tuple[Any, Any, Any]:
        """X as a frame, y as a series, frame or list of lists, and weights or None.

        ``rows`` are numbers of the rows, which become the index.
        """
        pandas = require("pandas", used_by="ParquetSource", extra="parquet")
        import pyarrow

        def frame(names):
            made = pyarrow.Table.from_batches([batch]).select(list(names))
            made = made.to_pandas(ignore_metadata=True)
            return made.set_axis(pandas.Index(rows), axis=0)

        weight = None
        if self.weight is not None:
            weight = batch.column(self.weight).to_numpy(zero_copy_only=False)
        if not isinstance(self.outputs, str):
            y = None if self.outputs is None else frame(self.outputs).apply(_plain)
            return frame(self.inputs), y, weight
        column = batch.column(self.outputs)
        if pyarrow.types.is_nested(column.type):
            return frame(self.inputs), column.to_pylist(), weight
        return frame(self.inputs), _plain(frame([self.outputs])[self.outputs]), weight


def _plain(series):
    """Coded values as the values themselves: codes may differ from block to block."""
    if hasattr(series.dtype, "categories"):
        return series.astype(series.dtype.categories.dtype)
    return series


def choose_columns(schema, inputs, outputs, weight, path) -> TableColumns:
    """Check the names against the columns of the first file."""
    names = schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataFormatError(f"two columns are called {twice!r}", path=path or None)
    outputs = outputs if outputs is None or isinstance(outputs, str) else tuple(outputs)
    chosen = TableColumns((), outputs, weight)
    if inputs is None:
        left_off = {*chosen.names, *_index_columns(schema)}
        inputs = [n for n in names if n not in left_off and _is_number(schema.field(n).type)]
        if not inputs:
            raise DataFormatError("no column of numbers is left for inputs", path=path or None)
    inputs = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    chosen = TableColumns(inputs, outputs, weight)
    for name in chosen.names:
        if name not in names:
            known = ", ".join(map(repr, names[:10])) + (
                f" and {len(names) - 10:,} more" if len(names) > 10 else ""
            )
            problem = f"there is no column {name!r}; there are {known}"
            raise DataFormatError(problem, path=path or None)
        if chosen.names.count(name) > 1:
            raise ValueError(f"The column {name!r} is named twice, as input, output or weight.")
    for name in chosen.inputs + (() if weight is None else (weight,)):
        kind = schema.field(name).type
        if not _is_number(kind, truth=True):
            problem = f"column {name!r} holds {kind}, and inputs and weights are numbers"
            raise DataFormatError(problem, path=path or None)
    return chosen


def check_alike(schema, path: str, first, first_name: str, only=None) -> None:
    """Raise unless the columns of a file, or ``only`` some of them, are those of the first one."""
    wanted = first.names if only is None else list(only)
    for name in wanted:
        if name not in schema.names:
            raise DataFormatError(f"it has no column {name!r}, which {first_name} has", path=path)
        here, there = _value_type(schema, name), _value_type(first, name)
        if here != there:
            problem = f"column {name!r} holds {here}, and {there} in {first_name}"
            raise DataFormatError(problem, path=path)
    extra = [name for name in schema.names if name not in first.names] if only is None else []
    if extra:
        problem = f"it has the column {extra[0]!r}, which {first_name} has not"
        raise DataFormatError(problem, path=path)


def _value_type(schema, name: str):
    kind = schema.field(name).type
    return getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind


def _index_columns(schema) -> set[str]:
    """Columns that were the index of a pandas table: numbers, but no inputs."""
    known = (schema.pandas_metadata or {}).get("index_columns", ())
    return {name for name in known if isinstance(name, str)}


def _is_number(kind, truth: bool = False) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or (truth and types.is_boolean(kind))
