# SPDX-License-Identifier: BSD-3-Clause
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.streaming.pipeline import overlapped

PATIENCE = 20  # seconds, after which a test that waits in vain fails


@given(n=st.integers(0, 20), n_stages=st.integers(0, 3), depth=st.integers(1, 4))
def test_order_is_kept(n, n_stages, depth):
    stages = [lambda x, k=k: (*x, k) for k in range(n_stages)]
    items = ((i,) for i in range(n))
    expected = [(i, *range(n_stages)) for i in range(n)]
    assert list(overlapped(items, *stages, depth=depth)) == expected


def one_after_another(items, *stages):
    for stage in stages:
        items = map(stage, items)
    return items


def meet_in_the_middle(run, patience):
    """Reader, two stages and consumer meet: nobody goes on before all four are at work."""
    meeting = threading.Barrier(4)

    def meet(item, at):
        if item == at:
            meeting.wait(patience)
        return item

    items = (meet(i, at=3) for i in range(5))
    stages = [lambda x: meet(x, at=2), lambda x: meet(x, at=1)]
    return [meet(item, at=0) for item in run(items, *stages)]


def test_all_stages_work_at_the_same_time():
    assert meet_in_the_middle(overlapped, PATIENCE) == list(range(5))


def test_one_after_another_they_do_not():
    with pytest.raises(threading.BrokenBarrierError):
        meet_in_the_middle(one_after_another, 0.01)


@pytest.mark.parametrize("depth", [1, 3])
def test_no_more_items_are_taken_than_have_room(depth):
    taken = []
    waiting = threading.Event()

    def items():
        for i in range(100):
            taken.append(i)
            if i == 1 + 2 * depth:  # one with the stage's output full, and so on
                waiting.set()
            yield i

    stream = overlapped(items(), lambda x: x, depth=depth)
    assert next(stream) == 0
    assert waiting.wait(PATIENCE)
    # depth in each of two channels, one in the hands of reader and stage, one with the caller
    assert len(taken) <= 2 * depth + 3
    stream.close()


@pytest.mark.parametrize("stage", ["items", "first", "second"])
def test_an_error_comes_when_its_item_would_have(stage):
    def broken(item, here):
        if item == 3 and here == stage:
            raise OSError(f"item 3 in {here}")
        return item

    before = set(threading.enumerate())
    items = (broken(i, "items") for i in range(100))
    stages = [lambda x: broken(x, "first"), lambda x: broken(x, "second")]
    stream = overlapped(items, *stages, depth=1)
    assert [next(stream) for _ in range(3)] == [0, 1, 2]
    threads = set(threading.enumerate()) - before
    with pytest.raises(OSError, match=f"item 3 in {stage}"):
        next(stream)
    assert_end(threads)


def assert_end(threads):
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_threads_end_when_the_caller_stops():
    before = set(threading.enumerate())
    closed = threading.Event()

    def items():
        try:
            yield from range(10**9)
        finally:
            closed.set()

    stream = overlapped(items(), str, str)
    assert next(stream) == "0"
    threads = set(threading.enumerate()) - before
    assert len(threads) == 3
    stream.close()
    assert closed.wait(PATIENCE)
    assert_end(threads)


def test_an_error_does_not_wait_for_a_reader_that_waits(monkeypatch):
    monkeypatch.setattr("skstruct.streaming.pipeline._PATIENCE", 0.01)
    more = threading.Event()

    def items():
        yield 1
        more.wait(PATIENCE)

    def broken(item):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(overlapped(items(), broken))
    assert not more.is_set()
    more.set()


def test_nothing_starts_before_the_first_item_is_asked_for():
    before = threading.active_count()
    overlapped(range(3), str).close()
    assert threading.active_count() == before
    with pytest.raises(ValueError, match="At least one item"):
        next(overlapped([], depth=0))


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_stages_work_in_turn_where_no_thread_is_left(monkeypatch, n_started):
    started, closed, real = [], [], threading.Thread.start

    def start(thread):
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        real(thread)

    def items():
        try:
            yield from range(5)
        finally:
            closed.append(True)

    monkeypatch.setattr(threading.Thread, "start", start)
    assert list(overlapped(items(), lambda x: x + 1, str)) == ["1", "2", "3", "4", "5"]
    first = overlapped(items(), lambda x: x + 1, str)
    assert next(first) == "1"
    first.close()
    assert closed == [True, True]
    for thread in started:
        thread.join(PATIENCE)
        assert not thread.is_alive()
