# SPDX-License-Identifier: BSD-3-Clause
"""Row blocks under a memory budget."""

from __future__ import annotations

import re
from collections.abc import Iterator

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def parse_memory(memory: str | int | float) -> int:
    """Bytes meant by ``"1GB"``, ``"200 MB"`` or a plain number of bytes.

    >>> parse_memory("1.5GB")
    1500000000
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?B?)\s*", str(memory).upper())
    try:
        if found is None:
            raise ValueError
        number, unit = float(found[1]), found[2]
        size = int(number * UNITS[unit if unit.endswith("B") or not unit else unit + "B"])
    except (ValueError, OverflowError):
        raise ValueError(f'memory is a size such as "500MB" or "2GB"; got {memory!r}.') from None
    if size <= 0:
        raise ValueError(f"memory must be positive; got {memory!r}.")
    return size


def row_blocks(n_rows: int, bytes_per_row: int, memory: str | int | float) -> Iterator[slice]:
    """Slices that cover ``n_rows``, each within the budget and at least one row long.

    >>> list(row_blocks(5, 100, 200))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, parse_memory(memory) // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
