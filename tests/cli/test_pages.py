# SPDX-License-Identifier: BSD-3-Clause
"""The console blocks of the documentation run as they stand, and print what they show."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```console" in page.read_text("utf-8")]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page):
    """Commands and the text that is shown below each of them."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


@pytest.fixture
def printed(run):
    """Output of one line: our command runs within this process, all else in a shell."""

    def printed(command):
        if not command.startswith("skstruct "):
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
            return done.stdout
        words = shlex.split(command)[1:]
        if ">" not in words:
            assert not {*"|&;<>$*"} & {*command}, f"{command}: only a shell could do this"
            return run(*words).out
        *words, sign, path = words
        assert sign == ">"
        Path(path).write_text(run(*words).out)
        return ""

    return printed


@pytest.mark.subprocess
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_print_what_the_page_shows(page, printed):
    for command, shown in steps(page):
        told = re.sub(r"seconds .*", "seconds ...", printed(command))
        assert told.split() == re.sub(r"seconds .*", "seconds ...", shown).split(), command
