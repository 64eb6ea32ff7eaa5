# SPDX-License-Identifier: BSD-3-Clause
"""Connections on which requests do not come in time, or end too early, on a real socket."""

import json
import socket
import threading
import time

import pytest

from serving.conftest import ROWS, Lines, sets_model
from skstruct import get_config
from skstruct.serving import Settings, make_app
from skstruct.serving.logs import Log
from skstruct.serving.processes import open_socket, run_app

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.slow
PATIENCE = 60  # seconds, of a machine that is busy
LINES = Lines()
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def port():
    """Of a server in a thread; it ends with the tests."""
    sock = open_socket("127.0.0.1", 0)
    app = make_app({"m": sets_model()}, Settings(timeout=0.5), log=Log(file=LINES))
    threading.Thread(target=run_app, args=(app, sock, 0.5), daemon=True).start()
    return sock.getsockname()[1]


def connected(port, data=b""):
    found = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    found.sendall(data)
    return found


def received(sock):
    """All until the other end closes; a TimeoutError if it does not."""
    return b"".join(iter(lambda: sock.recv(65536), b""))


@pytest.mark.parametrize("start", [b"", b"P", HEAD])
def test_who_begins_no_request_is_not_waited_for(port, start):
    with connected(port, start) as sock:
        assert received(sock) == b""


def test_nor_on_a_connection_that_was_used(port):
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(port, whole) as sock:
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        sock.sendall(whole[:20])
        assert received(sock) == b""


def test_a_body_that_does_not_come_is_told(port):
    with connected(port, HEAD + b"Content-Length: 50\r\nConnection: close\r\n\r\n{") as sock:
        told = received(sock)
    assert told.startswith(b"HTTP/1.1 408")
    assert b"took too long" in told


def test_who_hangs_up_is_no_failure_of_the_server(port):
    body = json.dumps(ROWS[:1]).encode()
    with connected(port, HEAD + b"X-Request-Id: half\r\nContent-Length: 999\r\n\r\n" + body):
        pass
    line = logged(LINES, "half")
    assert line["event"] == "request"
    assert line["status"] in (400, 408)
    assert '"failure"' not in LINES.text


def logged(lines, request):
    """The line about a request, which the server writes when it notices what became of it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for line in map(json.loads, lines.text.splitlines()):
            if line.get("request") == request:
                return line
        time.sleep(0.01)
    raise AssertionError(f"no line about {request}")


def test_nobody_works_for_clients_who_hung_up():
    """The one whose request is predicted, and the one whose request waits."""
    began, ended, lines = [], threading.Event(), Lines()

    def replies(requests):
        began.extend(requests)
        if get_config()["cancel"].wait(PATIENCE):
            ended.set()
        return iter([])

    app = make_app({"m": sets_model()}, Settings(timeout=PATIENCE), log=Log(file=lines))
    app.state.batcher.lanes[0].replies = replies
    sock, body = open_socket("127.0.0.1", 0), json.dumps(ROWS[:1]).encode()
    threading.Thread(target=run_app, args=(app, sock, PATIENCE), daemon=True).start()
    port = sock.getsockname()[1]
    whole = HEAD + b"X-Request-Id: %%b\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with connected(port, whole % b"first") as first:
        until = time.monotonic() + PATIENCE
        while not began and time.monotonic() < until:
            time.sleep(0.01)
        with connected(port, whole % b"second"):
            while app.state.batcher.n_waiting < 2 and time.monotonic() < until:
                time.sleep(0.01)
        assert logged(lines, "second")["status"] == 499
        assert not ended.is_set()
        first.close()
        assert logged(lines, "first")["status"] == 499
    assert ended.wait(PATIENCE)
    assert len(began) == 1
