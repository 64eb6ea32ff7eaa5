# SPDX-License-Identifier: BSD-3-Clause
"""A real server in a process of its own, at a free port, its log in a file; bugs can be planted.

The process is a fork of this one, so that it has imported everything already. It listens before it
is forked: whoever asks early waits until it answers.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
from raw_http import Connection, Drawn, request

from skstruct import ConditionalRiskMinimizer
from skstruct import spaces as S
from skstruct.serving import Settings, make_app
from skstruct.serving.processes import open_socket, run_app
from skstruct.serving.settings import LOCAL

SECRET = "zqsecret"  # in all names, values and tokens: no log may tell it
TOKEN = f"{SECRET}-token-of-thirty-letters"
PATIENCE = 60  # seconds until a server that was told to end is killed
X = np.random.default_rng(0).standard_normal((20, 3)).round(2)
COLUMNS = [f"{SECRET}_{letter}" for letter in "uvw"]
ROWS = [dict(zip(COLUMNS, (float(a), f"{SECRET}{'xyz'[int(b > 0)]}", float(c)))) for a, b, c in X]
LABELS = [f"{SECRET}_{letter}" for letter in "abc"]


def models():
    """Small models of several kinds."""
    fit = ConditionalRiskMinimizer
    sets = [{name for name, there in zip(LABELS, x > 0) if there} for x in X]
    words = [list("ab" if x[0] > 0 else "ba") for x in X]
    tags = [tuple("xy" if x[0] > 0 else "yx") for x in X]
    return {
        "sets": fit(alpha=1.0).fit(ROWS, sets),
        "classes": fit(alpha=1.0).fit(X, np.where(X[:, 0] > 0, *LABELS[:2])),
        "ranks": fit(S.Rankings(LABELS), alpha=1.0).fit(X, np.argsort(np.argsort(X)) + 1),
        "numbers": fit(S.Box(), alpha=1.0).fit(ROWS, X[:, :2]),
        "tags": fit(S.Sequences(), alpha=1.0).fit(words, tags),
    }


def _like_a_new_process(log):
    """A fork writes where its parent does, and treats warnings and signals as that does."""
    to = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(to, 1)
    os.dup2(to, 2)
    # a runner of tests has put objects of its own in their place
    sys.stdout, sys.stderr = (
        os.fdopen(to, "w", encoding="utf-8", errors="replace") for to in (1, 2)
    )
    warnings.resetwarnings()  # all are written, so that they are looked at for data
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class TrialServer:
    """A server of models, files or fitted ones, until :meth:`end`."""

    def __init__(self, models, log: Path, *, workers=1, plant=None, **settings):
        self.log, self.status = log, None
        settings = Settings(hosts=LOCAL, token=TOKEN, **settings)
        self.sock = open_socket("127.0.0.1", 0)
        self.port = self.sock.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            self._serve(models, settings, workers, plant)
        self.sock.close()

    def _serve(self, models, settings, workers, plant):
        """Never returns."""
        status = 1
        try:
            _like_a_new_process(self.log)
            if plant is not None:
                plant()
            run_app(make_app(models, settings, workers=workers), self.sock, settings.timeout)
            status = 0
        except KeyboardInterrupt:  # how uvicorn ends by a signal
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def is_alive(self) -> bool:
        """Whether it runs still."""
        if self.status is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if found else None
        return self.status is None

    def end(self):
        """Let requests under way end, and the server."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while self.is_alive:
            time.sleep(0.02)
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)

    def workers(self) -> list[int]:
        """Processes that the server has started, by Linux's list of them."""
        found = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
        return found

    def get(self, address, patience=PATIENCE) -> bytes:
        """What it tells at an address; an error with its last words if it does not."""
        head = [("Host", f"127.0.0.1:{self.port}"), ("Authorization", f"Bearer {TOKEN}")]
        asked = Drawn("get", request("GET", address, head), "*/*", is_last=True)
        found = Connection(self.port, timeout=patience).ask(asked)
        if found.status != 200:
            told = f"status {found.status} {found.body[:300]!r}; log: {self.log_text()[-2000:]}"
            raise RuntimeError(f"The server does not answer {address}: {told}")
        return found.body

    def metrics(self) -> str:
        """Its counters, as it tells them."""
        return self.get("/metrics").decode()

    def counter(self, name) -> int:
        """One of its counters; 0 where it does not tell."""
        found = re.search(rf"^skstruct_{name} (\d+)$", self.metrics(), re.MULTILINE)
        return 0 if found is None else int(found[1])

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def events(self, name) -> list[dict]:
        """Lines of the log about one kind of event."""
        lines = [line for line in self.log_text().split("\n")[:-1] if line.startswith("{")]
        return [record for record in map(json.loads, lines) if record["event"] == name]
