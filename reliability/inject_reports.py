# SPDX-License-Identifier: BSD-3-Clause
"""Hostile names as features, labels, classes and file names of reports: none comes alive.

Every report is parsed, and opened in a browser without its content security policy, so that
escaping alone has to hold; the first one of each kind is opened with it, too. Before that, live
injections are planted in a report, each of which both must catch.

Usage: python reliability/inject_reports.py [--count 1000] [--seed 0] [--no-browser]
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from hostile_names import OUTSIDE, hostile_names
from hostile_reports import KINDS, N_FEATURES, write_hostile
from report_checks import HOW_TO_GET_ONE, find_browser, opened_browser, parsed_problems

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


def inject(count: int, seed: int, visit=None, say=print) -> dict:
    """Write reports until ``count`` names have been used; returns counts and failures."""
    names, failures, reports, used, start = hostile_names(count, seed), [], 0, 0, time.time()
    kinds = list(KINDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        missed = None
        while names:
            kind = kinds[reports % len(kinds)]
            some = names if len(names) > 8 else (names + hostile_names(200, seed + 1)[-8:])[:8]
            try:
                shown = write_hostile(some, kind, path)
                page = path.read_text(encoding="utf-8")
            except Exception as error:  # a name must never stop a report
                failures.append(f"{kind.__name__}: {type(error).__name__}: {error}"[:300])
                shown, page = some[: KINDS[kind] + N_FEATURES], ""
            if page and missed is None:
                missed = check_planted(page, visit)
                failures += [f"planted and not caught by {one}" for one in missed]
                say(f"planted {len(PLANTED)} live injections, not caught: {len(missed)}")
            found = _problems(page, shown, kind, visit, reports < len(kinds)) if page else []
            failures += [f"{kind.__name__}: {problem}" for problem in found]
            names = names[len(shown) :]
            reports, used = reports + 1, used + len(shown)
            say(f"{kind.__name__}: {len(shown)} names, {len(found)} problems, {len(names)} left")
    return {
        "tried": used,
        "reports": reports,
        "failed": len(failures),
        "failures": failures[:20],
        "seed": seed,
        "browser": visit is not None,
        "seconds": round(time.time() - start, 1),
    }


def _problems(page, names, kind, visit, with_policy) -> list[str]:
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    browser = not options.no_browser and find_browser() is not None
    if not browser:
        print(f"no browser: pages are parsed only. To open them, {HOW_TO_GET_ONE}.")
    with opened_browser() if browser else nullcontext() as visit:
        summary = inject(options.count, options.seed, visit)
    summary["versions"] = {name: metadata.version(name) for name in ("jinja2", "matplotlib")}
    summary["versions"]["python"] = platform.python_version()
    print(json.dumps(summary, indent=1))
    sys.exit(1 if summary["failed"] else 0)


if __name__ == "__main__":
    main()
