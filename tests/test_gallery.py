# SPDX-License-Identifier: BSD-3-Clause
"""Examples have the form that the gallery of the documentation reads, and draw a picture."""

import ast
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def docstring(path):
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title(path):
    title, line, empty, *about = docstring(path).splitlines()
    assert line == "=" * len(title)
    assert not empty
    assert about
    assert len(title) <= 40, f"{title!r} does not fit into the side bar"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws(path):
    text = path.read_text(encoding="utf-8")
    assert "plt.show()" in text or path.stem == "demo"  # the demo writes its picture to a file


def test_titles_differ():
    assert len({docstring(path).splitlines()[0] for path in EXAMPLES}) == len(EXAMPLES) >= 9
