# SPDX-License-Identifier: BSD-3-Clause
"""From a CSV file to a served prediction: wall seconds of every step, each in a fresh process.

The steps are those of somebody who begins: ``skstruct fit`` (with saving; "save" is the time to
write the model file again), ``skstruct serve`` until ``/ready``, and the first and the second
request of one row. "cold" begins with an empty cache of compiled kernels (NUMBA_CACHE_DIR) for
every shape, "warm" is the same again. Other work on the machine counts: see the load.

    python benchmarks/bench_first_hour.py                       all shapes of 1,000 rows
    python benchmarks/bench_first_hour.py --rows 1000 10000     both sizes
    python benchmarks/bench_first_hour.py --only tags           those with such names
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
from harness import ONE_THREAD

STEPS = ("fit", "save", "ready", "first", "second")
WAIT = 600.0  # seconds for a start
ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+")
COMMAND = (sys.executable, "-m", "skstruct.cli")
SAVE = """
import sys, time
from skstruct import load_model, save_model
model = load_model(sys.argv[1])
start = time.perf_counter()
save_model(model, sys.argv[2])
print(time.perf_counter() - start)
"""


def numbers(n, rng):
    """Columns that outputs depend on."""
    return rng.normal(size=(n, 8))


def classes(n, rng):
    X = numbers(n, rng)
    return X, "class", [f"c{k}" for k in (X[:, :4] + rng.normal(size=(n, 4)) / 2).argmax(axis=1)]


def labels(n, rng):
    X = numbers(n, rng)
    on = X @ rng.normal(size=(8, 12)) + rng.normal(size=(n, 12)) > 1
    return X, "labels", [";".join(f"l{k}" for k in np.flatnonzero(row)) for row in on]


def hierarchy(n, rng):
    X = numbers(n, rng)
    top, below = X[:, :3].argmax(axis=1), X[:, 3:6].argmax(axis=1)
    return X, "class", [f"t{a}/t{a}b{b}" for a, b in zip(top, below)]


def ranking(n, rng):
    X = numbers(n, rng)
    orders = np.argsort(X @ rng.normal(size=(8, 5)) + rng.normal(size=(n, 5)), axis=1)
    return X, "ranking", [">".join(f"i{k}" for k in order) for order in orders]


SHAPES = {"classes": classes, "labels": labels, "hierarchy": hierarchy, "ranking": ranking}


def write_table(folder, shape, n):
    """A CSV file, options of fit, and the first row as a record."""
    X, target, outputs = SHAPES[shape](n, np.random.default_rng(0))
    names = [f"x{j}" for j in range(X.shape[1])]
    lines = [",".join([*names, target])]
    lines += [",".join([*map(repr, row), z]) for row, z in zip(X.round(4).tolist(), outputs)]
    path = folder / f"{shape}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["--task", shape, "--target", target]
    return path, options, [dict(zip(names, X[0].round(4).tolist()))]


def write_sentences(folder, n):
    """Words with tags in CoNLL's format, about eight words a sentence."""
    rng = np.random.default_rng(0)
    kinds = {"DT": 5, "JJ": 60, "NN": 200, "VB": 80, "IN": 20}
    sentences = []
    for _ in range(n):
        tags = rng.choice(list(kinds), size=rng.integers(4, 13), p=[0.2, 0.15, 0.3, 0.2, 0.15])
        sentences.append([(f"{tag.lower()}{rng.integers(kinds[tag])}", tag) for tag in tags])
    path = folder / "tags.conll"
    text = "\n\n".join("\n".join(f"{w} {t}" for w, t in s) for s in sentences)
    path.write_text(text + "\n", encoding="utf-8")
    return path, [], [[word for word, _ in sentences[0]]]


def measured(shape, n, folder, environment):
    """Seconds of each step."""
    writer = write_sentences if shape == "tags" else write_table
    path, options, rows = writer(folder, *(() if shape == "tags" else (shape,)), n)
    model, seconds = folder / "m.model", {}
    start = time.perf_counter()
    fit = [*COMMAND, "fit", "--quiet", str(path), "-o", str(model), *options]
    subprocess.run(fit, env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds["fit"] = time.perf_counter() - start
    again = [sys.executable, "-c", SAVE, str(model), str(folder / "again.model")]
    done = subprocess.run(again, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    seconds["save"] = float(done.stdout)
    seconds |= served(model, rows, environment)
    return seconds


def served(model, rows, environment):
    """Seconds until the server is ready, and of two requests."""
    start = time.perf_counter()
    command = [*COMMAND, "serve", str(model), "--port", "0", "--log-level", "warning"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        found = next((m for line in process.stderr if (m := ADDRESS.search(line))), None)
        if found is None:
            raise RuntimeError(f"{' '.join(command)} did not start")
        until_ready(found[0])
        seconds = {"ready": time.perf_counter() - start}
        for name in ("first", "second"):
            start = time.perf_counter()
            answer = json.loads(ask(f"{found[0]}/predict", {"rows": rows}))
            seconds[name] = time.perf_counter() - start
            assert len(answer["answers"]) == 1, answer
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
    return seconds


def until_ready(address):
    end = time.monotonic() + WAIT
    while True:
        try:
            return ask(f"{address}/ready")
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=WAIT) as answer:
        return answer.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Wall seconds of each step; load {load} on {os.cpu_count()} processors")
    print(f"{'shape':<10} {'rows':>7} {'kernels':<8}" + "".join(f"{step:>9}" for step in STEPS))
    for shape in (*SHAPES, "tags"):
        if arguments.only not in shape:
            continue
        for n in arguments.rows:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                kernels = {**os.environ, **ONE_THREAD, "NUMBA_CACHE_DIR": str(folder / "kernels")}
                for state in ("cold", "warm"):
                    seconds = measured(shape, n, folder, kernels)
                    cells = "".join(f"{seconds[step]:>9.3f}" for step in STEPS)
                    print(f"{shape:<10} {n:>7,} {state:<8}{cells}", flush=True)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"load at the end {load}")


if __name__ == "__main__":
    main()
