# SPDX-License-Identifier: BSD-3-Clause
"""A server of models on bad requests: 2xx or 4xx, never a 5xx without cause, no data in its log.

A real server at a port, asked by several clients that keep their connections: requests with bytes,
cells and options that are wrong, values from the schema that it tells, wrong tokens, tricks with
paths and headers, bodies that are too long, and noise; beside them clients that never end a
request. Sound requests among them must be answered as Python does. Whatever comes back has to be
JSON with a sentence, or the answer in the format asked for. 503 is an answer where the time is
over. Every name, value and token holds a word that the log must not. Planted bugs, a route that
fails and a log that tells too much, have to be caught.

    python reliability/fuzz_server.py [--cases 20000] [--minutes M] [--seed 0] [--first NUMBER]
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

from raw_http import CLOSED, Connection, request
from server_requests import MOST_BYTES, Requests
from summary import Tries, arguments, finish
from trial_server import SECRET, TOKEN, TrialServer, models

import skstruct.serving.working as working
from skstruct.serving.answers import answer
from skstruct.serving.logs import Log
from skstruct.serving.parsing import JSON
from skstruct.serving.served import Served
from skstruct.serving.settings import QUESTIONS

SLOW_SECONDS = 60.0  # of one small request, on a machine that is busy
N_CLIENTS = 32  # some of which wait for seconds, for the rest of an answer
N_SLOW = 6
TIMEOUT = 30.0


def sound_requests(served):
    """(address, body, answers) of requests that are right, by Python itself."""
    found = []
    for name, one in served.items():
        for question in QUESTIONS:
            rows = one.example_rows(2)
            try:
                answers = answer(question, one, one.inputs(rows))
            except (ValueError, NotImplementedError, TypeError):  # a model that cannot tell this
                continue
            body = json.dumps({"rows": rows}).encode()
            found.append((f"/{question}?model={name}", body, rounded(answers)))
    return found


def rounded(value):
    """Numbers without their last bits, which depend on who is predicted together."""
    if isinstance(value, dict):
        return {str(key): rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") + 0.0 if isinstance(value, float) else value


def judged(drawn, found, seconds):
    """What is wrong with an answer; None if nothing is."""
    if found.status == CLOSED:
        return None if drawn.may_close else "no answer"
    if seconds > SLOW_SECONDS:
        return f"took {seconds:.1f} s"
    if found.status >= 500 and not (found.status == 503 and "retry-after" in found.headers):
        return f"status {found.status}"
    if found.status == 400 and drawn.may_close and "text/plain" in found.headers["content-type"]:
        return None  # of uvicorn, to what is no HTTP
    if found.headers.get("x-content-type-options") != "nosniff":
        return "no headers of safety"
    if drawn.is_head:
        return None
    if found.status >= 300:
        told = json.loads(found.body)
        return None if isinstance(told.get("error"), str) and told["error"] else "no sentence"
    if drawn.expected is not None and found.status == 200:
        same = rounded(json.loads(found.body)["answers"]) == drawn.expected
        return None if same else "another answer than that of Python"
    if drawn.accept == JSON and found.headers["content-type"].startswith(JSON):
        json.loads(found.body)
    return None


class Clients:
    """Several clients that ask what comes next, until there is nothing more."""

    def __init__(self, port, requests, tries, first=0):
        self.port, self.requests, self.tries, self.first = port, requests, tries, first
        self.numbers, self.lock = iter(tries), threading.Lock()
        self.statuses: Counter = Counter()
        self.kinds: Counter = Counter()

    def run(self, n=N_CLIENTS):
        threads = [threading.Thread(target=self._ask) for _ in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _next(self):
        with self.lock:
            return next(self.numbers, None)

    def _ask(self):
        connection = Connection(self.port, timeout=2 * SLOW_SECONDS)
        while (number := self._next()) is not None:
            number += self.first
            drawn = self.requests(number)
            start = time.monotonic()
            try:
                found = connection.ask(drawn)
                problem, status = judged(drawn, found, time.monotonic() - start), found.status
            except Exception as error:  # an answer that cannot be read
                connection.close()
                problem, status = f"{type(error).__name__}: {error}", None
            with self.lock:
                self.statuses[str(status)] += 1
                self.kinds[drawn.kind] += 1
                if problem:
                    again = f"--seed {self.tries.given.seed} --first {number} --cases 1"
                    self.tries.fail(number, f"{problem}: {drawn.data[:300]!r}", again)
        connection.close()


class SlowClients(threading.Thread):
    """Clients that begin a request and do not go on; the server may hang up on them."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.ends, self.n_ended = port, threading.Event(), 0
        head = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {TOKEN}"),
                ("Content-Type", JSON), ("Content-Length", "5000")]  # fmt: skip
        whole = request("POST", "/predict?model=sets", head, b'{"rows": [')
        self.parts = [whole[:n] for n in (1, 30, len(whole) - 14, len(whole))]

    def run(self):
        held: list[socket.socket] = []
        while not self.ends.wait(0.2):
            while len(held) < N_SLOW:
                held.append(socket.create_connection(("127.0.0.1", self.port), timeout=10))
                held[-1].sendall(self.parts[len(held) % len(self.parts)])
                held[-1].setblocking(False)
            for sock in list(held):
                try:
                    if sock.recv(65536):
                        continue
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                held.remove(sock)
                sock.close()
                self.n_ended += 1
        for sock in held:
            sock.close()


