# SPDX-License-Identifier: BSD-3-Clause
"""How many rows are done, on stderr, for whoever watches."""

from __future__ import annotations

import contextlib
import sys


@contextlib.contextmanager
def rows_bar(n_rows: int | None, share, shown: bool, console=None):
    """A function to be called with the number of rows that were done.

    Parameters
    ----------
    n_rows : int or None
        That there are, where it is known.
    share : callable
        Else how much is done, from 0 to 1, or None where nobody knows.
    shown : bool
        Nothing is drawn if not.
    """
    if not shown:
        yield lambda _: None
        return
    from rich import progress
    from rich.console import Console

    drawn = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[rows]:,} rows"),
        progress.TimeRemainingColumn(),
        console=console or Console(stderr=True),
        transient=True,
    )
    known = n_rows is not None or share() is not None
    with drawn:
        task = drawn.add_task("predicting", total=1.0 if known else None, rows=0)
        done = 0

        def advance(n):
            nonlocal done
            done += n
            part = share() if n_rows is None else done / max(1, n_rows)
            drawn.update(task, completed=part or 0.0, rows=done)

        yield advance


def watched(output) -> bool:
    """Whether somebody looks at stderr, and no predictions are printed to the same terminal."""
    return sys.stderr.isatty() and (output is not None or not sys.stdout.isatty())
