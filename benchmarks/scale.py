# SPDX-License-Identifier: BSD-3-Clause
"""Growth: time, peak memory and loss of fits to 1,000 up to 1,000,000 rows, ours and others'.

Every measurement is a process of its own (``scale_cell.py``): its peak of memory is its own, and
so is the rate of matrix products that its floor is taken from. Label sets of 100 and of 1,000
labels, 80 features, an rbf kernel and one penalty for all methods, no intercept; exact fits get
targets as doubles, those on landmarks label sets of one byte per label. All measurements go to
OUT/scale.jsonl, from which ``scale_plot.py`` draws.

A fit is left out, with a line that says so, where it would take longer than --longest seconds or
more memory than is free.

Usage: python benchmarks/scale.py [--max-n N] [--max-exact N] [--threads N] [--resume] ...
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from scale_cell import METHODS, loss_levels
from scale_report import COLUMNS, SMALL, SMALL_TARGETS, aligned, line_of, read, report

from skstruct._arrays.memory import available_memory

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = (100, 1000)
CELL = Path(__file__).with_name("scale_cell.py")
KEY = ("method", "n", "d", "m", "threads")


def planned(arguments):
    """All cells in the order in which they run: small ones first."""
    for n in [size for size in arguments.sizes if size <= arguments.max_n]:
        for d in arguments.labels:
            for method in arguments.methods:
                if METHODS[method].kind == "pass" or n <= arguments.max_exact:
                    yield cell(method, n, d, arguments.landmarks)
        if n == 10_000 and SMALL["n"] <= arguments.max_n:
            for d in SMALL_TARGETS:
                for method in [name for name in arguments.methods if name in ("onepass", "falkon")]:
                    yield cell(method, SMALL["n"], d, SMALL["m"])


def cell(method, n, d, landmarks):
    m = min(landmarks, n // 2) if METHODS[method].kind == "pass" else 0
    return {"method": method, "n": n, "d": d, "m": m}


def too_much(task, rate, arguments):
    """Why a cell is left out, or an empty string."""
    how, sizes = METHODS[task["method"]], (task["n"], task["d"], task["m"])
    seconds, size = how.flops(*sizes) / rate, how.bytes(*sizes)
    if seconds > arguments.longest:
        return f"would take {seconds:,.0f} s and more"
    free = available_memory()
    if free is not None and size > 0.9 * free:
        return f"would take about {size / 1e9:.1f} GB, {free / 1e9:.1f} are free"
    return ""


def run(task, threads):
    """A cell measured in a fresh process; what became of it where it failed."""
    environment = dict(os.environ)
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        environment[f"{library}_NUM_THREADS"] = str(threads)
    command = [sys.executable, str(CELL), json.dumps(task)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {**task, "threads": threads, "failed": last or f"status {done.returncode}"}
    return {**json.loads(done.stdout.splitlines()[-1]), "threads": threads}


def measure(arguments, path):
    """Records of all cells, kept one by one; those in the file are not measured again."""
    known = {}
    if arguments.resume and path.exists():
        known = {tuple(r[k] for k in KEY): r for r in read(path) if "failed" not in r}
    records, rate = list(known.values()), 1e10 * arguments.threads
    with open(path, "w", encoding="utf-8") as file:
        keep(file, *records)
        for task in planned(arguments):
            record = known.get((*task.values(), arguments.threads))
            if record is None:
                why = too_much(task, rate, arguments)
                record = {**task, "left_out": why} if why else run(task, arguments.threads)
                records.append(record)
                if not why:
                    keep(file, record)
            rate = record.get("gemm_wall", rate)
            print(line_of(record), flush=True)
    return records


def keep(file, *records):
    file.writelines(json.dumps(record) + "\n" for record in records)
    file.flush()


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-n", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--max-exact", type=int, default=10_000, help="rows of exact fits")
    parser.add_argument("--landmarks", type=int, default=2000)
    parser.add_argument("--labels", type=int, nargs="+", default=list(LABELS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--threads", type=int, default=1, help="of BLAS, in every process")
    parser.add_argument("--longest", type=float, default=300.0, help="seconds of one fit")
    parser.add_argument("--resume", action="store_true", help="keep what the file has")
    parser.add_argument("--out", type=Path, default=Path("output"), help="folder of scale.jsonl")
    return parser.parse_args(arguments)


def main():
    arguments = parse()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "scale.jsonl"
    print(
        f"Fits with {arguments.threads} thread(s) of BLAS; mean Hamming loss on 2,000 rows held out"
    )
    for d in arguments.labels:
        probability, best = loss_levels(d)
        print(
            f"   {d} labels: the best constant answer has {probability:.4f}, the distribution "
            f"itself {best:.4f}"
        )
    print(aligned(COLUMNS), flush=True)
    records = measure(arguments, path)
    report(records, arguments)
    print(f"\nkept: {path}")


if __name__ == "__main__":
    main()
