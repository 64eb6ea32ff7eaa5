# SPDX-License-Identifier: BSD-3-Clause
"""Hostile names as features, labels, classes, files and cells of reports and CSV: none is live.

Every report is parsed, and opened in a browser without its content security policy, so that
escaping alone has to hold; the first one of each kind is opened with it, too. Before that, live
injections are planted in a report, a template that escapes nothing and a table that guards nothing
are taken, each of which must be caught. A case is a name.

    python reliability/inject_reports.py [--cases 10000] [--minutes M] [--seed 0] [--no-browser]
"""

import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import jinja2
import matplotlib

matplotlib.use("agg")

from hostile_names import OUTSIDE, hostile_names
from hostile_reports import KINDS, N_FEATURES, classes, write_hostile
from hostile_tables import table_problems
from hostile_tables import written as written_table
from report_checks import HOW_TO_GET_ONE, find_browser, opened_browser, parsed_problems
from summary import Tries, arguments, finish

from skstruct.inspection.drawing import written

PLANTED = (
    "<script>window.hit=1</script>",
    '<img src="x" onerror="window.hit=1">',
    f'<img src="{OUTSIDE}/1.png">',
    f'<link rel="stylesheet" href="{OUTSIDE}/1.css">',
    "<svg onload=window.hit=1></svg>",
    '<svg class="drawing"><script>window.hit=1</script></svg>',
    f'<svg class="drawing"><image href="{OUTSIDE}/1.png"/></svg>',
    '<p onmouseover="window.hit=1">x</p>',
    "<iframe srcdoc='<p>x</p>'></iframe>",
    f"<base href='{OUTSIDE}/'>",
)


def check_planted(page: str, visit=None) -> list[str]:
    """Live injections that were not caught, in a page that is otherwise clean."""
    missed = []
    for planted in PLANTED:
        bad = page.replace("<main>", f"<main>{planted}")
        if not parsed_problems(bad)[0]:
            missed.append(f"parser: {planted}")
        if visit is not None and not visit(bad):
            missed.append(f"browser: {planted}")
    return missed


def unescaped(path: Path, names: list[str]) -> str:
    """A report of a template that escapes nothing."""
    environment = jinja2.Environment
    jinja2.Environment = lambda **options: environment(**{**options, "autoescape": False})
    try:
        write_hostile(names, classes, path)
    finally:
        jinja2.Environment = environment
    return path.read_text(encoding="utf-8")


def all_caught(path: Path, visit=None) -> bool:
    """Whether everything that is planted is found."""
    names = hostile_names(60)
    write_hostile([f"name {k}" for k in range(60)], classes, path)
    missed = check_planted(path.read_text(encoding="utf-8"), visit)
    live = unescaped(path, names)
    missed += [] if parsed_problems(live)[0] else ["parser: a template that escapes nothing"]
    if visit is not None and not any(one.startswith(("ran", "request")) for one in visit(live)):
        missed.append("browser: a template that escapes nothing")
    formulas = ["=1+1", "@SUM(A1)"]
    if not table_problems(written_table(formulas, raw=True), formulas):
        missed.append("a table that guards nothing")
    for one in missed:
        print(f"planted and not caught by {one}", file=sys.stderr)
    return not missed


def inject(tries: Tries, path: Path, visit=None) -> int:
    """Write reports and tables until so many names have been used; how many reports."""
    kinds, used, reports = list(KINDS), 0, 0
    for _ in tries:
        kind = kinds[reports % len(kinds)]
        some = hostile_names(KINDS[kind] + N_FEATURES, tries.given.seed, used)
        again = f"write_hostile(hostile_names({len(some)}, {tries.given.seed}, {used}), {kind.__name__}, path)"  # noqa: E501
        try:
            write_hostile(some, kind, path)
            page = path.read_text(encoding="utf-8")
            found = _problems(page, some, visit, reports < len(kinds))
            found += table_problems(written_table(some), some)
        except Exception as error:  # a name must never stop a report
            found = [f"{type(error).__name__}: {error}"[:300]]
        for problem in found:
            tries.fail(used, f"{kind.__name__}: {problem}", again)
        used, reports = used + len(some), reports + 1
        tries.tried = min(used, tries.given.cases) - 1  # the loop adds the last
    return reports


def _problems(page, names, visit, with_policy) -> list[str]:
    problems, text = parsed_problems(page)
    title = " ".join(written(names[0], 200).split())
    if title not in text:
        problems.append(f"the title {title!r} is not shown as it is")
    if visit is not None:
        problems += visit(page)
        problems += visit(page, strict=True) if with_policy else []
    return problems


def main():
    """Run what the command line asks for."""
    given = arguments(__doc__, 10_000, ("--no-browser", {"action": "store_true"}))
    browser = not given.no_browser and find_browser() is not None
    if not browser:
        print(f"no browser: pages are parsed only. To open them, {HOW_TO_GET_ONE}.")
    with (
        opened_browser() if browser else nullcontext() as visit,
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / "report.html"
        caught = all_caught(path, visit)
        tries = Tries(given)
        reports = inject(tries, path, visit)
    counts = tries.counts(planted_caught=caught, reports=reports, browser=browser)
    sys.exit(finish("inject_reports", counts))


if __name__ == "__main__":
    main()
