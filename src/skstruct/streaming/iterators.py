# SPDX-License-Identifier: BSD-3-Clause
"""What an iterator gives, as blocks that are all alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skstruct._arrays.imports import is_pandas
from skstruct._arrays.stopping import check_cancelled
from skstruct.backends import is_tensor, on_host
from skstruct.streaming.blocks import (
    Block,
    Partition,
    Source,
    block_of,
    check_rows,
    count_rows,
    joined,
    rows_text,
    sliceable,
)


def checked_blocks(items: Iterable[Any]) -> Iterator[Block]:
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


def parts_of(item: Any, number: int) -> tuple[Any, Any, Any]:
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
    weight = None if weight is None else np.asarray(on_host(weight))
    return sliceable(X), sliceable(y), weight


def _check_rows(values: tuple[Any, Any, Any], number: int) -> None:
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


def _kind(value: Any) -> str:
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
    names: tuple[Any, ...]  # of the columns of a frame

    @classmethod
    def of(cls, number: int, values: tuple[Any, Any, Any]) -> Likeness:
        X, y, weight = values
        shape: tuple[Any, ...] = getattr(X, "shape", ())
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


# Rows that come in blocks from an iterator: each is seen once, in order.


class IteratorSource(Source):
    """Blocks of rows from an iterator, a generator, a list of blocks or a data loader.

    Parameters
    ----------
    blocks : iterable, or callable without arguments that gives one
        Of ``(X, y)``, ``(X, y, weight)``, or ``X`` alone. What can be iterated over again, such as
        a list, and a callable are read once for each pass; an iterator can be read only once.
        Arrays must not be filled anew for the next block.

    Examples
    --------
    >>> source = IteratorSource(([[i], [i + 1]], ["a", "b"]) for i in range(3))
    >>> [part] = source.partitions()
    >>> [block.where for block in part.blocks(10)]
    ['rows 0 to 1', 'rows 2 to 3', 'rows 4 to 5']
    >>> list(part.blocks(10))
    Traceback (most recent call last):
        ...
    ValueError: The iterator has been read before, and it can be read only once: give a function...
    """

    n_rows = None

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        if not callable(blocks) and not hasattr(blocks, "__iter__"):
            raise ValueError(
                "A source is an iterable of blocks (X, y), or a function that gives one; got "
                f"{type(blocks).__name__}."
            )
        self.again = callable(blocks) or not hasattr(blocks, "__next__")
        self._blocks: Any = blocks
        self._read = False
        self._held: list[Block] = []  # what a sample was taken from
        self._rest: Iterator[Block] | None = None  # of a one-shot iterator, once it has begun

    def partitions(self, count: int | None = None) -> list[Partition]:
        """One partition, whatever the count: an iterator cannot be divided."""
        return [IteratorPartition(self)]

    def blocks(self) -> Iterator[Block]:
        """The blocks as they come, those that a sample was taken from among them."""
        if self.again:
            yield from checked_blocks(self._blocks() if callable(self._blocks) else self._blocks)
            return
        self._begin()
        self._read = True
        while self._held:
            yield self._held.pop(0)
        yield from self._rest or ()

    def sample(self, n: int, random_state: Any = None) -> Block:
        """n rows at random, for which the whole is read; the first n of a one-shot iterator.

        Those are kept and come again when the blocks are read. If the rows are in some order,
        such as that of their classes, the first ones are not like the others: give a function.
        """
        if self.again:
            return self._reservoir(n, check_random_state(random_state))
        self._begin()
        missing = n - sum(map(len, self._held))
        while missing > 0 and (block := next(self._rest or iter(()), None)) is not None:
            self._held.append(block)
            missing -= len(block)
        whole = joined(self._held, f"the first {n:,} rows")
        return block_of(whole.values, slice(0, n), where=whole.where)

    def _begin(self) -> None:
        if self._read:
            raise ValueError(
                "The iterator has been read before, and it can be read only once: give a function "
                "that makes a new one, or files or arrays."
            )
        if self._rest is None:
            self._rest = checked_blocks(self._blocks)

    def _reservoir(self, n: int, rng: Any) -> Block:
        """The n rows of the smallest of random numbers, one for each row."""
        kept: list[Block] = []
        keys = np.empty(0)
        for block in self.blocks():
            new = rng.random_sample(len(block))
            worst = np.partition(keys, n - 1)[n - 1] if len(keys) >= n else np.inf
            rows = np.flatnonzero(new < worst)
            if len(rows):
                kept.append(block_of(block.values, rows))
                keys = np.concatenate([keys, new[rows]])
            if len(keys) > 2 * n:
                kept, keys = _smallest(kept, keys, n)
        kept, keys = _smallest(kept, keys, n)
        return replace(kept[0], where=f"a sample of {len(keys):,} rows")

    def __getstate__(self) -> Any:
        if not self.again:
            raise TypeError(
                "An iterator cannot be sent to a worker: give a function that makes one, or files "
                "or arrays, or compute without an engine."
            )
        return self.__dict__


@dataclass(frozen=True)
class IteratorPartition(Partition):
    """All rows of an iterator."""

    source: IteratorSource
    n_rows: None = None
    start: int = 0

    def blocks(self, rows: int) -> Iterator[Block]:
        """The blocks as they come; larger ones are cut."""
        rows = check_rows(rows)
        for block in self.source.blocks():
            check_cancelled()
            if len(block) <= rows:
                yield block
                continue
            for first in range(0, len(block), rows):
                last = min(first + rows, len(block))
                begin, end = block.start + first, block.start + last
                where = rows_text(begin, end)
                yield block_of(block.values, slice(first, last), start=begin, where=where)


def _smallest(kept: list[Block], keys: np.ndarray, n: int) -> tuple[list[Block], np.ndarray]:
    rows = np.sort(np.argsort(keys, kind="stable")[:n])
    return [block_of(joined(kept, "").values, rows)], keys[rows]
