# SPDX-License-Identifier: BSD-3-Clause
"""Readers of all file formats on broken files: read or refused, and nothing else.

A file is read or refused by the error that readers declare, in one line, within two seconds of
the processor and twice its memory; anything else is a failure. What there are several ways to
read (compiled, by pyarrow, in Python) has to be the same by all of them, and what was read is
written and read again.

    python reliability/fuzz_readers.py --cases 1000000 --formats csv arff --jobs 2

``--cases`` counts the files of each format. Mutants that find something new are kept in
output/reliability/corpus, where the next run goes on; files that failed are kept in
output/reliability/failures, and ``--again FILE`` tries one of them once more.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from all_formats import FORMATS
from file_format import FileFormat, nothing_more
from fuzz_engine import Fuzzer, digest
from fuzz_workers import run_workers, save_failure, share_out
from planted_readers import PLANTED, caught_of
from stretched_files import STRETCHED
from summary import Tries, arguments, finish

OUTPUT = Path(__file__).parents[1] / "output" / "reliability"
SHOWN = (
    "tried",
    "read",
    "refused",
    "failed",
    "compared",
    "kept",
    "lines",
    "per CPU s",
    "CPU hours",
)
GOAL = 10_000_000  # files of each format, over all runs
SHOWN_EVERY = 120.0  # seconds


def options(doc: str, cases: int) -> Any:
    """What the scripts that break data files can be told."""
    return arguments(
        doc,
        cases,
        ("--formats", {"nargs": "*", "default": list(FORMATS), "choices": list(FORMATS)}),
        ("--jobs", {"type": int, "default": 1, "help": "processes"}),
        ("--corpus", {"type": Path, "default": OUTPUT / "corpus"}),
        ("--again", {"type": Path, "help": "a file that failed"}),
    )


class Counts:
    """Counts of all formats, and where their failures are kept."""

    def __init__(self, given: Any, failures: Path = OUTPUT / "failures") -> None:
        self.tries, self.folder = Tries(given), failures
        self.by_format: dict[str, dict[str, Any]] = {}
        self.shown = time.monotonic()

    def tell(self, name: str, counts: dict[str, Any], failures: list[Any]) -> None:
        """Add what a batch of one format has found."""
        total = self.by_format.setdefault(name, {})
        for key, value in counts.items():
            total[key] = round(total.get(key, 0) + value, 2)
        self.tries.tried += counts["tried"]
        for text, turn, why in failures:
            path = save_failure(self.folder, name, text, turn, digest(text))
            self.tries.fail(name, why, f"--again {path}")
        self.tries.n_failed += max(0, counts["failed"] - len(failures))
        if time.monotonic() - self.shown > SHOWN_EVERY:  # what is known if somebody cuts it off
            self.show()
            self.shown = time.monotonic()

    def show(self) -> None:
        """A line for each format."""
        print(f"\n{'format':16s}" + "".join(f"{name:>12s}" for name in SHOWN))
        for name, counts in self.by_format.items():
            rate = counts["tried"] / counts["cpu_seconds"] if counts.get("cpu_seconds") else 0
            cells = [counts.get(key, 0) for key in SHOWN[:-2]] + [round(rate)]
            hours = f"{self.hours().get(name, 0):12.2f}"
            print(f"{name:16s}" + "".join(f"{cell:12,d}" for cell in map(int, cells)) + hours)
        print(flush=True)

    def hours(self) -> dict[str, float]:
        """Hours of one processor that the goal takes, by format."""
        return {
            name: round(GOAL * counts["cpu_seconds"] / counts["tried"] / 3600, 2)
            for name, counts in self.by_format.items()
            if counts.get("cpu_seconds")
        }


def stretch(names: list[str], tell: Callable[..., None]) -> None:
    """Files of one thing alone, read once: what takes time or memory by the square of a file."""
    for name in (name for name in names if name in STRETCHED):
        with Fuzzer(replace(FORMATS[name], again=nothing_more), 0) as fuzzer:
            failed = list(fuzzer.these(STRETCHED[name]))
            counts = {key: fuzzer.counts[key] for key in ("tried", "read", "refused", "failed")}
            tell(name, counts, failed)


def once_more(path: Path, format: FileFormat) -> int:
    """What becomes of a file that failed, with the whole of the error."""
    turn = int(path.name.split(".")[-2])
    with Fuzzer(format, 0) as fuzzer:
        outcome = fuzzer.try_file(path.read_bytes(), turn)
        print(outcome.how, outcome.why)
        if outcome.how == "failed":
            format.place(fuzzer.path, path.read_bytes())
            try:
                format.again(fuzzer.path, turn, format.read(fuzzer.path, turn))
            except Exception:
                traceback.print_exc()
    return int(outcome.how == "failed")


def format_of(path: Path) -> FileFormat:
    """The format of a file that failed, by its name."""
    return FORMATS[path.name.rsplit(".", 2)[0].replace("_", " ")]


def main() -> int:
    """Planted bugs first, then all formats."""
    given = options(__doc__, 20_000)
    if given.again:
        return once_more(given.again, format_of(given.again))
    caught = {name: caught_of(name, given.seed) for name in PLANTED}
    print(f"planted bugs, and after how many files they were caught: {caught}", flush=True)
    counts = Counts(given)
    stretch(given.formats, counts.tell)
    run_workers(
        share_out([FORMATS[name] for name in given.formats], given.jobs),
        given,
        lambda format, seed: Fuzzer(format, seed, given.corpus / format.name.replace(" ", "_")),
        counts.tell,
    )
    tries = counts.tries
    more = {
        "by_format": counts.by_format,
        "cpu_hours_for_10_million": round(sum(counts.hours().values()), 1),
    }
    counts.show()
    planted = all(at is not None for at in caught.values())
    return finish("fuzz_readers", tries.counts(planted_caught=planted, planted=caught, **more))


if __name__ == "__main__":
    sys.exit(main())
