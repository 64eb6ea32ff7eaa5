# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in files by where they lie, so that a worker gets an address and not the data."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from skstruct._arrays.foreign import of_pandas
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.stopping import check_cancelled
from skstruct.backends import on_host
from skstruct.exceptions import DataFormatError
from skstruct.streaming.blocks import (
    Block,
    Partition,
    Source,
    block_of,
    check_rows,
    count_rows,
    even_cuts,
    rows_text,
    sliceable,
    take_rows,
)


@dataclass(frozen=True)
class MappedArray:
    """An array of numbers in a file, opened anew for every block of rows.

    Pages that were read count as memory of the process until the file is unmapped, which
    happens when the block is dropped: reading all of a file takes the memory of one block.
    """

    path: str
    offset: int  # of the first entry, in bytes
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # rows or columns together, or part of a larger array

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Some rows; a slice of them is read from the disk when it is used."""
        try:
            data = np.memmap(self.path, np.uint8, mode="r")
            whole: np.ndarray = np.ndarray(
                self.shape, self.dtype, buffer=data, offset=self.offset, strides=self.strides
            )
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.path}, which holds rows of the data, is not there: every worker must see "
                "the file under this name."
            ) from None
        except (ValueError, TypeError):
            raise DataFormatError("it is shorter than when it was opened", path=self.path) from None
        return whole[rows]

    def part(self, rows: slice) -> MappedArray:
        """The array of some contiguous rows, not opened."""
        first, last, _ = rows.indices(self.shape[0])
        offset = self.offset + first * self.strides[0]
        shape = (last - first, *self.shape[1:])
        return MappedArray(self.path, offset, self.dtype, shape, self.strides)


def unmapped(value: Any) -> Any:
    """A memory-mapped array as its position in the file; anything else as it is.

    Views are followed to the map they are of. A map that changes only in memory (mode "c"),
    or whose file has no name any more, is data like any other; so is a masked array, whose mask
    no file has.
    """
    if isinstance(value, np.ma.MaskedArray):
        return value
    root = value
    while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
        root = root.base
    if not isinstance(root, np.memmap) or value.ndim == 0 or value.size == 0:
        return value
    if root.mode == "c" or root.filename is None or not os.path.isfile(root.filename):
        return value
    root.flush()  # workers elsewhere read the file
    offset = root.offset + _address(value) - _address(root)
    return MappedArray(str(root.filename), offset, value.dtype, value.shape, value.strides)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


# Rows of arrays in memory or mapped from a file.


@dataclass(frozen=True)
class ArrayPartition(Partition):
    """Contiguous rows of arrays. Pickled, it carries data in memory, and addresses of files."""

    X: Any
    y: Any
    weight: Any
    n_rows: int
    start: int = 0

    @property
    def identity(self) -> Any:
        """Where the arrays in memory lie; None if all rows are in files."""
        values = [value for value in (self.X, self.y, self.weight) if value is not None]
        if all(isinstance(value, MappedArray) for value in values):
            return None
        return (self.start, self.n_rows, *map(_identity, values))

    def blocks(self, rows: int) -> Iterator[Block]:
        """Slices of at most so many rows; their types are those of the arrays."""
        rows = check_rows(rows)
        for first in range(0, self.n_rows, rows):
            check_cancelled()
            part = slice(first, min(first + rows, self.n_rows))
            begin, end = self.start + part.start, self.start + part.stop
            values = (self.X, self.y, self.weight)
            yield block_of(values, part, start=begin, where=rows_text(begin, end))


class ArraySource(Source):
    """Rows of arrays, the way every estimator takes them.

    Parameters
    ----------
    X : array, np.memmap, CSR, tensor or DataFrame of shape (n, p), or list of n inputs
        Of a memory-mapped array, a partition carries the name of the file and the position in it.
    y : outputs in any format, default=None
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> source = ArraySource(np.arange(10.0).reshape(5, 2), list("abcde"))
    >>> for part in source.partitions(2):
    ...     print([block.y for block in part.blocks(2)])
    [['a', 'b'], ['c']]
    [['d', 'e']]
    >>> source.sample(2, random_state=0).y
    ['a', 'c']
    """

    n_rows: int

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        if sample_weight is not None:
            sample_weight = np.asanyarray(on_host(sample_weight))
            if sample_weight.ndim != 1:
                raise ValueError(
                    f"sample_weight has one number a row; its shape is {sample_weight.shape}."
                )
        y = None if y is None else _outputs(y)
        self.n_rows = count_rows(X)
        self._values = tuple(_held(value) for value in (X, y, sample_weight))
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None and count_rows(value) != self.n_rows:
                raise ValueError(
                    f"X has {self.n_rows:,} rows, and {name} has {count_rows(value):,}."
                )

    def partitions(self, count: int | None = None) -> list[Partition]:
        """Contiguous parts of which the sizes differ by at most one; a single one for None."""
        cuts = even_cuts(self.n_rows, count)
        X, y, weight = self._values
        return [
            ArrayPartition(_part(X, a, b), _part(y, a, b), _part(weight, a, b), b - a, a)
            for a, b in pairwise(cuts)
        ]

    def sample(self, n: int, random_state: Any = None) -> Block:
        """n rows, all sets of n rows being equally likely; all rows if there are fewer."""
        if n >= self.n_rows:
            rows = np.arange(self.n_rows)
        else:
            rng = check_random_state(random_state)
            rows = np.sort(sample_without_replacement(self.n_rows, n, random_state=rng))
        return block_of(self._values, rows, where=f"a sample of {len(rows):,} rows")


def _identity(value: Any) -> Any:
    if type(value) is np.ndarray and value.dtype != object:
        return _address(value), value.dtype.str, value.shape, value.strides
    return value if isinstance(value, MappedArray) else id(value)


def _outputs(y: Any) -> Any:
    y = of_pandas(y)
    if hasattr(y, "shape") or isinstance(y, (list, tuple)) or is_pandas(y, "DataFrame", "Series"):
        return y
    return list(y) if hasattr(y, "__len__") else np.asarray(y)


def _held(value: Any) -> Any:
    return unmapped(sliceable(value))


def _part(value: Any, start: int, stop: int) -> Any:
    rows = slice(start, stop)
    return value.part(rows) if isinstance(value, MappedArray) else take_rows(value, rows)
