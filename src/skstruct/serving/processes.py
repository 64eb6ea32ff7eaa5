# SPDX-License-Identifier: BSD-3-Clause
"""An application at a socket, until a signal ends it."""

import signal
import socket
import threading
from typing import Any

from skstruct._arrays.imports import require
from skstruct.serving.connections import in_time


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(f"{host}:{port} cannot be listened to: {error.strerror}.") from None
    found.listen(2048)
    return found


def address(sock: socket.socket) -> str:
    """What to ask: ``http://127.0.0.1:8000``."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_app(app: Any, sock: socket.socket, timeout: float, started: Any = None) -> None:
    """Answer until a signal comes; requests under way are answered before it ends.

    A connection on which no request has begun within the timeout is closed. An error says why its
    workers could not start.
    """
    uvicorn: Any = require("uvicorn", used_by="The server", extra="serve")
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, server_header=False,
        timeout_graceful_shutdown=int(timeout) + 5, timeout_keep_alive=30, lifespan="on",
    )  # fmt: skip

    config.load()
    config.http_protocol_class = in_time(config.http_protocol_class, timeout)

    class Server(uvicorn.Server):  # type: ignore[misc]  # imported by name
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if started is not None and self.started:
                started()

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again in the end
    try:
        Server(config).run(sockets=[sock])
    except SystemExit:  # uvicorn's, after a start that failed
        if getattr(app.state, "failure", None) is None:
            raise
    if (failure := getattr(app.state, "failure", None)) is not None:
        raise failure
