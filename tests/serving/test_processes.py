# SPDX-License-Identifier: BSD-3-Clause
"""Real servers: several processes, reloading, draining, workers that are killed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from serving.conftest import ROWS, sets_model
from skstruct import save_model

pytestmark = [pytest.mark.subprocess, pytest.mark.slow]
PATIENCE = 120  # seconds, of a machine that is busy


class Running:
    """A server, and what it has written to stderr."""

    def __init__(self, *arguments, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skstruct.cli", "serve", "--port", "0", *map(str, arguments)],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment},
        )  # fmt: skip
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()
        self.wait(lambda: self.address or self.process.poll() is not None)
        assert self.address, self.lines

    def _read(self):
        self.lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def address(self):
        found = re.search(r"at (http://\S+);", "".join(self.lines))
        return found and found[1]

    @staticmethod
    def wait(condition):
        until = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert time.monotonic() < until, "it takes too long"
            time.sleep(0.02)
        return found

    def ask(self, route, body=None, **headers):
        """Status and body; every request has a connection of its own."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.address + route, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def counter(self, name):
        found = re.search(rf"^skstruct_{name} (\d+)$", self.ask("/metrics")[1], re.MULTILINE)
        return int(found[1])

    def events(self, name):
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [record for record in found if record["event"] == name]


@contextlib.contextmanager
def running(*arguments, **environment):
    server = Running(*arguments, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            server.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "weather.model"
    save_model(sets_model(), path)
    return path


@pytest.fixture(scope="module")
def server(path):
    with running(path, "--workers", 2, "--log-level", "warning") as server:
        yield server


class Askers:
    """Threads that ask again and again, and count what they get."""

    def __init__(self, server, n=3):
        self.server, self.statuses, self.errors = server, [], []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self._ask) for _ in range(n)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.ends.is_set():
            try:
                self.statuses.append(self.server.ask("/decode", ROWS[:2])[0])
            except OSError as error:
                self.errors.append(error)

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def test_models_are_reloaded_while_requests_run(server, path):
    before, asking = server.counter("reloads_total"), Askers(server)
    for alpha in (5.0, 0.1):
        save_model(sets_model(alpha), path)
        before += 2  # in both workers
        server.wait(lambda wanted=before: server.counter("reloads_total") >= wanted)
    asking.end()
    assert asking.errors == []
    assert set(asking.statuses) == {200}
    path.write_bytes(b"broken")
    server.wait(lambda: server.counter("failed_reloads_total") >= 2)
    assert server.ask("/decode", ROWS[:1])[0] == 200
    save_model(sets_model(), path)
    assert len(server.events("reload failed")) >= 2


def test_a_killed_worker_is_replaced(server):
    children = children_of(server.process.pid)
    assert len(children) == 2
    starts, asking = server.counter("starts_total"), Askers(server, 2)
    os.kill(children[0], signal.SIGKILL)
    server.wait(lambda: server.counter("starts_total") > starts)
    server.wait(lambda: len(children_of(server.process.pid)) == 2)
    asking.end()
    assert len(asking.errors) <= 2  # what was under way in the worker that died
    assert set(asking.statuses) == {200}
    assert len(server.events("worker died")) == 1
    assert "worker died" in "".join(server.lines)


def children_of(pid):
    """Processes that a process has started, by Linux's list of them."""
    tasks = f"/proc/{pid}/task"
    if not os.path.isdir(tasks):
        pytest.skip("needs /proc")
    found = []
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/children") as file:
            found += map(int, file.read().split())
    return found


def test_counters_are_summed_over_the_workers(server):
    pattern = r'requests_total{route="predict",status="200"} (\d+)'

    def count():
        found = re.search(pattern, server.ask("/metrics")[1])
        return int(found[1]) if found else 0

    before = count()
    for _ in range(8):
        assert server.ask("/predict", ROWS[:1])[0] == 200
    assert count() == before + 8


def test_a_terminated_server_answers_what_is_under_way(path):
    many = [row for row in ROWS for _ in range(300)]
    with running(path, "--workers", 2, "--max-rows", 100_000) as server:
        found = []
        thread = threading.Thread(target=lambda: found.append(server.ask("/kbest", many)))
        thread.start()
        server.wait(lambda: server.counter("waiting") > 0 or found)
        server.process.send_signal(signal.SIGTERM)
        thread.join()
        assert found[0][0] == 200
        assert len(json.loads(found[0][1])["answers"]) == len(many)
        assert server.process.wait(PATIENCE) == 0
        assert any("Stopped" in line for line in server.lines)
    with pytest.raises(OSError, match="refused"):
        server.ask("/health")


def test_one_process_a_token_and_a_name(path, tmp_path):
    (tmp_path / "token").write_text("secret\n")
    with running(f"sky={path}", "--token-file", tmp_path / "token") as server:
        assert server.ask("/models")[0] == 401
        status, body = server.ask("/models", Authorization="Bearer secret")
        assert (status, json.loads(body)["models"][0]["name"]) == (200, "sky")
        assert server.ask("/health", Host="evil.example")[0] == 421
        assert "secret" not in "".join(server.lines)
        with open(f"/proc/{server.process.pid}/cmdline") as file:
            assert "secret" not in file.read().split("\0")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(("arguments", "said"), [
    (["--host", "0.0.0.0"], "give a token"),
    (["again.model"], "There is no file"),
])  # fmt: skip
def test_wrong_use_is_told(path, arguments, said):
    found = subprocess.run(
        [sys.executable, "-m", "skstruct.cli", "serve", str(path), *arguments],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert found.returncode == 2
    assert said in found.stderr


def test_a_broken_file_is_told_at_the_start(tmp_path):
    (tmp_path / "m.model").write_bytes(b"nothing")
    found = subprocess.run(
        [sys.executable, "-m", "skstruct.cli", "serve", str(tmp_path / "m.model"), "--port", "0",
         "--workers", "2"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert found.returncode in (1, 3)
    assert "m.model" in found.stderr.splitlines()[-1]
