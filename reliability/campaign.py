# SPDX-License-Identifier: BSD-3-Clause
"""All promises in turn, within a budget, and a table of what was tried and what went wrong.

    python reliability/campaign.py [--budget MINUTES] [--seed 0] [--only NAME ...] [--table]

Every script of PROMISES gets its share of the budget; without a budget it tries as many cases as
it says itself. What scripts print last, one JSON object, is kept as a line of
output/reliability/campaign.jsonl with date and commit; `--add FILE ...` keeps what was printed
elsewhere. The table adds up the longest run of every seed: a seed tries the same cases once more.
It ends with 1 if anything failed.
"""

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from promises import PROMISES

FOLDER = Path(__file__).parent
KEPT = FOLDER.parent / "output" / "reliability" / "campaign.jsonl"
FILES_OF_FORMAT = 10_000_000  # over all runs
SEARCHES = ("fuzz_readers", "fuzz_atheris")  # for broken files


def run(promise, minutes, seed):
    """The JSON object that a script ends with, and its status."""
    command = [sys.executable, str(FOLDER / f"{promise.script}.py"), "--seed", str(seed)]
    command += [*promise.options, *([] if minutes is None else ["--minutes", f"{minutes:.2f}"])]
    print("$", " ".join(command[1:]), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return last_object(done.stdout), done.returncode


def last_object(text):
    """The last JSON object at the beginning of a line; None where a script broke off."""
    for at in range(len(text) - 1, -1, -1):
        if text[at] == "{" and (at == 0 or text[at - 1] == "\n"):
            try:
                return json.loads(text[at:])
            except ValueError:
                continue
    return None


def commit():
    command = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def keep(line):
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def lines():
    text = KEPT.read_text(encoding="utf-8") if KEPT.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def table(kept):
    """A row for each promise: cases tried, what was found wrong in all, and by the last run."""
    print(
        f"{'promise':46s}{'goal':>12s}{'tried':>13s}{'found':>8s}   {'last run':22s}{'wrong':>8s}"
    )
    for promise in PROMISES:
        _row(promise.name, promise.goal, [one for one in kept if one["promise"] == promise.name])
    formats = list(dict.fromkeys(name for line in kept for name in _formats(line)))
    if formats:
        print(f"\n{'broken data files by format':46s}{'goal':>12s}{'tried':>13s}{'found':>8s}")
    for name in formats:
        _row(name, FILES_OF_FORMAT, [_of(line, name) for line in kept if name in _formats(line)])


def _formats(line):
    """Counts by format, of broken files alone."""
    counts = line["counts"] or {}
    found: dict[str, Any] = counts.get("by_format", {})
    return found if counts.get("script") in SEARCHES else {}


def _of(line, name):
    """The same line for one format of files."""
    found = _formats(line)[name]
    seed = (line["counts"]["script"], line["counts"]["seed"])
    counts = {"tried": found["tried"], "failed": found["failed"], "seed": seed}
    return {**line, "counts": counts, "last": ""}


def _row(name, goal, lines):
    longest, found = {}, 0
    for line in lines:
        if line["counts"] is not None:  # None: the script broke off
            seed, tried = line["counts"]["seed"], int(line["counts"]["tried"])
            longest[seed] = max(tried, longest.get(seed, 0))
            found += int(line["counts"]["failed"])
    row = f"{name:46s}{goal:12,d}{sum(longest.values()):13,d}{found:8,d}   {_last(lines)}"
    print(row.rstrip())


def _last(lines):
    if not lines:
        return "never"
    last = lines[-1]
    when = last.get("last", "{date} {commit}".format(**last))
    if last["counts"] is None:
        return f"{when:22s} broke off"
    return f"{when:22s}{int(last['counts']['failed']):8,d}" if when else ""


def add(paths, commit_of_runs):
    """Keep what scripts printed that were run by hand, or on another machine."""
    by_script = {promise.script: promise.name for promise in PROMISES}
    for path in paths:
        counts = last_object(path.read_text(encoding="utf-8"))
        if counts is None:
            raise SystemExit(f"{path} does not end with a JSON object.")
        when = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
        line = {"date": when.date().isoformat(), "commit": commit_of_runs, "counts": counts}
        keep({"promise": by_script[counts["script"]], **line})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=float, help="minutes for all together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[promise.script for promise in PROMISES])
    parser.add_argument("--table", action="store_true", help="print the table, try nothing")
    parser.add_argument("--add", nargs="*", type=Path, default=[], help="outputs of scripts")
    given = parser.parse_args()
    if given.add:
        add(given.add, commit())
        given.table = True
    chosen = [promise for promise in PROMISES if promise.script in given.only]
    for promise in chosen if not given.table else []:
        if not promise.can_run:
            print(f"{promise.script} is left out: {promise.needs} is not installed.", flush=True)
    chosen = [promise for promise in chosen if promise.can_run]
    shares, broken = sum(promise.share for promise in chosen), 0
    for promise in [] if given.table else chosen:
        minutes = None if given.budget is None else given.budget * promise.share / shares
        counts, status = run(promise, minutes, given.seed)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        keep({"promise": promise.name, "date": today, "commit": commit(), "counts": counts})
        broken += status != 0
        print(f"   {promise.name}: {'kept' if status == 0 else 'BROKEN'}", flush=True)
    table(lines())
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
