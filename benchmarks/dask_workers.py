# SPDX-License-Identifier: BSD-3-Clause
"""One pass by one and by two workers of Dask: which seconds are shared, and which are not.

CPU seconds, so that other work on the machine does not count. Those of the workers are shared by
as many as there are; those of the client (sample, landmarks, the check of single precision,
whitening, the solution) are not. With S seconds of the client and B of the workers in one run, the
efficiency of W workers is (S + B) / (W (S + B / W)). The plan for 100 workers is computed from the
same numbers, with what a task costs and a merge of the sums for every level of the tree.

    python benchmarks/dask_workers.py                           # 200,000 rows, 1,000 landmarks
    python benchmarks/dask_workers.py --rows 20000 --landmarks 200
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import contextmanager

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from distributed import Client, LocalCluster

from skstruct import config_context
from skstruct.smoothing import NystroemRidge
from skstruct.smoothing.nystroem import kernel_sums, ridge

LOCAL = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
STAGES = {
    "landmarks": (ridge.NystroemRidge, "_new_map"),
    "single or double": (ridge.NystroemRidge, "_chosen_sums"),
    "whitening": (kernel_sums.KernelSums, "finished"),
    "solving": (ridge.NystroemRidge, "_solve"),
}


@contextmanager
def stage_seconds(found):
    """CPU seconds of this process in each stage."""
    before = {name: getattr(*where) for name, where in STAGES.items()}

    def timed(name, method):
        def run(*args, **kwargs):
            start = time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                found[name] = found.get(name, 0.0) + time.process_time() - start

        return run

    for name, where in STAGES.items():
        setattr(*where, timed(name, before[name]))
    try:
        yield
    finally:
        for name, where in STAGES.items():
            setattr(*where, before[name])


def overhead(client, n_tasks=500):
    """CPU seconds of client, scheduler and workers for a task that does nothing."""
    before = time.process_time() + sum(client.run(time.process_time).values())
    client.gather([client.submit(int, i, pure=False) for i in range(n_tasks)])
    spent = time.process_time() + sum(client.run(time.process_time).values()) - before
    return spent / n_tasks


def fitted(X, T, n_landmarks, engine):
    """The model, CPU seconds of this process and of workers, and those of stages."""
    stages, workers = {}, 0.0
    client = engine if isinstance(engine, Client) else None
    if client is not None:
        workers = -sum(client.run(time.process_time).values())
    start = time.process_time()
    with config_context(engine=engine), stage_seconds(stages):
        model = NystroemRidge(n_landmarks=n_landmarks, random_state=0).fit(X, T)
    here = time.process_time() - start
    if client is not None:
        workers += sum(client.run(time.process_time).values())
    return model, here, workers, stages


def report(n, n_landmarks):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 30))
    T = (X @ rng.standard_normal((30, 20)) + 2 * rng.standard_normal((n, 20)) > 2).astype(float)
    serial, seconds, _, stages = fitted(X, T, n_landmarks, None)
    print(f"{n:,} rows x 30, {n_landmarks:,} landmarks, sums of {serial.sums_.name}")
    print(f"  one process            {seconds:7.1f} s, of these {_text(stages)}")
    busy, client_seconds, cost = {}, {}, 0.0
    for n_workers in (1, 2):
        size = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
        with LocalCluster(**size, **LOCAL) as cluster, Client(cluster) as client:
            client.run(lambda: __import__("skstruct.smoothing.nystroem.ridge"))
            cost = overhead(client)
            model, here, workers, stages = fitted(X, T, n_landmarks, client)
        busy[n_workers], client_seconds[n_workers] = workers, here
        same = model.dual_coef_.tobytes() == serial.dual_coef_.tobytes()
        print(
            f"  {n_workers} worker{'s' * (n_workers > 1):14} {workers:7.1f} s of workers, "
            f"{here:.1f} s of the client, of these {_text(stages)}; the same bits: {same}"
        )
    plan(n, n_landmarks, busy, client_seconds, cost)


def plan(n, n_landmarks, busy, client_seconds, cost):
    """Efficiencies, and what 100 workers would take for a hundred times the rows."""
    S, B = client_seconds[2], busy[2]
    print(f"  a task costs {1e3 * cost:.1f} ms of CPU")
    for times in (1, 5, 20):
        efficiency = (S + times * B) / (2 * S + times * B)
        print(f"  efficiency of two workers, {times * n:,} rows: {efficiency:.2f}")
    merge = 3 * 8 * n_landmarks**2 / 2e9  # bytes read and written, at 2 GB/s
    send = 8 * n_landmarks**2 / 1e9  # one matrix of sums between workers, at 1 GB/s
    for times in (1, 100, 1000):
        work, tasks, levels = times * B, 200, 7
        total = S + work / 100 + tasks * cost + levels * (merge + send)
        efficiency = (S + work) / (100 * total)
        print(
            f"  plan, 100 workers, {times * n:,} rows: {total:.1f} s, efficiency {efficiency:.2f}"
        )


def _text(stages):
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--landmarks", type=int, default=1_000)
    given = parser.parse_args()
    report(given.rows, given.landmarks)
