# SPDX-License-Identifier: BSD-3-Clause
"""One server, or several processes that answer at one address.

The parent opens the socket and hands it to its workers, each with the same models, whose arrays
they share through the file. A worker that dies is replaced; connections that it had not accepted
yet are taken by the others.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

import numpy as np

from skstruct._arrays.imports import require
from skstruct.serving.logs import Log
from skstruct.serving.metrics import WIDTH, Metrics
from skstruct.serving.settings import Settings

LOOK = 0.1  # seconds between looks at the workers
AT_ONCE = 5.0  # a worker that dies sooner after its start did not get far
MOST_FAILURES = 5  # of such in a row, before the server gives up
READY = "ready"
START = "from skstruct.serving.processes import run_worker; run_worker()"


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(f"{host}:{port} cannot be listened to: {error.strerror}.") from None
    found.listen(2048)
    return found


def address(sock: socket.socket) -> str:
    """What to ask: ``http://127.0.0.1:8000``."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_app(app: Any, sock: socket.socket, timeout: float, started: Any = None) -> None:
    """Answer until a signal comes; requests under way are answered before it ends."""
    uvicorn: Any = require("uvicorn", used_by="The server", extra="serve")
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, server_header=False,
        timeout_graceful_shutdown=int(timeout) + 5, timeout_keep_alive=30, lifespan="on",
    )  # fmt: skip

    class Server(uvicorn.Server):  # type: ignore[misc]  # imported by name
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if started is not None:
                started()

    Server(config).run(sockets=[sock])


# ---------------------------------------------------------------------- a worker
def run_worker() -> None:
    """A process of several; what it serves comes as JSON on stdin, a token among it."""
    from skstruct.serving.app import make_app

    told = json.loads(sys.stdin.readline())
    settings, slot = Settings.from_dict(told["settings"]), told["slot"]
    log = Log(settings.log_level)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sock = socket.socket(fileno=told["fd"])
    try:
        metrics = Metrics(told["metrics"], slot, told["workers"])
        app = make_app(told["models"], settings, metrics=metrics, log=log)
    except Exception as error:
        print(" ".join(str(error).split()), flush=True)
        sys.exit(1)
    run_app(app, sock, settings.timeout, started=lambda: print(READY, flush=True))


def _end_with_parent() -> None:
    """stdin ends when the parent does, however that was; nobody would stop this process then."""
    while os.read(0, 1024):  # not sys.stdin, whose lock would be held at the end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


# ---------------------------------------------------------------------- the parent
class Worker:
    """A process that answers, as its parent sees it."""

    def __init__(self, told: dict[str, Any], fd: int) -> None:
        self.slot, self.started, self.said = told["slot"], time.monotonic(), ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", START],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[fd], text=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(told) + "\n")
            self.process.stdin.flush()
        self.is_ready = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == READY:
                self.is_ready.set()
            else:
                self.said = line.strip()


class Workers:
    """Workers at one socket; those that die are replaced until a signal ends it all."""

    def __init__(
        self, models: dict[str, str], settings: Settings, sock: socket.socket, n: int
    ) -> None:
        self.settings, self.sock, self.n = settings, sock, n
        self.models = {name: os.path.abspath(path) for name, path in models.items()}
        self.log = Log(settings.log_level)
        self.ends = threading.Event()

    def run(self, started: Any = None) -> None:
        """Start them, and return when all have ended after SIGTERM or SIGINT."""
        with tempfile.NamedTemporaryFile(prefix="skstruct-metrics-") as file:
            np.zeros((self.n, WIDTH)).tofile(file)
            file.flush()
            self.metrics = file.name
            before = {s: signal.signal(s, self._signal) for s in (signal.SIGTERM, signal.SIGINT)}
            workers = [self._start(slot) for slot in range(self.n)]
            try:
                self._watch(workers, started)
            finally:
                self._stop(workers)
                for s, handler in before.items():
                    signal.signal(s, handler)

    def _signal(self, *_: Any) -> None:
        self.ends.set()

    def _start(self, slot: int) -> Worker:
        told = {
            "slot": slot, "workers": self.n, "fd": self.sock.fileno(), "metrics": self.metrics,
            "models": self.models, "settings": self.settings.to_dict(),
        }  # fmt: skip
        return Worker(told, self.sock.fileno())

    def _watch(self, workers: list[Worker], started: Any) -> None:
        failures = 0
        while not self.ends.wait(LOOK):
            if started is not None and all(worker.is_ready.is_set() for worker in workers):
                started()
                started = None
            for k, worker in enumerate(workers):
                code = worker.process.poll()
                if code is None or self.ends.is_set():
                    continue
                soon = not worker.is_ready.is_set() or time.monotonic() - worker.started < AT_ONCE
                failures = failures + 1 if soon else 0
                reason = worker.said or None
                self.log.write("error", "worker died", worker=k, code=code, reason=reason)
                if failures > MOST_FAILURES or (started is not None and reason):
                    raise RuntimeError(reason or "Workers die as soon as they have started.")
                workers[k] = self._start(k)

    def _stop(self, workers: list[Worker]) -> None:
        """Ask all to end, wait until requests under way are answered, then end them."""
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                worker.process.terminate()
        until = time.monotonic() + self.settings.timeout + 10
        for worker in workers:
            try:
                worker.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
