# SPDX-License-Identifier: BSD-3-Clause
"""Files read in processes of their own: limits on memory and time, and no code may run.

A process makes and reads many files in turn. While it reads one, it may take twice the size cap
beyond what it had, and a hook hears of code that is compiled or run, files that are written and
connections. A process that ends has one file on its conscience; another one goes on after it.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import sys
import time
from pathlib import Path

from flip_models import answers

from skstruct.exceptions import ModelFileError

CAP = 64 * 2**20  # the size cap that files are read with
SECONDS = 2.0  # of work that reading may take
PATIENCE = 20  # seconds of work until a child is ended
WAITING = 600  # seconds until one is that does not work: others may be busy here
FORBIDDEN = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen",
             "os.remove", "os.rename", "os.mkdir", "os.chmod", "shutil.rmtree", "ctypes.dlopen",
             "pickle.find_class", "marshal.loads", "webbrowser.open")  # fmt: skip
OUR_OWN = ("importlib", "/numba/", "threadpoolctl", "/joblib/")
SOUND = ("refused", "read")


def verdicts(cases, seconds=SECONDS, jobs=1) -> list[str]:
    """What became of every case, a function that makes a file: () -> (path, inputs, load).

    A file that found no memory is tried again by itself: files before it may have left too little.
    """
    size = max(1, -(-len(cases) // jobs))
    parts = [cases[at : at + size] for at in range(0, len(cases), size)]
    started = [_started(part, seconds) for part in parts]
    found = [word for part, child in zip(parts, started) for word in _told(part, child, seconds)]
    for i, word in enumerate(found):
        if word.startswith("GREEDY") and len(cases) > 1:
            found[i] = verdict(cases[i], seconds)
    return found


def verdict(case, seconds=SECONDS) -> str:
    """What became of one file."""
    return verdicts([case], seconds)[0]


def _started(cases, seconds):
    """A process that goes through cases, and the end of the pipe by which it tells."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _read_in_child(cases, seconds, writer)
    os.close(writer)
    return child, reader


def _told(cases, started, seconds):
    found: list[str] = []
    while True:
        child, reader = started
        with os.fdopen(reader, "rb") as pipe:
            lines = pipe.read().decode().splitlines()
        status = os.waitpid(child, 0)[1]
        found += [line[2:] for line in lines if line.startswith("= ")]
        if len(found) < len(cases) and not (lines and lines[-1].startswith("= RUNS")):
            found.append(_ended(status, lines[-1] if lines else "nothing"))
        if len(found) >= len(cases):
            return found
        started = _started(cases[len(found) :], seconds)


def _ended(status, doing):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        late = number in (signal.SIGPROF, signal.SIGALRM)
        return f"HANGS {doing}" if late else f"DIES of {number} {doing}"
    return f"ENDS with {os.waitstatus_to_exitcode(status)} {doing}"


def _is_our_own() -> bool:
    """Whether a module is imported, a kernel of ours compiled, or threads are counted."""
    frame = sys._getframe(2)
    while frame is not None:
        if any(word in frame.f_code.co_filename for word in OUR_OWN):
            return True
        frame = frame.f_back
    return False


def _read_in_child(cases, seconds, writer):
    """Never returns; tells what happens line by line."""
    listening = False

    def tell(word):
        os.write(writer, f"{word}\n".encode())

    def hear(event, arguments):
        if not listening:
            return
        mode = arguments[1] if event == "open" else None
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        heard = event in FORBIDDEN or event.startswith("socket.") or writes
        if heard and not _is_our_own():
            tell(f"= RUNS {event} {' '.join(str(arguments).split())[:80]}")
            os._exit(0)

    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for late in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(late, signal.SIG_DFL)
    trim = ctypes.CDLL(None).malloc_trim
    sys.addaudithook(hear)
    for make in cases:
        tell("making")
        path, X, load = make()
        trim(0)  # what making it took is not free memory for reading it
        tell("reading")
        listening = True
        with _limits():
            try:
                word = _read(path, X, load, seconds, tell)
            except BaseException as error:
                word = f"RAISES {type(error).__name__} {' '.join(str(error).split())[:100]}"
        listening = False
        tell(f"= {word}")
        path.unlink()
    os._exit(0)


@contextlib.contextmanager
def _limits():
    """Twice the cap beyond what the process has now, and seconds of work until it is ended."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2 * CAP, hard))
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(WAITING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _read(path, X, load, seconds, tell):
    """Read one file, and use the model if there is one."""
    start = time.process_time()
    try:
        model = load(path)
    except ModelFileError as error:
        model = None
        if _lacked_memory(error):
            return "GREEDY"
    spent = time.process_time() - start
    if spent > seconds:
        return f"SLOW {spent:.1f} s"
    if model is None:
        return "refused"
    tell("predicting")
    use(model, X)
    return "read"


def _lacked_memory(error) -> bool:
    """Whether it was the limit of this process that ended reading, and not the reader."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__context__
    return False


def use(model, X):
    """Ask for everything that a model may know."""
    asked = (
        lambda: answers(model, X),
        lambda: model.kbest(X, 2),
        lambda: model.explain(X),
        lambda: model.partial_fit(X, model.predict(X)),
    )
    for ask in asked:
        with contextlib.suppress(Exception):  # a model that cannot answer harms nobody
            ask()
