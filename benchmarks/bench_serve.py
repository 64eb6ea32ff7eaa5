# SPDX-License-Identifier: BSD-3-Clause
"""`skstruct serve` under load: requests per second, latencies, reloads, deaths, memory.

Everything is on this machine. A server of one process is held on the first core and the clients, a
process of their own (serve_clients.py), on the second; several workers have both. No request is
asked twice by the clients: those that fail when a worker is killed are counted. Beside it stand
a prediction by a loop in one process without HTTP, scikit-learn behind a short FastAPI program, and
scikit-learn behind MLflow's scoring server, all with the same rows of 15 numbers and 5 names, and
kernel ridge regression of 20 labels from 1,000 training rows.

Usage: python benchmarks/bench_serve.py [--quick]
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import psutil
import serve_peers
from harness import ONE_THREAD, Table, at_least, at_most

import skstruct
from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.datasets.dataset import Dataset
from skstruct.datasets.dataset import Table as Columns
from skstruct.serving import Served, predict
from skstruct.spaces import LabelSets
from skstruct.tasks.model import TaskModel

QUICK = "--quick" in sys.argv
SECONDS = 0.5 if QUICK else 5.0  # of each load
CLIENTS = (1, 8) if QUICK else (1, 8, 64)
N_TRAIN, N_LABELS, ALPHA = 200 if QUICK else 1000, 20, 1e-3
SIDE = 300 if QUICK else 3000  # rows and columns of the large model: 8 bytes each
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
FOLDER = Path(__file__).parent
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


# ---------------------------------------------------------------------- rows and models
def rows_and_labels(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """15 columns of numbers, 5 of names, and 20 labels that depend on them."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n, 15))
    picks = rng.integers(4, size=(n, 5))
    frame = pd.DataFrame(numbers, columns=[f"number {j}" for j in range(15)])
    for j in range(5):
        frame[f"name {j}"] = np.array(["red", "green", "blue", "grey"])[picks[:, j]]
    W = np.random.default_rng(1).standard_normal((15, N_LABELS))
    return frame, (numbers @ W + (picks[:, :1] - 1.5) > 1.5).astype(int)


def our_model(frame: pd.DataFrame, Y: np.ndarray) -> TaskModel:
    """As `skstruct fit` makes it from a file."""
    values = tuple(None if frame[c].dtype.kind == "f" else ("blue", "green", "grey", "red")
                   for c in frame)  # fmt: skip
    cells = [frame[c].to_numpy() if v is None else np.searchsorted(v, frame[c].tolist())
             for c, v in zip(frame, values)]  # fmt: skip
    inputs = Columns(tuple(frame), values, np.column_stack(cells).astype(float))
    labels = tuple(f"label {j}" for j in range(N_LABELS))
    sets = [[labels[j] for j in np.flatnonzero(row)] for row in Y]
    model = TaskModel("kernel", parameters={"alpha": ALPHA})
    return model.fit(Dataset("rows", "csv", "labels", inputs, sets))


# ---------------------------------------------------------------------- servers and clients
def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def served(command: list[str], port: int, ready: str, *, cores=None, extra=None):
    """A server as a process of its own, once it is ready; it is stopped in the end."""
    environment = {**os.environ, **ONE_THREAD, **QUIET, **(extra or {})}

    def pinned():
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, cores)

    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, preexec_fn=pinned, stdout=log,
                                   stderr=log)  # fmt: skip
        try:
            wait_for(f"http://127.0.0.1:{port}{ready}", process, log)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(url: str, process, log) -> None:
    until = time.monotonic() + 180
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    log.seek(0)
    raise RuntimeError(log.read().decode()[-2000:])


def ours(path: Path, port: int, workers: int = 1) -> list[str]:
    return [sys.executable, "-m", "skstruct.cli", "serve", str(path), "--port", str(port),
            "--workers", str(workers), "--log-level", "error"]  # fmt: skip


