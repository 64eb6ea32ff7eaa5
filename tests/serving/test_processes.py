# SPDX-License-Identifier: BSD-3-Clause
"""Real servers: worker processes that are killed, models that change, draining, orphans."""

import contextlib
import http.client
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
            start_new_session=True,
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
    with running(
        path, "--workers", 2, "--log-level", "warning", "--timeout", PATIENCE
    ) as server:  # fmt: skip
        yield server


class Askers:
    """Clients that ask again and again on connections that they keep; nothing is tried twice."""

    def __init__(self, server, n=8):
        self.where, self.bodies, self.errors = server.address.removeprefix("http://"), [], []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(i,)) for i in range(n)]
        for thread in self.threads:
            thread.start()

    def _ask(self, i):
        connection = http.client.HTTPConnection(self.where, timeout=PATIENCE)
        body, kind = json.dumps([ROWS[i]]), {"Content-Type": "application/json"}
        while not self.ends.is_set():
            try:
                connection.request("POST", "/decode", body, kind)
                answer = connection.getresponse()
                found = json.loads(answer.read())
                assert answer.status == 200, found
                self.bodies.append((i, *told(found)))
            except (OSError, http.client.HTTPException, AssertionError) as error:
                self.errors.append(error)
                connection.close()
        connection.close()

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def told(found):
    """Prediction and risk, whose last bits depend on who is predicted together."""
    (row,) = found["answers"]
    return " ".join(row["prediction"]), round(row["risk"], 9)


def test_models_are_reloaded_while_requests_run(server, path):
    before, asking = server.counter("reloads_total"), Askers(server)
    for alpha in (5.0, 0.1):
        save_model(sets_model(alpha), path)
        before += 2  # in both workers
        server.wait(lambda wanted=before: server.counter("reloads_total") >= wanted)
    asking.end()
    assert asking.errors == []
    assert len(set(asking.bodies)) == 2 * 8  # of both models


def test_a_file_that_is_written_into_ends_nobody(server, path):
    good, expected = path.read_bytes(), server.ask("/decode", ROWS[:1])
    failed, deaths = server.counter("failed_reloads_total"), server.counter("worker_deaths_total")
    path.write_bytes(b"broken")  # in place: whoever has mapped it would get a bus error
    server.wait(lambda: server.counter("failed_reloads_total") >= failed + 2)
    assert server.counter("worker_deaths_total") == deaths
    os.kill(children_of(server.process.pid)[0], signal.SIGKILL)
    server.wait(lambda: server.counter("worker_deaths_total") > deaths)
    server.wait(lambda: server.counter("workers") == 2)  # the new one has the last good model
    for _ in range(10):
        assert server.ask("/decode", ROWS[:1]) == expected
    reloads = server.counter("reloads_total")
    path.write_bytes(good)
    server.wait(lambda: server.counter("reloads_total") >= reloads + 2)
    assert server.ask("/decode", ROWS[:1]) == expected
    assert len(server.events("reload failed")) >= 2


def test_clients_notice_nothing_when_workers_are_killed(server):
    expected = {(i, *told(json.loads(server.ask("/decode", [ROWS[i]])[1]))) for i in range(8)}
    deaths, asking = server.counter("worker_deaths_total"), Askers(server)
    for k in range(4):
        server.wait(lambda: server.counter("workers") == 2)
        n = len(asking.bodies)
        server.wait(lambda n=n: len(asking.bodies) > n + 50)
        os.kill(children_of(server.process.pid)[k % 2], signal.SIGKILL)
        server.wait(lambda k=k: server.counter("worker_deaths_total") > deaths + k)
    server.wait(lambda: server.counter("workers") == 2)
    asking.end()
    assert asking.errors == []
    assert set(asking.bodies) == expected
    assert len(children_of(server.process.pid)) == 2
    assert server.counter("worker_deaths_total") == deaths + 4


def test_no_process_stays_when_the_server_is_killed(path):
    with running(path, "--workers", 2) as server:
        workers = children_of(server.process.pid)
        assert len(workers) == 2
        server.process.kill()
        server.process.wait(PATIENCE)
        server.wait(lambda: not any(map(is_alive, workers)))


def is_alive(pid):
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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


def test_a_terminated_server_answers_what_is_under_way(path):
    many = [row for row in ROWS for _ in range(300)]
    with running(path, "--workers", 2, "--max-rows", 100_000) as server:
        found = []
        thread = threading.Thread(target=lambda: found.append(server.ask("/kbest", many)))
        thread.start()
        server.wait(lambda: server.counter("waiting") > 0 or found)
        workers = children_of(server.process.pid)
        os.killpg(server.process.pid, signal.SIGTERM)  # as service managers do: to all processes
        thread.join()
        assert found[0][0] == 200
        assert len(json.loads(found[0][1])["answers"]) == len(many)
        assert server.process.wait(PATIENCE) == 0
        server.wait(lambda: any("Stopped" in line for line in server.lines))
        assert not any(map(is_alive, workers))
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
        server.process.send_signal(signal.SIGTERM)
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
    assert found.returncode == 3
    assert "m.model" in found.stderr.splitlines()[-1]
