# SPDX-License-Identifier: BSD-3-Clause
"""From a file to predictions: `--help`, and fit and predict by stage, beside bare libraries.

Stages are timed within one process, after one round that compiles and fills caches; `fit` and
`predict` as commands include starting Python. The floor of a fit is reading nothing and one
eigendecomposition of its kernel matrix. Reading a CSV file is beside pandas, and what one row costs
is the CPU time of the whole process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import ONE_THREAD, Table, at_most, compare, median, ratio
from threadpoolctl import threadpool_limits

from skstruct import load_model, save_model
from skstruct.datasets import data_home
from skstruct.datasets.reading import read_data
from skstruct.exceptions import MissingDataError
from skstruct.reports import write_report
from skstruct.tasks import TaskModel, outputs_for_learning

SETS = {
    "enron": ("enron_hmc/Enron_corr_trainvalid.arff.xz", "enron_hmc/Enron_corr_test.arff.xz"),
    "yeast": ("yeast/yeast-train.arff.xz", "yeast/yeast-test.arff.xz"),
    "iris": ("label_ranking/iris.csv", "label_ranking/iris.csv"),
}


def stages(train, new, folder):
    """CPU seconds of what `fit` and `predict` do, one after the other."""
    times = {}

    def timed(name, call):
        start = time.process_time()
        result = call()
        times[name] = time.process_time() - start
        return result

    data = timed("read", lambda: read_data(train))
    model = TaskModel()
    encoder_and_fit = timed("encode and fit", lambda: model.fit(data))
    path = folder / "m.model"
    timed("save", lambda: save_model(encoder_and_fit, path, X=data.take(slice(3))))
    again = timed("load", lambda: load_model(path))
    rows = read_data(new)
    timed("predict", lambda: again.predict(rows))
    X, y = again.inputs(rows), outputs_for_learning(rows)
    timed("report", lambda: write_report(again.learner_, X, y, folder / "report.html"))
    return times, len(data)


def write_table(path, n_rows, n_numbers, texts=()):
    """A CSV of numbers, names by the columns of ``texts``, and sets of labels."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n_rows).round(6).astype(str) for j in range(n_numbers)}
    for j, n_names in enumerate(texts):
        drawn = rng.integers(-n_names // 10, n_names, size=n_rows)  # some are missing
        columns[f"name{j}"] = np.where(drawn < 0, "", np.char.add("name ", drawn.astype(str)))
    if texts:
        days = np.datetime64("2000-01-01") + rng.integers(5000, size=n_rows)
        columns["day"] = days.astype(str)
    sets = [";".join(np.array(list("abcde"))[row]) or "a" for row in rng.random((n_rows, 5)) < 0.4]
    lines = map(",".join, zip(*(column.tolist() for column in columns.values()), sets))
    path.write_text("\n".join([",".join([*columns, "labels"]), *lines, ""]))


READING = {  # rows, columns of numbers, names in columns of texts; what is aimed at
    "100,000 rows of 30 numbers": (100_000, 30, (), at_most(1.3)),
    "20,000 rows of 300 numbers": (20_000, 300, (), at_most(1.3)),
    "100,000 rows of numbers, names, days and gaps": (100_000, 4, (20, 200), at_most(1.3)),
    "the same, with 50,000 names": (100_000, 4, (20, 50_000), None),
}


def bench_reading(folder):
    """read_data of CSV files beside pandas.read_csv."""
    import pandas as pd

    table = Table("Reading CSV files, CPU time", "to pandas.read_csv")
    for name, (n_rows, n_numbers, texts, target) in READING.items():
        path = Path(folder) / "t.csv"
        write_table(path, n_rows, n_numbers, texts)
        calls = {
            "pandas": lambda path=path: pd.read_csv(path),
            "ours": lambda path=path: read_data(path, targets="labels", task="labels"),
        }
        times = compare(calls)
        found = ratio(times, "ours", "pandas")
        table.add(name, median(times, "ours"), found, target=target)


def command_cpu(*arguments):
    """CPU seconds of a command in a process of its own, whose modules are compiled before."""
    command = [sys.executable, "-m", "skstruct.cli", *map(str, arguments)]
    environment = {**os.environ, **ONE_THREAD}
    with tempfile.TemporaryDirectory() as compiled:
        if environment.pop("PYTHONDONTWRITEBYTECODE", None):
            environment["PYTHONPYCACHEPREFIX"] = compiled
        seconds = []
        for _ in range(6):
            before = os.times()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            after = os.times()
            used = ("children_user", "children_system")
            seconds.append(sum(getattr(after, name) - getattr(before, name) for name in used))
    return float(np.median(seconds[1:]))


def bench_one_row(folder):
    """`predict` of one row: starting Python, importing, loading the model, and the row."""
    table = Table("skstruct predict of one row, CPU time", "none, targets are times")
    rows, one, model = (Path(folder) / name for name in ("t.csv", "one.csv", "t.model"))
    write_table(rows, 200, 8)
    one.write_text("".join(rows.read_text().splitlines(keepends=True)[:2]))
    for name, options in {
        "the default": (),
        "kernel ridge": ("--learner", "kernel"),
        "a forest": ("--learner", "forest"),
    }.items():
        command_seconds("fit", "-q", rows, "-o", model, *options)
        table.add(f"200 rows, {name}", command_cpu("predict", "-q", model, one),
                  target=at_most(0.7))  # fmt: skip


def command_seconds(*arguments):
    """Wall seconds of a command in a process of its own."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "skstruct.cli", *map(str, arguments)]
    environment = {**os.environ, **ONE_THREAD}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(names):
    table = Table("The command line", "to one eigendecomposition of the kernel matrix")
    table.add("skstruct --help, wall", min(command_seconds("--help") for _ in range(5)),
              target=at_most(0.3))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        bench_one_row(folder)
        bench_reading(folder)
    for name in names:
        train, new = (data_home() / path for path in SETS[name])
        if not train.exists():
            raise MissingDataError(f"{train} is not there; set SKSTRUCT_DATA.")
        with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
            stages(train, new, Path(folder))
            times, n = stages(train, new, Path(folder))
            K = np.random.default_rng(0).normal(size=(n, n))
            K = K @ K.T
            start = time.process_time()
            np.linalg.eigh(K)
            floor = time.process_time() - start
            for stage, seconds in times.items():
                table.add(f"{name}, {n:,} rows: {stage}", seconds, seconds / floor)
            model = Path(folder) / "m.model"
            fit = command_seconds("fit", "-q", train, "-o", model)
            table.add(f"{name}: skstruct fit, wall", fit, fit / floor)
            predict = command_seconds("predict", "-q", model, new, "-o", Path(folder) / "p.csv")
            table.add(f"{name}: skstruct predict, wall", predict, predict / floor)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="the smallest set only")
    main(["iris"] if parser.parse_args().quick else list(SETS))
