# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of a stored zip as parts of one memory map, shared by all processes that map the file.

Compiled code wants arrays at multiples of their item size, and vector units at multiples of 64
bytes. A stored member of a zip begins wherever the one before it ended, so whoever writes one pads
its header, as ``zipalign`` does for the packages of Android.
"""

import mmap
import struct
import zipfile
from itertools import pairwise
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: of a line of a processor's cache, and what NumPy pads its headers to
_LOCAL_HEADER = 30  # bytes, before the name and the extra fields
_ZIP64_FIELD = 20  # bytes of extra field that zipfile adds where sizes come after the data
_ALIGNED = 0xD935  # the extra field of zipalign: its number, its length, the alignment, zeros
_EMPTY_FIELD = struct.calcsize("<HHH")


def padding(position: int, member: str) -> bytes:
    """An extra field after which the data of a member, begun at a position, are aligned.

    Examples
    --------
    >>> extra = padding(1000, "arrays/x.npy")
    >>> (1000 + 30 + len("arrays/x.npy") + len(extra) + 20) % 64
    0
    """
    start = position + _LOCAL_HEADER + len(member) + _EMPTY_FIELD + _ZIP64_FIELD
    free = -start % ALIGNMENT
    return struct.pack("<HHH", _ALIGNED, 2 + free, ALIGNMENT) + bytes(free)


class Mapping:
    """The pages of an opened zip, private to whoever writes to them.

    Parameters
    ----------
    packed : zipfile.ZipFile
        All of its members are stored as they are.
    end : int
        Bytes of the file that members may lie in.

    Raises
    ------
    ValueError
        If members overlap: arrays that share memory change each other.
    """

    def __init__(self, packed: zipfile.ZipFile, end: int) -> None:
        file: Any = packed.fp
        self.pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        spans = sorted(
            (info.header_offset, self.start(info) + info.file_size) for info in packed.infolist()
        )
        if any(stop > next_start for (_, stop), (next_start, _) in pairwise([*spans, (end, end)])):
            raise ValueError("its members overlap")

    def start(self, info: zipfile.ZipInfo) -> int:
        """The position of a member's first byte, after its header."""
        n_name, n_extra = struct.unpack_from("<HH", self.pages, info.header_offset + 26)
        return int(info.header_offset + _LOCAL_HEADER + n_name + n_extra)

    def array(self, info: zipfile.ZipInfo, offset: int, dtype: np.dtype, n: int) -> Any:
        """n items from an offset of a member on, or None where they are not aligned, or none."""
        start = self.start(info) + offset
        if start % ALIGNMENT or not n or not dtype.itemsize:
            return None
        return np.frombuffer(self.pages, dtype, n, start)


def mapped(packed: zipfile.ZipFile, end: int) -> Mapping | None:
    """The pages of an opened zip; None on file systems that map nothing."""
    try:
        return Mapping(packed, end)
    except OSError:
        return None
