# SPDX-License-Identifier: BSD-3-Clause
"""Time, memory and loss of the default, from rows to predictions, beside what others would do.

Five structures (label sets, classes, rankings, a tree of labels, sequences) of 1,000 to 100,000
made rows with a law that is known (``whole_path_cases.py``), sequences counted in tokens. Every
fit with its predictions for 2,000 rows (sequences: 2,000 sequences) held out is a process of its
own on one BLAS thread (``whole_path_cell.py``). Learners have their defaults, but for what
``whole_path_peers.py`` says; peers whose package is missing are left out, with a line.

A table for each structure, whether ours is on the front (at no number of rows has another method
less loss, by more than the standard error of the difference on the same rows, for less CPU time),
the power of n by which our time grows, and a picture: loss against CPU seconds.

Usage: python benchmarks/whole_path.py [--quick] [--structures ...] [--max-n N] [--peers ...]
    [--labels ...] [--jobs N] [--longest SECONDS] [--total SECONDS] [--resume] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import ONE_THREAD
from whole_path_cases import CASES, FIXED
from whole_path_peers import PEERS, missing
from whole_path_report import line_of, read, report

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
CELL = Path(__file__).with_name("whole_path_cell.py")
KEY = ("structure", "d", "method", "n")
FEW = 300  # rows of a fit that compiles most kernels
COMPILED = 0.02  # share of a cell's time; where compiling takes more, it is measured again
QUICK = {"sizes": [300, 1000], "labels": [10], "methods": ["ours", "ridge"], "longest": 60.0}


def planned(arguments):
    """All cells in the order in which they begin: small ones first."""
    for n in [size for size in arguments.sizes if size <= arguments.max_n]:
        for structure in arguments.structures:
            for d in [FIXED[structure]] if structure in FIXED else arguments.labels:
                for method in arguments.methods:
                    if structure in PEERS[method].only and n <= PEERS[method].most:
                        yield {"structure": structure, "d": d, "method": method, "n": n}


class Runner:
    """Cells in fresh processes, kept one by one in a file.

    A method that took too long, or too much memory, is not tried with more rows.
    """

    def __init__(self, arguments, known, file):
        self.arguments, self.known, self.file = arguments, known, file
        self.lock, self.stopped = threading.Lock(), {}
        self.end = time.monotonic() + arguments.total

    def __call__(self, task):
        key = self.key(task)
        record = self.known.get(key)
        if record is None:
            why = self.stopped.get(key[:3])
            if time.monotonic() > self.end:
                why = "not begun in time"
            record = {**task, "left_out": why} if why else self.measured(task)
            if not why:
                self.keep(record)
        if "failed" in record:
            self.stopped[key[:3]] = f"left out: {record['failed']} at {record['n']:,} rows"
        print(line_of(record), flush=True)
        return record

    def measured(self, task):
        """A cell whose kernels come from Numba's cache: once more, where they were compiled."""
        record = self.run(task, self.arguments.longest)
        cpu = record.get("fit_cpu", 0.0) + record.get("predict_cpu", 0.0)
        if record.get("compiled", 0.0) > COMPILED * cpu and time.monotonic() < self.end:
            record = self.run(task, self.arguments.longest)
        return record

    def fill(self, tasks):
        """Numba's cache, by ours on few rows of all structures, however long it takes."""
        new = {(t["structure"], t["d"]) for t in tasks if self.key(t) not in self.known}
        small = [{"structure": s, "d": d, "method": "ours", "n": FEW} for s, d in sorted(new)]
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            list(pool.map(lambda task: self.run(task, longest=None), small))

    @staticmethod
    def key(task):
        return tuple(task[name] for name in KEY)

    def run(self, task, longest):
        limit = int(self.arguments.memory * 1e9)
        command = [sys.executable, str(CELL), json.dumps({**task, "bytes": limit})]
        environment = {**os.environ, **ONE_THREAD, "NUMBA_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=longest
            )
        except subprocess.TimeoutExpired:
            return {**task, "failed": f"more than {longest:.0f} s", "longest": longest}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            return {**task, "failed": last[:90]}
        return json.loads(done.stdout.splitlines()[-1])

    def keep(self, *records):
        with self.lock:
            self.file.writelines(json.dumps(record) + "\n" for record in records)
            self.file.flush()


def measure(arguments, path):
    """Records of all cells; those in the file are not measured again, unless they get more time."""
    known = {}
    if arguments.resume and path.exists():
        known = {Runner.key(r): r for r in read(path) if r.get("longest", 1e9) >= arguments.longest}
    with open(path, "w", encoding="utf-8") as file:
        runner = Runner(arguments, known, file)
        runner.keep(*known.values())
        tasks = list(planned(arguments))
        runner.fill(tasks)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            return list(pool.map(runner, tasks))


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--structures", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--peers", nargs="*", help="default: all", choices=list(PEERS)[1:])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="rows, or tokens")
    parser.add_argument("--max-n", type=int, default=100_000)
    parser.add_argument("--labels", type=int, nargs="+", default=[100], help="such as 10 100 1000")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--longest", type=float, default=300.0, help="wall seconds of one cell")
    parser.add_argument("--total", type=float, default=1e9, help="seconds; no cell begins later")
    parser.add_argument("--memory", type=float, default=16.0, help="GB of one process; 0: no bar")
    parser.add_argument("--resume", action="store_true", help="keep what the file has")
    parser.add_argument("--quick", action="store_true", help="a minute: few rows and a ridge")
    parser.add_argument("--out", type=Path, default=Path("output"), help="of whole_path.jsonl")
    parser.add_argument("--pictures", type=Path, help="folder; without it none are drawn")
    chosen = parser.parse_args(arguments)
    chosen.methods = ["ours", *(list(PEERS)[1:] if chosen.peers is None else chosen.peers)]
    if chosen.quick:
        vars(chosen).update(QUICK)
    return chosen


def main():
    arguments = parse()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "whole_path.jsonl"
    for method in [name for name in arguments.methods if missing(name)]:
        print(f"{PEERS[method].title} is left out: {PEERS[method].needs} is not installed")
        arguments.methods.remove(method)
    records = measure(arguments, path)
    report(records)
    if arguments.pictures is not None:
        from whole_path_plot import draw_all

        draw_all(records, arguments.pictures)
    print(f"\nkept: {path}")


if __name__ == "__main__":
    main()
