# SPDX-License-Identifier: BSD-3-Clause
"""Kill fits at random times, also while they write a checkpoint: all must end as if nothing was.

    python reliability/kill_checkpoints.py [--cases 1000] [--minutes M] [--seed 0] [--only NAME ...]

Fits of several learners save after each step. Their process is ended by SIGKILL, SIGTERM or Ctrl-C
after a random time, or at a random call of the file system, and the fit is started again, once or
several times, until it may end. Then what it learned is compared bit by bit with a fit that was
left alone. A fit that cannot read its checkpoint, ends with other bits, hangs, or leaves files
behind (after Ctrl-C at once) is a failure. Cases are kills. Two planted bugs are looked for first:
a writer that does not replace the file in one step, and a state without its random generator.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: children are forked

from checkpoint_cases import CASES, OWN_SEED, outcome
from children import INTERRUPTED, MEMORY, counting, done, ended
from summary import Tries, arguments, finish

from skstruct._files import container
from skstruct.learners import Checkpoint
from skstruct.learners.max_margin import dual

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Known(dict):
    """By case: what a fit ends with that is left alone; seconds and calls if it always saves."""

    def __missing__(self, name):
        plain = outcome(name)
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, counting() as calls:
            start = time.monotonic()
            saved = outcome(name, Checkpoint(Path(folder) / "alone", every=0))
            seconds = time.monotonic() - start
        if name != OWN_SEED and plain != saved:
            raise SystemExit(f"{name}: with a checkpoint it ends otherwise than without")
        self[name] = saved, seconds, len(calls)
        return self[name]


class Trial:
    """One fit that is killed some times, and then ends."""

    def __init__(self, name, known, rng, counts):
        self.name, (self.right, self.seconds, self.n_calls) = name, known
        self.rng, self.counts, self.kills = rng, counts, 0

    def run(self, n_kills, folder) -> str | None:
        """How it failed, in words; None if all was well."""
        path = Path(folder) / "fit.checkpoint"
        for attempt in range(n_kills):
            number = self.rng.choice(SIGNALS)
            answer = self._attempt(path, attempt, number)
            if answer not in (None, INTERRUPTED):  # it was quicker
                self.counts["ended before"] += 1
                return self._judge(answer, folder)
            self.kills += 1
            self.counts[signal.Signals(number).name] += 1
            self.counts["with a checkpoint"] += path.exists()
            left = [other for other in Path(folder).iterdir() if other != path]
            self.counts["inside a write"] += bool(left)
            if left and answer == INTERRUPTED:
                return f"after Ctrl-C there is {left[0].name}"
            for other in left:  # the next kill is judged by what it leaves
                other.unlink()
        seed = n_kills if path.exists() else 0
        answer = done(lambda: outcome(self.name, Checkpoint(path, every=0), seed))
        return self._judge(answer, folder)

    def _attempt(self, path, attempt, number):
        seed = attempt if path.exists() else 0
        exact = self.rng.random() < 0.4
        at = self.rng.randint(1, self.n_calls) if exact else None
        after = self.rng.random() < 0.5
        wait = self.rng.uniform(0.0, 1.1 * self.seconds)

        def work():
            with counting(at, after, number):
                return outcome(self.name, Checkpoint(path, every=0), seed)

        self.counts["at a call"] += exact
        return ended(work, number, 1e6 if exact else wait)

    def _judge(self, answer, folder):
        if answer.startswith("failed"):
            return answer
        if answer != self.right:
            return "it ends with other bits"
        left = os.listdir(folder)
        return f"it leaves {left}" if left else None


def campaign(names, tries, known, stop_at_failure=False) -> Counter:
    """Kill fits of the cases in turn until there were so many kills; counts."""
    counts: Counter = Counter()
    for _ in tries:
        number, name = counts["fits"], names[counts["fits"] % len(names)]
        counts["fits"] += 1
        rng = random.Random(f"{tries.given.seed} {number}")
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            trial = Trial(name, known[name], rng, counts)
            failure = trial.run(rng.randint(1, 4), folder)
        tries.tried += trial.kills - 1
        if failure is not None:
            again = f"--seed {tries.given.seed}, fit {number} of {names}; times differ"
            tries.fail(number, f"{name}: {failure}", again)
            if stop_at_failure:
                break
    return counts


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


def planted(seed, known):
    """What is found with every planted bug."""
    caught = {}
    for name, bug in PLANTED.items():
        tries = Tries(SimpleNamespace(cases=80, minutes=None, seed=seed))
        with bug():
            campaign(["svm"], tries, known, stop_at_failure=True)
        caught[name] = tries.failures[0]["why"] if tries.failures else None
        print(f"planted bug, {name}: {caught[name] or 'NOT CAUGHT'}", flush=True)
    return caught


def main() -> int:
    """Run it all; 0 if there was no failure."""
    given = arguments(__doc__, 1000, ("--only", {"nargs": "*", "default": list(CASES)}))
    known = Known()
    caught, tries = planted(given.seed, known), Tries(given)
    counts = campaign(given.only, tries, known)
    more = {name.replace(" ", "_"): n for name, n in counts.items()}
    found = tries.counts(planted_caught=all(caught.values()), planted=caught, **more)
    return finish("kill_checkpoints", found)


if __name__ == "__main__":
    sys.exit(main())
