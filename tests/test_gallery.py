# SPDX-License-Identifier: BSD-3-Clause
"""The gallery runs examples and shows what they print and draw."""

from pathlib import Path

import pytest

from docs_modules import load

ROOT = Path(__file__).parents[1]
gallery = load("scripts/gallery.py")

SMALL = '''# SPDX-License-Identifier: BSD-3-Clause
"""A small example: draws one picture.

More about it.

Usage: python examples/small.py
"""

import struct
import zlib
from pathlib import Path

output = Path(__file__).parents[1] / "output"
output.mkdir()
(output / "dot.png").write_bytes(b"not looked into")
print(f"drawn: {output / 'dot.png'}")
print("predicting \u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501 100%")
'''


def examples(folder, **sources):
    folder.mkdir()
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_page_shows_what_is_printed_and_drawn(tmp_path):
    made = tmp_path / "gallery"
    gallery.build(made, examples(tmp_path / "examples", small=SMALL), tmp_path / "library")
    page = (made / "small.md").read_text(encoding="utf-8")
    assert page.startswith("# A small example\n\nDraws one picture.\n\nMore about it.")
    assert "drawn: output/dot.png\n" in page  # no folder of the build
    assert "100%" not in page.split("## The code")[0]  # no bar of what was under way
    assert "Usage" not in page
    assert "SPDX" not in page
    assert "import struct" in page
    assert (made / "images" / "small_dot.png").read_bytes() == b"not looked into"
    index = (made / "index.md").read_text(encoding="utf-8")
    assert "[![](images/small_dot.png)](small.md)" in index
    assert "\nsmall\n" in index


@pytest.mark.subprocess
def test_pages_are_made_again_when_something_changed(tmp_path):
    made, library = tmp_path / "gallery", tmp_path / "library"
    library.mkdir()
    folder = examples(tmp_path / "examples", small='"""A title."""\nprint("first")\n')
    gallery.build(made, folder, library)
    (made / "small.md").write_text("kept", encoding="utf-8")
    gallery.build(made, folder, library)
    assert (made / "small.md").read_text(encoding="utf-8") == "kept"
    (library / "new.py").write_text("", encoding="utf-8")
    (library / "new.py").write_text("x = 1\n", encoding="utf-8")
    gallery.build(made, folder, library)
    assert "first" in (made / "small.md").read_text(encoding="utf-8")


@pytest.mark.subprocess
def test_an_example_that_fails_is_an_error(tmp_path):
    folder = examples(tmp_path / "examples", bad='"""Fails."""\nraise KeyError("planted")\n')
    with pytest.raises(RuntimeError, match=r"bad\.py failed:(.|\n)*planted"):
        gallery.build(tmp_path / "gallery", folder, tmp_path / "library")
    assert not (tmp_path / "gallery" / "index.md").exists()


def test_every_example_has_a_title():
    scripts = sorted((ROOT / "examples").glob("*.py"))
    read = [gallery.Example.read(script) for script in scripts]
    assert len(read) >= 7
    assert len({example.title for example in read}) == len(read)
    for example in read:
        assert len(example.title) <= 40, f"{example.title!r} does not fit into the side bar"
        assert example.about


def test_an_example_without_a_title_is_an_error(tmp_path):
    folder = examples(tmp_path / "examples", bare="print(1)\n")
    with pytest.raises(ValueError, match=r"bare\.py has no docstring"):
        gallery.build(tmp_path / "gallery", folder, tmp_path / "library")
