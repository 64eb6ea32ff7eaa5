# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a server with lanes that a test holds: who gets what, and what death does."""

import asyncio
import socket
import threading

import pytest

from skstruct import get_config
from skstruct._arrays.stopping import check_cancelled
from skstruct.exceptions import Cancelled
from skstruct.serving.batching import MOST_REQUESTS, Batcher
from skstruct.serving.lanes import LaneEnded, ThreadLane
from skstruct.serving.messages import Reply, Request, packed, read_message, receive
from skstruct.serving.problems import Problem
from skstruct.serving.settings import Settings


class Held:
    """A lane that answers, dies or is late when the test says so."""

    def __init__(self):
        self.is_ready, self.batches, self.end = False, [], None
        self.starts, self.broken, self.stops = 0, 0, 0

    async def start(self):
        await asyncio.sleep(0)
        if self.broken:
            self.broken -= 1
            raise RuntimeError("broken file")
        self.is_ready, self.over = True, asyncio.Event()
        self.starts += 1

    async def run(self, requests, done):
        self.batches.append([request.question for request in requests])
        self.done, self.end = done, asyncio.get_running_loop().create_future()
        await self.end

    def answer(self, places=None):
        """Answer all requests of the batch, or some."""
        names = self.batches[-1]
        at = range(len(names)) if places is None else places
        self.done([(i, Reply(200, names[i].encode())) for i in at])
        if places is None:
            self.end.set_result(None)

    def stop(self):
        self.stops += 1

    def die(self, late=False):
        self.is_ready = False
        self.over.set()
        if self.end is not None and not self.end.done():
            self.end.set_exception(LaneEnded(late))

    async def ended(self):
        await self.over.wait()
        return "it ended"

    async def close(self):
        self.is_ready = False


class Trial:
    """A queue with lanes, and requests under way."""

    def __init__(self, n=2, **settings):
        self.lanes, self.events = [Held() for _ in range(n)], []
        self.batcher = Batcher(
            Settings(**settings), self.lanes, lambda event, **_: self.events.append(event)
        )
        self.asked = {}

    async def ask(self, *names, size=0):
        for name in names:
            request = Request(name, b" " * size)
            self.asked[name] = asyncio.create_task(self.batcher.ask(request))
        await self.settle()

    @staticmethod
    async def settle():
        for _ in range(20):
            await asyncio.sleep(0)

    async def replies(self, *names):
        return [(await self.asked[name]).body.decode() for name in names]


def trial(work, n=2, **settings):
    """Run a test, which must not take long."""

    async def run():
        made = Trial(n, **settings)
        await made.batcher.open()
        async with asyncio.timeout(60):
            await work(made)
        await made.batcher.close()

    asyncio.run(run())


def test_small_requests_are_taken_together_and_large_ones_shared_out():
    async def work(t):
        await t.ask("a")
        await t.ask("b")
        one, two = t.lanes
        assert sorted(one.batches + two.batches) == [["a"], ["b"]]
        await t.ask(*"cdefgh", size=10)
        one.answer()
        await t.settle()
        assert one.batches[-1] == list("cdefgh")
        await t.ask(*"ABCD", size=30_000)
        one.answer()
        two.answer()
        await t.settle()
        assert sorted((one.batches[-1], two.batches[-1])) == [["A", "B"], ["C"]]
        two.answer()  # the last one is for who is free first
        await t.settle()
        assert two.batches[-1] == ["D"]

    trial(work)


def test_a_batch_has_a_limit():
    async def work(t):
        names = [f"r{i}" for i in range(MOST_REQUESTS + 5)]
        await t.ask("first")
        await t.ask(*names)
        (lane,) = t.lanes
        lane.answer()
        await t.settle()
        assert lane.batches[-1] == names[:MOST_REQUESTS]
        lane.answer()
        await t.settle()
        assert lane.batches[-1] == names[MOST_REQUESTS:]
        lane.answer()
        assert await t.replies(*names) == names

    trial(work, n=1)


def test_requests_of_a_lane_that_died_go_to_the_head_of_the_queue_one_by_one():
    async def work(t):
        (lane,) = t.lanes
        await t.ask("first")
        await t.ask("a", "b", "c")
        lane.answer()
        await t.settle()
        await t.ask("later")
        lane.answer([1])  # b is answered before the worker dies
        lane.die()
        await t.settle()
        assert lane.starts == 2
        assert lane.batches[-1] == ["a"]
        lane.answer()
        await t.settle()
        assert lane.batches[-1] == ["c"]
        lane.answer()
        await t.settle()
        assert lane.batches[-1] == ["later"]
        lane.answer()
        assert await t.replies(*"abc", "later") == ["a", "b", "c", "later"]
        assert (t.events.count("worker died"), t.events.count("asked again")) == (1, 2)

    trial(work, n=1)


