# SPDX-License-Identifier: BSD-3-Clause
"""The two methods of an engine, by Dask. Nothing of it is imported before a client exists."""

from __future__ import annotations

from typing import Any

from skstruct.exceptions import EngineError


class DaskEngine:
    """Tasks on the workers of a client, a ``distributed.Client``.

    A task whose worker is lost runs again elsewhere, so that its function must not change its
    arguments. Results are bitwise those of :class:`~skstruct.streaming.SerialEngine` if workers
    and client have the same BLAS with the same number of threads. Rows of arrays in memory are
    sent along with the tasks; large ones are better in files, mapped or Parquet.
    """

    def __init__(self, client):
        if client.asynchronous:
            raise ValueError("The client is asynchronous, and fit waits: give another client.")
        self.client = client

    def submit(self, f, *args) -> Any:
        """Start ``f(*args)``; arguments may be what ``submit`` gave, also in a list."""
        if self.client.status != "running":
            raise EngineError(
                f"The Dask client is {self.client.status}, not running: it was closed, or its "
                "scheduler is gone."
            )
        return self.client.submit(f, *args, pure=False)

    def result(self, x) -> Any:
        """The value, when it is there. An error of ``f`` is raised as it was there."""
        from dask.utils import key_split
        from distributed import KilledWorker

        try:
            return x.result()
        except KilledWorker as error:
            raise EngineError(
                f"Every worker that ran the task {key_split(error.task)!r} died, the last one at "
                f"{getattr(error.last_worker, 'address', error.last_worker)}. Most often its "
                "memory was not enough: ask for smaller blocks (memory) or for more partitions, "
                "or give the workers more."
            ) from error
        except BaseException as error:
            if x.status == "error" or isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise  # an error of the task itself
            raise EngineError(
                f"The scheduler of Dask is gone, or has lost the task {key_split(x.key)!r} "
                f"({type(error).__name__}); the result is lost."
            ) from error
