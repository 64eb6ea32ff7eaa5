# SPDX-License-Identifier: BSD-3-Clause
"""Requests and replies as they pass between a server and who predicts for it.

Between processes a message is a pickle after its length in 8 bytes. Both ends are processes of one
server, at the two ends of a pair of sockets that nobody else can open.
"""

import asyncio
import json
import pickle
import socket
import struct
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

from skstruct.serving.problems import WRONG, Problem, problem_of

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
LENGTH = struct.Struct("!Q")
READY, FAILED, REPLIES, EVENT = "ready", "failed", "replies", "event"  # what workers send
UNFORESEEN = "The server could not answer; its log tells more."


class Request(NamedTuple):
    """A request as it came."""

    question: str
    body: bytes = b""
    content_type: str = ""
    query: tuple[tuple[str, str], ...] = ()
    accept: str = ""


class Reply(NamedTuple):
    """What is sent back, and what the log tells of it.

    ``failure`` is the kind of an error that should not be, and where it was; no data.
    """

    status: int
    body: bytes
    kind: str = JSON
    headers: Mapping[str, str] = {}
    model: str | None = None
    rows: int | None = None
    failure: Mapping[str, Any] | None = None


Replies = list[tuple[int, Reply]]  # each with the place of its request in the batch


def reply_of(error: BaseException, model: str | None = None, rows: int | None = None) -> Reply:
    """The reply to a request that was wrong, or that the server failed at."""
    if not isinstance(error, (*WRONG, Problem)):
        return fault_of(error, model, rows)
    found = problem_of(error)
    return Reply(found.status, json_bytes(found.body()), JSON, found.headers(), model, rows)


def fault_of(error: BaseException, model: str | None = None, rows: int | None = None) -> Reply:
    """The reply where the server failed, whatever the kind of the error."""
    body = json_bytes(Problem(500, UNFORESEEN).body())
    return Reply(500, body, JSON, {}, model, rows, failure_of(error))


def failure_of(error: BaseException) -> dict[str, Any]:
    """The kind of an error and where it was, not its words, which may tell data."""
    frames = traceback.extract_tb(error.__traceback__)[-5:]
    where = [f"{frame.filename.rsplit('/', 2)[-1]}:{frame.lineno}" for frame in frames]
    return {"kind": type(error).__name__, "where": where}


def json_bytes(value: Any) -> bytes:
    """JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


# ---------------------------------------------------------------------- between processes
def packed(message: Any) -> bytes:
    """A message with its length before it."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


async def read_message(reader: asyncio.StreamReader) -> Any:
    """The next message; None when the other end is gone."""
    try:
        (n,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return pickle.loads(await reader.readexactly(n))
    except (asyncio.IncompleteReadError, OSError):
        return None


def receive(sock: socket.socket) -> Any:
    """As :func:`read_message`, where nothing else is to be done meanwhile."""
    head = _exactly(sock, LENGTH.size)
    body = None if head is None else _exactly(sock, LENGTH.unpack(head)[0])
    return None if body is None else pickle.loads(body)


def _exactly(sock: socket.socket, n: int) -> bytes | bytearray | None:
    found = bytearray(n)
    left = memoryview(found)
    while left:
        got = sock.recv_into(left)
        if not got:
            return None
        left = left[got:]
    return found
