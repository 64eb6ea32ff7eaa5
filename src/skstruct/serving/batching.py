# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a server: requests that wait at the same time are handed over together.

Whoever predicts is a lane. A request whose worker died is asked again, before all others and by
itself, so that the one that ends workers is found; clients notice nothing of the rest.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skstruct.serving.lanes import Lane, LaneEnded
from skstruct.serving.messages import Replies, Reply, Request
from skstruct.serving.problems import Problem
from skstruct.serving.settings import Settings

MOST_REQUESTS = 64  # of one batch
FEW_BYTES = 20_000  # of bodies that one lane takes together, since a batch costs more than rows
MOST_BYTES = 200_000  # of bodies of one batch, unless one alone has more
MOST_DEATHS = 2  # of workers, by one request
PAUSES = (0.1, 0.5, 1.0, 2.0, 5.0)  # seconds before a worker that did not start is tried again


@dataclass(eq=False)
class Waiting:
    """A request in the queue."""

    request: Request
    future: asyncio.Future[Reply]
    deaths: int = 0
    is_alone: bool = False  # it was there when a worker ended


class Batcher:
    """A queue, and lanes that take from it; the event loop never waits for a prediction.

    Parameters
    ----------
    settings : Settings
    lanes : sequence of Lane
    note : callable (event, **fields), default=None
        Told of batches, and of lanes that start and end.
    """

    def __init__(
        self, settings: Settings, lanes: Sequence[Lane], note: Callable[..., None] | None = None
    ) -> None:
        self.settings, self.lanes = settings, lanes
        self.note = note or (lambda event, **fields: None)
        self.waiting: deque[Waiting] = deque()
        self.free = deque(lane for lane in lanes if lane.is_ready)
        self.n_running = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, request: Request) -> Reply:
        """The reply; a :class:`Problem` if it takes too long or the queue is full."""
        if len(self.waiting) >= self.settings.queue:
            raise Problem(429, "Too many requests wait: ask again later, or ask several servers.")
        loop = asyncio.get_running_loop()
        job = Waiting(request, loop.create_future())
        self.waiting.append(job)
        if self.settings.batch_ms > 0:
            loop.call_later(self.settings.batch_ms / 1000, self._dispatch)
        else:
            loop.call_soon(self._dispatch)
        try:
            return await asyncio.wait_for(job.future, self.settings.timeout)
        except TimeoutError:
            seconds = f"{self.settings.timeout:g}"
            raise Problem(
                503, f"The answer takes longer than {seconds} seconds: send fewer rows."
            ) from None

    @property
    def n_waiting(self) -> int:
        """Requests that wait or are predicted."""
        return len(self.waiting) + self.n_running

    @property
    def n_ready(self) -> int:
        """Lanes that predict or could."""
        return sum(lane.is_ready for lane in self.lanes)

    # ------------------------------------------------------------------ from queue to lanes
    def _dispatch(self) -> None:
        while self.free and (jobs := self._next()):
            self._task(self._run(self.free.pop(), jobs))  # whose caches are warm

    def _next(self) -> list[Waiting]:
        """What waits longest: small requests all, of larger ones the share of one lane."""
        while self.waiting and self.waiting[0].future.done():
            self.waiting.popleft()  # nobody waits for it any more
        share = -(-len(self.waiting) // max(1, self.n_ready))
        jobs: list[Waiting] = []
        size = 0
        while self.waiting and len(jobs) < MOST_REQUESTS:
            job = self.waiting[0]
            size += len(job.request.body)
            most = MOST_BYTES if len(jobs) < share else FEW_BYTES
            if jobs and (job.is_alone or size > most):
                break
            self.waiting.popleft()
            if not job.future.done():
                jobs.append(job)
            if job.is_alone and jobs:
                break
        return jobs

    async def _run(self, lane: Lane, jobs: list[Waiting]) -> None:
        left = dict(enumerate(jobs))

        def done(replies: Replies) -> None:
            for at, reply in replies:
                job = left.pop(at)
                if not job.future.done():  # else it took too long
                    job.future.set_result(reply)

        def gone(_: Any) -> None:
            if left and all(job.future.done() for job in left.values()):
                lane.stop()

        for job in jobs:
            job.future.add_done_callback(gone)
        self.n_running += len(jobs)
        self.note("batch", requests=len(jobs))
        try:
            await lane.run([job.request for job in jobs], done)
        except LaneEnded as error:
            self._again(list(left.values()), error.late)
        except Exception as error:  # what no lane has foreseen
            for job in left.values():
                if not job.future.done():
                    job.future.set_exception(error)
        finally:
            left.clear()  # whoever waits on is asked for in another batch
            self.n_running -= len(jobs)
            if lane.is_ready and lane not in self.free:
                self.free.append(lane)
            self._dispatch()

    def _again(self, jobs: list[Waiting], late: bool) -> None:
        """Put requests that were not answered back to the head of the queue."""
        for job in reversed(jobs):
            job.is_alone = True
            job.deaths += not late
            if job.future.done():
                continue
            if job.deaths >= MOST_DEATHS:
                said = f"The request ended {job.deaths} worker processes: send it in parts."
                job.future.set_exception(Problem(500, said))
            else:
                self.waiting.appendleft(job)
                self.note("asked again")

    # ------------------------------------------------------------------ lanes that come and go
    async def open(self) -> None:
        """Start all lanes; an error says why one could not be started at first."""
        new = [lane for lane in self.lanes if not lane.is_ready]
        starting = (self._started(lane) for lane in new)
        for failed in await asyncio.gather(*starting, return_exceptions=True):
            if failed is not None:
                await self.close()
                raise failed
        for lane in new:
            self._task(self._tend(lane))

    async def _started(self, lane: Lane) -> None:
        await lane.start()
        self.free.append(lane)
        self.note("worker started", worker=self.lanes.index(lane) + 1)
        self._dispatch()

    async def _tend(self, lane: Lane) -> None:
        """Start a lane again whenever it has ended."""
        number = self.lanes.index(lane) + 1
        while True:
            reason = await lane.ended()
            if lane in self.free:
                self.free.remove(lane)
            self.note("worker died", worker=number, reason=reason)
            failures = 0
            while not lane.is_ready:
                try:
                    await self._started(lane)
                except (RuntimeError, ValueError, OSError) as error:
                    self.note("worker not started", worker=number, reason=str(error))
                    await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                    failures += 1

    async def close(self) -> None:
        """Predict nothing any more."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(lane.close() for lane in self.lanes))

    def _task(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
