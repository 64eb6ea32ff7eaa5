# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr when asked for, nothing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def track(steps: Sequence[T], description: str, verbose: int) -> Iterable[T]:
    """Iterate over ``steps``; with ``verbose`` a bar shows how far it has come."""
    if not verbose:
        return steps
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(steps, description=description, console=Console(stderr=True))


def ticker(n_steps: int, description: str, verbose: int) -> Callable[..., None]:
    """A function to call after each of so many steps; with ``verbose`` it moves a bar."""
    steps = iter(track(range(n_steps), description, verbose))
    next(steps, None)

    def tick(*_) -> None:
        next(steps, None)

    return tick
