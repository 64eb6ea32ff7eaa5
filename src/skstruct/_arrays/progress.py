# SPDX-License-Identifier: BSD-3-Clause
"""What long work will do and how far it has come: a bar on a terminal, lines elsewhere.

Nothing is shown of what takes less than two seconds. All goes to stderr.

* :func:`reported` makes a method one piece of work, which begins when it is called;
* :func:`announce` says what will be done, once the work takes longer than that;
* :func:`track`, :func:`ticker` and :func:`working` are stages of the work, one in another.

All of them are also where work ends that another thread has cancelled.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from skstruct._arrays.stopping import cancellable, check_cancelled

T = TypeVar("T")
Owner = TypeVar("Owner")
Given = ParamSpec("Given")
Result = TypeVar("Result")

AFTER = 2.0  # seconds of work before anything is shown
STAGE_AFTER = 1.0  # seconds of a stage before it is shown, when the work is
EVERY = 5.0  # seconds between two lines, where there is no terminal
BEAT: float | None = 0.5  # seconds between two looks at the clock within a step; None for never


def clock() -> float:
    """Seconds, as work is measured by; tests put another one here."""
    return time.monotonic()


class Work:
    """One call of a user: since when it runs, what was announced, and which stages are open."""

    def __init__(self, verbose: int, bars: bool = True) -> None:
        self.verbose, self.began, self._bars_wanted = verbose, clock(), bars
        self.latest = -float("inf")  # when a line was printed
        self.plans: list[str | Callable[[], str]] = []
        self.stages: list[Stage] = []
        self._bars: Any = None
        self._lock = threading.RLock()  # stages may be moved by several threads
        self._over = threading.Event()
        if BEAT is not None:
            with contextlib.suppress(RuntimeError):  # no more threads: shown as stages move only
                threading.Thread(target=self._beat, args=(BEAT,), daemon=True).start()

    def _beat(self, seconds: float) -> None:
        while not self._over.wait(seconds):
            self.look()

    def look(self, ahead: float = 0.0) -> None:
        """Show what there is to show, if it is time, or will be so many seconds ahead."""
        with self._lock, contextlib.suppress(OSError, ValueError):  # of a stderr that is closed
            patient = self.verbose == 1
            if self._over.is_set() or (patient and clock() + ahead - self.began < AFTER):
                return
            while self.plans:
                plan = self.plans.pop(0)
                self._print(plan if isinstance(plan, str) else plan())
            if not self.stages or (patient and self.stages[0].seconds + ahead < STAGE_AFTER):
                return
            if self._bars_wanted and sys.stderr is not None and sys.stderr.isatty():
                self._draw()
            elif clock() - self.latest >= EVERY:
                self.latest, self.stages[0].in_lines = clock(), True
                self._print("; ".join(stage.text() for stage in self.stages))

    def _print(self, text: str) -> None:
        if self._bars is not None:
            self._bars.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def _draw(self) -> None:
        if self._bars is None:
            from skstruct._arrays.progress_bars import Bars

            self._bars = Bars()
        for stage in self.stages:
            self._bars.show(stage)

    def opened(self, stage: Stage) -> None:
        """A stage begins."""
        with self._lock:
            self.stages.append(stage)
        self.look()

    def closed(self, stage: Stage) -> None:
        """A stage is over: its bar is filled, and the last of its lines says how long it took."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self.stages.remove(stage)
            if self._bars is not None:
                self._bars.finish(stage, kept=not self.stages)
                if not self.stages:  # what is printed next is not drawn over
                    self._bars.stop()
                    self._bars = None
            elif stage.in_lines:
                self._print(stage.summary())

    def end(self) -> None:
        """Nothing is shown any more."""
        with self._lock:
            self._over.set()
            if self._bars is not None:
                self._bars.stop()