def load(port: int, path: str, body: Path, n: int, seconds: float, cores="") -> dict:
    """What clients found; see serve_clients.py."""
    command = [sys.executable, str(FOLDER / "serve_clients.py"), port, path, body, n, seconds]
    command += [cores] if cores else []
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    if found["refused"] or found["failed"]:
        print(f"  (REFUSED {found['refused']}, FAILED {found['failed']} of {found['requests']})")
    return found


# ---------------------------------------------------------------------- how fast
def direct(call) -> float:
    """Seconds of one call in this process, as a loop makes them."""
    call()
    n, start = 0, time.perf_counter()
    while time.perf_counter() < start + SECONDS:
        call()
        n += 1
    return (time.perf_counter() - start) / n


def answered(asked: Served, rows: list[dict]) -> str:
    """A request without its way here and back."""
    return json.dumps(predict(asked, asked.inputs(rows)))


def bench_speed(folder: Path) -> None:
    frame, Y = rows_and_labels(N_TRAIN)
    new = rows_and_labels(100, seed=2)[0].round(4)
    records = json.loads(new.to_json(orient="records"))
    model = our_model(frame, Y)
    save_model(model, folder / "rows.model")
    peer = serve_peers.fitted(frame, Y, ALPHA)
    joblib.dump(peer, folder / "peer.joblib")
    serve_peers.save_for_mlflow(peer, frame, folder / "peer")
    bodies = {}
    for n, name in ((1, "one row"), (100, "100 rows")):
        for key, wrap in (("rows", "rows"), ("dataframe_records", "mlflow")):
            bodies[name, wrap] = folder / f"{name} {wrap}.json"
            bodies[name, wrap].write_text(json.dumps({key: records[:n]}))
    os.sched_setaffinity(0, CORES[:1])
    base = {}
    table = Table("in this process, on one core", "calls per second")
    mapped = load_model(folder / "rows.model", mmap=True)
    asked = Served("rows", mapped)
    for n, name in ((1, "one row"), (100, "100 rows")):
        some, rows = records[:n], pd.DataFrame(records[:n])
        ways = {
            "predict, dictionaries": partial(mapped.predict, some),
            "predict, a frame": partial(mapped.predict, rows),
            "what the server does, without HTTP": partial(answered, asked, some),
            "scikit-learn, a frame": partial(peer.predict, rows),
        }
        times = {way: direct(call) for way, call in ways.items()}
        for way, seconds in times.items():
            table.add(f"{name}: {way}", seconds, 1 / seconds)
        base[name] = min(seconds for way, seconds in times.items() if way.startswith("predict"))
    os.sched_setaffinity(0, CORES)
    servers = {
        "skstruct serve": (lambda port: ours(folder / "rows.model", port), "/predict", "rows",
                           "/ready", {}),
        "skstruct serve, 2 workers": (lambda port: ours(folder / "rows.model", port, 2),
                                      "/predict", "rows", "/ready", {}),
        "FastAPI, scikit-learn": (lambda port: [sys.executable, str(FOLDER / "serve_peers.py"),
                                                str(port), str(folder / "peer.joblib")],
                                  "/predict", "rows", "/ready", {}),
        "MLflow, scikit-learn": (lambda port: [sys.executable, "-m", "uvicorn", "--port", str(port),
                                               "--log-level", "critical",
                                               "mlflow.pyfunc.scoring_server.app:app"],
                                 "/invocations", "mlflow", "/ping",
                                 {"__pyfunc_model_path__": str(folder / "peer")}),
    }  # fmt: skip
    for server, (command, path, wrap, ready, extra) in servers.items():
        port = free_port()
        cores = None if "workers" in server else CORES[:1]
        with served(command(port), port, ready, cores=cores, extra=extra):
            measure(server, port, path, {n: bodies[n, wrap] for n in base}, base)


