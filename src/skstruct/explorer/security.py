# SPDX-License-Identifier: BSD-3-Clause
"""Who may ask the page's server: a browser on this machine, from this page, and nobody else.

The server listens on 127.0.0.1 alone. That keeps other machines out, not other pages in the same
browser: a page of the network could send requests here, or give its own name the address 127.0.0.1.
So the name in ``Host`` has to be this machine's, and what comes from another page is refused.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOCAL = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
MOST_BYTES = 1_000_000  # of a request


def refused(scope: Scope) -> tuple[int, str] | None:
    """Why a request is not answered: a status and a sentence; None if it is."""
    headers = {name.lower(): value for name, value in scope["headers"]}
    host = headers.get(b"host", b"").decode("latin-1")
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    server = scope.get("server") or (None, None)
    if name.lower() not in LOCAL or port != str(server[1]):
        return 421, f"This page is at 127.0.0.1 or localhost, port {server[1]}."
    if headers.get(b"origin", f"http://{host}".encode()).decode("latin-1") != f"http://{host}":
        return 403, "This server answers its own page only: the request came from another one."
    site = headers.get(b"sec-fetch-site", b"same-origin")
    if site not in (b"same-origin", b"none") and scope["path"] != "/":
        return 403, "This server answers its own page only: the request came from another one."
    if scope["method"] == "POST":
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            return 415, "Send JSON, with Content-Type: application/json."
        length = headers.get(b"content-length", b"")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"A request has a Content-Length of at most {MOST_BYTES:,} bytes."
    return None


class OwnPageOnly:
    """Refuses what does not come from the page, and adds the headers of a strict page."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        wrong = refused(scope)
        if wrong is None:
            await self.app(scope, receive, guarded)
            return
        from starlette.responses import JSONResponse

        status, why = wrong
        await JSONResponse({"error": why}, status)(scope, receive, guarded)
