# SPDX-License-Identifier: BSD-3-Clause
"""Ends `skstruct predict` and `fit` at random: an output file is whole, old, or not there.

    python reliability/kill_predict.py [--cases 500] [--minutes M] [--seed 0]

Predictions are written as CSV, JSON lines and Parquet, models by fit. The process gets SIGKILL,
SIGTERM or Ctrl-C after a random time, or at a random call of the file system. Half of the files
exist before. After SIGTERM and Ctrl-C there must be no traceback and no temporary file. A writer
that writes in place must be caught first.
"""

import contextlib
import io
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

import numpy as np
from children import INTERRUPTED, MEMORY, counting, ended
from summary import Tries, arguments, finish

import skstruct.datasets.files as text_files
from skstruct import load_model
from skstruct.cli.main import main as skstruct
from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.writing import write_data
from skstruct.exceptions import ModelFileError

N_ROWS = 5_000  # long enough to be killed while it writes
OLD = b"what was there before\n"
OUTPUTS = {"csv": "out.csv", "json": "out.jsonl", "parquet": "out.parquet", "fit": "out.model"}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Commands:
    """Data and a model in a folder; commands that write, and what they write when left alone."""

    def __init__(self, folder):
        self.folder = folder
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N_ROWS, 2))
        y = np.where(X[:, 0] > 0, "yes", "no")
        table = Table(("a", "b"), (None, None), X)
        data = Dataset("rows", "csv", "classes", table, y, ("no", "yes"))
        self.rows = data.take(slice(50))
        write_data(self.rows, folder / "train.csv")
        write_data(data, folder / "rows.csv")
        self.run("fit", folder / "m.model")
        self.whole, self.seconds, self.n_calls = {}, {}, {}
        for name, file in OUTPUTS.items():
            start = time.monotonic()
            with counting() as calls:
                self.run(name, folder / file)
            self.seconds[name], self.n_calls[name] = time.monotonic() - start, len(calls)
            self.whole[name] = self.content(name, folder / file)

    def run(self, name, output):
        """Status and what stderr was told."""
        if name == "fit":
            given = ["fit", "-q", self.folder / "train.csv", "-o", output, "--set", "alpha=1.0"]
        else:
            rows = self.folder / "rows.csv"
            given = ["predict", "-q", self.folder / "m.model", rows, "-o", output]
        told, out = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(out):
            try:
                skstruct([str(argument) for argument in given])
            except SystemExit as left:
                return f"{left.code or 0} {told.getvalue()}"
        return f"0 {told.getvalue()}"

    def content(self, name, path):
        """What a file is worth: bytes, or predictions of a model; None if there is no file."""
        if not path.exists():
            return None
        if name != "fit" or path.read_bytes() == OLD:
            return path.read_bytes()
        try:
            return load_model(path).predict(self.rows).tolist()
        except ModelFileError as error:
            return str(error)


def kill_once(commands, name, rng, counts):
    """End one command; what was wrong, or None."""
    output = commands.folder / "trial" / OUTPUTS[name]
    before = rng.random() < 0.5
    if before:
        output.write_bytes(OLD)
    number, exact, after = rng.choice(SIGNALS), rng.random() < 0.4, rng.random() < 0.5
    at = rng.randint(1, commands.n_calls[name]) if exact else None
    wait = 1e6 if exact else rng.uniform(0.0, 1.2 * commands.seconds[name])

    def work():
        with counting(at, after, number):
            return commands.run(name, output)

    answer = ended(work, number, wait)
    counts[signal.Signals(number).name] += answer is None or not answer.startswith("0")
    counts["ended before"] += answer is not None and answer.startswith("0")
    left = [path for path in output.parent.iterdir() if path != output]
    counts["inside a write"] += bool(left)
    found = commands.content(name, output)
    for path in output.parent.iterdir():
        path.unlink()
    allowed = {"whole": commands.whole[name], "old": OLD if before else None}
    return judged(answer, found, left, allowed)


def judged(answer, found, left, allowed):
    if found not in allowed.values():
        return "the file is neither old nor whole"
    if answer is None:
        return None
    if left:
        return f"{left[0].name} is left after {answer!r}"
    if answer.startswith("0"):
        return None if found == allowed["whole"] else "it says that it is done, and is not"
    if answer == INTERRUPTED or (answer.startswith("130 ") and "Traceback" not in answer):
        return None
    return answer


def campaign(commands, tries, names):
    counts = Counter()
    (commands.folder / "trial").mkdir(exist_ok=True)
    for number in tries:
        name = names[number % len(names)]
        rng = random.Random(f"{tries.given.seed} {number}")
        why = kill_once(commands, name, rng, counts)
        if why:
            tries.fail(number, f"{name}: {why}", f"--seed {tries.given.seed}; times differ")
    return counts


@contextlib.contextmanager
def planted_bug():
    """Writes in place."""
    kept = text_files.replacing
    text_files.replacing = lambda path, mode: open(path, mode)  # noqa: SIM115
    try:
        yield
    finally:
        text_files.replacing = kept


def main():
    given = arguments(__doc__, 500)
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        commands = Commands(Path(name))
        tries = Tries(SimpleNamespace(cases=40, minutes=None, seed=given.seed))
        with planted_bug():
            campaign(commands, tries, ["csv"])
        caught = tries.n_failed
        print(f"A writer in place: {caught} of 40 kills left a broken file.", flush=True)
        tries = Tries(given)
        counts = campaign(commands, tries, list(OUTPUTS))
    more = {key.replace(" ", "_"): n for key, n in counts.items()}
    return finish("kill_predict", tries.counts(planted_caught=caught, **more))


if __name__ == "__main__":
    sys.exit(main())
