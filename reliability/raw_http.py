# SPDX-License-Identifier: BSD-3-Clause
"""HTTP by hand: requests byte for byte as they are drawn, on connections that are kept."""

from __future__ import annotations

import contextlib
import socket
from typing import NamedTuple

MOST_BYTES = 50_000_000  # of an answer
HALF_WAIT = 5.0  # seconds for an answer to what may be half a request
CLOSED = 0  # the status where the other end hung up without a word


class Answer(NamedTuple):
    """What came back; status 0 if nothing did, and the connection was closed."""

    status: int
    headers: dict[str, str]
    body: bytes


class Drawn(NamedTuple):
    """One request: what it is, its bytes, and what may come back."""

    kind: str
    data: bytes
    accept: str
    is_head: bool = False
    is_last: bool = False  # the connection is in doubt afterwards
    expected: object = None  # answers of a sound request
    may_close: bool = False  # hanging up is an answer, too


class Connection:
    """A connection to a port of this machine, made again whenever it is over."""

    def __init__(self, port, timeout=60.0):
        self.port, self.timeout, self.sock, self.rest = port, timeout, None, b""

    def ask(self, drawn: Drawn) -> Answer:
        """Send a request, and read one answer.

        A connection that was kept may be over by the time it is used: then another one is made. On
        one that may be closed nobody waits long: it may be that the server waits for more.
        """
        kept = self.sock is not None
        answer = self._asked(drawn)
        if answer.status == CLOSED and kept and not drawn.may_close:
            answer = self._asked(drawn)
        if drawn.is_last or answer.headers.get("connection") == "close":
            self.close()
        return answer

    def _asked(self, drawn):
        if self.sock is None:
            self.sock = socket.create_connection(("127.0.0.1", self.port), timeout=self.timeout)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.rest = b""
        self.sock.settimeout(HALF_WAIT if drawn.may_close else self.timeout)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.sock.sendall(drawn.data)  # a server may answer and close before it has all
        try:
            answer = self._read(drawn.is_head)
        except ConnectionResetError:
            answer = Answer(CLOSED, {}, b"")
        except TimeoutError:
            if not drawn.may_close:
                raise
            answer = Answer(CLOSED, {}, b"")
        if answer.status == CLOSED:
            self.close()
        return answer

    def _read(self, is_head):
        head = self._until(b"\r\n\r\n")
        if head is None:
            return Answer(CLOSED, {}, b"")
        first, *lines = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ")[1])
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if status in (100, 101):
            return self._read(is_head)
        if is_head or status in (204, 304):
            return Answer(status, headers, b"")
        return Answer(status, headers, self._body(headers))

    def _body(self, headers):
        if headers.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while n := int((self._until(b"\r\n") or b"0").split(b";")[0], 16):
                parts.append(self._exactly(n + 2)[:-2])
            self._until(b"\r\n")
            return b"".join(parts)
        if "content-length" in headers:
            return self._exactly(int(headers["content-length"]))
        while len(self.rest) < MOST_BYTES and (more := self.sock.recv(65536)):
            self.rest += more
        body, self.rest = self.rest, b""
        self.close()
        return body

    def _until(self, mark):
        while mark not in self.rest:
            more = self.sock.recv(65536)
            if not more:
                return None
            self.rest += more
        found, _, self.rest = self.rest.partition(mark)
        return found

    def _exactly(self, n):
        while len(self.rest) < n:
            more = self.sock.recv(min(2**20, n - len(self.rest)))
            if not more:
                raise ConnectionError(f"an answer of {n} bytes ended after {len(self.rest)}")
            self.rest += more
        found, self.rest = self.rest[:n], self.rest[n:]
        return found

    def close(self):
        if self.sock is not None:
            self.sock.close()
        self.sock = None


def request(method, target, headers, body=b"", version="HTTP/1.1") -> bytes:
    """The bytes of a request; a length is told unless the headers say how long the body is."""
    names = {name.lower() for name, _ in headers}
    if not names & {"content-length", "transfer-encoding"} and (body or method == "POST"):
        headers = [*headers, ("Content-Length", str(len(body)))]
    lines = [f"{method} {target} {version}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body


def chunked(body: bytes, size: int) -> bytes:
    """A body in chunks."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
