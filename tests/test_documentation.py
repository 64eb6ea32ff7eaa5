# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documentation run, and print what the pages say they print."""

import contextlib
import io
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

import skstruct

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {"_build", "gallery", "generated"}  # by the build, not by us
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in DOCS.rglob("*.md") if not MADE & {*path.relative_to(DOCS).parts}),
]
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
CODE = re.compile(r"`([^`\n]+)`")


def title(page):
    """A page's name in the list of tests."""
    return str(page.relative_to(ROOT))


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
    """Execute the python blocks of a page in order, as one module, so that its classes pickle."""
    module = ModuleType(f"page_{page.stem}")
    sys.modules[module.__name__] = module
    try:
        for line, code, expected in examples(page):
            printed = io.StringIO()
            # Empty lines in front make a traceback point into the page.
            program = compile("\n" * line + code, str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(program, module.__dict__)
            if expected is not None:
                told = printed.getvalue()
                assert told.split() == expected.split(), f"{page.name}, line {line}:\n{told}"
    finally:
        del sys.modules[module.__name__]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=title)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with patch.dict(os.environ):  # whatever the page sets
        run(page)


def test_a_wrong_page_is_caught(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```{note} x\n```\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md, line 3"):
        run(page)


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        made = re.fullmatch(r"(?:\.\./)*gallery/(\w+)\.rst", target)  # of an example, by the build
        there = (page.parent / target).exists() if made is None else is_in_gallery(made[1])
        assert there, f"{page.name} links to {target}"


def is_in_gallery(name):
    return name == "index" or (ROOT / "examples" / f"{name}.py").exists()


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


def resolve(dotted):
    """The object behind a dotted name: modules as far as there are any, then attributes."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(dotted)


def missing_names(text):
    """Names, files and tests between backticks that do not exist."""
    for name in CODE.findall(text):
        path, _, test = name.partition("::")
        if name.startswith("skstruct."):
            try:
                resolve(name)
            except (AttributeError, ModuleNotFoundError):
                yield name
        elif re.fullmatch(r"[\w/]+/\w+\.(py|txt)", path):
            file = ROOT / path
            if not file.exists() or (test and f"def {test}(" not in file.read_text("utf-8")):
                yield name


def test_from_paper_to_code_names_what_exists():
    text = (DOCS / "from_paper_to_code.md").read_text(encoding="utf-8")
    assert not list(missing_names(text))
    assert len(CODE.findall(text)) > 150
    planted = "`skstruct.losses.Gone` `papers/gone.py` `tests/test_layers.py::test_gone` `papers/`"
    assert len(list(missing_names(planted + " `docs/results/gone.txt`"))) == 4


# What the papers number, in their order; Figure 2 of the first is in two parts.
NUMBERED = {
    "Goh and Jaillet": {
        "Proposition": "2.1 3.2 3.3 4.1 1.8", "Theorem": "3.1 4.2 1.3 1.5", "Lemma": "3.1 1.6 1.7",
        "Table": "1 2", "Figure": "1 2(a) 2(b)",
    },
    "Meshi": {
        "Theorem": "3.1", "Corollary": "4.1 4.2", "Proposition": "4.3", "Algorithm": "1",
        "Table": "1 2", "Figure": "1",
    },
    "Ciliberto": {
        "Algorithm": "1", "Assumption": "1", "Example": "1 2", "Lemma": "1 3 18",
        "Theorem": "2 4 5", "Remark": "1 2", "Table": "1 2", "Figure": "1",
    },
    "Vembu": {
        "Theorem": "2.1 2.2 2.3 2.4 4.2 6.2 6.5 6.7 6.10 6.11 6.12 7.1 C.1 C.2",
        "Definition": "2.1 6.1 6.2", "Lemma": "4.1 6.4 6.8 6.9", "Corollary": "4.4",
        "Proposition": "4.3 4.5 5.1 5.2 6.1 6.3 6.6", "Algorithm": "1", "Assumption": "4.1 4.2",
        "Table": "5.1", "Figure": "1.1 1.2 1.3 2.1 2.2 4.1 5.1 5.2 5.3 5.4 5.5 6.1",
    },
    "Giguère": {"Lemma": "1 2", "Theorem": "3 4 5 6", "Table": "1 2"},
}  # fmt: skip


def paper_items(text):
    """{paper: its rows of what it numbers, what is here, and where that is shown}."""
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    for paper in NUMBERED:
        part = next(part for part in parts if part.startswith(paper))
        table = part.partition("|---|---|---|\n")[2].partition("\n:::")[0]
        yield paper, [[cell.strip() for cell in row.strip("| ").split(" | ")]
                      for row in table.splitlines()]  # fmt: skip


def test_from_paper_to_code_lists_whatever_a_paper_numbers():
    text = (DOCS / "from_paper_to_code.md").read_text(encoding="utf-8")
    for paper, rows in paper_items(text):
        named = " ".join(f"{row[0]};" for row in rows)
        for kind, numbers in NUMBERED[paper].items():
            for number in numbers.split():
                assert re.search(rf"\b{kind} {re.escape(number)}(?![\w.]\d)", named), (
                    paper,
                    number,
                )


def test_from_paper_to_code_says_where_or_why_not():
    text = (DOCS / "from_paper_to_code.md").read_text(encoding="utf-8")
    for paper, rows in paper_items(text):
        for item, here, shown in rows:
            if here.startswith("not here: "):
                assert shown == "–" or CODE.search(shown), (paper, item)
            else:
                assert CODE.search(here), (paper, item)
                assert re.search(r"`(tests/\w[\w/]*\.py|docs/results/\w+\.txt)", shown), item


def test_from_paper_to_code_lists_every_correction():
    text = (DOCS / "from_paper_to_code.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| ([GMCVS]\d+) \| (code|bound|text) \|", text, re.MULTILINE)
    numbers = {"G": 11, "M": 7, "C": 7, "V": 46, "S": 7}
    expected = [f"{paper}{k}" for paper, n in numbers.items() for k in range(1, n + 1)]
    assert [number for number, _ in found] == expected
