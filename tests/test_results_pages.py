# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results hold the figures of the kept logs, all of them and no others."""

import html
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("docutils")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "extensions"))

import default_and_peers  # noqa: E402
import results_tables  # noqa: E402
from kept_logs import NUMBER, Log, Table, Text, blocks  # noqa: E402

from docs_modules import load  # noqa: E402

LOGS = sorted((DOCS / "results").glob("*.txt"))
PAGES = sorted((DOCS / "results").glob("*.md"))
FENCE = re.compile(r"```\{results\} (\w+)\n((?::.*\n)*)```")


def words(page):
    """Words that a page shows, without the log that it ends with."""
    shown = page.split("<summary>As printed by")[0]
    return html.unescape(re.sub(r"<[^>]+>", " ", shown)).split()


def numbers(text):
    return NUMBER.findall(text)


def directives():
    """Every use of the directive: page, log and options as they are written."""
    for page in PAGES:
        for name, options in FENCE.findall(page.read_text(encoding="utf-8")):
            pairs = re.findall(r":([\w-]+):[ ]?(.*)", options)
            yield page.stem, name, {key: value.strip() for key, value in pairs}


def converted(options):
    spec = results_tables.Results.option_spec
    return {key: spec[key](value) if spec[key] else value for key, value in options.items()}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_rows_are_their_lines(path):
    for block in blocks(Log.read(path).body):
        if isinstance(block, Table):
            for row in block.rows:
                assert " ".join(row.cells).split() == row.line.split()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_no_line_is_lost(path):
    log = Log.read(path)
    kept = []
    for block in blocks(log.body):
        if isinstance(block, Text):
            kept += block.lines
        else:
            kept += [*block.caption, *(row.line for row in [*block.headers, *block.rows])]
    expected = Counter(line.rstrip() for line in log.body if line.strip(" -="))
    assert Counter(line.rstrip() for line in kept if line.strip(" -=")) == expected


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_page_shows_the_numbers_of_its_log(path):
    log = Log.read(path)
    page = results_tables.render(log, {"errors": None, "least": ["*"]})
    assert html.escape(log.text) in page  # the log itself is there, folded up
    if not results_tables.counts_html(log.body):
        shown = Counter(numbers(" ".join(words(page))))
        printed = Counter(numbers(" ".join(" ".join(log.body).split())))
        # Lists lose the numbers of their points; nothing else is lost, and nothing is added.
        assert not shown - printed
        assert all(re.fullmatch(r"\d\.?", number) for number in printed - shown)


def test_every_log_is_on_a_page():
    used = {name for _, name, _ in directives()}
    assert used == {path.stem for path in LOGS}
    for page, name, options in directives():
        log = Log.read(DOCS / "results" / f"{name}.txt")
        script = log.command.split()[1]
        assert Path(script).stem == name
        assert (ROOT / script).exists()
        text = (DOCS / "results" / f"{page}.md").read_text(encoding="utf-8")
        assert f"`{script}`" in text, f"{script} is not named beside its figures"
        results_tables.render(log, converted(options))  # marked lines are found


@pytest.mark.parametrize("option", ["least", "most"])
def test_columns_that_are_asked_for_exist(option):
    for page, name, options in directives():
        lines = Log.read(DOCS / "results" / f"{name}.txt").part(
            options.get("start-at"), options.get("end-before")
        )
        tables = [block for block in blocks(lines) if isinstance(block, Table)]
        for column in results_tables.names(options.get(option, "*")):
            found = column == "*" or any(column in table.names for table in tables)
            assert found, f"{page}: {name} has no column {column!r}"


def small_log(*lines):
    return Log("python papers/x.py", "", list(lines), "\n".join(lines))


def test_the_best_is_bold_and_what_is_level_underlined():
    log = small_log(
        "            loss           F1",
        "ours        1.00 ± 0.10    0.5",
        "forest      1.15 ± 0.02    0.7",
        "neighbors   1.50 ± 0.10    0.6",
    )
    page = results_tables.render(log, {"least": ["loss"], "most": ["F1"], "errors": None})
    assert re.findall(r"<strong>(.*?)</strong>", page) == ["0.7"]  # of the losses two are level
    assert re.findall(r"<u>(.*?)</u>", page) == ["1.00 ± 0.10", "1.15 ± 0.02"]
    page = results_tables.render(log, {"most": ["loss"], "errors": None})
    assert re.findall(r"<strong>(.*?)</strong>", page) == ["1.50 ± 0.10"]
    page = results_tables.render(log, {"least": ["loss"]})  # deviations say nothing of level
    assert "<u>" not in page


def test_groups_are_compared_apart():
    figures = {"YEAST": ("1.0", "2.0"), "SCENE": ("0.2", "0.1")}
    lines = [" " * 20 + "loss"]
    for name, (ours, svm) in figures.items():
        lines += [name, f"  ours{ours:>18}", f"  svm {svm:>18}"]
    log = small_log(*lines)
    page = results_tables.render(log, {"least": ["loss"], "groups": None})
    assert re.findall(r"<strong>(.*?)</strong>", page) == ["1.0", "0.1"]
    assert re.findall(
        r"<strong>(.*?)</strong>", results_tables.render(log, {"least": ["loss"]})
    ) == ["0.1"]


def test_markup_in_a_log_is_text():
    page = results_tables.render(small_log("<b>x</b>   1.0   2.0", "<b>y</b>   1.0   2.0"), {})
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_cells_of_the_default_are_those_of_the_summary():
    cells = default_and_peers.cells(DOCS / "results")
    text = (DOCS / "results" / "defaults.txt").read_text(encoding="utf-8")
    told = re.search(
        r"SUMMARY of default: (\d+) cells.*\n.*: best (\d+), within one of the best peer (\d+), "
        r"within two (\d+), worse by more than two (\d+)",
        text,
    )
    total, best, one, two, worse = map(int, told.groups())
    counts = Counter(cell.verdict for cell in cells)
    assert len(cells) == total
    assert counts == {"best": best, "level": one + two, "behind": worse}


@pytest.mark.parametrize("name", ["peers", "peers_dark"])
def test_the_figure_against_peers_is_up_to_date(name):
    image = pytest.importorskip("PIL.Image")
    figure = load("scripts/peers_figure.py")
    path = DOCS / "images" / f"{name}.png"
    drawn = image.open(path).text["Source"]
    assert drawn == figure.digest(figure.shown_cells(DOCS / "results"))
    assert path.stat().st_size < 150_000