def test_a_request_that_ends_two_workers_is_given_up_and_the_others_are_not():
    async def work(t):
        (lane,) = t.lanes
        await t.ask("first")
        await t.ask("poison", "good")
        lane.answer()
        await t.settle()
        lane.die()
        await t.settle()
        assert lane.batches[-1] == ["poison"]
        lane.die()
        await t.settle()
        with pytest.raises(Problem, match="ended 2 worker processes") as caught:
            await t.asked["poison"]
        assert caught.value.status == 500
        assert lane.batches[-1] == ["good"]
        lane.answer()
        assert await t.replies("good") == ["good"]

    trial(work, n=1)


def test_who_was_beside_a_request_that_took_too_long_has_not_ended_a_worker():
    async def work(t):
        (lane,) = t.lanes
        await t.ask("first")
        await t.ask("a")
        lane.answer()
        for _ in range(5):
            await t.settle()
            assert lane.batches[-1] == ["a"]
            lane.die(late=True)
        await t.settle()
        lane.answer()
        assert await t.replies("a") == ["a"]

    trial(work, n=1)


def test_a_lane_that_dies_idle_is_started_again_also_when_that_fails_at_first(monkeypatch):
    monkeypatch.setattr("skstruct.serving.batching.PAUSES", (0.0,))

    async def work(t):
        first, second = t.lanes
        first.broken = 2
        first.die()
        second.die()
        await t.ask("a")
        while first.starts < 2:
            await t.settle()
        assert t.events.count("worker not started") == 2
        next(lane for lane in t.lanes if lane.batches).answer()
        assert await t.replies("a") == ["a"]
        assert sorted(map(id, t.batcher.free)) == sorted(map(id, t.lanes))

    trial(work)


def test_a_lane_that_cannot_start_at_all_is_told():
    async def run():
        made = Trial(2)
        made.lanes[1].broken = 1
        with pytest.raises(RuntimeError, match="broken file"):
            await made.batcher.open()

    asyncio.run(run())


def test_requests_that_took_too_long_in_the_queue_are_not_predicted():
    async def work(t):
        (lane,) = t.lanes
        await t.ask("first")
        await t.ask("second")
        with pytest.raises(Problem, match="The answer takes longer"):
            await t.asked["second"]
        lane.answer()
        await t.settle()
        assert len(lane.batches) == 1
        assert not t.batcher.waiting

    trial(work, n=1, timeout=0.01)


def test_a_batch_that_nobody_waits_for_is_stopped():
    async def work(t):
        (lane,) = t.lanes
        await t.ask("first")
        lane.answer()
        await t.settle()
        assert lane.stops == 0
        await t.ask("second", "third")
        for name in ("second", "third"):
            with pytest.raises(Problem, match="The answer takes longer"):
                await t.asked[name]
        await t.settle()
        assert lane.stops
        lane.answer()

    trial(work, n=1, timeout=0.05)


def test_a_thread_leaves_undone_what_nobody_waits_for():
    ended = threading.Event()

    def predict(requests):
        assert get_config()["cancel"].wait(60)
        try:
            check_cancelled()
        except Cancelled:
            ended.set()
            raise
        yield [(0, Reply(200, b""))]

    async def run():
        batcher = Batcher(Settings(timeout=0.05), [ThreadLane(predict)])
        with pytest.raises(Problem, match="The answer takes longer"):
            await batcher.ask(Request("predict"))
        assert await asyncio.to_thread(ended.wait, 60)
        await batcher.close()

    asyncio.run(run())


def test_an_error_that_no_lane_has_foreseen_is_told_at_once():
    def fail(requests):
        raise KeyError("x")

    async def run():
        batcher = Batcher(Settings(), [ThreadLane(fail)])
        for _ in range(2):
            with pytest.raises(KeyError):
                await batcher.ask(Request("predict"))
        await batcher.close()

    asyncio.run(run())


def test_messages_arrive_whole_both_ways():
    async def run():
        here, there = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=here)
        big = Request("predict", bytes(range(256)) * 20_000, "text/csv", (("k", "3"),))
        writer.write(packed([big, Request("models")]))
        got = await asyncio.to_thread(receive, there)
        assert got == [big, Request("models")]
        sending = asyncio.to_thread(there.sendall, packed(Reply(200, big.body)) + b"cut")
        reply, _ = await asyncio.gather(read_message(reader), sending)
        assert reply == Reply(200, big.body)
        there.close()
        assert await read_message(reader) is None
        writer.close()

    asyncio.run(run())
