# SPDX-License-Identifier: BSD-3-Clause
"""The tools of the documentation: links of built pages, kept results, formulas."""

import re

import pytest

from docs_modules import DOCS, load

check_links = load("scripts/check_links.py")
collect_results = load("scripts/collect_results.py")

GOOD = """<html><head><link rel="stylesheet" href="_static/a.css"><link rel="next" href="gone.html">
</head><body><h1 id="top">x</h1><a name="old"></a><img src="images/a%20b.png">
<a href="sub/page.html#there">a</a><a href="#top">b</a><a href="#old">c</a><a href="sub/">d</a>
<a href="https://example.org/#nowhere">e</a><a href="mailto:x@example.org">f</a></body></html>"""


def site(folder):
    """Two pages without a mistake."""
    for name in ("_static", "images", "sub"):
        (folder / name).mkdir(parents=True)
    (folder / "_static" / "a.css").write_text("p { background: url(b.png) }", encoding="utf-8")
    (folder / "images" / "a b.png").write_bytes(b"")
    (folder / "index.html").write_text(GOOD, encoding="utf-8")
    for name in ("page", "index"):
        (folder / "sub" / f"{name}.html").write_text('<p id="there"></p>', encoding="utf-8")
    return folder


def test_good_pages_have_no_broken_links(tmp_path):
    assert check_links.problems(site(tmp_path)) == []
    assert check_links.main(tmp_path) == 0


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        ('<a href="gone.html">', "gone.html does not exist"),
        ('<a href="sub/page.html#gone">', "sub/page.html#gone has no such anchor"),
        ('<a href="#gone">', "#gone has no such anchor"),
        ('<img src="images/gone.png">', "images/gone.png does not exist"),
        ('<script src="https://cdn.example.org/x.js">', "loads https://cdn.example.org/x.js"),
        ('<script src="//cdn.example.org/x.js">', "loads //cdn.example.org/x.js"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "https://example.org/x.css"),
    ],
)
def test_a_planted_mistake_is_found(planted, told, tmp_path):
    folder = site(tmp_path)
    (folder / "sub" / "page.html").write_text('<p id="there"></p>', encoding="utf-8")
    (folder / "index.html").write_text(GOOD + planted, encoding="utf-8")
    found = check_links.problems(folder)
    assert len(found) == 1
    assert "index.html: " in found[0]
    assert told in found[0]
    assert check_links.main(folder) == 1


def test_styles_load_nothing_from_outside(tmp_path):
    folder = site(tmp_path)
    style = "@import 'https://example.org/font.css'; p { background: url(https://example.org/b) }"
    (folder / "_static" / "a.css").write_text(style, encoding="utf-8")
    assert len(check_links.problems(folder)) == 2


def test_a_folder_without_pages_is_no_success(tmp_path):
    assert check_links.main(tmp_path) == 1


@pytest.mark.subprocess
def test_results_are_kept_under_their_command(tmp_path):
    script = tmp_path / "few.py"
    script.write_text("import sys\nprint('a figure', *sys.argv[1:])\n", encoding="utf-8")
    kept = collect_results.collect([str(script), "--rows", "2 3"], tmp_path / "results", tmp_path)
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert kept.name == "few.txt"
    assert re.fullmatch(r"\(\d{4}-\d\d-\d\d; Python 3.*, numpy .*\)", lines[1])
    assert lines[2:] == ["", "a figure --rows 2 3"]
    assert collect_results.command_of(kept) == [str(script), "--rows", "2 3"]


@pytest.mark.subprocess
def test_a_script_that_fails_keeps_nothing(tmp_path):
    script, results = tmp_path / "few.py", tmp_path / "results"
    script.write_text("print(1)\n", encoding="utf-8")
    kept = collect_results.collect([str(script)], results, tmp_path)
    before = kept.read_text(encoding="utf-8")
    script.write_text("print(2)\nraise SystemExit(3)\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="ended with status 3; nothing kept"):
        collect_results.collect([str(script)], results, tmp_path)
    assert kept.read_text(encoding="utf-8") == before
    assert list(results.iterdir()) == [kept]


def test_a_file_without_its_command_is_an_error(tmp_path):
    (tmp_path / "x.txt").write_text("a figure\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.txt does not begin with the command"):
        collect_results.command_of(tmp_path / "x.txt")


def test_formulas_become_mathml():
    pytest.importorskip("docutils")
    offline_math = load("extensions/offline_math.py")
    shown = offline_math.as_mathml(r"\Big\{1, \dots, \textstyle\sum_i w_i\Big\}")
    assert shown.startswith("<math")
    assert "…" in shown
    assert "∑" in shown
    half = "".join(offline_math.as_mathml(r"\tfrac12 f").split())
    assert "<mn>1</mn><mn>2</mn></mfrac><mi>f</mi>" in half
    with pytest.raises(ValueError, match="cannot be shown"):
        offline_math.as_mathml(r"\unheardof{x}")


def test_every_name_of_the_reference_has_a_page():
    pytest.importorskip("numpydoc")
    api_pages = load("extensions/api_pages.py")
    names = api_pages.listed((DOCS / "api.md").read_text(encoding="utf-8"))
    assert len(names) == len(set(names)) > 250
    page = api_pages.page("skstruct.spaces.Hierarchy")
    assert ".. autoclass:: Hierarchy" in page
    assert ".. rubric:: Inherited" in page
    assert ":inherited-members:" in api_pages.page("skstruct.ConditionalRiskMinimizer")
    assert ":pyobject: OutputSpace" in api_pages.page("skstruct.spaces.OutputSpace")
    assert ".. autofunction:: " in api_pages.page("skstruct.load_model")


@pytest.mark.subprocess
def test_all_scripts_run_within_a_budget_and_go_on_where_they_stopped(tmp_path):
    scripts, kept = tmp_path / "papers", tmp_path / "output"
    scripts.mkdir()
    once = "import pathlib\nif __name__ == '__main__':\n    pathlib.Path('ran').touch()\n"
    (scripts / "a.py").write_text(once + "    print('first')\n")
    (scripts / "shared.py").write_text("raise SystemExit('no script')\n")
    endless = "[sys.executable, '-c', 'import time; time.sleep(1000)']"  # in a process of its own
    main = "import subprocess, sys\nif __name__ == '__main__':\n    "
    (scripts / "z.py").write_text(f"{main}subprocess.run({endless})\n")
    assert collect_results.collect_all(0.05, kept, tmp_path) == 1
    (tmp_path / "ran").unlink(missing_ok=True)
    assert not (kept / "z.txt").exists()
    (kept / "a.txt").write_text("kept\n")
    (scripts / "z.py").write_text("if __name__ == '__main__':\n    print('last')\n")
    assert collect_results.collect_all(float("inf"), kept, tmp_path) == 0
    assert not (tmp_path / "ran").exists()
    assert (kept / "z.txt").read_text().endswith("last\n")
    assert not (kept / "shared.txt").exists()
