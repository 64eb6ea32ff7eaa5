# SPDX-License-Identifier: BSD-3-Clause
"""All promises in turn, within a budget, and a table of what was tried and what went wrong.

    python reliability/campaign.py [--budget MINUTES] [--seed 0] [--only NAME ...] [--table]

Every script of PROMISES gets its share of the budget and a seed of its own; without a budget it
tries as many cases as it says itself. What scripts print last, one JSON object, is kept as a line
of output/reliability/campaign.jsonl with date and commit. The table adds up all lines that are
there: counts grow from run to run. It ends with 1 if anything failed.
"""

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path

from promises import PROMISES

FOLDER = Path(__file__).parent
KEPT = FOLDER.parent / "output" / "reliability" / "campaign.jsonl"


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


def keep(line, path=KEPT):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def lines(path=KEPT):
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def table(kept):
    """A row for each promise: cases tried in all and in the last run, and what went wrong."""
    print(f"{'promise':44s}{'tried':>12s}{'goal':>12s}{'wrong':>8s}   last run")
    for promise in PROMISES:
        of_script = [line for line in kept if line["promise"] == promise.name]
        whole = [line for line in of_script if line["counts"] is not None]
        tried = sum(line["counts"]["tried"] for line in whole)
        wrong = sum(line["counts"]["failed"] for line in whole) + len(of_script) - len(whole)
        last = "{date}, {commit}".format(**of_script[-1]) if of_script else "never"
        print(f"{promise.name:44s}{tried:12,d}{promise.goal:12,d}{wrong:8,d}   {last}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=float, help="minutes for all together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[promise.script for promise in PROMISES])
    parser.add_argument("--table", action="store_true", help="print the table, try nothing")
    given = parser.parse_args()
    chosen = [promise for promise in PROMISES if promise.script in given.only]
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
