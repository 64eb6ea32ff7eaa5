# SPDX-License-Identifier: BSD-3-Clause
"""Kill fits at random times, also while they write a checkpoint: all must end as if nothing was.

Fits of several learners save after each step. Their process is ended by SIGKILL after a random
time and the fit is started again, once or several times, until it may end. Then what it learned
is compared bit by bit with a fit that was left alone. A fit that cannot read its checkpoint, ends
with other bits, hangs, or leaves files behind is a failure. Two planted bugs are looked for
first: a writer that does not replace the file in one step, and a state without its random
generator.

    python reliability/kill_checkpoints.py --kills 500 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: children are forked

import numpy as np
from checkpoint_cases import CASES, OWN_SEED, outcome

import skstruct
from skstruct._files import container
from skstruct.learners import Checkpoint
from skstruct.learners.max_margin import dual

PATIENCE = 600.0  # seconds after which a fit hangs, however busy the machine is


def in_child(work):
    """Start a function that returns text in a process of its own: its number, and a pipe."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    os.close(reader)
    try:
        answer = work()
    except BaseException as error:
        message = "".join(traceback.format_exception_only(error)).strip()
        answer = "failed: " + message.replace(f"{tempfile.gettempdir()}/", "")
    os.write(writer, answer.encode()[:4000])
    os._exit(0)


def answer_of(child, reader, seconds):
    """What a child says within so many seconds; None if it had to be killed."""
    try:
        ready = select.select([reader], [], [], seconds)[0]
        if ready:
            return os.read(reader, 4000).decode() or "failed: the process died"
        os.kill(child, signal.SIGKILL)
        return None
    finally:
        os.waitpid(child, 0)
        os.close(reader)


def expected(name, folder):
    """What a fit ends with that is left alone, and how long it takes when it saves each step."""
    path = Path(folder) / "alone"
    plain, saved = outcome(name), outcome(name, Checkpoint(path, every=0))
    if name != OWN_SEED and plain != saved:
        raise SystemExit(f"{name}: with a checkpoint it ends otherwise than without")
    begun = time.monotonic()
    answer_of(*in_child(lambda: outcome(name, Checkpoint(path, every=0))), PATIENCE)
    return saved, time.monotonic() - begun


class Trial:
    """One fit that is killed some times, and then ends."""

    def __init__(self, name, known, rng, counts):
        self.name, (self.right, self.seconds), self.rng = name, known, rng
        self.counts = counts

    def run(self, n_kills, folder) -> str | None:
        """How it failed, in words; None if all was well."""
        path = Path(folder) / "fit.checkpoint"
        for attempt in range(n_kills):
            wait = self.rng.uniform(0.0, 1.1 * self.seconds)
            answer = self._attempt(path, attempt, wait)
            if answer is not None:  # it was quicker
                self.counts["ended before"] += 1
                return self._judge(answer, folder)
            self.counts["kills"] += 1
            self.counts["with a checkpoint"] += path.exists()
            inside = any(other != path for other in Path(folder).iterdir())
            self.counts["inside a write"] += inside
            for other in Path(folder).iterdir():  # the next kill is judged by what it leaves
                if other != path:
                    other.unlink()
        answer = self._attempt(path, n_kills, PATIENCE)
        return "it hangs" if answer is None else self._judge(answer, folder)

    def _attempt(self, path, attempt, seconds):
        seed = attempt if path.exists() else 0
        return answer_of(
            *in_child(lambda: outcome(self.name, Checkpoint(path, every=0), seed)), seconds
        )

    def _judge(self, answer, folder):
        if answer.startswith("failed"):
            return answer
        if answer != self.right:
            return "it ends with other bits"
        left = os.listdir(folder)
        return f"it leaves {left}" if left else None


def campaign(names, n_kills, seed, known, stop_at_failure=False) -> dict:
    """Kill fits of the cases in turn until there were so many kills; counts and failures."""
    rng, counts, failures = random.Random(seed), Counter(), []
    number = 0
    while counts["kills"] < n_kills:
        name = names[number % len(names)]
        number += 1
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(name, known[name], rng, counts)
            failure = trial.run(min(rng.randint(1, 4), n_kills - counts["kills"]), folder)
        if number % 50 == 0:
            print(f"{number} fits, {counts['kills']} kills so far", flush=True)
        if failure is not None:
            failures.append(f"{name}: {failure}")
            if stop_at_failure:
                break
    return {**counts, "fits": number, "failures": failures}


@contextlib.contextmanager
def torn_writer():
    """Planted: the file is written in place, bit by bit."""

    @contextlib.contextmanager
    def in_place(path, mode="w", encoding=None):
        with open(path, mode, buffering=0) as file:
            yield file
            time.sleep(0.002)

    right, container.replacing = container.replacing, in_place
    try:
        yield
    finally:
        container.replacing = right


@contextlib.contextmanager
def forgotten_stream():
    """Planted: random generators begin anew."""
    right, dual.set_stream = dual.set_stream, lambda rng, state: None
    try:
        yield
    finally:
        dual.set_stream = right


PLANTED = {"torn writer": torn_writer, "forgotten stream": forgotten_stream}


def main(arguments=None) -> int:
    """Run it all; 0 if there was no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    given = parser.parse_args(arguments)
    begun, known = time.monotonic(), {}
    for name in dict.fromkeys([*given.cases, "svm"]):
        with tempfile.TemporaryDirectory() as folder:
            known[name] = expected(name, folder)
    print(f"{len(known)} fits left alone: {time.monotonic() - begun:.1f} s", flush=True)
    caught = {}
    for name, bug in PLANTED.items():
        with bug():
            found = campaign(["svm"], 60, given.seed, known, stop_at_failure=True)
        caught[name] = found["failures"][0] if found["failures"] else None
        print(f"planted bug, {name}: {caught[name] or 'NOT CAUGHT'}", flush=True)
    found = campaign(given.cases, given.kills, given.seed, known)
    print(f"{found['kills']} kills: {len(found['failures'])} failures", flush=True)
    for failure in found["failures"]:
        print("  " + failure)
    summary = {
        "tried": found["kills"], "failed": len(found["failures"]), **found, "planted": caught,
        "cases": len(given.cases), "seed": given.seed,
        "seconds": round(time.monotonic() - begun, 1),
        "versions": {
            "skstruct": skstruct.__version__, "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }  # fmt: skip
    print(json.dumps(summary))
    return int(bool(found["failures"]) or None in caught.values())


if __name__ == "__main__":
    sys.exit(main())
