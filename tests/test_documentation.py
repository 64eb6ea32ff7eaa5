# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documentation run, and print what the pages say they print."""

import contextlib
import io
import re
from importlib import import_module
from pathlib import Path

import pytest

import skstruct

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def examples(page):
    """Line number, code, and the text block right below it, or None, of each python block."""
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    for fence, following in zip(fences, [*fences[1:], None]):
        if fence["kind"] == "python":
            printed = None
            if following is not None and following["kind"] == "text":
                between = text[fence.end() : following.start()]
                printed = following["text"] if not between.strip() else None
            yield text.count("\n", 0, fence.start()) + 1, fence["text"], printed


def run(page):
    """Execute the python blocks of a page in order, in one namespace."""
    names = {"__name__": page.stem}
    for line, code, expected in examples(page):
        printed = io.StringIO()
        # Empty lines in front make a traceback point into the page.
        program = compile("\n" * line + code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        if expected is not None:
            where = f"{page.name}, line {line}"
            assert printed.getvalue().split() == expected.split(), f"{where}:\n{printed.getvalue()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(page)


def test_a_wrong_page_is_caught(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```{note} x\n```\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md, line 3"):
        run(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_lists_every_public_name():
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split()
    folder = Path(skstruct.__file__).parent
    for room in skstruct.__all__:
        if (folder / room).is_dir():
            names = import_module(f"skstruct.{room}").__all__
            assert {f"{room}.{name}" for name in names if name not in skstruct.__all__} <= {
                *reference
            }
        elif room != "__version__":
            assert room in reference