class Stage:
    """Steps of one kind; ``total`` is None where nobody knows how many there will be."""

    def __init__(
        self, work: Work, description: str, total: float | None = None, unit: str = ""
    ) -> None:
        self.work, self.description, self.total, self.unit = work, description, total, unit
        self.began, self.done, self.in_lines = clock(), 0.0, False
        work.opened(self)

    def advance(self, steps: float = 1) -> None:
        """So many steps more."""
        self.reach(self.done + steps)

    def reach(self, done: float, total: float | None = None) -> None:
        """So many steps in all; the total may become known on the way."""
        self.done = done
        self.total = self.total if total is None else total
        self.work.look()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return clock() - self.began

    def text(self) -> str:
        """How far it is."""
        spent = duration(self.seconds)
        if not self.total:
            steps = f"{self.done:,.0f}{self.unit}, " if self.done else ""
            return f"{self.description}: {steps}{spent} so far"
        share = min(1.0, self.done / self.total)
        steps = f"{self.done:,.0f} of {self.total:,.0f}{self.unit} ({share:.0%}), {spent} so far"
        left = f", about {duration(self.seconds * (1 / share - 1))} left" if share > 0 else ""
        return f"{self.description}: {steps}{left}"

    def summary(self) -> str:
        """What it was, when it is over."""
        steps = f"{self.done:,.0f}{self.unit} in " if self.done else ""
        return f"{self.description}: {steps}{duration(self.seconds)}"

    def close(self) -> None:
        """It is over, also where fewer steps were needed than were allowed."""
        self.work.closed(self)


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


@contextlib.contextmanager
def watching(verbose: int, bars: bool = True) -> Iterator[Work | None]:
    """What is called within is one piece of work, all stages of which are shown if ``verbose``.

    With 1 they are shown once the work takes longer than two seconds, with 2 at once. Within
    other work that is shown, this is a part of it. Without ``bars`` there are lines also on a
    terminal, for work during which others print there.
    """
    work = _WORK.get()
    if work is not None or not verbose:
        yield work
        return
    work = Work(int(verbose), bars)
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)
        work.end()


def reported(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """A method of an object with ``verbose``: each call of it is one piece of work."""

    @wraps(method)
    def shown(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        check_cancelled()
        with watching(getattr(self, "verbose", 0)):
            return method(self, *args, **kwargs)

    return shown


def announce(text: str | Callable[[], str]) -> None:
    """Say what will be done, if this is a part of work that is shown.

    What takes time to find is given as a function, which is called when it is said.
    """
    check_cancelled()
    work = _WORK.get()
    if work is not None:
        work.plans.append(text)
        work.look()


@contextlib.contextmanager
def working(
    description: str, total: float | None = None, verbose: int = 0, unit: str = "",
    expected: Callable[[], float] | None = None,
) -> Iterator[Stage | None]:  # fmt: skip
    """A stage of the work that is shown, or work of its own; None where nothing is.

    ``expected`` tells how many seconds a single call will about take during which nothing can be
    printed, since it holds the interpreter: where these are too many, it is shown before it.
    """
    check_cancelled()
    with watching(verbose) as work:
        if work is None:
            yield None
            return
        stage = Stage(work, description, total, unit)
        if expected is not None:
            work.look(ahead=expected())
        try:
            yield stage
        finally:
            stage.close()


def track(steps: Sequence[T], description: str, verbose: int = 0) -> Iterable[T]:
    """Iterate over ``steps``, also in another thread, and show how far it has come."""
    work = _WORK.get()
    if work is None and not verbose:
        return cancellable(steps)
    return _tracked(cancellable(steps), len(steps), description, work, verbose)


def _tracked(
    steps: Iterable[T], total: int, description: str, work: Work | None, verbose: int
) -> Iterator[T]:
    shown_by = Work(int(verbose)) if work is None else work
    stage = Stage(shown_by, description, total)
    try:
        for step in steps:
            yield step
            stage.advance()
    finally:
        stage.close()
        if work is None:
            shown_by.end()


@contextlib.contextmanager
def ticker(n_steps: int | None, description: str, verbose: int = 0) -> Iterator[Callable[..., Any]]:
    """A function to call after each of so many steps, or of fewer."""
    with working(description, n_steps, verbose) as stage:

        def tick(*_: Any) -> None:
            check_cancelled()
            if stage is not None:
                stage.advance()

        yield tick


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.4), duration(59), duration(200), duration(9000)
    ('0 s', '59 s', '3 minutes', '2.5 hours')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"
