# SPDX-License-Identifier: BSD-3-Clause
"""Broken files by atheris: libFuzzer breaks them, led by the branches and comparisons that it sees.

The judge is that of fuzz_readers.py: read, or refused in one line, in time and memory, the same in
all ways to read. The first byte of what libFuzzer draws tells the options, the others are the file.
Every format has a process of its own, as libFuzzer never returns. Files that it found worth keeping
join the corpus, which the faster search of fuzz_readers.py goes on from.

    python reliability/fuzz_atheris.py [--cases 20000] [--minutes M] [--formats csv arff] [--seed 0]

Needs atheris, which comes with the extra "reliability" where there is a wheel of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import atheris

if "--one" in sys.argv:  # modules are instrumented while they are imported
    with atheris.instrument_imports(include=["skstruct.datasets"], enable_loader_override=False):
        import skstruct.datasets.formats  # noqa: F401

from all_formats import FORMATS
from file_format import TURNS
from fuzz_engine import KEPT_BYTES, Fuzzer, digest
from fuzz_readers import Counts, options
from planted_readers import PLANTED
from summary import finish

BUG = "undeclared exception"  # planted
PLANTED_CASES = 5_000
MOST_TOLD = 50  # failures of one format


def one_format(name: str, cases: int, minutes: float, seed: int, folder: Path) -> None:
    """Try one format, or one with a planted bug; never returns.

    Leaves counts.json, the files that failed, and libFuzzer's own corpus in the folder.
    """
    fuzzer = Fuzzer(FORMATS.get(name) or PLANTED[name], seed).__enter__()
    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir()
    for number, text in enumerate(fuzzer.format.seeds):
        (corpus / f"seed{number}").write_bytes(b"\0" + text)
    lines = [f'"{_escaped(word)}"' for word in fuzzer.words if word]
    words.write_text("\n".join(lines) + "\n", encoding="ascii")
    told = ("-len_control=0", f"-max_len={KEPT_BYTES}", f"-dict={words}", "-timeout=60",
            "-rss_limit_mb=0", f"-seed={seed + 1}", "-verbosity=0")  # fmt: skip
    try_one = _tries(fuzzer, cases, time.monotonic() + 60 * minutes, folder / "counts.json")
    atheris.Setup([sys.argv[0], *told, str(corpus)], try_one)
    atheris.Fuzz()


def _tries(fuzzer: Fuzzer, cases: int, over: float, kept: Path) -> Callable[[bytes], None]:
    """What libFuzzer calls with its bytes, until there were enough of them: then it all ends."""
    start, failures = time.process_time(), []

    def try_one(data: bytes) -> None:
        text, turn = data[1:], data[0] % TURNS if data else 0
        outcome = fuzzer.try_file(text, turn)
        fuzzer.counts["tried"] += 1
        fuzzer.counts[outcome.how] += 1
        if outcome.how == "failed" and len(failures) < MOST_TOLD:
            failures.append((text.hex(), turn, outcome.why))
        if fuzzer.counts["tried"] >= cases or time.monotonic() > over:
            counts = fuzzer.counts | {"cpu_seconds": round(time.process_time() - start, 2)}
            kept.write_text(json.dumps([counts, failures]), encoding="ascii")
            os._exit(0)

    return try_one


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def tried(name: str, cases: int, minutes: float, seed: int, folder: Path) -> tuple[Any, Any]:
    """Counts and failures of one format, tried by a process of its own."""
    command = [sys.executable, __file__, "--one", name, str(cases), str(minutes), str(seed)]
    done = subprocess.run([*command, str(folder)], capture_output=True, check=False)
    kept = folder / "counts.json"
    if not kept.exists():  # the reader brought the interpreter down
        last = done.stderr.decode(errors="replace")[-300:]
        return {"tried": 1, "failed": 1}, [("", 0, f"ended with {done.returncode}: {last}")]
    counts, failures = json.loads(kept.read_text(encoding="ascii"))
    return counts, failures


def keep(found: Path, corpus: Path) -> None:
    """Files that libFuzzer kept, without their first byte, join a corpus."""
    corpus.mkdir(parents=True, exist_ok=True)
    for path in found.iterdir():
        text = path.read_bytes()[1:]
        (corpus / digest(text)).write_bytes(text)


def is_caught(seed: int) -> bool:
    """Whether a planted bug is found."""
    with tempfile.TemporaryDirectory() as folder:
        return tried(BUG, PLANTED_CASES, 5.0, seed, Path(folder))[0]["failed"] > 0


def main() -> int:
    """A planted bug first, then all formats in turn, each with its share of the time."""
    given = options(__doc__, 20_000)
    planted, counts = is_caught(given.seed), Counts(given)
    for name in given.formats:
        minutes = 1e6 if given.minutes is None else given.minutes / len(given.formats)
        with tempfile.TemporaryDirectory() as folder:
            found, failures = tried(name, given.cases, minutes, given.seed, Path(folder))
            texts = [(bytes.fromhex(text), turn, why) for text, turn, why in failures]
            counts.tell(name, found, texts)
            if (Path(folder) / "corpus").is_dir():
                keep(Path(folder) / "corpus", given.corpus / name.replace(" ", "_"))
    counts.show()
    more = {"planted_caught": planted, "by_format": counts.by_format}
    return finish("fuzz_atheris", counts.tries.counts(**more))


def _one(arguments: Sequence[str]) -> None:
    name, cases, minutes, seed, folder = arguments
    one_format(name, int(cases), float(minutes), int(seed), Path(folder))


if __name__ == "__main__":
    if "--one" in sys.argv:
        _one(sys.argv[sys.argv.index("--one") + 1 :])
    sys.exit(main())
