# SPDX-License-Identifier: BSD-3-Clause
"""What an iterator gives, as blocks that are all alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas
from skstruct.backends import is_tensor
from skstruct.streaming.blocks import Block, rows_text
from skstruct.streaming.rows import count_rows, sliceable


def checked_blocks(items: Iterable) -> Iterator[Block]:
    """Blocks, each held against the first one."""
    first, start = None, 0  # what the first one was like; it is not held itself
    for number, item in enumerate(items):
        values = parts_of(item, number)
        _check_rows(values, number)
        n = count_rows(values[0])
        for name, value in zip(("y", "weight"), values[1:]):
            if value is not None and count_rows(value) != n:
                raise ValueError(
                    f"block {number} has {n:,} rows of X, and {count_rows(value):,} of {name}."
                )
        first = first or Likeness.of(number, values)
        first.check(Likeness.of(number, values))
        if n:
            yield Block(*values, start=start, where=rows_text(start, start + n))
            start += n
    if not start:
        raise ValueError(
            "The iterator gave no rows: it is empty, or it has been used up before; give a "
            "function that makes a new one."
        )


def parts_of(item, number: int) -> tuple[Any, Any, Any]:
    """X, y and weight. Data loaders give lists where others give tuples."""
    if isinstance(item, Block):
        return item.values
    listed = isinstance(item, list) and 1 <= len(item) <= 3
    if not (isinstance(item, tuple) or (listed and len(getattr(item[0], "shape", ())) == 2)):
        return sliceable(item), None, None
    if not 1 <= len(item) <= 3:
        raise ValueError(
            f"block {number} is a tuple of {len(item)}; (X, y) or (X, y, weight) is expected."
        )
    X, y, weight = (*item, None, None)[:3]
    weight = None if weight is None else np.asarray(weight)
    return sliceable(X), sliceable(y), weight


def _check_rows(values, number: int) -> None:
    """Raise unless X, and y and weight where they are there, are made of rows."""
    for name, value in zip(("X", "y", "weight"), values):
        if value is None and name != "X":
            continue
        rows = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
        if not (len(value.shape) > 0 if hasattr(value, "shape") else rows):
            single = "one for each row is" if name == "weight" else "(X, y), (X, y, weight) or X is"
            what = (
                "a single value" if hasattr(value, "shape") else f"of type {type(value).__name__}"
            )
            raise ValueError(f"block {number}: {name} is {what}, not rows; {single} expected.")


def _kind(value) -> str:
    """What rows are held by, for messages; only rows of one kind can be joined."""
    if is_pandas(value, "DataFrame", "Series", "Index"):
        return f"a pandas {type(value).__name__}"
    if sparse.issparse(value):
        return "a sparse matrix"
    if is_tensor(value):
        return "a tensor"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an array" if isinstance(value, np.ndarray) else f"of type {type(value).__name__}"


@dataclass(frozen=True)
class Likeness:
    """What a block must have in common with the first one."""

    number: int
    parts: dict[str, bool]  # whether there are outputs and weights
    kinds: dict[str, str]  # of X and y
    n_columns: int | None  # None for a list of inputs, whose entries may be anything
    names: tuple  # of the columns of a frame

    @classmethod
    def of(cls, number: int, values) -> Likeness:
        X, y, weight = values
        shape: tuple = getattr(X, "shape", ())
        names = tuple(X.columns) if is_pandas(X, "DataFrame") else ()
        parts = {"y": y is not None, "weight": weight is not None}
        kinds = {"X": _kind(X)}
        if y is not None:  # outputs in arrays and in lists can be joined
            either = isinstance(y, (list, tuple, np.ndarray))
            kinds["y"] = "an array or a list" if either else _kind(y)
        return cls(number, parts, kinds, int(shape[1]) if len(shape) == 2 else None, names)

    def check(self, other: Likeness) -> None:
        """Raise unless the other block is like this one."""
        for name, there in other.parts.items():
            if there != self.parts[name]:
                has, lacks = (other, self) if there else (self, other)
                raise ValueError(
                    f"block {lacks.number} has no {name}, and block {has.number} has one."
                )
        for name, kind in other.kinds.items():
            if kind != self.kinds[name]:
                raise ValueError(
                    f"{name} of block {other.number} is {kind}, and of block {self.number} "
                    f"{self.kinds[name]}: blocks must be of one kind."
                )
        if other.n_columns != self.n_columns:
            raise ValueError(
                f"block {other.number} has {other.n_columns} columns, block {self.number} has "
                f"{self.n_columns}."
            )
        for here, there in zip(other.names, self.names):
            if here != there:
                raise ValueError(
                    f"block {other.number} has the column {here!r} where block {self.number} has "
                    f"{there!r}."
                )
