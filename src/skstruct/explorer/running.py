# SPDX-License-Identifier: BSD-3-Clause
"""From a model and rows to a page in the browser."""

from __future__ import annotations

import contextlib
import socket
import sys
from threading import Thread
from time import sleep
from typing import Any

from skstruct._arrays.imports import require

HOST = "127.0.0.1"
FIRST = 10_000  # rows that are explored, unless more are asked for


def make_app(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    name: str | None = None,
    row_names: Any = None,
    coordinates: Any = None,
    X_train: Any = None,
    first: int | None = FIRST,
) -> Any:
    """The application that serves the page, for a server of your own.

    It answers a browser on this machine alone: requests under another name than localhost, and
    those of other pages, are refused.

    Parameters
    ----------
    model : fitted learner, pipeline that ends in one, or TaskModel
    X : inputs to explore
        As ``predict`` takes them; of a TaskModel also a Dataset.
    y : true outputs, default=None
        Parts may be missing.
    name : str, default=None
        Of the model, for the title of the page.
    row_names : sequence, default=None
        Of the rows; the index of a DataFrame when None.
    coordinates : array of shape (n, 2) or {node: (x, y)}, default=None
        Where nodes of tours, paths, graphs and networks are drawn.
    X_train : inputs of training, default=None
        Shown for rows that speak for or against a decision. Not needed where the explored rows
        are those of training.
    first : int or None, default=10,000
        So many rows at most; None for all.

    Returns
    -------
    app : fastapi.FastAPI
    """
    require("fastapi", used_by="The explorer", extra="serve")
    from skstruct.explorer.app import new_app
    from skstruct.explorer.state import Explored
    from skstruct.explorer.training import Training

    explored = Explored(
        model, X, y, name=name, row_names=row_names, coordinates=coordinates, first=first
    )
    training = Training(explored, X_train)
    explored.judged(explored.own_loss)
    return new_app(explored, training)


def explore(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    port: int = 0,
    open_browser: bool = True,
    **options: Any,
) -> None:
    """Show a fitted model on some rows in the browser, until interrupted.

    Parameters
    ----------
    model, X, y : as of :func:`make_app`
    port : int, default=0
        Of the page on this machine; 0 for one that is free. The address is printed.
    open_browser : bool, default=True
    **options
        Those of :func:`make_app`.
    """
    app = make_app(model, X, y, **options)
    run(app, port, open_browser)


def run(app: Any, port: int = 0, open_browser: bool = True) -> None:
    """Serve the page on this machine until interrupted.

    Parameters
    ----------
    app : what :func:`make_app` gives
    port, open_browser : as of :func:`explore`
    """
    require("uvicorn", used_by="The explorer", extra="serve")
    import uvicorn

    with _listening(port) as socket_:
        address = f"http://{HOST}:{socket_.getsockname()[1]}/"
        settings = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
        server = uvicorn.Server(settings)
        Thread(target=_begin, args=(server, address, open_browser), daemon=True).start()
        Thread(target=app.state.warm_up, daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            server.run(sockets=[socket_])


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise OSError(
            f"Port {port} of {HOST} cannot be used: {error.strerror}. Take another one, or 0 for "
            "one that is free."
        ) from None


def _begin(server: Any, address: str, open_browser: bool) -> None:
    """Say where the page is once it is there."""
    while not server.started:
        if server.should_exit:
            return
        sleep(0.01)
    print(f"The page is at {address} (Ctrl-C stops it).", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(address)
