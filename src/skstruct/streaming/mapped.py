# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in files by where they lie, so that a worker gets an address and not the data."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.exceptions import DataFormatError


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

    def __getitem__(self, rows) -> np.ndarray:
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


def unmapped(value) -> Any:
    """A memory-mapped array as its place in the file; anything else as it is.

    Views are followed to the map they are of. A map that changes only in memory (mode "c"),
    or whose file has no name any more, is data like any other.
    """
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


def _address(array) -> int:
    return array.__array_interface__["data"][0]
