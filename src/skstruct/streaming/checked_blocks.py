# SPDX-License-Identifier: BSD-3-Clause
"""What an iterator gives, as blocks that are all alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.optional import is_pandas
from skstruct.streaming.blocks import Block, rows_text
from skstruct.streaming.rows import count_rows, sliceable


def checked_blocks(items: Iterable) -> Iterator[Block]:
    """Blocks, each held against the first one."""
    first, start = None, 0  # what the first one was like; it is not held itself
    for number, item in enumerate(items):
        values = _parts(item, number)
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


def _parts(item, number: int) -> tuple[Any, Any, Any]:
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


@dataclass(frozen=True)
class Likeness:
    """What a block must have in common with the first one."""

    number: int
    parts: dict[str, bool]  # whether there are outputs and weights
    n_columns: int | None  # None for a list of inputs, whose entries may be anything
    names: tuple  # of the columns of a frame

    @classmethod
    def of(cls, number: int, values) -> Likeness:
        X, y, weight = values
        shape: tuple = getattr(X, "shape", ())
        names = tuple(X.columns) if is_pandas(X, "DataFrame") else ()
        parts = {"y": y is not None, "weight": weight is not None}
        return cls(number, parts, int(shape[1]) if len(shape) == 2 else None, names)

    def check(self, other: Likeness) -> None:
        """Raise unless the other block is like this one."""
        for name, there in other.parts.items():
            if there != self.parts[name]:
                has, lacks = (other, self) if there else (self, other)
                raise ValueError(
                    f"block {lacks.number} has no {name}, and block {has.number} has one."
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
