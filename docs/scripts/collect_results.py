# SPDX-License-Identifier: BSD-3-Clause
"""Runs a script of papers/ or benchmarks/ and keeps what it prints for the page of results.

The file in docs/results/ that it writes begins with the command, the date and the versions of the
packages that took part; docs/results.md shows such files. Given one of these files, the command of
its first line is run again.

With --all every script of papers/ is run in turn, and its lines are kept in output/papers/. Scripts
whose lines are there are not run again; with a budget in minutes, the one that runs when it ends is
stopped. Scripts keep results of their own, so that the next run goes on where this one stopped.

Usage: python docs/scripts/collect_results.py papers/one_path.py [ARGUMENTS OF THE SCRIPT]
       python docs/scripts/collect_results.py docs/results/one_path.txt
       python docs/scripts/collect_results.py --all [BUDGET]
"""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PACKAGES = ("skstruct", "numpy", "scipy", "scikit-learn", "numba")


def command_of(kept: Path) -> list[str]:
    """Script and arguments that a kept file was printed by."""
    first = kept.read_text(encoding="utf-8").partition("\n")[0]
    start = "$ python "
    if not first.startswith(start):
        raise ValueError(f"{kept.name} does not begin with the command that printed it: {first!r}")
    return shlex.split(first.removeprefix(start))


def versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def collect(
    arguments: list[str],
    folder: Path = RESULTS,
    root: Path = ROOT,
    seconds: float = threading.TIMEOUT_MAX,
) -> Path:
    """Run a script, show its lines as they come, and keep them once it has ended well.

    It is stopped after ``seconds``, which raises RuntimeError like any other bad end.
    """
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # to be stopped with the processes that it starts
    )
    assert process.stdout is not None
    clock = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGTERM))
    clock.start()
    lines = []
    try:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    finally:
        clock.cancel()
    if process.wait():
        raise RuntimeError(f"{arguments[0]} ended with status {process.returncode}; nothing kept.")
    today = datetime.date.today().isoformat()
    head = [f"$ python {shlex.join(arguments)}", f"({today}; {versions()})", ""]
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{Path(arguments[0]).stem}.txt"
    # Written beside it and then renamed: a file is the old one or the new one, never half of it.
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        file.write("\n".join([*head, *lines]) + "\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, kept)
    return kept


def collect_all(minutes: float, folder: Path, root: Path = ROOT) -> int:
    """Run all scripts of papers/ that have no lines in the folder; 0 once all have."""
    end, failed = time.monotonic() + 60 * minutes, False
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.glob("papers/*.py"))}
    scripts = [path for path, text in texts.items() if "__main__" in text]
    for path in sorted(scripts, key=lambda path: path.stem == "at_a_glance"):  # it reads the others
        if (folder / f"{path.stem}.txt").exists():
            print(f"{path.stem}: kept in {folder}")
            continue
        left = end - time.monotonic()
        if left <= 0:
            print("The budget is spent; run this again to go on.")
            return 1
        print(f"\n{path.stem}", flush=True)
        try:
            given = [str(folder)] if path.stem == "at_a_glance" else []
            seconds = min(left, threading.TIMEOUT_MAX)
            collect([str(path.relative_to(root)), *given], folder, root, seconds)
        except RuntimeError as error:  # one script does not stop the others
            spent = time.monotonic() >= end
            print("Stopped, as the budget is spent; finished tasks are kept." if spent else error)
            failed = True
    return int(failed)


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    if arguments[0] == "--all":
        minutes = float(arguments[1]) if len(arguments) > 1 else float("inf")
        return collect_all(minutes, ROOT / "output" / "papers")
    if arguments[0].endswith(".txt"):
        arguments = command_of(Path(arguments[0]))
    print(f"kept: {collect(arguments).relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
