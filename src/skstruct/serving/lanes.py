# SPDX-License-Identifier: BSD-3-Clause
"""Who predicts for a server: a thread of it here, a process of its own in ``worker_lane``."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from skstruct.config import config_context
from skstruct.serving.messages import Replies, Request


class Lane(Protocol):
    """Predicts one batch of requests at a time.

    Attributes
    ----------
    is_ready : bool
        Whether it is there and its models are warm.
    """

    is_ready: bool

    async def start(self) -> None:
        """Make it ready; a RuntimeError, ValueError or OSError says why it is not."""

    async def run(self, requests: list[Request], done: Callable[[Replies], None]) -> None:
        """Answer requests; ``done`` gets replies as they are ready.

        Raises
        ------
        LaneEnded
            If it ended before all were answered.
        """

    def stop(self) -> None:
        """Nobody waits for the batch any more: what can be left undone is."""

    async def ended(self) -> str:
        """Wait until it ends; what is known of the reason."""

    async def close(self) -> None:
        """End it."""


class LaneEnded(Exception):
    """A lane ended on its way; ``late`` if it was ended since a request took too long."""

    def __init__(self, late: bool) -> None:
        super().__init__("the worker ended")
        self.late = late


class ThreadLane:
    """A thread of this process. A batch that nobody waits for ends at its next step.

    Parameters
    ----------
    replies : callable (requests) -> iterable of Replies
        Called in the thread.
    """

    is_ready = True

    def __init__(self, replies: Callable[[list[Request]], Iterable[Replies]]) -> None:
        self.replies = replies
        self.thread = ThreadPoolExecutor(1, "skstruct-predict")
        self._cancel = threading.Event()

    async def start(self) -> None:
        """Nothing: the models are there."""

    async def run(self, requests: list[Request], done: Callable[[Replies], None]) -> None:
        loop = asyncio.get_running_loop()
        cancel = self._cancel = threading.Event()

        def predict() -> None:
            with config_context(cancel=cancel):
                for replies in self.replies(requests):
                    loop.call_soon_threadsafe(done, replies)

        await loop.run_in_executor(self.thread, predict)

    def stop(self) -> None:
        self._cancel.set()

    async def ended(self) -> str:
        """Never: it ends with the process."""
        await asyncio.Event().wait()
        return ""

    async def close(self) -> None:
        self.thread.shutdown(wait=False, cancel_futures=True)
