# SPDX-License-Identifier: BSD-3-Clause
"""What a command shows: tables for people on stdout, JSON for machines, remarks and progress
on stderr.
"""

import contextlib
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import click

NOT_A_TERMINAL = 200  # columns of a table that goes into a file


def say(text: str, quiet: bool = False) -> None:
    """A remark on stderr."""
    if not quiet:
        click.echo(text, err=True)


def print_table(
    title: str, columns: Sequence[str], rows: list[Any], numbers: Sequence[str] = ()
) -> None:
    """A table on stdout; columns named in ``numbers`` are flush right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for name in columns:
        right = name in numbers
        table.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))  # no markup of rich in data
    if sys.stdout.isatty():
        Console(highlight=False).print(table)
        return
    text = io.StringIO()
    Console(file=text, width=NOT_A_TERMINAL, highlight=False).print(table)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    click.echo("\n".join(line for line in lines if line))


def print_facts(facts: Any) -> None:
    """Pairs of a name and a value on stdout, one on each line."""
    facts = [(str(name), cell_text(value)) for name, value in facts]
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        click.echo(f"{name:<{width}}  {value}")


def cell_text(value: str | float) -> str:
    """Numbers with four digits, the rest as it is."""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return "" if value is None else str(value)


def print_json(value: Any) -> None:
    """One JSON document on stdout; NaN becomes null."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries of Python from whatever holds them."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value)


# How far a command is, on stderr, for whoever waits.


def shows_progress(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that says what it does and how far it is, once it takes longer than two seconds.

    On a terminal there are bars, elsewhere lines; nothing with ``--quiet``, and nothing while
    predictions are printed to the same terminal.
    """

    @wraps(command)
    def shown(*args: Any, **options: Any) -> Any:
        import skstruct.persistence
        import skstruct.tasks  # noqa: F401
        from skstruct._arrays.progress import watching

        level = 2 if options.get("verbose") else 1
        hidden = options.get("quiet") or ("output" in options and not watched(options["output"]))
        with watching(0 if hidden else level):
            return command(*args, **options)

    return shown


@contextlib.contextmanager
def rows_bar(
    n_rows: int | None, share: Callable[..., Any], shown: bool, *, task: str = "file"
) -> Iterator[Callable[..., Any]]:
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

        def advance(n: int) -> None:
            if stage is not None:
                done, part = stage.done + n, share() if n_rows is None else None
                stage.reach(done, done / part if part else None)

        yield advance


def watched(output: str | None) -> bool:
    """Whether progress may be shown: no predictions are printed to the same terminal."""
    return output is not None or not (sys.stderr.isatty() and sys.stdout.isatty())


def watched_passes(path: str, quiet: bool) -> Callable[..., Any]:
    """For TrainingBlocks: progress of every pass over a file, and a line after it."""
    from time import perf_counter

    def watch(blocks: Iterable[Any], what: str, source: Any) -> Iterator[Any]:
        if quiet or not what:
            yield from blocks
            return
        start, n_rows = perf_counter(), 0

        def share() -> float | None:
            return min(1.0, source.bytes_read / source.n_bytes) if source.n_bytes else None

        with rows_bar(source.n_rows, share, True, task=what) as advance:
            for block in blocks:
                yield block
                n = len(block) if not isinstance(block, tuple) else block[0]
                n_rows += n
                advance(n)
        say(f"{path}: {what}: {n_rows:,} rows in {perf_counter() - start:.1f} s.", quiet)

    return watch
