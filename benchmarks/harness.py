# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved timing on one BLAS thread, fresh processes, and tables of figures with targets."""

from __future__ import annotations

import ctypes
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def compare(
    calls: dict[str, Callable], rows=None, *, rounds=5, budget=20.0, clock=time.process_time
) -> dict[str, list[float]]:
    """Seconds of every call, one entry per round; within a round, all calls take their turn.

    Parameters
    ----------
    calls : functions without arguments, by name
    rows : dict, default=None
        How many rows a call works on, where its time is meant per row.
    budget : float
        No new round begins after so many seconds of wall time.
    clock : function, default=time.process_time
        CPU time, which others on the machine hardly change; for threads the wall clock.
    """
    rows = rows or {}
    times: dict[str, list[float]] = {name: [] for name in calls}
    with threadpool_limits(limits=1):
        for call in calls.values():
            call()  # compiles and fills caches
        end = time.perf_counter() + budget
        for done in range(rounds):
            if done and time.perf_counter() > end:
                break
            for name, call in calls.items():
                times[name].append(_seconds(call, clock) / rows.get(name, 1))
    return times


def _seconds(call, clock, least=0.02):
    """Mean over as many calls as fill ``least`` seconds: clocks tick in steps."""
    n_calls, start, spent = 0, clock(), 0.0
    while spent < least:
        call()
        n_calls, spent = n_calls + 1, clock() - start
    return spent / n_calls


def median(times, name) -> float:
    """Median time of a call over the rounds."""
    return statistics.median(times[name])


def ratio(times, name, reference) -> float:
    """Median over the rounds of a call's time divided by another's in the same round."""
    return statistics.median(a / b for a, b in zip(times[name], times[reference]))


def in_fresh_process(script, *arguments):
    """What a script prints, read as JSON, in a process of its own with one BLAS thread."""
    command = [sys.executable, script, *map(str, arguments)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def cpu_of_python(code: str) -> float:
    """CPU seconds of a fresh interpreter that runs ``code``."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    fields = ("children_user", "children_system")
    return sum(getattr(after, name) - getattr(before, name) for name in fields)


def peak_bytes() -> int:
    """Largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss begins with the size of the parent process
        return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1])
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def bytes_before():
    """What this process holds now, from where its peak is counted anew if the system lets us.

    Memory that was freed is given back first: otherwise a fit would use it without a trace.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        ctypes.CDLL(None).malloc_trim(0)
        reset.write_text("5")
    except (AttributeError, OSError):
        return peak_bytes()
    return 1024 * int(re.search(r"VmRSS:\s*(\d+)", status.read_text())[1])


@dataclass(frozen=True)
class Target:
    """A bar for a figure: at most, or at least, a value."""

    sign: str
    value: float

    def met(self, figure: float) -> bool:
        return figure <= self.value if self.sign == "<=" else figure >= self.value


def at_most(value: float) -> Target:
    return Target("<=", value)


def at_least(value: float) -> Target:
    return Target(">=", value)


class Table:
    """Lines of name, time, ratio, target and whether it was met, printed as they come.

    Parameters
    ----------
    title : str
    ratio : str
        What is divided by what.
    """

    def __init__(self, title: str, ratio: str):
        print(f"\n{title}; ratio: {ratio}")
        self._print("name", "time", "ratio", "target", "met")
        print("-" * 96, flush=True)

    def add(self, name, seconds=None, ratio=None, target=None):
        """One line; a target is one for the ratio, or for the time when there is no ratio."""
        figure, show = (seconds, _time) if ratio is None else (ratio, _number)
        met = "" if target is None else "yes" if target.met(figure) else "NO"
        bar = "" if target is None else f"{target.sign} {show(target.value)}"
        self._print(name, _time(seconds), _number(ratio), bar, met)

    def note(self, text):
        print(f"  ({text})", flush=True)

    def _print(self, name, seconds, ratio, bar, met):
        print(f"{name:<60} {seconds:>10} {ratio:>8} {bar:>10} {met:>4}", flush=True)


def _time(seconds) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _number(value) -> str:
    return "" if value is None else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
