# SPDX-License-Identifier: BSD-3-Clause
"""Broken files by the million: what a reader makes of them, and which of them are worth keeping.

A file is read or refused, in one line, within two seconds of the processor and twice its memory.
A mutant that runs lines that never ran, or ends in a way that nobody has seen, is kept in the
corpus of its format and broken further, in this run and in later ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from file_format import TURNS, FileFormat
from line_coverage import TRACED, LineCoverage
from memory_files import in_memory
from mutations import TOKENS, mutant

MOST_SECONDS = 2.0  # of the processor
HANGING_SECONDS = 30  # then a reader is interrupted
MEMORY_CAP = 32 << 20  # bytes for a file of up to 64 KiB, 512 for each of its bytes
KEPT_BYTES, KEPT_FILES = 4096, 3000  # of a corpus
_KIBI = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in


class TooLong(BaseException):
    """No Exception, so that no reader takes it for one of its own."""


@dataclass
class Outcome:
    """What became of a file: "read", "refused" or "failed", why, and a mark of the way there."""

    how: str
    why: str = ""
    mark: Any = None
    found: Any = None


class Fuzzer:
    """Tries one format.

    Parameters
    ----------
    format : FileFormat
    seed : int
    corpus : path, default=None
        A folder of files that were worth keeping; None keeps them for this run alone.
    only_sound : bool
        Whether only files that were read are broken further.
    """

    def __init__(
        self, format: FileFormat, seed: int, corpus: Path | None = None, only_sound: bool = False
    ) -> None:
        self.format, self.corpus, self.only_sound = format, corpus, only_sound
        self.rng = random.Random(f"{seed} {format.name}")
        self.coverage = LineCoverage(module.__file__ or "" for module in format.modules)
        self.words = [*TOKENS, *format.tokens]
        self.counts = {"tried": 0, "read": 0, "refused": 0, "failed": 0, "compared": 0}
        self.kept: dict[str, list[bytes]] = {"read": [], "refused": []}
        self.marks: set[Any] = set()
        self.cpu_seconds = 0.0
        self.before: Callable[[bytes, int], None] = lambda text, turn: None
        self._base = self._peak = 0
        self._unsound: list[tuple[bytes, Outcome]] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Fuzzer:
        folder = self._stack.enter_context(in_memory(*self.format.opened_by))
        self.path = folder / self.format.file_name
        if hasattr(signal, "setitimer"):
            before = signal.signal(signal.SIGVTALRM, _interrupt)
            self._stack.callback(signal.signal, signal.SIGVTALRM, before)
        for text in self.format.seeds:  # at first it compiles
            self.try_file(text, 0, unlimited=True)
        self._unsound = [(text, self._traced(text, 0)) for text in self.format.seeds]
        self.kept["read"] = [t for t, outcome in self._unsound if outcome.how == "read"]
        for text in self._of_corpus():
            self._keep(self._traced(text, 0), text, new=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def batch(self, n: int) -> Iterator[tuple[bytes, int, str]]:
        """Try ``n`` files; those that failed, with the turn and why."""
        for text, outcome in self._unsound:  # of sound files only this is of interest
            if outcome.how == "failed":
                self.counts["tried"] += 1
                self.counts["failed"] += 1
                yield text, 0, outcome.why
        self._unsound = []
        start = time.process_time()
        self._new_peak()
        for _ in range(n):
            text, turn = self._drawn(), self.rng.randrange(TURNS)
            traced = self.counts["tried"] % TRACED == 0
            outcome = self._traced(text, turn) if traced else self.try_file(text, turn)
            self.counts["tried"] += 1
            self.counts[outcome.how] += 1
            if outcome.how == "failed":
                yield text, turn, outcome.why
            else:
                self._keep(outcome, text)
        self.cpu_seconds += time.process_time() - start

    def these(self, texts: list[bytes]) -> Iterator[tuple[bytes, int, str]]:
        """Try just these files; those that failed."""
        start = time.process_time()
        for text in texts:
            self._new_peak()
            outcome = self.try_file(text, 1)
            self.counts["tried"] += 1
            self.counts[outcome.how] += 1
            if outcome.how == "failed":
                yield text, 1, outcome.why
        self.cpu_seconds += time.process_time() - start

    def _drawn(self) -> bytes:
        """A mutant of a seed, of a kept file that was read, or of any kept one."""
        sound = self.kept["read"] if len(self.kept["read"]) > 1 else self.format.seeds
        draw = self.rng.random()
        if self.only_sound or draw < 0.4:
            parents = sound
        else:
            parents = self.format.seeds if draw < 0.7 else self.kept["refused"] or sound
        return mutant(self.rng.choice(parents), self.rng, self.words, sound)

    def _traced(self, text: bytes, turn: int) -> Outcome:
        with self.coverage:
            outcome = self.try_file(text, turn)
        if self.coverage.grew:
            outcome.mark = (outcome.mark, len(self.coverage.seen))  # one of its own
        return outcome

    # ------------------------------------------------------------------ one file
    def try_file(self, text: bytes, turn: int, unlimited: bool = False) -> Outcome:
        """What the reader makes of these bytes."""
        self.before(text, turn)
        self.format.place(self.path, text)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, HANGING_SECONDS)
        try:
            outcome = self._read(turn)
            if outcome.how == "read" or (outcome.how == "refused" and turn == 0):
                self.format.again(self.path, turn, outcome.found)
                self.counts["compared"] += outcome.how == "read"
        except self.format.refusals as error:
            outcome = Outcome("failed", f"read once, then refused: {error}")
        except TooLong:
            outcome = Outcome("failed", f"took more than {HANGING_SECONDS} s")
        except Exception as error:
            outcome = Outcome("failed", _told(error))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if unlimited:
            return outcome
        return self._within_limits(outcome, time.process_time() - start)

    def _read(self, turn: int) -> Outcome:
        try:
            found = self.format.read(self.path, turn)
        except self.format.refusals as error:
            why = str(error)
            if "\n" in why or not why.endswith("."):
                return Outcome("failed", f"not one line: {why!r}")
            return Outcome("refused", why, _places(error), error)
        return Outcome("read", "", _shape(found), found)

    def _within_limits(self, outcome: Outcome, seconds: float) -> Outcome:
        if seconds > MOST_SECONDS:
            return Outcome("failed", f"took {seconds:.1f} s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBI
        if self._base and peak - self._base > 2 * MEMORY_CAP and peak > self._peak:
            self._peak = peak  # seen once; a process cannot forget what it took
            return Outcome("failed", f"took {(peak - self._base) >> 20} MiB of memory")
        return outcome

    def _new_peak(self) -> None:
        """Forget the most memory that was ever taken, where the system lets us."""
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBI
        self._peak = 0

    # ------------------------------------------------------------------ the corpus
    def _of_corpus(self) -> list[bytes]:
        if self.corpus is None or not self.corpus.is_dir():
            return []
        names = sorted(path for path in self.corpus.iterdir() if path.is_file())
        return [path.read_bytes() for path in names[:KEPT_FILES]]

    def _keep(self, outcome: Outcome, text: bytes, new: bool = True) -> None:
        if outcome.mark in self.marks or outcome.how == "failed":
            return
        self.marks.add(outcome.mark)
        if len(text) > KEPT_BYTES or sum(map(len, self.kept.values())) >= KEPT_FILES:
            return
        self.kept[outcome.how].append(text)
        if new and self.corpus is not None:
            self.corpus.mkdir(parents=True, exist_ok=True)
            (self.corpus / digest(text)).write_bytes(text)

    def state(self) -> dict[str, Any]:
        """Counts so far, for the table."""
        kept = sum(map(len, self.kept.values()))
        more = {"kept": kept, "lines": len(self.coverage.seen)}
        return {**self.counts, **more, "cpu_seconds": round(self.cpu_seconds, 2)}


def digest(text: bytes) -> str:
    """A name for a file by what it holds."""
    return hashlib.sha256(text).hexdigest()[:20]


def _interrupt(*_: object) -> None:
    raise TooLong


def _told(error: Exception) -> str:
    """An error that nobody declared, and where it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    return f"{type(error).__name__}: {error} ({where})"[:500]


def _places(error: BaseException) -> tuple[Any, ...]:
    """Where a refusal and those that it was made of were raised."""
    places = []
    link: BaseException | None = error
    while link is not None and len(places) < 4:
        frame = link.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        if frame is not None:
            places.append((frame.tb_frame.f_code.co_name, frame.tb_lineno))
        link = link.__context__
    return tuple(places)


_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9][0-9.,]*")


def _shape(found: Any) -> tuple[Any, ...]:
    """Of what kind a data set is, its names and numbers aside."""
    remarks = getattr(found, "remarks", ())
    said = tuple(" ".join(_VARYING.sub("#", text).split()[:5]) for text in remarks)
    parts = [getattr(found, part, None) for part in ("format", "task")]
    parts += [getattr(found, part, None) is None for part in ("outputs", "edges", "index")]
    inputs = getattr(found, "inputs", None)
    values = getattr(inputs, "values", ())
    kinds = {value is None for value in values} if isinstance(values, tuple) else ()
    return (type(found).__name__, *parts, frozenset(kinds), said)
