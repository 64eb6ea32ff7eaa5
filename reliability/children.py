# SPDX-License-Identifier: BSD-3-Clause
"""Forked processes that run one function, are sent signals, and say what became of them.

A child has all imported that its parent has; what a function returns, or raises, comes back as
text. Functions that have to end without a process of their own can die at a given call of the
file system, which is the same in every run.
"""

import contextlib
import os
import select
import signal
import tempfile
import traceback

PATIENCE = 600.0  # seconds after which a process hangs, however busy the machine is
INTERRUPTED = "failed: KeyboardInterrupt"
DIED = "failed: the process died"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # folders that wait for no disk
CALLS = ("open", "fsync", "replace", "unlink", "chmod")


class Child:
    """A process that runs a function which returns text."""

    def __init__(self, work):
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        self.status = None
        if self.pid:
            os.close(writer)
            return
        try:  # nothing of the parent's may run here, whatever happens
            os.close(self.reader)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            answer = said(work)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.write(writer, answer.encode("utf-8", "replace")[:4000])
        finally:
            os._exit(0)

    def answer(self, seconds):
        """What it says within so many seconds; DIED if it is gone, None if it is still busy."""
        if not select.select([self.reader], [], [], max(0.0, seconds))[0]:
            return None
        return os.read(self.reader, 4000).decode() or DIED

    def send(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def end(self):
        """Wait for it, which must be dead or near: the signal that ended it, or 0."""
        if self.status is None:
            _, status = os.waitpid(self.pid, 0)
            self.status = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            os.close(self.reader)
        return self.status


def said(work):
    """What a function returns, or its error in words."""
    try:
        return work()
    except BaseException as error:
        message = "".join(traceback.format_exception_only(error)).strip()
        return "failed: " + message.replace(f"{tempfile.gettempdir()}/", "")


def ended(work, number, seconds):
    """Run a function and send a signal after so many seconds: what it said, None if it was killed.

    After Ctrl-C what it says is INTERRUPTED, if it was not quicker.
    """
    child = Child(work)
    answer = child.answer(seconds)
    if answer is None:
        child.send(number)
        answer = DIED if number == signal.SIGKILL else child.answer(PATIENCE)
        if answer is None:
            child.send(signal.SIGKILL)
            answer = "failed: it does not end when it is asked to"
        if answer == DIED and child.end() == 0:  # while it was about to say something
            answer = INTERRUPTED
    child.end()
    return None if answer == DIED and child.status == number else answer


def done(work):
    """What a function says that is left alone; it may take its time."""
    child = Child(work)
    answer = child.answer(PATIENCE)
    if answer is None:
        child.send(signal.SIGKILL)
        answer = "failed: it hangs"
    child.end()
    return answer


@contextlib.contextmanager
def counting(at=None, after=False, number=signal.SIGKILL):
    """Count calls of the file system; at one of them, or right after it, the process gets a signal.

    Gives a list whose length is the number of calls so far.
    """
    seen = []

    def before(name):
        seen.append(name)
        if len(seen) == at and not after:
            os.kill(os.getpid(), number)

    def behind(name):
        if len(seen) == at and after:
            os.kill(os.getpid(), number)

    with watching(before, behind):
        yield seen


@contextlib.contextmanager
def watching(before, behind=lambda name: None):
    """Functions that are told the name of a call of the file system before it, and after it."""
    real = {name: getattr(os, name) for name in CALLS}

    def watched(name):
        def call(*given, **options):
            before(name)
            found = real[name](*given, **options)
            behind(name)
            return found

        return call

    for name in CALLS:
        setattr(os, name, watched(name))
    try:
        yield
    finally:
        for name in CALLS:
            setattr(os, name, real[name])
