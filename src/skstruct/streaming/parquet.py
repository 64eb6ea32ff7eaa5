# SPDX-License-Identifier: BSD-3-Clause
"""Which rows a sample has, when rows lie in groups that are read whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from skstruct._arrays.stopping import check_cancelled
from skstruct.streaming.arrow_tables import (
    TableColumns,
    check_alike,
    choose_columns,
    groups_and_schemas,
)
from skstruct.streaming.blocks import Block, Partition, Source, check_rows, joined, rows_text


def fair_rows(sizes: Any, n: int, rng: Any, max_groups: int) -> np.ndarray:
    """Numbers of n rows, in order; every row is among them with probability n / sum(sizes).

    With at most ``max_groups`` groups, all sets of n rows are equally likely. With more, only
    about so many are looked into: groups are drawn with probability proportional to their sizes,
    systematically in a random order, and rows within each at random. Rows of one group then come
    together more often than by chance, while each alone has the same probability.

    Parameters
    ----------
    sizes : array of the numbers of rows in the groups
    rng : np.random.RandomState

    Examples
    --------
    >>> fair_rows([3, 4], 3, np.random.RandomState(0), max_groups=10)
    array([1, 2, 6])
    """
    sizes = np.asarray(sizes, np.int64)
    total = int(sizes.sum())
    if n >= total:
        return np.arange(total)
    starts = _large_groups(sizes, max(4, -(-4 * n // max_groups)))
    if len(starts) <= max_groups or 4 * max(n, max_groups) > total:
        return np.sort(sample_without_replacement(total, n, random_state=rng))
    ends = np.append(starts[1:], total)
    # Points at equal distances over the groups laid end to end: one of s rows gets k s / N of
    # them on average, at n / k rows each.
    order = rng.permutation(len(starts))
    points = (rng.random_sample() + np.arange(max_groups)) * (total / max_groups)
    laid = np.cumsum((ends - starts)[order])
    hit = order[np.minimum(np.searchsorted(laid, points, side="right"), len(order) - 1)]
    quota = np.full(max_groups, n // max_groups)
    quota[rng.permutation(max_groups)[: n % max_groups]] += 1
    wanted = np.bincount(hit, quota, len(starts)).astype(np.int64)
    rows = [
        starts[g] + sample_without_replacement(ends[g] - starts[g], wanted[g], random_state=rng)
        for g in np.flatnonzero(wanted)
    ]
    return np.sort(np.concatenate(rows))


def _large_groups(sizes: np.ndarray, least: int) -> np.ndarray:
    """Where groups begin after neighbours were joined until all have at least so many rows."""
    starts, begin, end = [0], 0, 0
    for size in sizes:
        if end - begin >= least:
            starts.append(end)
            begin = end
        end += int(size)
    if end - begin < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)


# Rows of Parquet files, of which no more than a block is held.


_SAMPLED_AT_A_TIME = 8192


@dataclass(frozen=True)
class Run:
    """Row groups of one file."""

    groups: Any  # FileGroups or TableGroups
    numbers: tuple[int, ...]
    start: int  # number of its first row among all
    first: int  # and in its file

    @property
    def n_rows(self) -> int:
        return sum(self.groups.sizes[number] for number in self.numbers)


@dataclass(frozen=True)
class ParquetPartition(Partition):
    """Row groups that follow each other, maybe of several files. It holds names, not rows."""

    runs: tuple[Run, ...]
    columns: TableColumns
    n_rows: int
    start: int

    def blocks(self, rows: int) -> Iterator[Block]:
        """At most so many rows at a time; no block has rows of two files."""
        rows = check_rows(rows)
        for run in self.runs:
            done = 0
            for batch in run.groups.batches(run.numbers, self.columns.names, rows):
                check_cancelled()
                begin, first, n = run.start + done, run.first + done, batch.num_rows
                X, y, weight = self.columns.values(batch, range(begin, begin + n))
                name = run.groups.name
                where = rows_text(first, first + n, name)
                yield Block(X, y, weight, begin, where, name, first)
                done += n


class ParquetSource(Source):
    """Rows of Parquet files, by the names of their columns.

    ``X`` of a block is a DataFrame, so that the estimator knows its columns by name; the index
    are numbers of rows. ``y`` is a Series for one name, a DataFrame for several, and a list of
    lists for a column of lists. All part files must have the same columns with the same types;
    that is checked before anything is read.

    Parameters
    ----------
    data : path, list of paths, pyarrow.Table or pyarrow.dataset.Dataset
        Of a folder, all files that end in .parquet or .pq are read, in the order of their names.
    inputs : list of str, default=None
        Columns of X. None takes all that hold integers or floats, besides outputs, weight and an
        index of pandas; truth values and text are no inputs unless named.
    outputs : str or list of str, default=None
        Columns of y.
    weight : str, default=None
    max_groups : int, default=256
        How many row groups a sample looks into, about. With more than these, rows of one group
        come together more often than by chance, while each row has the same probability.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [0, 1, 0], "kind": ["x", "y", "x"]})
    >>> source = ParquetSource(table, outputs="kind")
    >>> [part] = source.partitions()
    >>> block = next(part.blocks(2))
    >>> block.where, list(block.X), list(block.y)
    ('rows 0 to 1', ['a', 'b'], ['x', 'y'])
    """

    n_rows: int

    def __init__(
        self,
        data: Any,
        *,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        weight: str | None = None,
        max_groups: int = 256,
    ) -> None:
        found = groups_and_schemas(data)
        if not found:
            raise ValueError("The dataset has no file.")
        (first, schema), *others = found
        self.columns = choose_columns(schema, inputs, outputs, weight, first.path)
        for groups, other in others:
            only = None if inputs is None else self.columns.names
            check_alike(other, groups.path, schema, first.name, only)
        self.max_groups = max_groups
        self._files = [groups for groups, _ in found]
        self._sizes = np.array([size for groups in self._files for size in groups.sizes], int)
        self._owner = [i for i, groups in enumerate(self._files) for _ in groups.sizes]
        self._number = [g for groups in self._files for g in range(len(groups.sizes))]
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(int)
        self._file_starts = np.cumsum([0, *(sum(groups.sizes) for groups in self._files)])
        self.n_rows = int(self._starts[-1])

    def partitions(self, count: int | None = None) -> list[Partition]:
        """Groups of row groups of about equal size, at most so many; None: one for each file."""
        if count is not None and count < 1:
            raise ValueError(f"A source has at least one partition; got count={count!r}.")
        if count is None:
            part = self._owner
        else:  # by where the middle of each row group lies
            middle = self._starts[:-1] + self._sizes / 2
            part = np.floor(middle * count / max(1, self.n_rows)).astype(int).tolist()
        if not self.n_rows:
            return [ParquetPartition((), self.columns, 0, 0)]
        filled = [g for g in range(len(self._sizes)) if self._sizes[g]]
        return [self._partition(list(same)) for _, same in groupby(filled, part.__getitem__)]

    def _partition(self, numbers: list[int]) -> ParquetPartition:
        runs = tuple(
            self._run(owner, list(same))
            for owner, same in groupby(numbers, self._owner.__getitem__)
        )
        return ParquetPartition(runs, self.columns, sum(r.n_rows for r in runs), runs[0].start)

    def _run(self, owner: int, numbers: list[int]) -> Run:
        groups, start = self._files[owner], int(self._starts[numbers[0]])
        own = tuple(self._number[g] for g in numbers)
        first = start - int(self._file_starts[owner])
        return Run(groups.narrowed(own), own, start, first)

    def sample(self, n: int, random_state: Any = None) -> Block:
        """n rows at random, each with the same probability; see ``max_groups``.

        Of the columns in use, all row groups that have a row of the sample are read.
        """
        rows = fair_rows(self._sizes, n, check_random_state(random_state), self.max_groups)
        group = np.searchsorted(self._starts, rows, side="right") - 1
        parts = []
        for owner, same in groupby(np.unique(group).tolist(), self._owner.__getitem__):
            numbers = list(same)
            begin, end = np.searchsorted(group, [numbers[0], numbers[-1] + 1])
            parts += self._sampled(owner, numbers, rows[begin:end])
        if not parts:
            raise ValueError("The files have no rows to take a sample from.")
        return joined(parts, f"a sample of {len(rows):,} rows")

    def _sampled(self, owner: int, numbers: list[int], rows: np.ndarray) -> list[Block]:
        """Some rows of some row groups of one file."""
        read = np.concatenate([np.arange(*self._starts[g : g + 2]) for g in numbers])
        positions, done, parts = np.searchsorted(read, rows), 0, []
        own = [self._number[g] for g in numbers]
        names = self.columns.names
        for batch in self._files[owner].batches(own, names, _SAMPLED_AT_A_TIME):
            here = slice(*np.searchsorted(positions, [done, done + batch.num_rows]))
            if here.stop > here.start:
                chosen = batch.take(positions[here] - done)
                parts.append(Block(*self.columns.values(chosen, rows[here])))
            done += batch.num_rows
        return parts
