# SPDX-License-Identifier: BSD-3-Clause
"""Reading, computing and writing at the same time, each in a thread of its own."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextvars import copy_context
from types import GeneratorType
from typing import Any

from skstruct._arrays.stopping import check_cancelled

_PATIENCE = 1.0  # seconds that a consumer who stops waits for the work in hand


class Channel:
    """A queue of bounded length between two threads. Once closed, neither waits any more."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, item: tuple[str, Any]) -> bool:
        """Wait for room; False if the other side is gone."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> tuple[str, Any]:
        """Wait for the next item."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._items)
            if self._closed:
                return "end", None
            self._changed.notify_all()
            return self._items.popleft()

    def close(self) -> None:
        """Let go of everything and wake whoever waits."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def overlapped(
    items: Iterable[Any], *stages: Callable[[Any], Any], depth: int = 2
) -> Generator[Any, None, None]:
    """Send items through stages that work at the same time; they come out in their order.

    Reading the items and each stage have a thread of their own, and the caller is the last
    stage. At most ``depth`` items wait between two stages, so that memory is bounded. Threads
    help where a stage lets go of the interpreter: files, linear algebra, compiled code, devices.

    An error, of the items or of a stage, is raised when its item would have come out. When the
    caller stops, or an error is raised, the threads end after the item in hand; a generator that
    gave the items is closed. Where the system gives no more threads, stages work in turn.

    Parameters
    ----------
    items : iterable
    *stages : callables (item) -> item
    depth : int, default=2

    Examples
    --------
    >>> list(overlapped(range(4), lambda x: x + 1, str))
    ['1', '2', '3', '4']
    """
    if depth < 1:
        raise ValueError(f"At least one item waits between two stages; got depth={depth}.")
    channels = [Channel(depth) for _ in range(len(stages) + 1)]
    work: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [(_read, (items, channels[0]))]
    work += [(_apply, (f, channels[i], channels[i + 1])) for i, f in enumerate(stages)]
    threads = [  # what is set for the caller, such as who watches the work, is set for all
        threading.Thread(target=copy_context().run, args=(f, *args), daemon=True)
        for f, args in work
    ]
    try:
        for thread in reversed(threads):  # whoever reads the items is the last
            thread.start()
    except RuntimeError:  # no memory for another thread, or too many: nothing is read so far
        for channel in channels:
            channel.close()
        yield from _in_turn(items, stages)
        return
    try:
        while True:
            kind, value = channels[-1].get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        for channel in channels:
            channel.close()
        for thread in threads:
            thread.join(_PATIENCE)


def _in_turn(
    items: Iterable[Any], stages: tuple[Callable[[Any], Any], ...]
) -> Generator[Any, None, None]:
    """The same without threads: an item goes through all stages before the next one is read."""
    iterator = iter(items)
    try:
        for item in iterator:
            for stage in stages:
                check_cancelled()
                item = stage(item)
            yield item
    finally:
        if isinstance(iterator, GeneratorType):
            iterator.close()


def _read(items: Any, to: Channel) -> None:
    iterator = None
    try:
        iterator = iter(items)
        for item in iterator:
            check_cancelled()
            if not to.put(("item", item)):
                return
        to.put(("end", None))
    except BaseException as error:  # whatever it is, the caller shall see it
        to.put(("error", error))
    finally:
        if isinstance(iterator, GeneratorType):
            iterator.close()


def _apply(stage: Any, source: Channel, to: Channel) -> None:
    kind = "item"
    while kind == "item":
        kind, value = source.get()
        if kind == "item":
            try:
                check_cancelled()
                value = stage(value)
            except BaseException as error:
                kind, value = "error", error
        if not to.put((kind, value)):
            return
