# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table file as a learner reads them, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from skstruct.streaming.blocks import (
    Block,
    Partition,
    Source,
    block_of,
    check_rows,
    joined,
    rows_text,
)
from skstruct.tasks.outputs import outputs_for_learning
from skstruct.tasks.seen_rows import remembered, row_digests


class TableSource(Source):
    """The rows of TrainingBlocks, encoded.

    Parameters
    ----------
    data : TrainingBlocks
    encoder : TableEncoder
        Fitted to all rows.

    Attributes
    ----------
    seen : uint64 array of shape (k, 2), or None
        What a model remembers of the rows, once a pass over them is over.
    """

    n_rows: int

    def __init__(self, data, encoder):
        self.data, self.encoder = data, encoder
        self.n_rows = len(data)
        self.seen = None

    def partitions(self, count: int | None = None) -> list[Partition]:
        """One partition, whatever the count: the rows of a text file are found in order."""
        return [TablePartition(self, self.n_rows)]

    def blocks(self, what: str, rows: int | None = None) -> Iterator[Block]:
        """All rows in order; ``what`` they are read for is told to whoever watches."""
        start, seen = 0, None
        for data in self.data.datasets(what, rows):
            n = len(data)
            if not n:
                continue
            X = self.encoder.transform(data.inputs)
            y = outputs_for_learning(data, self.data.labels)
            if self.seen is None:
                seen = remembered(row_digests(X), seen)
            yield Block(X, y, None, start, rows_text(start, start + n))
            start += n
        self.seen = seen if self.seen is None else self.seen

    def sample(self, n: int, random_state=None) -> Block:
        """n rows, all sets of n rows being equally likely; all rows if there are fewer."""
        rows = np.arange(self.n_rows)
        if n < self.n_rows:
            rng = check_random_state(random_state)
            rows = np.sort(sample_without_replacement(self.n_rows, n, random_state=rng))
        kept = []
        for block in self.blocks("a sample of rows"):
            first, last = np.searchsorted(rows, [block.start, block.start + len(block)])
            if last > first:
                kept.append(block_of(block.values, rows[first:last] - block.start))
        return replace(joined(kept, ""), where=f"a sample of {len(rows):,} rows")


@dataclass(frozen=True)
class TablePartition(Partition):
    """All rows of a table."""

    source: Any
    n_rows: int
    start: int = 0

    def blocks(self, rows: int) -> Iterator[Block]:
        """At most so many rows at a time."""
        return self.source.blocks("sums over all rows", check_rows(rows))
