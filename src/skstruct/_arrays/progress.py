# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr when asked for, nothing otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def track(steps: Sequence[T], description: str, verbose: int) -> Iterable[T]:
    """Iterate over ``steps``; with ``verbose`` a bar shows how far it has come."""
    if not verbose:
        return steps
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(steps, description=description, console=Console(stderr=True))
