# SPDX-License-Identifier: BSD-3-Clause
"""A worker process as the server sees it: started, asked, ended when it takes too long."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from skstruct.serving.lanes import LaneEnded
from skstruct.serving.messages import EVENT, READY, REPLIES, Replies, Request, packed, read_message
from skstruct.serving.settings import Settings

# Signals to a whole group of processes are for the server, which lets requests under way end;
# workers ignore them before their imports, which take longest.
START = (
    "import signal; [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM)]; "
    "from skstruct.serving.worker import run_worker; run_worker({fd})"
)
PATIENCE = 5.0  # seconds that a process may take to end by itself
BUFFER = 2**20  # bytes of replies that are read ahead


class ProcessLane:
    """A process that predicts, and another one after it has died.

    Parameters
    ----------
    models : mapping of str to path
    settings : Settings
    copies : str
        The folder in which the processes of a server share copies of model files.
    note : callable (event, **fields)
        Told when a model was read again, or could not be.

    Attributes
    ----------
    n_answered : int
        Requests that its processes have answered.
    """

    def __init__(
        self,
        models: Mapping[str, str],
        settings: Settings,
        copies: str,
        note: Callable[..., None],
    ) -> None:
        self.timeout, self.note = settings.timeout, note
        self.told = {
            "models": {name: os.path.abspath(path) for name, path in models.items()},
            "max_rows": settings.max_rows, "reload_seconds": settings.reload_seconds,
            "copies": copies, "other_columns": settings.other_columns,
        }  # fmt: skip
        self.is_ready, self.n_answered, self.late = False, 0, False
        self.process: subprocess.Popen[bytes] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._done: Callable[[Replies], None] | None = None
        self._all_done: asyncio.Future[None] | None = None
        self._n_left = 0
        self._writer: asyncio.StreamWriter | None = None
        self._alarm: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start a process, and wait until its models are warm."""
        here, there = socket.socketpair()
        with there:
            self.process = await asyncio.to_thread(_spawned, there.fileno())
        reader, self._writer = await asyncio.open_unix_connection(sock=here, limit=BUFFER)
        self.late = False
        try:
            self._writer.write(packed(self.told))
            first = await read_message(reader)
        except BaseException:
            await self._reaped()
            raise
        if first is None or first[0] != READY:
            code = await self._reaped()
            if first is not None:
                raise ValueError(first[1])  # what is wrong with a model file
            raise RuntimeError(f"A worker process ended by {_said(code)} before it was ready.")
        self.is_ready = True
        self._reading = asyncio.create_task(self._read(reader))

    async def run(self, requests: list[Request], done: Callable[[Replies], None]) -> None:
        """See :class:`~skstruct.serving.lanes.Lane`."""
        if not self.is_ready or self._writer is None:
            raise LaneEnded(late=True)  # nothing was sent: no request is to blame
        self._done, self._n_left = done, len(requests)
        self._all_done = asyncio.get_running_loop().create_future()
        self._writer.write(packed(requests))
        self._arm()
        try:
            await self._all_done
        finally:
            self._disarm()
            self._done = self._all_done = None

    def stop(self) -> None:
        """Nothing: a process that takes too long is ended by its alarm."""

    async def ended(self) -> str:
        """Wait until the process has ended."""
        assert self._reading is not None
        await asyncio.wait([self._reading])
        code = await self._reaped()
        took = f"an answer took longer than {self.timeout:g} seconds"
        return took if self.late else f"it ended by {_said(code)}"

    async def close(self) -> None:
        """End the process; what it predicts is lost."""
        if self._reading is not None:
            self._reading.cancel()
        self.is_ready = False
        await self._reaped()

    # ------------------------------------------------------------------ what comes back
    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while (message := await read_message(reader)) is not None:
                self._take(*message)
        finally:
            self.is_ready = False
            if self._all_done is not None and not self._all_done.done():
                self._all_done.set_exception(LaneEnded(self.late))

    def _take(self, kind: str, *rest: Any) -> None:
        if kind == EVENT:
            event, fields = rest
            self.note(event, **fields)
        elif kind == REPLIES and self._done is not None and self._all_done is not None:
            (replies,) = rest
            self._arm()  # the limit is of one step, not of the whole batch
            self._n_left -= len(replies)
            self.n_answered += len(replies)
            self._done(replies)
            if not self._n_left:
                self._all_done.set_result(None)

    def _arm(self) -> None:
        self._disarm()
        self._alarm = asyncio.get_running_loop().call_later(self.timeout, self._kill)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _kill(self) -> None:
        self.late = True
        if self.process is not None:
            self.process.kill()

    async def _reaped(self) -> int:
        """The code of the process, which is over or told to end."""
        process = self.process
        if process is None:
            return 0
        if self._writer is not None:
            self._writer.close()
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        return await asyncio.to_thread(_waited_for, process)


def _spawned(fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", START.format(fd=fd)],  # no modules of this folder
        stdin=subprocess.PIPE, stdout=2, pass_fds=[fd],
    )  # fmt: skip


def _said(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"


def _waited_for(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
