# SPDX-License-Identifier: BSD-3-Clause
"""Kills `skstruct predict -o` at random times: an output file is whole, old, or not there.

    python reliability/kill_predict.py [--kills 300] [--seed 0]

Half of the files exist before. A writer that writes in place must be caught first.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from summary import finish

import skstruct.cli.predictions as output_of_predict
from skstruct.cli.main import main
from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.writing import write_data

N_ROWS = 20_000  # long enough to be killed while it writes
OLD = "what was there before\n"


def prepare(folder):
    """A model, data to predict for, and what the whole output is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    data = Dataset("rows", "csv", "classes", Table(("a", "b"), (None, None), X), y, ("no", "yes"))
    write_data(data.take(slice(50)), folder / "train.csv")
    write_data(data, folder / "rows.csv")
    run(["fit", "-q", folder / "train.csv", "-o", folder / "m.model", "--set", "alpha=1.0"])
    arguments = ["predict", "-q", folder / "m.model", folder / "rows.csv", "-o"]
    start = time.perf_counter()
    run([*arguments, folder / "whole.csv"])
    return arguments, (folder / "whole.csv").read_text(), time.perf_counter() - start


def run(arguments):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as left:
            if left.code:
                raise RuntimeError(f"{arguments} left with {left.code}") from None


def kill_once(arguments, output, delay):
    """Start in a child process, which has everything imported, and kill it after a while."""
    child = os.fork()
    if child == 0:
        try:
            run([*arguments, output])
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def kill_often(folder, n_kills, seed):
    """Numbers of kills, of those that hit a write, and of files that are neither old nor whole."""
    arguments, whole, seconds = prepare(folder)
    rng = np.random.default_rng(seed)
    killed = writing = wrong = 0
    for trial in range(n_kills):
        output = folder / f"out{trial}.csv"
        if trial % 2:
            output.write_text(OLD)
        killed += kill_once(arguments, output, rng.uniform(0.0, 1.2 * seconds))
        left_over = list(folder.glob(f".{output.name}.*"))
        writing += bool(left_over)
        for path in left_over:
            path.unlink()
        found = output.read_text() if output.exists() else None
        allowed = {whole, OLD} if trial % 2 else {whole, None}
        wrong += found not in allowed
        output.unlink(missing_ok=True)
    return {"tried": n_kills, "killed": killed, "while_writing": writing, "failed": wrong}


@contextlib.contextmanager
def planted_bug():
    """Writes in place."""
    kept = output_of_predict.replacing
    output_of_predict.replacing = lambda path: open(path, "w")  # noqa: SIM115
    try:
        yield
    finally:
        output_of_predict.replacing = kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, planted_bug():
        caught = kill_often(Path(name), 40, given.seed)["failed"]
    print(f"A writer in place: {caught} of 40 kills left a broken file.")
    with tempfile.TemporaryDirectory() as name:
        counts = kill_often(Path(name), given.kills, given.seed)
    sys.exit(finish("kill_predict", {**counts, "seed": given.seed, "planted_caught": caught}))
