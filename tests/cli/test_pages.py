# SPDX-License-Identifier: BSD-3-Clause
"""The console blocks of the documentation run as they stand, and print what they show."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.glob("*.md")) if "```console" in page.read_text("utf-8")]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page):
    """Commands and the text that is shown below each of them."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def run(command, folder):
    """Output of one line as a shell would give it, with our command wherever it is installed."""
    if command.startswith("skstruct "):
        command = f"{shlex.quote(sys.executable)} -m skstruct.cli {command[len('skstruct ') :]}"
    return subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page, tmp_path):
    for command, shown in steps(page):
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        printed = re.sub(r"seconds .*", "seconds ...", done.stdout).split()
        assert printed == re.sub(r"seconds .*", "seconds ...", shown).split(), done.stdout
