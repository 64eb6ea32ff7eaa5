# SPDX-License-Identifier: BSD-3-Clause
"""Kill processes of `skstruct serve` while clients ask: nobody gets a wrong answer, or none.

    python reliability/kill_serve.py [--cases 300] [--minutes M] [--seed 0]

Eight clients ask without a pause and try nothing twice. A case kills one of two workers by SIGKILL,
SIGSEGV, SIGABRT or SIGBUS, replaces the model file at the same time in some cases, and
waits for a new worker. In other cases the new worker is killed while it starts, or the other one
gets SIGTERM or SIGINT, which are for the server alone: it has to go on. Every answer has to be 200
with the prediction of one of the models.
Every 20th case ends the server itself: by SIGKILL, after which no process may stay, or by SIGTERM,
after which requests under way are answered and the status is 0. A server without workers, which is
killed, has to be noticed by the clients first.
"""

import contextlib
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: servers inherit it

from children import MEMORY
from summary import Tries, arguments, finish

from skstruct import ConditionalRiskMinimizer, save_model

PATIENCE = 300.0  # seconds, of a machine that is busy
ROWS = [[i / 7.0, (i % 3) - 1.0] for i in range(8)]
MODELS = [
    ConditionalRiskMinimizer(alpha=1.0).fit(ROWS, [names[i % 2] for i in range(8)])
    for names in (("a", "b"), ("c", "d"))
]
ALLOWED = [{model.predict([row])[0] for model in MODELS} for row in ROWS]
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
WAYS = ("alone", "replaced", "ignored", "starting", "starting")
START = 2.0  # seconds that a worker takes to start, about
FOR_SERVER = (signal.SIGTERM, signal.SIGINT)  # workers ignore them
HEADERS = {"Content-Type": "application/json"}


def wait_for(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"{what} takes too long")
        time.sleep(0.02)


def children_of(pid):
    """Processes that a process has started, by Linux's list of them."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Server:
    """A server of one model file."""

    def __init__(self, path, workers):
        command = [sys.executable, "-m", "skstruct.cli", "serve", str(path), "--port", "0"]
        command += ["--workers", str(workers), "--log-level", "error", "--timeout", str(PATIENCE)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines, self.workers = [], workers
        threading.Thread(target=self._read, daemon=True).start()
        wait_for(lambda: self.where or self.process.poll() is not None, "a server")
        if not self.where:
            raise SystemExit("".join(self.lines))

    def _read(self):
        self.lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def where(self):
        found = re.search(r"at http://(\S+);", "".join(self.lines))
        return found and found[1]

    def counter(self, name):
        connection = http.client.HTTPConnection(self.where, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        return int(re.search(rf"^skstruct_{name} (\d+)$", text, re.MULTILINE)[1])

    def end(self, number):
        """Send a signal and wait: the status, and processes that stay."""
        workers = children_of(self.process.pid) if self.workers > 1 else []
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        with contextlib.suppress(TimeoutError):
            wait_for(lambda: not any(map(is_alive, workers)), "the end of workers")
        return status, [pid for pid in workers if is_alive(pid)]


class Clients:
    """Ask again and again on connections that are kept; what went wrong, and how many answers."""

    def __init__(self, server):
        self.where, self.n_answers, self.errors = server.where, 0, []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(i,)) for i in range(len(ROWS))]
        for thread in self.threads:
            thread.start()

    def _ask(self, i):
        connection = http.client.HTTPConnection(self.where, timeout=PATIENCE)
        while not self.ends.is_set():
            try:
                connection.request("POST", "/predict", json.dumps([ROWS[i]]), HEADERS)
                answer = connection.getresponse()
                body = answer.read().decode()
                if answer.status != 200 or not any(f'"{one}"' in body for one in ALLOWED[i]):
                    self.errors.append(f"{answer.status}: {body[:200]}")
                self.n_answers += 1
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(f"{type(error).__name__}: {error}")
                connection.close()
                self.ends.wait(0.05)
        connection.close()

    def more(self, n):
        """Wait for so many answers more, or an error."""
        wanted = self.n_answers + n
        wait_for(lambda: self.n_answers >= wanted or self.errors, "an answer")

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        return self.errors


def kill_new(server, old, seconds):
    """Kill the worker that comes after others, so many seconds after it appeared."""

    def new():
        return [pid for pid in children_of(server.process.pid) if pid not in old]

    wait_for(new, "the start of a new worker")
    time.sleep(seconds)  # the moment is what is tried
    os.kill(new()[0], signal.SIGKILL)


def kill_worker(server, path, rng, counts):
    """What was wrong, or None."""
    wait_for(lambda: server.counter("workers") == 2, "a worker")
    deaths, clients = server.counter("worker_deaths_total"), Clients(server)
    number, way = rng.choice(SIGNALS), rng.choice(WAYS)
    try:
        clients.more(rng.randint(1, 60))
        victim, other = rng.sample(children_of(server.process.pid), 2)
        if way == "replaced":
            save_model(rng.choice(MODELS), path)
        elif way == "ignored":
            os.kill(other, rng.choice(FOR_SERVER))
        os.kill(victim, number)
        wait_for(lambda: server.counter("worker_deaths_total") > deaths, f"a death by {number}")
        if way == "starting":
            kill_new(server, (victim, other), rng.uniform(0, START))
            counts["kills"] += 1
        clients.more(20)
    finally:
        errors = clients.stop()  # a worker starts sooner where nobody asks
    counts["answers"] += clients.n_answers
    counts["kills"] += 1
    counts[signal.Signals(number).name] += 1
    counts[way] += 1
    wait_for(lambda: server.counter("workers") == 2, "a new worker")
    most = deaths + 1 + (way == "starting")  # the new one was ready if it was quick
    if server.counter("worker_deaths_total") > most or not is_alive(other):
        return f"another worker died, after {number}, {way}"
    return errors[0] if errors else None


def end_server(server, rng):
    """End all of it; what was wrong, or None."""
    number = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    status, stay = server.end(number)
    if stay:
        return f"{len(stay)} workers stay after {number}"
    allowed = (0,) if number != signal.SIGKILL else (-signal.SIGKILL,)
    said = "".join(server.lines)
    if status not in allowed or "Traceback" in said:
        return f"status {status} after {number}: {said[-300:]}"
    return None


def planted(path):
    """What clients say of a server that has no workers and is killed."""
    server = Server(path, 1)
    clients = Clients(server)
    clients.more(5)
    server.end(signal.SIGKILL)
    clients.more(10**9)  # until there is an error
    return clients.stop()[0]


def main():
    given = arguments(__doc__, 300)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server ends with us
    counts, server = Counter(), None
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "m.model"
        save_model(MODELS[0], path)
        caught = planted(path)
        print(f"planted bug, a server without workers: {caught}", flush=True)
        tries = Tries(given)
        try:
            for number in tries:
                rng = random.Random(f"{given.seed} {number}")
                server = server or Server(path, 2)
                try:
                    if number % 20 == 19:
                        why, server = end_server(server, rng), None
                        counts["kills"] += 1
                    else:
                        why = kill_worker(server, path, rng, counts)
                except TimeoutError as error:
                    why = str(error)
                if why:
                    tries.fail(number, why, f"--seed {given.seed}; times differ")
        finally:
            if server is not None:
                server.end(signal.SIGTERM)
    rate = round(60 * counts["kills"] / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": bool(caught), "kills_per_minute": rate}
    return finish("kill_serve", tries.counts(**more, **counts))


if __name__ == "__main__":
    sys.exit(main())
