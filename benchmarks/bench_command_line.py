# SPDX-License-Identifier: BSD-3-Clause
"""From a file to predictions: `--help`, and fit and predict by stage, beside bare libraries.

Stages are timed within one process, after one round that compiles and fills caches; `fit` and
`predict` as commands include starting Python. The floor of a fit is reading nothing and one
eigendecomposition of its kernel matrix.
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
from harness import ONE_THREAD, Table, at_most
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
