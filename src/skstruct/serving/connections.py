# SPDX-License-Identifier: BSD-3-Clause
"""Connections that end when a request does not begin in time, and clients that hang up.

uvicorn ends connections that are idle after an answer. One on which nothing was ever asked, or
whose headers never end, it keeps for good: a few hundred of them and no other can be opened.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from skstruct.serving.problems import Problem

HUNG_UP = 499  # what other servers write into their logs, too; nobody receives it
T = TypeVar("T")


async def unless_gone(work: Coroutine[Any, Any, T], receive: Callable[[], Awaitable[Any]]) -> T:
    """What ``work`` gives; it is cancelled when the client hangs up, a :class:`Problem`.

    Parameters
    ----------
    work : coroutine
    receive : callable
        Of ASGI, after the whole body: what comes next is that the client is gone.
    """

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Problem(HUNG_UP, "The client hung up before the answer was ready.")
    finally:
        working.cancel()
        leaving.cancel()


def in_time(protocol: Any, seconds: float) -> Any:
    """The protocol class of uvicorn, for connections on which the headers come in time.

    Parameters
    ----------
    protocol : class
        As uvicorn chose it; tells by ``cycle`` which request it is at.
    seconds : float
        From the beginning of a connection, or the first byte of a request, until its headers have
        come.
    """

    class InTime(protocol):  # type: ignore[misc]  # known when it runs
        _alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        @property
        def _is_between(self) -> bool:
            """Whether no request is under way, as far as headers have come."""
            return self.cycle is None or bool(self.cycle.response_complete)

        def _look(self) -> None:
            if not self._is_between:
                self._disarm()
            elif self._alarm is None and not self.transport.is_closing():
                self._alarm = asyncio.get_running_loop().call_later(seconds, self._late)

        def _disarm(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

        def _late(self) -> None:
            self._alarm = None
            if self._is_between:
                self.transport.close()

    return InTime
