# SPDX-License-Identifier: BSD-3-Clause
"""Whether a matrix fits into memory, asked before it is made."""

from __future__ import annotations

import os


def available_memory() -> int | None:
    """Bytes of free memory; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


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