# ---------------------------------------------------------------------- the server itself
def schemas(server):
    """Schemas of the bodies of questions, as the server describes them; comes when it is ready."""
    paths = json.loads(server.get("/openapi.json", patience=600.0))["paths"]
    bodies = {q: paths[f"/{q}"]["post"]["requestBody"]["content"] for q in QUESTIONS}
    return {question: content[JSON]["schema"] for question, content in bodies.items()}


def told_of(server):
    """What is wrong with log and counters of a server: data, failures, a status 500."""
    wrong = []
    if SECRET in server.log_text().lower():
        lines = [line for line in server.log_text().splitlines() if SECRET in line.lower()]
        wrong.append(f"data in the log: {lines[0][:300]}")
    if failures := server.events("failure"):
        wrong.append(f"{len(failures)} failures in the log: {failures[0]}")
    if counted := re.findall(r'requests_total\{.*status="500"\} (\d+)', server.metrics()):
        wrong.append(f"{counted} times 500 in the metrics")
    return wrong


@contextlib.contextmanager
def watched(fitted, tries, plant=None, again=""):
    """A server of its own; what is wrong with its log or its end is a failure, too."""
    with (
        tempfile.TemporaryDirectory() as folder,
        TrialServer(fitted, Path(folder) / "log", plant=plant, timeout=TIMEOUT,
                    max_bytes=MOST_BYTES) as server,
    ):  # fmt: skip
        yield server
        for wrong in told_of(server):
            tries.fail(tries.tried, wrong, again)
        if not server.is_alive:
            tries.fail(tries.tried, "the server is gone")


def attack(fitted, tries, first=0, plant=None):
    """Ask a server of its own; counts of what came back."""
    served = {name: Served(name, model) for name, model in fitted.items()}
    with watched(fitted, tries, plant, f"--seed {tries.given.seed} --first {first}") as server:
        drawn = Requests(server.port, served, schemas(server), sound_requests(served),
                         tries.given.seed)  # fmt: skip
        slow = SlowClients(server.port)
        slow.start()
        clients = Clients(server.port, drawn, tries, first)
        clients.run()
        slow.ends.set()
        slow.join()
    return {"statuses": dict(clients.statuses), "kinds": dict(clients.kinds),
            "slow_ended": slow.n_ended}  # fmt: skip


def fails_sometimes():
    """A planted bug: a question that is answered by an error of the server."""
    right = working.answer

    def wrong(question, *arguments):
        if question == "kbest":
            raise KeyError("a bug")
        return right(question, *arguments)

    working.answer = wrong


def tells_all():
    """A planted bug: the log tells the name of the model that was asked for, whatever it is."""
    read = working.read_request

    def told(body, *rest):
        Log().write("info", "request", body=body[:200].decode(errors="replace"))
        return read(body, *rest)

    working.read_request = told


def planted(fitted, given, n=60):
    """Whether each of two bugs is caught."""
    caught = {}
    for bug, word in ((fails_sometimes, "status 500"), (tells_all, "data in the log")):
        tries = Tries(type(given)(**{**vars(given), "cases": n, "minutes": None}))
        attack(fitted, tries, plant=bug)
        caught[bug.__name__] = any(word in failure["why"] for failure in tries.failures)
    return caught


def main() -> int:
    given = arguments(__doc__, 20_000, ("--first", {"type": int, "default": 0}))
    warnings.simplefilter("ignore")
    fitted = models()
    caught = planted(fitted, given)
    tries = Tries(given)
    counts = attack(fitted, tries, given.first)
    rate = round(tries.tried / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": all(caught.values()), "planted": caught, "requests_per_second": rate}
    return finish("fuzz_server", tries.counts(**more, **counts))


if __name__ == "__main__":
    sys.exit(main())
