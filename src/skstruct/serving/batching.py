# SPDX-License-Identifier: BSD-3-Clause
"""Requests that wait at the same time are predicted together, in a thread of their own."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from skstruct.serving.answers import answer
from skstruct.serving.asked import Asked
from skstruct.serving.problems import WRONG, Problem
from skstruct.serving.settings import Settings

TOGETHER = 1000  # rows that are joined at most


@dataclass(eq=False)
class Job:
    """Rows that wait to be answered.

    Attributes
    ----------
    finish : callable (records) -> bytes
        The body of the answer; called in the thread.
    """

    served: Any
    question: str
    rows: Any
    asked: Asked
    finish: Callable[[list[Any]], bytes]
    future: Any = None
    key: tuple[Any, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        joins = isinstance(self.rows, list) and not self.asked.by_row
        kind = type(self.rows[0]) if joins else None
        alone = (self.question, self.asked.key, kind) if joins else (id(self),)
        self.key = (id(self.served), *alone)


class Batcher:
    """A queue with one thread that predicts; the event loop never waits for a prediction.

    Parameters
    ----------
    settings : Settings
    note : callable (jobs, rows), default=None
        Told of every batch.
    """

    def __init__(self, settings: Settings, note: Callable[[int, int], None] | None = None) -> None:
        self.settings, self.note = settings, note
        self.waiting: deque[Job] = deque()
        self.n_running = 0
        self.thread = ThreadPoolExecutor(1, "skstruct-predict")
        self._task: asyncio.Task[None] | None = None

    async def ask(self, job: Job) -> bytes:
        """The body of the answer; a :class:`Problem` if it takes too long or the queue is full."""
        if len(self.waiting) >= self.settings.queue:
            raise Problem(429, "Too many requests wait: ask again later, or ask several servers.")
        job.future = asyncio.get_running_loop().create_future()
        self.waiting.append(job)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        try:
            body: bytes = await asyncio.wait_for(job.future, self.settings.timeout)
        except TimeoutError:
            seconds = f"{self.settings.timeout:g}"
            raise Problem(
                503, f"The answer takes longer than {seconds} seconds: send fewer rows."
            ) from None
        return body

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        if self.settings.batch_ms > 0:
            await asyncio.sleep(self.settings.batch_ms / 1000)
        while self.waiting:
            jobs = self._next()
            if not jobs:
                continue
            self.n_running = len(jobs)
            found = await loop.run_in_executor(self.thread, _answered, jobs)
            self.n_running = 0
            if self.note is not None:
                self.note(len(jobs), sum(len(job.rows) for job in jobs))
            for job, (body, error) in zip(jobs, found):
                if job.future.done():
                    continue  # nobody waits any more
                if error is None:
                    job.future.set_result(body)
                else:
                    job.future.set_exception(error)

    def _next(self) -> list[Job]:
        """The job that waits longest, and those that ask the same of the same model."""
        first, kept, jobs, n_rows = None, deque[Job](), list[Job](), 0
        for job in self.waiting:
            if job.future.done():
                continue
            first = first or job
            joins = job is first or (job.key == first.key and n_rows + len(job.rows) <= TOGETHER)
            (jobs if joins else kept).append(job)
            n_rows += len(job.rows) if joins else 0
        self.waiting = kept
        return jobs

    @property
    def n_waiting(self) -> int:
        """Requests that wait or are predicted."""
        return len(self.waiting) + self.n_running

    def close(self) -> None:
        """Predict nothing any more."""
        self.thread.shutdown(wait=False, cancel_futures=True)


Result = tuple[bytes | None, BaseException | None]


def _answered(jobs: list[Job]) -> list[Result]:
    """Bodies or errors of jobs; one by one if something is wrong with them together."""
    if len(jobs) > 1:
        try:
            return _together(jobs)
        except Exception:  # told of the job whose it is
            return [_alone(job) for job in jobs]
    return [_alone(jobs[0])]


def _alone(job: Job) -> Result:
    try:
        records = answer(job.question, job.served, job.served.inputs(job.rows), job.asked)
        return job.finish(records), None
    except Exception as error:
        return None, error


def _together(jobs: list[Job]) -> list[Result]:
    first = jobs[0]
    rows = [row for job in jobs for row in job.rows]
    records = answer(first.question, first.served, first.served.inputs(rows), first.asked)
    found: list[Result] = []
    start = 0
    for job in jobs:
        end = start + len(job.rows)
        found.append((job.finish(records[start:end]), None))
        start = end
    return found


def is_wrong(error: BaseException) -> bool:
    """Whether an error tells of a wrong request, not of a wrong server."""
    return isinstance(error, (*WRONG, Problem))
