# SPDX-License-Identifier: BSD-3-Clause
"""Formats shared out to processes, so that a reader that dies or hangs is a failure, not the end.

Every process tries its formats in turn, a batch of each, until all have enough or time is over.
The file that is being read lies in memory that the parent can see: if a process dies, that is
the one to blame, and another process goes on.
"""

from __future__ import annotations

import mmap
import multiprocessing
import struct
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from file_format import FileFormat
from fuzz_engine import Fuzzer
from mutations import MOST_BYTES

BATCH = 500
SILENT_SECONDS = 300.0  # of a batch; then the process is ended
_HEAD = struct.Struct("<III")  # length, turn, and how many files before it in the batch


class Shared:
    """The file that a process reads at this moment."""

    def __init__(self) -> None:
        self._memory, self.n = mmap.mmap(-1, _HEAD.size + MOST_BYTES), 0

    def put(self, text: bytes, turn: int) -> None:
        self.n += 1
        self._memory[: _HEAD.size + len(text)] = _HEAD.pack(len(text), turn, self.n) + text

    def get(self) -> tuple[bytes, int, int]:
        length, turn, n = _HEAD.unpack(self._memory[: _HEAD.size])
        return self._memory[_HEAD.size : _HEAD.size + length], turn, n


def run_workers(
    shares: list[list[FileFormat]],
    given: Any,
    make: Callable[[FileFormat, int], Fuzzer],
    tell: Callable[[str, dict[str, Any], list[Any]], None],
) -> None:
    """Try all formats, those of a share by one process after the other.

    Parameters
    ----------
    shares : list of lists of FileFormat
    given : with cases for each format, minutes or None, and seed
    make : callable of a format and a seed
    tell : callable of a name, counts that are new, and failures (text, turn, why)
    """
    over = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    workers = [_Worker(share, given.cases, given.seed, over, make) for share in shares if share]
    for worker in workers:
        worker.start()
    while any(worker.running for worker in workers):
        ready = wait([w.pipe for w in workers if w.running], timeout=5)
        for worker in workers:
            if worker.running:
                worker.listen(worker.pipe in ready, tell)


class _Worker:
    """A process, and what is left for it to do."""

    def __init__(self, share, cases, seed, over, make) -> None:
        self.left = {format.name: cases for format in share}
        self.formats = {format.name: format for format in share}
        self.seed, self.over, self.make = seed, over, make
        self.shared, self.running, self.at = Shared(), False, share[0].name
        self.pipe: Connection

    def start(self) -> None:
        self.running, self.heard = True, time.monotonic()
        self.pipe, there = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(
            target=_work, args=(self, there), daemon=True
        )
        self.process.start()
        there.close()

    def listen(self, ready: bool, tell: Callable[..., None]) -> None:
        try:
            message = self.pipe.recv() if ready else None
        except EOFError:
            self._died(tell)
            return
        if message is None:
            if time.monotonic() - self.heard > SILENT_SECONDS:
                self.process.kill()
            return
        self.heard = time.monotonic()
        if message == "done":
            self.running = False
            self.process.join()
            return
        self.at, counts, failures = message
        self.left[self.at] -= counts.get("tried", 0)
        if counts:
            tell(self.at, counts, failures)

    def _died(self, tell: Callable[..., None]) -> None:
        """The file at hand is a failure; the others go on with another seed."""
        self.process.join()
        text, turn, n = self.shared.get()
        why = f"the process ended with {self.process.exitcode}"
        tell(self.at, {"tried": n, "failed": 1}, [(text, turn, why)])
        self.left[self.at] -= n
        self.seed += 1_000_003
        self.start()


def _work(worker: _Worker, pipe: Connection) -> None:
    """Batches of all formats in turn; what happened goes through the pipe."""
    fuzzers: dict[str, Fuzzer] = {}
    states: dict[str, dict[str, Any]] = {}
    left = dict(worker.left)
    while any(n > 0 for n in left.values()):
        for name in [name for name, n in left.items() if n > 0]:
            if worker.over is not None and time.monotonic() > worker.over:
                pipe.send("done")
                return
            pipe.send((name, {}, []))
            if name not in fuzzers:
                fuzzer = worker.make(worker.formats[name], worker.seed)
                fuzzer.before = worker.shared.put
                fuzzers[name] = fuzzer.__enter__()  # until the process ends
                states[name] = {}
            worker.shared.n = 0
            failures = list(fuzzers[name].batch(min(BATCH, left[name])))
            before, after = states[name], fuzzers[name].state()
            states[name] = after
            counts = {key: round(after[key] - before.get(key, 0), 3) for key in after}
            left[name] -= counts["tried"]
            pipe.send((name, counts, failures[:50]))
    pipe.send("done")


def share_out(formats: list[FileFormat], jobs: int) -> list[list[FileFormat]]:
    """Formats by turns to so many processes."""
    return [formats[k::jobs] for k in range(jobs)]


def save_failure(folder: Path, name: str, text: bytes, turn: int, label: str) -> Path:
    """A file that failed, kept so that it can be tried again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace(' ', '_')}.{turn}.{label}"
    path.write_bytes(text)
    return path
