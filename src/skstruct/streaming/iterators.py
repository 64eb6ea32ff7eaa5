# SPDX-License-Identifier: BSD-3-Clause
"""Rows that come in blocks from an iterator: each is seen once, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skstruct.streaming.blocks import (
    Block,
    Partition,
    Source,
    block_of,
    check_rows,
    joined,
    rows_text,
)
from skstruct.streaming.checked_blocks import checked_blocks


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

    def __init__(self, blocks: Iterable | Callable[[], Iterable]):
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

    def sample(self, n: int, random_state=None) -> Block:
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

    def _reservoir(self, n: int, rng) -> Block:
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

    def __getstate__(self):
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
            if len(block) <= rows:
                yield block
                continue
            for first in range(0, len(block), rows):
                last = min(first + rows, len(block))
                begin, end = block.start + first, block.start + last
                where = rows_text(begin, end)
                yield block_of(block.values, slice(first, last), start=begin, where=where)


def _smallest(kept: list[Block], keys, n: int):
    rows = np.sort(np.argsort(keys, kind="stable")[:n])
    return [block_of(joined(kept, "").values, rows)], keys[rows]