def measure(server: str, port: int, path: str, bodies: dict, base: dict) -> None:
    """Loads of several numbers of clients, on one server."""
    table = Table(f"{server}; time: p99", "rate / rate of the faster predict")
    ours_here = server == "skstruct serve"
    for name, body in bodies.items():
        load(port, path, body, 2, SECONDS / 5)  # warm
        for n in CLIENTS:
            own = "" if "workers" in server else str(CORES[-1])
            found = load(port, path, body, n, SECONDS, own)
            share = found["per_second"] * base[name]
            target = at_least(0.7) if ours_here and name == "100 rows" and n > 1 else None
            line = f"{name}, {n} clients: {found['per_second']:.0f} /s, p50 {_ms(found['p50'])}"
            table.add(line, found["p99"], share, target)
            if ours_here and name == "one row" and n == 1:
                table.add("  p99 of single rows, one client", found["p99"], None, at_most(0.02))
        table.note(f"the clients took {found['client_cpu_share']:.0%} of their core at last")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


# ---------------------------------------------------------------------- reloads and deaths
def bench_faults(folder: Path) -> None:
    """Clients ask while the file is replaced, and while a worker is killed."""
    path, port = folder / "rows.model", free_port()
    other = folder / "other.model"
    save_model(our_model(*rows_and_labels(N_TRAIN // 2, seed=5)), other)
    body, seconds = folder / "one row rows.json", 4 * SECONDS
    with served(ours(path, port, workers=2), port, "/ready") as process:
        table = Table("two workers, 8 clients, single rows; time: p99", "failed requests")

        def replaced():
            for _ in range(3):
                time.sleep(seconds / 4)
                shutil.copy(other, folder / "next.model")
                os.replace(folder / "next.model", path)

        def killed():
            for _ in range(3):
                time.sleep(seconds / 4)
                workers = [p for p in psutil.Process(process.pid).children() if p.is_running()]
                os.kill(workers[0].pid, signal.SIGKILL)

        for name, fault in (("the file is replaced three times", replaced),
                            ("a worker is killed, three times", killed)):  # fmt: skip
            doing = threading.Thread(target=fault)
            doing.start()
            found = load(port, "/predict", body, 8, seconds)
            doing.join()
            failed = found["failed"] + found["refused"]
            table.add(f"{name}: {found['requests']} requests", found["p99"], failed, at_most(0))


# ---------------------------------------------------------------------- memory
def bench_memory(folder: Path) -> None:
    """Proportional set sizes: pages that several processes share count once, in parts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SIDE, SIDE))
    path = folder / "large.model"
    save_model(ConditionalRiskMinimizer(LabelSets("abc"), alpha=1.0).fit(X, X[:, :3] > 0), path)
    body = folder / "large.json"
    body.write_text(json.dumps({"rows": X[:1].round(3).tolist()}))
    size = path.stat().st_size / 2**20
    print(f"\nmemory of servers of a model of {size:.0f} MB, after requests, in MB (PSS)")
    print(f"{'workers':>8} {'all':>8} {'beyond one worker':>18}")
    first = 0.0
    for n in (1, 2) if QUICK else (1, 2, 4):
        port = free_port()
        with served(ours(path, port, workers=n), port, "/ready") as process:
            load(port, "/predict", body, 4 * n, SECONDS)
            found = pss(process.pid) / 2**20
        first = first or found
        each = (found - first) / (n - 1) if n > 1 else 0.0
        print(f"{n:>8} {found:>8.0f} {each:>12.0f} each", flush=True)


def pss(pid: int) -> int:
    """Bytes of a process and its children, shared ones in parts."""
    parent = psutil.Process(pid)
    return sum(p.memory_full_info().pss for p in (parent, *parent.children(recursive=True)))


def main() -> None:
    print(f"skstruct {skstruct.__version__}, {len(CORES)} cores, load average "
          f"{', '.join(f'{x:.1f}' for x in os.getloadavg())}; {SECONDS:g} s each")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_speed(folder)
        bench_faults(folder)
        bench_memory(folder)
    print(f"\nload average at the end {', '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
