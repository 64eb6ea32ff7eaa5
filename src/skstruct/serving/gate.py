# SPDX-License-Identifier: BSD-3-Clause
"""What every request passes: token, host, headers of safety, a line in the log, counters."""

import re
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from time import perf_counter
from typing import Any

from skstruct.serving.logs import Log
from skstruct.serving.messages import UNFORESEEN, failure_of, json_bytes
from skstruct.serving.metrics import ROUTES, Metrics
from skstruct.serving.problems import Problem, problem_of
from skstruct.serving.settings import Settings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

OPEN = ("/health", "/ready")  # for whoever watches, without a token
SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_ID = re.compile(rb"[A-Za-z0-9_.-]{1,64}")


class Gate:
    """ASGI around the routes.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    metrics : Metrics
    log : Log
    """

    def __init__(self, app: Any, settings: Settings, metrics: Metrics, log: Log) -> None:
        self.app, self.settings, self.metrics, self.log = app, settings, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, headers = perf_counter(), dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _ID.fullmatch(given) else uuid.uuid4().hex
        told = scope.setdefault("state", {})
        told.update(request_id=request_id, model=None, rows=None)
        status = [500]

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                safe = [*SAFE, (b"x-request-id", request_id.encode())]
                kept = [h for h in message.get("headers", ()) if h[0].lower() != b"server"]
                message["headers"] = [*kept, *safe]
            await send(message)

        try:
            await self._passed(scope, receive, sending, headers)
        finally:
            seconds, route = perf_counter() - start, _route(scope["path"])
            self.metrics.request(route, status[0], seconds, told["rows"] or 0)
            self.log.request(route, status[0], seconds, request_id, told["model"], told["rows"])

    async def _passed(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        problem = self._problem(scope, headers)
        if problem is None:
            try:
                await self.app(scope, receive, send)
                return
            except Exception as error:  # what no route has foreseen
                self.log.failure(failure_of(error), scope["state"]["request_id"])
                problem = Problem(500, UNFORESEEN)
        await respond(problem, send)

    def _problem(self, scope: Scope, headers: dict[bytes, bytes]) -> Problem | None:
        settings = self.settings
        if settings.hosts and _host(headers.get(b"host", b"")) not in settings.hosts:
            return Problem(421, "The server does not go by this name: see Host.")
        preflight = scope["method"] == "OPTIONS" and settings.cors
        if scope["path"] in OPEN or preflight:
            return None
        if not settings.admits(headers.get(b"authorization", b"")):
            return Problem(401, "A token is wanted: send the header Authorization: Bearer TOKEN.")
        return None


def _route(path: str) -> str:
    name = path.strip("/")
    return name if name in ROUTES else "other"


def _host(header: bytes) -> str:
    """A name without the port.

    >>> _host(b"localhost:8000"), _host(b"[::1]:80")
    ('localhost', '::1')
    """
    text = header.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if ":" in text else text


async def respond(problem: BaseException, send: Send) -> None:
    """Answer by what is wrong."""
    found = problem_of(problem)
    body = json_bytes(found.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(k.lower().encode(), v.encode()) for k, v in found.headers().items()]
    await send({"type": "http.response.start", "status": found.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
