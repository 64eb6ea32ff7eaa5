# SPDX-License-Identifier: BSD-3-Clause
"""What a server under load takes: memory of its processes, and seconds of its answers."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np

WARM_UP = 0.3  # of the time, for what requests take, and at most
MOST_WARM_UP = 300.0  # seconds
EVERY = 0.5  # seconds between two looks at memory
N_PARTS = 12  # of the life of a process after its warm-up, which is half of it
LEAST_LIFE = 60.0  # seconds: who is killed before, in a run twice as long, was still warming up
JUMPS = 8.0  # MB that a process may grow by at once, now and then


class Watch(threading.Thread):
    """Memory of a server and its workers, again and again; seconds that requests took."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.ends = server, threading.Event()
        self.start_time = time.monotonic()
        self.memory: dict[int, list[tuple[float, float]]] = {}
        self.times: list[tuple[float, float]] = []  # when it ended, how long it took

    def run(self):
        workers: list[int] = []  # in the order in which they came
        while not self.ends.wait(EVERY):
            there = self.server.workers()
            workers += [pid for pid in there if pid not in workers]
            ready = workers[: self.server.counter("worker_starts_total")]
            for pid in (self.server.pid, *(pid for pid in there if pid in ready)):
                if (size := resident(pid)) is not None:
                    self.memory.setdefault(pid, []).append((self.seconds, size))

    @property
    def seconds(self):
        return time.monotonic() - self.start_time

    def late(self, of_server):
        """Samples after the warm-up, of the server or of each of its workers."""
        least = min(LEAST_LIFE, self.seconds / 2)
        for pid, samples in self.memory.items():
            born, last = samples[0][0], samples[-1][0]
            first = born + min(MOST_WARM_UP, (last - born) / 2)
            late = np.array([sample for sample in samples if sample[0] >= first])
            if (pid == self.server.pid) == of_server and last - born >= least:
                yield late

    def slope(self):
        """MB a minute by which the server grows, or its workers: the larger one.

        A leak goes on and on. What is loaded or kept for the first time in some rare request is
        a step: the parts of a life that grew or shrank most, a quarter each, are left out.
        """
        return max(self._growth(True), self._growth(False))

    def _growth(self, of_server):
        rates = [rate for late in self.late(of_server) for rate in _rates(late)]
        cut = len(rates) // 4
        return float(np.mean(sorted(rates)[cut : len(rates) - cut])) if rates else 0.0

    def jumped(self, slope):
        """MB by which a process grew at most, beyond steps and so many MB a minute."""
        found = [0.0]
        for late in (*self.late(True), *self.late(False)):
            minutes = (late[-1, 0] - late[0, 0]) / 60
            found.append(late[-1, 1] - late[0, 1] - JUMPS - slope * minutes)
        return float(max(found))

    def levels(self):
        """For each process its MB after the warm-up and at last, and the minutes between."""
        lives = (*self.late(True), *self.late(False))
        rows = [(late[0, 1], late[-1, 1], (late[-1, 0] - late[0, 0]) / 60) for late in lives]
        return [[round(float(n), 1) for n in row] for row in rows]

    def percentiles(self):
        """The 99th percentiles of what ended in the first and last third after the warm-up."""
        start = min(MOST_WARM_UP, WARM_UP * self.seconds)
        late = np.array([pair for pair in self.times if pair[0] > start])
        if len(late) < 30:
            return 0.0, 0.0
        third = (late[:, 0].max() - start) / 3
        first, last = late[:, 0] < start + third, late[:, 0] > start + 2 * third
        if not first.any():
            return 0.0, 0.0
        return tuple(float(np.percentile(late[part, 1], 99)) for part in (first, last))


def _rates(late):
    """MB a minute from each part of a life to the next, by the median of its samples."""
    parts = [part for part in np.array_split(late, N_PARTS) if len(part)]
    levels = np.array([np.median(part, axis=0) for part in parts])
    steps = np.diff(levels, axis=0)
    return 60 * steps[:, 1] / steps[:, 0]


def resident(pid):
    """MB in memory, or None where the process is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
