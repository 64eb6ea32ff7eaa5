# SPDX-License-Identifier: BSD-3-Clause
"""TOML files of options to be broken, read as far as the commands themselves take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from file_format import FileFormat

from skstruct.cli import main, options

_SEEDS = [
    b"[fit]\nloss = 'f1'\nset = ['alpha=0.5', 'kernel=linear']\ntarget = 'y'\nquiet = true\n",
    b"[predict]\nrestrict = ['max_size=3', 'exclude=cat,dog']\nthreshold = 0.3\nlevel = 0.9\n"
    b"[evaluate]\njson = true\nfirst = 100\nencoding = 'latin-1'\n",
    b"[data.list]\njson = false\n[compare]\nskip-unlabelled = true\nmemory = '2GB'\n",
    b"[report]\ntask = \"labels\"\nid_column = '''id'''\n[serve]\nport = 0\n",
]
_TOKENS = (
    *(b"[fit]\n", b"[", b"]", b"= ", b"'", b'"""', b"{a = 1}", b"[1, 2]", b"1979-05-27", b"inf"),
    *(b"nan", b"true", b"-1", b"1e400", b"99999999999999999999", b"port = ", b"level = ", b"0x1F"),
    *(b"set = ", b"restrict = ", b"threshold = ", b"format = ", b"cv = ", b"\\u0000", b"a.b = 1\n"),
)
_MANY = 2  # files, as many as a command asks for at most


def read_options(path: Path, turn: int) -> dict[str, Any]:
    """Options of all commands of the file as the commands would get them."""
    found = main._read_config(str(path))
    return {name: _params(path, main.commands.commands[name], given)
            for name, given in found.items()}  # fmt: skip


def _params(path: Path, command: Any, given: dict[str, Any]) -> Any:
    if isinstance(command, click.Group):
        return {name: _params(path, command.commands[name], inner)
                for name, inner in given.items()}  # fmt: skip
    arguments: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            arguments += [str(path)] * (1 if parameter.nargs != -1 else _MANY)
        elif parameter.required and parameter.name not in given:
            arguments += [parameter.opts[0], str(path)]
    with command.make_context(command.name, arguments, default_map=given) as context:
        params = dict(context.params)
    if params.get("settings"):
        options.parse_settings(params["settings"])
    if params.get("restrict"):
        options.parse_restrict(params["restrict"])
    return params


FORMATS = (
    FileFormat(
        "toml", _SEEDS, _TOKENS, read_options, (main, options), file_name="options.toml",
        refusals=(click.ClickException,), opened_by=(main,),
    ),
)  # fmt: skip
