# SPDX-License-Identifier: BSD-3-Clause
"""Broken files that are read all the same: is what was read what stands there?

Every file that the library accepts is read a second time by short readers of our own that were
written from the definitions of the formats (oracle_readers.py, oracle_tables.py and
oracle_lines.py) and use nothing of the library: names, numbers and labels have to be the same.

    python reliability/misread_files.py --cases 100000 --formats csv arff --jobs 2

``--cases`` counts the files of each format that are broken; ``tried`` counts those that were read
and compared. Files of which only accepted ones are broken further are kept as those of
fuzz_readers.py are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from all_formats import FORMATS
from file_format import FileFormat
from formats_arff import SPLIT
from fuzz_engine import Fuzzer
from fuzz_readers import OUTPUT, Counts, format_of, once_more, options
from fuzz_workers import run_workers, share_out
from memory_files import held
from reading_judges import JUDGES, judge
from summary import finish

from skstruct.exceptions import DataFormatError

MOST_TRIES = 5_000


def judged(format: FileFormat, change: Callable[[Any], Any] | None = None) -> FileFormat:
    """The format, read as usual; instead of other ways to read, the second reader.

    Parameters
    ----------
    change : callable, default=None
        What a planted reader does to what it read.
    """

    def read(path: Path, turn: int) -> Any:
        found = format.read(path, 0)
        return found if change is None else change(found)

    def again(path: Path, turn: int, found: Any) -> None:
        if isinstance(found, (*format.refusals, DataFormatError)):
            return
        raw = held(path)
        if format.name == "mulan":
            raw = raw + SPLIT + held(path.with_name("labels.xml"))
        judge(format.name, raw, found)

    return replace(format, read=read, again=again)


# Readers with a bug each.


def _swapped(data: Any) -> Any:
    """Two columns of numbers exchanged."""
    if data.inputs.data.shape[1] > 1 and data.inputs.values[:2] == (None, None):
        data.inputs.data[:, [0, 1]] = data.inputs.data[:, [1, 0]]
    return data


def _dropped(data: Any) -> Any:
    """The last row is forgotten."""
    return data.take(slice(len(data) - 1)) if len(data) > 2 else data


def _quoted_comma(data: Any) -> Any:
    """A quoted cell ends at its first comma."""
    table = data.inputs
    values = tuple(v and tuple(text.split(",")[0] for text in v) for v in table.values)
    return replace(data, inputs=replace(table, values=values))


PLANTED = {
    "two columns are swapped": ("arff", _swapped),
    "a row is dropped": ("csv", _dropped),
    "a quoted comma ends a cell": ("csv", _quoted_comma),
}


def caught_of(name: str, seed: int) -> int | None:
    """After how many files a planted bug was caught; None if never."""
    of, change = PLANTED[name]
    with Fuzzer(judged(FORMATS[of], change), seed, only_sound=True) as fuzzer:
        for _, _, why in fuzzer.batch(MOST_TRIES):
            if "instead of" in why:
                return fuzzer.counts["tried"]
    return None


def main() -> int:
    """Planted bugs first, then all formats that have a second reader."""
    given = options(__doc__, 20_000)
    if given.again:
        return once_more(given.again, judged(format_of(given.again)))
    caught = {name: caught_of(name, given.seed) for name in PLANTED}
    print(f"planted bugs, and after how many files they were caught: {caught}", flush=True)
    counts = Counts(given, OUTPUT / "misread")
    run_workers(
        share_out([judged(FORMATS[n]) for n in given.formats if n in JUDGES], given.jobs),
        given,
        lambda format, seed: Fuzzer(
            format, seed, given.corpus / f"{format.name.replace(' ', '_')}.read", only_sound=True
        ),
        counts.tell,
    )
    tries = counts.tries
    counts.show()
    for found in counts.by_format.values():
        found["tried"] = found.get("compared", 0)
    tries.tried = sum(found["tried"] for found in counts.by_format.values())
    planted = all(at is not None for at in caught.values())
    more = {"by_format": counts.by_format, "planted": caught}
    return finish("misread_files", tries.counts(planted_caught=planted, **more))


if __name__ == "__main__":
    sys.exit(main())
