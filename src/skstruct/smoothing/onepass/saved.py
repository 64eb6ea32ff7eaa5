# SPDX-License-Identifier: BSD-3-Clause
"""Sums over partitions that are saved on the way, and go on where they were stopped."""

from __future__ import annotations

from typing import Any

from skstruct.smoothing.onepass.stats import Stats
from skstruct.streaming.engines import SerialEngine

MERGED = object()  # a result that is part of a later one


class SavedEngine:
    """Has another engine compute, and keeps what is not merged yet.

    Tasks come in the same order in every run. Those that were done when a fit was stopped are
    not done again: what they gave is found, or is part of something that is.

    Parameters
    ----------
    level : Level
        Of a fit that is saved.
    backend : Backend
        Where sums are computed; in the file they are arrays of numpy.
    engine : Engine
        Whatever it is, results come to this process one by one, to be saved.
    n_partitions : int
        How many there are if the fit was not begun before.
    """

    def __init__(self, level, backend, engine, n_partitions: int):
        self.level, self.engine, found = level, engine, level.found
        self.n_done = found.get("n_done", 0)
        self.n_partitions = found.get("n_partitions", n_partitions)
        parts = found.get("parts", [])
        self.results = {int(number): Stats(**part).on(backend) for number, part in parts}
        self.known = {id(result): number for number, result in self.results.items()}
        self.waiting: list[tuple[int, Any, list[int]]] = []  # number, task, tasks that it merges
        self.number = 0

    def submit(self, f, *args):
        """Start ``f(*args)``, or find what an earlier run has of it."""
        self.number += 1
        if self.number <= self.n_done:
            return self.results.get(self.number, MERGED)
        task = self.engine.submit(f, *args)
        parts = args[0] if isinstance(args[0], list) else []
        self.waiting.append((self.number, task, [self.known[id(part)] for part in parts]))
        self.known[id(task)] = self.number
        if isinstance(self.engine, SerialEngine):
            self._settle()
        return task

    def result(self, x):
        """The value, when all that was submitted is there."""
        self._settle()
        return self.results[self.known[id(x)]]

    def _settle(self):
        """Wait for tasks in their order, and save what is there."""
        for number, task, parts in self.waiting:
            result = self.engine.result(task)
            self.results = {k: part for k, part in self.results.items() if k not in parts}
            self.results[number] = result
            kept = [[k, vars(part.on_host())] for k, part in self.results.items()]
            self.level.reached(n_done=number, n_partitions=self.n_partitions, parts=kept)
        self.waiting = []
