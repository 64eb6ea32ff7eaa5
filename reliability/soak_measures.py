# SPDX-License-Identifier: BSD-3-Clause
"""What a server under load takes: memory of its processes, and seconds of its answers."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np

WARM_UP = 0.3  # of the time, and at most
MOST_WARM_UP = 300.0  # seconds
EVERY = 0.5  # seconds between two looks at memory


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

    def late(self):
        """Samples of each process after its warm-up, which is a third of its life at least."""
        start = min(MOST_WARM_UP, WARM_UP * self.seconds)
        for samples in self.memory.values():
            born, last = samples[0][0], samples[-1][0]
            first = max(start, born + min(MOST_WARM_UP, (last - born) / 3))
            late = np.array([sample for sample in samples if sample[0] > first])
            if len(late) > 5:
                yield late

    def slope(self):
        """MB a minute that processes grow by, each counted from its own level."""
        centred = [late - late.mean(axis=0) for late in self.late()]
        if not centred:
            return 0.0
        t, y = np.concatenate(centred).T
        return float(60 * (t @ y) / (t @ t))

    def levels(self):
        """For each process its MB after the warm-up and at last, and the minutes between."""
        rows = [(late[0, 1], late[-1, 1], (late[-1, 0] - late[0, 0]) / 60) for late in self.late()]
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


def resident(pid):
    """MB in memory, or None where the process is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
