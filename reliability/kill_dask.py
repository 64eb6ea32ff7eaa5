# SPDX-License-Identifier: BSD-3-Clause
"""Kill workers and schedulers of Dask while they fit and predict: the same bits in the end.

    python reliability/kill_dask.py [--cases 200] [--minutes M] [--seed 0]

A scheduler and two workers are processes of their own. A fit from blocks of rows with a checkpoint,
or predictions to a folder of part files, loses a worker, or the scheduler, at a random moment, by
SIGKILL or SIGTERM. When a worker is lost, the result has to be bit by bit that of one process, and
a new worker comes. When the scheduler is lost, there has to be an EngineError and no file of
predictions; a new cluster goes on from the checkpoint. An engine that forgets one part has to be
caught first.
"""

import asyncio
import contextlib
import functools
import hashlib
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: workers inherit it

import numpy as np
from children import MEMORY
from summary import Tries, arguments, finish

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.exceptions import EngineError
from skstruct.kernels import RBF
from skstruct.learners import Checkpoint
from skstruct.spaces import LabelSets
from skstruct.streaming import ArraySource, predict_parquet
from skstruct.streaming.engines import SerialEngine

X = np.random.default_rng(0).standard_normal((600, 4))
SETS = (X[:, :3] + X[:, 1:] > 0).astype(int)
PROCESSES = multiprocessing.get_context("forkserver")
PATIENCE = 120  # seconds for a cluster to come up


def scheduler_main(told):
    from distributed import Scheduler

    logging.disable()  # who is killed leaves others that complain

    async def main():
        async with Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler:
            told.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(main())


def worker_main(address):
    from distributed import Worker

    logging.disable()

    async def main():
        async with Worker(address, nthreads=1, dashboard=False, host="127.0.0.1") as worker:
            await worker.finished()

    with contextlib.suppress(Exception):  # its scheduler was killed
        asyncio.run(main())


class Cluster:
    """A scheduler, two workers and a client."""

    def __init__(self):
        from distributed import Client

        here, there = PROCESSES.Pipe()
        self.scheduler = started(scheduler_main, there)
        if not here.poll(PATIENCE):
            raise SystemExit("no scheduler comes up")
        self.address = here.recv()
        self.workers = [started(worker_main, self.address) for _ in range(2)]
        self.client = Client(self.address, timeout=PATIENCE, set_as_default=False)
        self.client._timeout = 0.5  # of asking again for a scheduler that is gone
        self.client.wait_for_workers(2, timeout=PATIENCE)

    def kill(self, victim, number):
        process = self.scheduler if victim == "scheduler" else self.workers.pop(0)
        os.kill(process.pid, number)
        return process

    def mend(self):
        """A new worker in place of the one that was killed."""
        while len(self.workers) < 2:
            self.workers.append(started(worker_main, self.address))
        until = time.monotonic() + PATIENCE
        wanted = {process.pid for process in self.workers}
        while set(self.client.run(os.getpid, on_error="ignore").values()) != wanted:
            if time.monotonic() > until:
                raise SystemExit("no worker comes up")
            time.sleep(0.05)

    def close(self):
        with contextlib.suppress(Exception):
            self.client.close(timeout=1)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.join()


def started(work, given):
    process = PROCESSES.Process(target=work, args=(given,), daemon=True)
    process.start()
    return process


def fit(engine, folder):
    """A digest of what is learned from blocks of rows."""
    model = ConditionalRiskMinimizer(LabelSets(), "f1", kernel=RBF(0.3), n_landmarks=20)
    with config_context(engine=engine, memory=20_000):
        model.fit(ArraySource(X, SETS), checkpoint=Checkpoint(folder / "fit", every=0))
    smoother = model.smoother_
    arrays = (smoother.dual_coef_, smoother.intercept_, model.predict(X[:50]))
    return hashlib.sha256(b"".join(np.asarray(A).tobytes() for A in arrays)).hexdigest()


def predict(engine, folder, model):
    """A digest of all part files."""
    with config_context(engine=engine):
        predict_parquet(model, X, folder / "out", n_partitions=6)
    parts = sorted((folder / "out").iterdir())
    return hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()


class Forgetful(SerialEngine):
    """Planted: the first result of a part counts for the second one too."""

    def __init__(self):
        self.seen = {}

    def submit(self, f, *args):
        found = f(*args)
        alike = self.seen.setdefault(type(found), [])
        alike.append(found)
        return alike[0] if len(alike) == 2 else found


class Kills:
    """Cases, one after another, with a cluster that is mended in between."""

    def __init__(self, counts):
        model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(0.3), alpha=0.1).fit(X, SETS)
        self.jobs = {"fit": fit, "predict": functools.partial(predict, model=model)}
        self.right, self.seconds, self.counts, self.cluster = {}, {}, counts, None
        for name, job in self.jobs.items():
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                self.right[name] = job(SerialEngine(), Path(folder))

    def caught(self):
        """Whether other bits are noticed."""
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            return fit(Forgetful(), Path(folder)) != self.right["fit"]

    def case(self, rng):
        """What was wrong, or None."""
        name = rng.choice(list(self.jobs))
        victim = "scheduler" if rng.random() < 0.2 else "worker"
        number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
        self.cluster = self.cluster or Cluster()
        if name not in self.seconds:
            start = time.monotonic()
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                self.jobs[name](self.cluster.client, Path(folder))
            self.seconds[name] = time.monotonic() - start
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            timer = threading.Timer(
                rng.uniform(0.0, self.seconds[name]), self.cluster.kill, (victim, number)
            )
            timer.start()
            why = self.judged(name, victim, Path(folder), timer)
        self.counts[f"{name}_{victim}"] += 1
        if victim == "worker":
            self.cluster.mend()
        return why and f"{name}, {victim}: {why}"

    def judged(self, name, victim, folder, timer):
        try:
            found = self.jobs[name](self.cluster.client, folder)
        except EngineError as error:
            if victim == "worker":
                return f"EngineError: {error}"
            found = None
        finally:
            timer.join()
            if victim == "scheduler":
                self.cluster.close()
                self.cluster = None
        if found is None:  # its scheduler was lost
            self.counts["engine_errors"] += 1
            if name == "predict" and any(path.is_file() for path in folder.rglob("*")):
                return "an error leaves files"
            found = self.jobs[name](SerialEngine(), folder)  # goes on from the checkpoint
        if found != self.right[name]:
            return "other bits"
        left = {path.name for path in folder.iterdir()} - {"out"}
        return f"{sorted(left)} is left" if left else None


def main():
    given = arguments(__doc__, 200)
    logging.disable()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster ends with us
    PROCESSES.set_forkserver_preload(["distributed", "skstruct.streaming", "skstruct.learners"])
    counts: Counter = Counter()
    kills = Kills(counts)
    caught, tries = kills.caught(), Tries(given)
    print(f"planted bug, a part that is forgotten: {'caught' if caught else 'NOT CAUGHT'}")
    try:
        for number in tries:
            try:
                why = kills.case(random.Random(f"{given.seed} {number}"))
            except Exception as error:  # anything but an EngineError
                why, kills.cluster = f"{type(error).__name__}: {error}"[:500], None
            if why:
                tries.fail(number, why, f"--seed {given.seed}; times differ")
    finally:
        if kills.cluster is not None:
            kills.cluster.close()
    return finish("kill_dask", tries.counts(planted_caught=caught, **counts))


if __name__ == "__main__":
    sys.exit(main())
