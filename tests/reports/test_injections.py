# SPDX-License-Identifier: BSD-3-Clause
"""Names that would do harm stay names, wherever a report shows them."""

import sys
from pathlib import Path

import jinja2
import matplotlib
import pytest

from skstruct.reports import pictures

matplotlib.use("Agg")
FOLDER = Path(__file__).parents[2] / "reliability"


@pytest.fixture(scope="module")
def harness():
    """The modules of the folder that this needs."""
    sys.path.insert(0, str(FOLDER))
    try:
        import hostile_names
        import hostile_reports
        import hostile_tables
        import inject_reports
        import report_checks

        yield {"names": hostile_names, "reports": hostile_reports, "checks": report_checks,
               "inject": inject_reports, "tables": hostile_tables}  # fmt: skip
    finally:
        sys.path.remove(str(FOLDER))


def test_names_are_many_and_different(harness):
    names = harness["names"].hostile_names(1000)
    assert len(set(names)) == 1000
    assert names == harness["names"].hostile_names(1000)


def test_a_name_depends_on_its_number_alone(harness):
    names = harness["names"].hostile_names
    assert names(1000)[700:720] == names(20, 0, 700)
    assert names(20, 1, 700) != names(20, 0, 700)


def test_no_cell_of_a_table_runs_and_none_is_lost(harness):
    tables, names = harness["tables"], harness["names"].hostile_names(2000)
    assert tables.table_problems(tables.written(names), names) == []
    bare = ["=1+1", "@SUM(A1)", "+a", "-2+3", "\tx"]
    problems = tables.table_problems(tables.written(bare, raw=True), bare)
    assert sum("formula" in one for one in problems) == 2 * len(bare)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hierarchy", "classes", "ranking", "flow"])
def test_names_do_not_come_alive(harness, kind, tmp_path):
    """Each kind with other names; planted injections are caught first."""
    reports, checks = harness["reports"], harness["checks"]
    kinds = [function.__name__ for function in reports.KINDS]
    some = harness["names"].hostile_names(250)[40 * kinds.index(kind) :]
    path = tmp_path / "report.html"
    used = reports.write_hostile(some, getattr(reports, kind), path)
    page = path.read_text(encoding="utf-8")
    assert harness["inject"].check_planted(page) == []
    problems, text = checks.parsed_problems(page)
    assert problems == []
    shown = [name for name in used if checks_text(name) in text]
    assert len(shown) >= len(used) / 3  # features are shown where they are unusual


def test_a_page_that_does_not_escape_is_caught(harness, monkeypatch, tmp_path):
    environment = jinja2.Environment
    monkeypatch.setattr(
        jinja2, "Environment", lambda **options: environment(**{**options, "autoescape": False})
    )
    monkeypatch.setattr(pictures, "_saved", lambda figure, kind: b"<svg/>")
    reports, path = harness["reports"], tmp_path / "report.html"
    reports.write_hostile(harness["names"].hostile_names(60), reports.classes, path)
    problems, _ = harness["checks"].parsed_problems(path.read_text(encoding="utf-8"))
    assert "element script" in problems
    assert "attribute onerror of img" in problems


def checks_text(name):
    from skstruct.inspection.drawing import written

    return " ".join(written(name, 40).rstrip("…").split())


def test_in_a_browser(harness, tmp_path):
    checks = harness["checks"]
    if checks.find_browser() is None:
        pytest.skip(f"To open reports in a browser, {checks.HOW_TO_GET_ONE}.")
    path = tmp_path / "report.html"
    reports = harness["reports"]
    reports.write_hostile(harness["names"].hostile_names(110), reports.labels, path)
    page = path.read_text(encoding="utf-8")
    with checks.opened_browser() as visit:
        assert harness["inject"].check_planted(page, visit) == []
        assert visit(page) == []
        assert visit(page, strict=True) == []


@pytest.mark.parametrize(
    "inside",
    [
        b"<script/>",
        b'<rect onclick="x"/>',
        b'<image href="http://outside.invalid/x.png"/>',
        b"<not closed",
    ],
)
def test_live_drawings_are_caught(harness, inside):
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg">%s</svg>'
    assert harness["checks"].drawing_problems(drawing % b"<rect/>") == []
    assert harness["checks"].drawing_problems(drawing % inside) != []
