# SPDX-License-Identifier: BSD-3-Clause
"""Whether matrices fit into memory, and blocks of rows under a memory budget."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from skstruct._arrays.stopping import check_cancelled

PROCESS, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that can be taken without swapping; None where the system does not say.

    On Linux what it calls available, which counts files it can drop, and no more than what the
    control groups of this process (containers, batch systems) and its own limits (``ulimit -v``)
    leave.
    """
    known = (_system_memory(PROCESS), _group_memory(PROCESS, GROUPS), _own_limit(PROCESS))
    return min((size for size in known if size is not None), default=None)


def _system_memory(process: Path) -> int | None:
    for line in _lines(process / "meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _group_memory(process: Path, groups: Path) -> int | None:
    """What the tightest control group leaves, in version 2 or 1 of these; None without limit."""
    left: list[int] = []
    for line in _lines(process / "self" / "cgroup"):  # such as 4:memory:/user/job
        controllers, path = line.split(":", 2)[1:]
        if controllers == "":
            root, names = groups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = groups / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        folder = root / path.strip("/")
        above = [root / part for part in folder.relative_to(root).parents]
        left += [size for path in (folder, *above) for size in _left(path, *names)]
    return min(left, default=None)


def _own_limit(process: Path) -> int | None:
    """What the limits of this process leave of its addresses and its data; None without limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    pages = [int(word) for line in _lines(process / "self" / "statm") for word in line.split()]
    left = []
    for limit, column in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            used = os.sysconf("SC_PAGE_SIZE") * pages[column] if pages else 0
            left.append(max(0, most - used))
    return min(left, default=None)


def _left(folder: Path, limit: str, used: str, files: str) -> list[int]:
    """Limit of one group less what it uses, but for files that can be dropped; or nothing."""
    try:
        most = int((folder / limit).read_text())  # "max" is no limit
        taken = int((folder / used).read_text())
    except (OSError, ValueError):
        return []
    entries = [line.split() for line in _lines(folder / "memory.stat")]
    droppable = sum(int(entry[1]) for entry in entries if entry[:1] == [files])
    return [max(0, most - taken + droppable)]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def advised(error: MemoryError, name: str) -> MemoryError:
    """The error with what to do, where it comes from an allocation that failed.

    >>> print(advised(MemoryError(), "Ridge.fit"))
    Ridge.fit ran out of memory. Take fewer rows or columns, or landmarks where there are such, ...
    """
    said = str(error)
    ours = type(error) is MemoryError and said and not said.startswith(_ALLOCATIONS)
    if ours:  # says what to do already
        return error
    why = f": {said.rstrip('.')}." if said else "."
    return MemoryError(
        f"{name} ran out of memory{why} Take fewer rows or columns, or landmarks where there are "
        "such, read rows in blocks (skstruct.streaming), or give the process more memory."
    )


_ALLOCATIONS = ("Allocation failed", "Unable to allocate", "std::bad_alloc")


def check_square_fits(d: int, what: str, instead: str, available: int | None = None) -> None:
    """Raise ``MemoryError`` if d x d numbers do not fit.

    Parameters
    ----------
    what : str
        The matrix, for the message.
    instead : str
        What to do without it.
    available : int, default=None
        Bytes that may be used; None asks the system.
    """
    available = available_memory() if available is None else available
    needed = 8 * d * d
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} has {d:,} x {d:,} numbers, {needed / 1e9:,.1f} GB; {available / 1e9:,.1f} GB "
            f"are free. {instead}"
        )


def check_table_fits(n: int, d: int, what: str, instead: str) -> None:
    """Raise ``MemoryError`` if n x d numbers do not fit; parameters as above."""
    available, needed = available_memory(), 8 * n * d
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} {n:,} x {d:,} numbers, {needed / 1e9:,.1f} GB; {available / 1e9:,.1f} GB are "
            f"free. {instead}"
        )


# Row blocks under a memory budget.


MEMORY_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


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
        size = int(number * MEMORY_UNITS[unit if unit.endswith("B") or not unit else unit + "B"])
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
        check_cancelled()
        yield slice(start, min(start + step, n_rows))
