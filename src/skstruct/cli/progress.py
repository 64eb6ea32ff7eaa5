# SPDX-License-Identifier: BSD-3-Clause
"""How far a command is, on stderr, for whoever waits."""

from __future__ import annotations

import contextlib
import sys
from functools import wraps


def shows_progress(command):
    """A command that says what it does and how far it is, once it takes longer than two seconds.

    On a terminal there are bars, elsewhere lines; nothing with ``--quiet``, and nothing while
    predictions are printed to the same terminal.
    """

    @wraps(command)
    def shown(*args, **options):
        import skstruct.persistence
        import skstruct.tasks  # noqa: F401
        from skstruct._arrays.progress import watching

        level = 2 if options.get("verbose") else 1
        hidden = options.get("quiet") or ("output" in options and not watched(options["output"]))
        with watching(0 if hidden else level):
            return command(*args, **options)

    return shown


@contextlib.contextmanager
def rows_bar(n_rows: int | None, share, shown: bool, *, task: str = "file"):
    """A function to be called with the number of rows that were done.

    Parameters
    ----------
    n_rows : int or None
        That there are, where it is known.
    share : callable
        Else how much is done, from 0 to 1, or None where nobody knows.
    shown : bool
        Nothing is shown if not.
    task : str
        What is done with the rows.
    """
    from skstruct._arrays.progress import working

    if not shown:
        yield lambda _: None
        return
    with working(task, n_rows, unit=" rows") as stage:

        def advance(n):
            if stage is not None:
                done, part = stage.done + n, share() if n_rows is None else None
                stage.reach(done, done / part if part else None)

        yield advance


def watched(output) -> bool:
    """Whether progress may be shown: no predictions are printed to the same terminal."""
    return output is not None or not (sys.stderr.isatty() and sys.stdout.isatty())


def watched_passes(path, quiet: bool):
    """For TrainingBlocks: progress of every pass over a file, and a line after it."""
    from time import perf_counter

    from skstruct.cli.printing import say

    def watch(blocks, what, source):
        if quiet or not what:
            yield from blocks
            return
        start, n_rows = perf_counter(), 0

        def share():
            return min(1.0, source.bytes_read / source.n_bytes) if source.n_bytes else None

        with rows_bar(source.n_rows, share, True, task=what) as advance:
            for block in blocks:
                yield block
                n = len(block) if not isinstance(block, tuple) else block[0]
                n_rows += n
                advance(n)
        say(f"{path}: {what}: {n_rows:,} rows in {perf_counter() - start:.1f} s.", quiet)

    return watch
