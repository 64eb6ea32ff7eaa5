# SPDX-License-Identifier: BSD-3-Clause
"""Tables for people on stdout, JSON for machines, remarks on stderr."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Sequence

import click

NOT_A_TERMINAL = 200  # columns of a table that goes into a file


def say(text: str, quiet: bool = False) -> None:
    """A remark on stderr."""
    if not quiet:
        click.echo(text, err=True)


def print_table(title: str, columns: Sequence[str], rows, numbers: Sequence[str] = ()) -> None:
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


def print_facts(facts) -> None:
    """Pairs of a name and a value on stdout, one on each line."""
    facts = [(str(name), cell_text(value)) for name, value in facts]
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        click.echo(f"{name:<{width}}  {value}")


def cell_text(value) -> str:
    """Numbers with four digits, the rest as it is."""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return "" if value is None else str(value)


def print_json(value) -> None:
    """One JSON document on stdout; NaN becomes null."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def plain(value):
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
