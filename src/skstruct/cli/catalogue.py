# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct spaces``, ``skstruct losses`` and ``skstruct papers``: what there is."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from skstruct.cli.options import json_option, quiet_option
from skstruct.cli.quick_start import starts_quickly

_SIGNS = {
    ":math:": "", "`": "", " [1]_": "", "\\le ": "<= ", "\\ge ": ">= ", "\\ne ": "!= ",
    "\\cap": "&", "\\frac12": "1/2", "\\": "",
}  # fmt: skip


@click.command(short_help="What may be predicted.")
@json_option
@starts_quickly
def spaces(as_json: bool) -> None:
    """List the output spaces, their usual loss and what they can do."""
    from skstruct import spaces as room
    from skstruct.cli.terminal import print_json, print_table

    rows = []
    for name in room.__all__:
        space: Any = getattr(room, name)
        if name != "BaseSpace" and inspect.isclass(space) and issubclass(space, room.BaseSpace):
            usual = space.default_loss if isinstance(space.default_loss, str) else ""
            rows.append((name, _first_sentence(space), usual, ", ".join(_abilities(space))))
    columns = ("space", "outputs", "usual_loss", "can")
    if as_json:
        print_json([dict(zip(columns, row)) for row in rows])
    else:
        print_table("", columns, rows)


@click.command(short_help="What a mistake may cost.")
@json_option
@starts_quickly
def losses(as_json: bool) -> None:
    """List the losses by the names that --loss takes."""
    from skstruct import losses as room
    from skstruct.cli.terminal import print_json, print_table
    from skstruct.losses.names import SHORT_NAMES

    rows = [
        (short, name, _first_sentence(getattr(room, name))) for short, name in SHORT_NAMES.items()
    ]
    columns = ("loss", "class", "counts")
    if as_json:
        print_json([dict(zip(columns, row)) for row in rows])
    else:
        print_table("", columns, rows)


def _abilities(kind: type[Any]) -> list[str]:
    """What spaces of a class can do, by what parameters are where nobody gives them."""
    from skstruct.spaces import Solving, Uniform

    space = object.__new__(kind)
    parameters = inspect.signature(kind).parameters
    vars(space).update({name: one.default for name, one in parameters.items()})
    uniform, methods = Uniform.of(space), dir(kind)
    known = {
        "probabilities": Solving.of(space).discrete, "k best": "kbest" in methods,
        "samples": uniform.draws, "counts": uniform.counts, "lists": uniform.lists,
        "constraints": "restrict" in methods,
    }  # fmt: skip
    return [word for word, can in known.items() if can]


def _first_sentence(thing: type[Any]) -> str:
    """The first line of a docstring, without the marks of its formulas and references."""
    line = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    for mark, sign in _SIGNS.items():
        line = line.replace(mark, sign)
    return line


# ``skstruct papers``: print the tables of the papers again.


@click.group(short_help="Print the tables of the papers again.")
def papers() -> None:
    """Scripts that print a paper's figures beside ours; they come with the source code."""


@papers.command("list")
def list_papers() -> None:
    """Names and first lines of the scripts."""
    from skstruct.cli.terminal import print_table

    rows = [(path.stem, _about(path)) for path in _scripts()]
    print_table("", ("name", "prints"), rows)


@papers.command("run", context_settings={
    "ignore_unknown_options": True, "allow_interspersed_args": False,
})  # fmt: skip
@quiet_option
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run_paper(ctx: Any, quiet: bool, name: str, arguments: tuple[Any, ...]) -> None:
    """Run the script NAME with whatever ARGUMENTS it takes; data come from $SKSTRUCT_DATA."""
    from skstruct._arrays.progress import watching, working

    known = {path.stem: path for path in _scripts()}
    if name not in known:
        raise click.UsageError(f"There is no script {name!r}; known are {', '.join(known)}.")
    command = [sys.executable, str(known[name]), *arguments]
    with watching(int(not quiet), bars=False), working(f"running {known[name].name}"):
        code = subprocess.call(command)
    ctx.exit(code)


def _scripts() -> list[Path]:
    """The scripts that can be run by themselves, in the package or beside its source."""
    here = Path(__file__).resolve()
    folders = (here.parents[1] / "_papers", here.parents[3] / "papers")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        raise click.ClickException("The scripts are not installed; get the source of skstruct.")
    return [path for path in sorted(folder.glob("*.py")) if "__main__" in path.read_text("utf-8")]


def _about(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ")
