# SPDX-License-Identifier: BSD-3-Clause
"""The live page of a model in which every name is one of those given, served by a thread."""

import socket
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
from hostile_reports import KINDS, N_TEST, N_TRAIN, fitted

from skstruct.explorer import make_app

N_ROWS, N_COLUMNS = N_TRAIN + N_TEST, 30


def n_names(kind) -> int:
    """Names that a page of this kind shows: of outputs, columns, rows, and of the model."""
    return KINDS[kind] + N_COLUMNS + N_ROWS + 1


def hostile_app(names, kind):
    """An application whose names are these, ``n_names(kind)`` of them."""
    outputs, rest = names[: KINDS[kind]], names[KINDS[kind] :]
    columns, rows, title = rest[:N_COLUMNS], rest[N_COLUMNS:-1], rest[-1]
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((N_ROWS, N_COLUMNS)).round(3)
    heads, index = (pd.Index(some, dtype=object) for some in (columns, rows))  # any text at all
    frame = pd.DataFrame(numbers, columns=heads, index=index).astype(object)
    names_of_rows = [rows[i % 6] for i in range(N_ROWS)]
    frame[columns[0]] = pd.Series(names_of_rows, index=index, dtype=object)
    frame = frame.astype(dict.fromkeys(columns[1:], float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, y = fitted(kind, outputs, frame)
        return make_app(model, frame, y, name=title)


class Served:
    """An ASGI application that hands over to another one, which can be changed."""

    def __init__(self):
        self.app = None

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)


@contextmanager
def served():
    """An application to change, and its address."""
    import uvicorn

    holder = Served()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(holder, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield holder, f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(10)
