# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct papers``: print the tables of the papers again."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import click

from skstruct.cli.options import quiet_option


@click.group(short_help="Print the tables of the papers again.")
def papers():
    """Scripts that print a paper's figures beside ours; they come with the source code."""


@papers.command("list")
def list_papers():
    """Names and first lines of the scripts."""
    from skstruct.cli.printing import print_table

    rows = [(path.stem, _about(path)) for path in _scripts()]
    print_table("", ("name", "prints"), rows)


@papers.command("run", context_settings={
    "ignore_unknown_options": True, "allow_interspersed_args": False,
})  # fmt: skip
@quiet_option
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run_paper(ctx, quiet, name, arguments):
    """Run the script NAME with whatever ARGUMENTS it takes; data come from $SKSTRUCT_DATA."""
    from skstruct._arrays.progress import watching, working

    known = {path.stem: path for path in _scripts()}
    if name not in known:
        raise click.UsageError(f"There is no script {name!r}; known are {', '.join(known)}.")
    command = [sys.executable, str(known[name]), *arguments]
    with watching(int(not quiet), bars=False), working(f"running {known[name].name}"):
        code = subprocess.call(command)
    ctx.exit(code)


def _scripts():
    """The scripts that can be run by themselves, in the package or beside its source."""
    here = Path(__file__).resolve()
    folders = (here.parents[1] / "_papers", here.parents[3] / "papers")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        raise click.ClickException("The scripts are not installed; get the source of skstruct.")
    return [path for path in sorted(folder.glob("*.py")) if "__main__" in path.read_text("utf-8")]


def _about(path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ")
