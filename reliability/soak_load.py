# SPDX-License-Identifier: BSD-3-Clause
"""Load and faults for a server: clients that ask without a pause; killed workers, other files."""

from __future__ import annotations

import json
import os
import signal
import threading
from itertools import cycle

from fuzz_server import judged, rounded
from raw_http import Connection, Drawn, request
from trial_server import TOKEN

from skstruct.serving.answers import answer
from skstruct.serving.parsing import JSON
from skstruct.serving.served import Served

N_CLIENTS = 4
FAULT_SECONDS = 10.0  # between faults
TIMEOUT = 120.0


def versions(fitted):
    """(address, body, answers of all versions) of sound requests; the last model has two."""
    found = []
    for name, several in fitted.items():
        served = [Served(name, model) for model in several]
        for rows in (served[0].example_rows(1), served[0].example_rows(3)):
            answers = [rounded(answer("decode", one, one.inputs(rows))) for one in served]
            body = json.dumps({"rows": rows}).encode()
            found.append((f"/decode?model={name}", body, answers))
    return found


class Load:
    """Clients that ask until the time is over, and what came of it."""

    def __init__(self, server, requests, sound, tries, watch):
        self.server, self.requests, self.sound = server, requests, sound
        self.tries, self.watch = tries, watch
        self.numbers, self.lock = iter(tries), threading.Lock()

    def start(self):
        self.threads = [threading.Thread(target=self._ask) for _ in range(N_CLIENTS)]
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join()

    def _next(self):
        with self.lock:
            return next(self.numbers, None)

    def _ask(self):
        connection = Connection(self.server.port, timeout=2 * TIMEOUT)
        while (number := self._next()) is not None:
            try:
                problem = self._one(connection, number)
            except Exception as error:
                connection.close()
                problem = f"{type(error).__name__}: {error}"
            if problem:
                with self.lock:
                    seed = self.tries.given.seed
                    self.tries.fail(number, problem, f"--seed {seed}, after {self.watch.seconds} s")
        connection.close()

    def _one(self, connection, number):
        if number % 4 == 3:
            drawn = self.requests(number)
            return judged(drawn, connection.ask(drawn), 0.0)
        address, body, versions = self.sound[number % len(self.sound)]
        head = [("Host", self.requests.host), ("Authorization", f"Bearer {TOKEN}"),
                ("Content-Type", JSON)]  # fmt: skip
        start = self.watch.seconds
        found = connection.ask(Drawn("right", request("POST", address, head, body), JSON))
        end = self.watch.seconds
        self.watch.times.append((end, end - start))
        if found.status != 200:
            return f"status {found.status}: {address} {found.body[:200]!r}"
        same = rounded(json.loads(found.body)["answers"]) in versions
        return None if same else f"another answer than that of Python: {address} {body!r}"


class Faults(threading.Thread):
    """One fault after the other, while all workers are there."""

    def __init__(self, server, contents, path):
        super().__init__(daemon=True)
        self.server, self.contents, self.path = server, cycle(contents), path
        self.ends, self.counts = threading.Event(), {"kills": 0, "reloads": 0, "broken": 0}

    def run(self):
        often = (self._replace, self._break, self._replace) * 9
        faults = cycle((self._replace, self._kill, *often))  # workers live for minutes
        while not self.ends.wait(FAULT_SECONDS):
            next(faults)()

    def _replace(self):
        new = self.path.with_suffix(".new")
        new.write_bytes(next(self.contents))
        os.replace(new, self.path)
        self.counts["reloads"] += 1

    def _kill(self):
        if self.server.counter("workers") == 2:  # nobody answers while none is there
            os.kill(self.server.workers()[0], signal.SIGKILL)
            self.counts["kills"] += 1

    def _break(self):
        self.path.write_bytes(b"broken")
        self.counts["broken"] += 1
