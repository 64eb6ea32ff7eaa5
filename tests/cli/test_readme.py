# SPDX-License-Identifier: BSD-3-Clause
"""The shell lines of the README and of ``skstruct --help`` run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from skstruct.cli.main import commands

README = Path(__file__).parents[2] / "README.md"
SERVERS = ("serve", "explore")  # run until they are stopped: only what they are given is checked


def lines_of(text):
    """Words of each line that calls skstruct, without the name itself."""
    found = re.findall(r"^ +skstruct (.*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in found]


@pytest.mark.slow
@pytest.mark.parametrize("text", [README.read_text(), commands.help], ids=["README", "help"])
def test_every_line_runs(run, text):
    lines = lines_of(text)
    assert len(lines) >= 5
    for name, *arguments in lines:
        if name in SERVERS:
            commands.commands[name].make_context(name, arguments)
        else:
            run(name, *arguments, *(["--learner", "kernel"] if name == "fit" else []))


def test_the_help_does_not_judge_on_the_data_of_training():
    lines = lines_of(commands.help)
    (trained,) = (line[1] for line in lines if line[0] == "fit")
    judged = [line for line in lines if line[0] in ("evaluate", "report")]
    assert judged and all(trained not in line for line in judged)  # noqa: PT018


@pytest.mark.parametrize("command", ["report", "evaluate"])
@pytest.mark.parametrize("gap", ["", None], ids=["empty column", "no column"])
def test_rows_without_outputs_are_told_what_reads_them(run, fitted, command, gap, tmp_path):
    model = fitted("classes")
    head, *rows = (tmp_path / "train.csv").read_text().splitlines()
    kept = ["".join(row.rpartition(",")[:2]) if gap == "" else row.rpartition(",")[0]
            for row in rows]  # fmt: skip
    (tmp_path / "new.csv").write_text(
        "\n".join([head if gap == "" else head.rpartition(",")[0], *kept]) + "\n"
    )
    output = ["-o", "r.html"] if command == "report" else []
    printed = run(command, model, "new.csv", *output, code=3)
    assert "a file that has none is for skstruct predict, or explore" in printed.err
