# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct spaces`` and ``skstruct losses``: what there is."""

from __future__ import annotations

import inspect

import click

from skstruct.cli.options import json_option

ABILITIES = (
    ("law", "probabilities"), ("kbest", "k best"), ("sample", "samples"), ("size", "counts"),
    ("enumerate", "lists"), ("restrict", "constraints"),
)  # fmt: skip
_SIGNS = {
    ":math:": "", "`": "", " [1]_": "", "\\le ": "<= ", "\\ge ": ">= ", "\\ne ": "!= ",
    "\\cap": "&", "\\frac12": "1/2", "\\": "",
}  # fmt: skip


@click.command(short_help="What may be predicted.")
@json_option
def spaces(as_json):
    """List the output spaces, their usual loss and what they can do."""
    from skstruct import spaces as room
    from skstruct.cli.printing import print_json, print_table

    rows = []
    for name in room.__all__:
        space = getattr(room, name)
        if inspect.isclass(space) and hasattr(space, "argmin") and hasattr(space, "get_params"):
            usual = space.default_loss if isinstance(space.default_loss, str) else ""
            can = [word for method, word in ABILITIES if _has(space, method)]
            rows.append((name, _first_sentence(space), usual, ", ".join(can)))
    columns = ("space", "outputs", "usual_loss", "can")
    if as_json:
        print_json([dict(zip(columns, row)) for row in rows])
    else:
        print_table("", columns, rows)


@click.command(short_help="What a mistake may cost.")
@json_option
def losses(as_json):
    """List the losses by the names that --loss takes."""
    from skstruct import losses as room
    from skstruct.cli.printing import print_json, print_table
    from skstruct.losses.names import SHORT_NAMES

    rows = [
        (short, name, _first_sentence(getattr(room, name))) for short, name in SHORT_NAMES.items()
    ]
    columns = ("loss", "class", "counts")
    if as_json:
        print_json([dict(zip(columns, row)) for row in rows])
    else:
        print_table("", columns, rows)


def _has(space, method) -> bool:
    """Whether outputs of the space can be treated so; probabilities need outputs to list."""
    return hasattr(space, method) and (method != "law" or getattr(space, "discrete", True))


def _first_sentence(thing) -> str:
    """The first line of a docstring, without the marks of its formulas and references."""
    line = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    for mark, sign in _SIGNS.items():
        line = line.replace(mark, sign)
    return line
