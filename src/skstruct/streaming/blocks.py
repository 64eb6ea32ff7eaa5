# SPDX-License-Identifier: BSD-3-Clause
"""What every source of rows promises: partitions, which give blocks of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.foreign import of_pandas
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.rows import narrow_indices
from skstruct.backends import is_tensor


def count_rows(value: Any) -> int:
    """How many rows there are."""
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape else len(value)


def sliceable(value: Any) -> Any:
    """The same rows in a form of which rows can be taken, and joined: sparse formats become CSR,
    frames of other packages those of pandas.
    """
    value = of_pandas(value)
    return value.tocsr() if sparse.issparse(value) and value.format != "csr" else value


def take_rows(value: Any, rows: Any) -> Any:
    """Rows by a slice or an array of numbers; None stays None.

    >>> take_rows(["a", "b", "c"], np.array([0, 2]))
    ['a', 'c']
    """
    if value is None:
        return None
    if is_pandas(value, "DataFrame", "Series", "Index"):
        return value.iloc[rows] if hasattr(value, "iloc") else value[rows]
    if isinstance(value, (list, tuple)):
        return list(value[rows]) if isinstance(rows, slice) else [value[i] for i in rows]
    return value[rows]


def join_rows(values: list[Any]) -> Any:
    """One after another; all are of one kind.

    >>> join_rows([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    first = values[0]
    if len(values) == 1 or first is None:
        return first
    if is_pandas(first, "DataFrame", "Series"):
        import pandas

        return pandas.concat(values)
    if sparse.issparse(first):
        return narrow_indices(sparse.vstack(values, format="csr"))
    if is_tensor(first):
        import torch

        return torch.cat(values)
    if isinstance(first, (list, tuple)):
        return [row for part in values for row in part]
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        return np.ma.concatenate(values)  # type: ignore[no-untyped-call]  # what is masked stays so
    return np.concatenate(values)


# What every source of rows promises: partitions, which give blocks.


@dataclass(frozen=True)
class Block:
    """Some rows that follow each other, and where they are from.

    Attributes
    ----------
    X : array, CSR, tensor or DataFrame of shape (n, p); or a list of n inputs
    y : n outputs in any format, or None
    weight : array of shape (n,) or None
    start : int
        Number of its first row among all.
    where : str
        For messages: ``"rows 0 to 4,999 of part-0.parquet"``.
    file : str
        Name of the file, if the rows are of one.
    first : int or None
        Number of its first row in that file.

    Examples
    --------
    >>> block = Block([[0.5], [1.0]], start=7, where=rows_text(7, 9))
    >>> len(block), block.where, block.row_text(1)
    (2, 'rows 7 to 8', 'row 8')
    """

    X: Any
    y: Any = None
    weight: Any = None
    start: int = 0
    where: str = ""
    file: str = ""
    first: int | None = None

    def __len__(self) -> int:
        return count_rows(self.X)

    @property
    def values(self) -> tuple[Any, Any, Any]:
        """X, y and weights."""
        return self.X, self.y, self.weight

    def row_text(self, i: int) -> str:
        """Where row i of the block is, for messages; counted from 0."""
        first = self.start if self.first is None else self.first
        return f"row {first + i:,}" + (f" of {self.file}" if self.file else "")


class Partition(ABC):
    """A part of a source that one worker reads. It can be pickled, and holds no open file.

    Attributes
    ----------
    n_rows : int or None
        None where nobody knows before reading.
    start : int
        Number of its first row among all.
    identity : hashable or None
        Of rows in memory: parts of the same identity, while one of them is held, have the same
        rows. None for a part that carries no rows.
    """

    n_rows: int | None
    start: int
    identity: Any = None

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Block]:
        """Its rows in order, at most so many at a time."""


class Source(ABC):
    """Rows too many to hold, or spread over files.

    Attributes
    ----------
    n_rows : int or None
    again : bool
        Whether it can be read more than once.
    """

    n_rows: int | None
    again: bool = True

    @abstractmethod
    def partitions(self, count: int | None = None) -> list[Partition]:
        """At most so many parts that cover all rows in order, the same for the same count."""

    @abstractmethod
    def sample(self, n: int, random_state: Any = None) -> Block:
        """At most n rows at random, in the order of their numbers."""


def rows_text(start: int, stop: int, file: str = "") -> str:
    """Name the rows from ``start`` to before ``stop``, counted from 0.

    >>> rows_text(0, 5000, "part-0.parquet")
    'rows 0 to 4,999 of part-0.parquet'
    """
    where = f"row {start:,}" if stop == start + 1 else f"rows {start:,} to {stop - 1:,}"
    return where + (f" of {file}" if file else "")


def check_rows(rows: int) -> int:
    """A block has at least one row."""
    if rows != int(rows) or rows < 1:
        raise ValueError(f"A block has at least one row; got rows={rows!r}.")
    return int(rows)


def even_cuts(n_rows: int, count: int | None) -> list[int]:
    """Where so many parts begin, and where the last one ends; sizes differ by at most one.

    >>> even_cuts(7, 3)
    [0, 3, 5, 7]
    """
    count = 1 if count is None else count
    if count != int(count) or count < 1:
        raise ValueError(f"A source has at least one partition; got count={count!r}.")
    n_parts = max(1, min(int(count), n_rows))  # no part without rows, unless there are none
    size, longer = divmod(n_rows, n_parts)
    return [i * size + min(i, longer) for i in range(n_parts + 1)]


def block_of(values: tuple[Any, Any, Any], rows: Any, *, start: int = 0, where: str = "") -> Block:
    """A block of some rows of X, y and weights."""
    X, y, weight = (take_rows(value, rows) for value in values)
    return Block(X, y, weight, start, where)


def joined(blocks: list[Block], where: str) -> Block:
    """One block of the rows of several."""
    X, y, weight = (join_rows(list(values)) for values in zip(*(b.values for b in blocks)))
    return Block(X, y, weight, blocks[0].start, where)
