# SPDX-License-Identifier: BSD-3-Clause
"""One measurement of ``whole_path.py``, in a process of its own: time, peak memory, loss.

Usage: python benchmarks/whole_path_cell.py
           '{"method": "ours", "structure": "labels", "n": 1000, "d": 100, "bytes": 0}'
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings

import numpy as np
from harness import bytes_before, peak_bytes
from whole_path_cases import CASES
from whole_path_peers import made

FEW = {"ours": 300}  # rows of a fit that loads what is loaded once; of others 50


def spent():
    """Wall seconds, and CPU seconds of this process and of those it has started."""
    times = os.times()
    cpu = time.process_time() + times.children_user + times.children_system
    return np.array([time.perf_counter(), cpu])


def compile_timer():
    """Numba's own clock of compiling, which stands still when a kernel comes from its cache."""
    event = importlib.import_module("numba.core.event")
    timer = event.TimingListener()
    event.register("numba:compile", timer)
    return timer


def measured(method, structure, n, d, bytes):
    """All figures of one cell, as they are kept; ``losses`` are those of the rows held out."""
    if bytes:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (bytes, bytes))
    case = CASES[structure](d)
    X, Y = case.rows(n)
    X_test, Y_test = case.test_rows()
    few = FEW.get(method, 50) // case.tokens
    made(method, case, structure).fit(X[:few], Y[:few]).predict(X_test[:5])
    timer = compile_timer() if method == "ours" else None
    before = bytes_before()
    start = spent()
    model = made(method, case, structure).fit(X, Y)
    fitted = spent()
    Z = model.predict(X_test)
    wall, cpu = np.transpose([fitted - start, spent() - fitted])
    losses = case.losses(Z, Y_test)
    return {
        "method": method, "structure": structure, "n": n, "d": d,
        "fit_wall": wall[0], "predict_wall": wall[1], "fit_cpu": cpu[0], "predict_cpu": cpu[1],
        "growth": peak_bytes() - before, "loss": losses.mean(),
        "error": losses.std(ddof=1) / np.sqrt(len(losses)),
        "compiled": timer.duration if timer is not None and timer.done else 0.0,
        "losses": [round(loss, 6) for loss in losses.tolist()],
    }  # fmt: skip


def main():
    warnings.simplefilter("ignore")
    print(json.dumps(measured(**json.loads(sys.argv[1]))))


if __name__ == "__main__":
    main()
