# SPDX-License-Identifier: BSD-3-Clause
"""Sums over rows that ridge regression needs, and nothing else of the rows; sums over partitions
are saved on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.saving import savable
from skstruct.smoothing.nystroem.arriving import arriving
from skstruct.streaming.engines import SerialEngine

ARRAYS = ("G", "C", "z", "t")
COLUMNS = 2_000  # of sparse targets that are multiplied at a time


@savable
@dataclass
class Stats:
    r"""Weighted sums over rows with features z (m,) and targets t (q,).

    They add up: sums of two sets of rows are the sums of both together. That makes the same
    code serve one array, a file read in blocks, further rows, folds and many machines.
    """

    G: Any  # sum of s z z', on and below the diagonal, columns together; shape: (m, m)
    C: Any  # sum of s z t', shape: (m, q)
    z: Any  # sum of s z, shape: (m,)
    t: Any  # sum of s t, shape: (q,)
    yy: float  # sum of s |t|^2
    weight: float  # sum of s
    n: int  # rows

    @classmethod
    def empty(cls, m: int, q: int, backend: Any) -> Stats:
        """Of no rows."""
        zeros = backend.zeros
        return cls(zeros((m, m)), zeros((m, q)), zeros((m,)), zeros((q,)), 0.0, 0.0, 0)

    def add(
        self,
        Z: np.ndarray,
        T: Any,
        weight: np.ndarray | None,
        backend: Any,
        square: bool = True,
    ) -> None:
        """Add rows in place; ``Z`` may be overwritten. Without ``square``, G is left.

        ``T`` is in double precision, and may be sparse; its products with Z are in that of Z.
        """
        if weight is not None:
            root = backend.asarray(np.sqrt(weight))
            Z *= backend.asarray(root, Z.dtype)[:, None]
            T = T.multiply(root[:, None]).tocsr() if sparse.issparse(T) else T * root[:, None]
        else:
            root = backend.asarray(np.ones(len(Z)))
        if sparse.issparse(T):
            self._add_sparse_product(Z, T)
        elif Z.dtype == self.C.dtype:
            self.C = backend.add_product(self.C, Z, T)
        else:  # float32 products, float64 sums
            self.C += backend.multiply(Z.T, backend.asarray(T, Z.dtype))
        if square and Z.dtype == self.C.dtype:
            self.G = backend.add_square(self.G, Z)
        elif square:
            self.G += backend.add_square(backend.zeros(self.G.shape, Z.dtype), Z)
        self.z += Z.T @ backend.asarray(root, Z.dtype)
        self.t += T.T @ root
        self.yy += float((T * T).sum())
        self.weight += float(len(Z) if weight is None else weight.sum())
        self.n += len(Z)

    def _add_sparse_product(self, Z: np.ndarray, T: Any) -> None:
        """Add Z'T, some columns at a time: the product is dense, and there may be many."""
        T = T.tocsc()
        for first in range(0, T.shape[1], COLUMNS):
            columns = slice(first, first + COLUMNS)
            self.C[:, columns] += (T[:, columns].T @ Z).T

    def on(self, backend: Any) -> Stats:
        """The same where a backend computes, columns together."""
        arrays = {}
        for name in ARRAYS:
            there = backend.zeros(getattr(self, name).shape)
            there[:] = backend.asarray(getattr(self, name))
            arrays[name] = there
        return Stats(**arrays, yy=self.yy, weight=self.weight, n=self.n)

    def on_host(self) -> Stats:
        """The same in arrays of numpy."""
        arrays = {name: _host(getattr(self, name)) for name in ARRAYS}
        return Stats(**arrays, yy=self.yy, weight=self.weight, n=self.n)


def _host(A: Any) -> np.ndarray:
    return A if isinstance(A, np.ndarray) else np.asfortranarray(A.detach().cpu().numpy())


def merged(parts: list[Stats]) -> Stats:
    """The sums of all rows together. Leaves the parts as they are: it may be run again."""
    first = parts[0]
    arrays = {name: _copied(getattr(first, name)) for name in ARRAYS}
    total = Stats(**arrays, yy=first.yy, weight=first.weight, n=first.n)
    for part in parts[1:]:
        for name in ARRAYS:
            total_part = getattr(total, name)
            total_part += getattr(part, name)
        total.yy += part.yy
        total.weight += part.weight
        total.n += part.n
    return total


def _copied(A: np.ndarray) -> Any:
    if isinstance(A, np.ndarray):
        return A.copy(order="F")
    return A.clone() if A.ndim == 1 else A.mT.clone().mT


def accumulate(partition: Any, sums: Any, read: Any, block_rows: int, square: bool = True) -> Stats:
    """Sums over the rows of one partition; a pure function, which any machine may run.

    Parameters
    ----------
    partition : Partition
    sums : FeatureSums or KernelSums
    read : callable (Block) -> X, targets of shape (n, q), weights or None
    block_rows : int
        Rows that are held at a time.
    """
    stats: Stats | None = None
    blocks = partition.blocks(block_rows)
    for X, T, weight in arriving(blocks, read, sums.backend):
        stats = sums.added(stats, X, T, weight, square)
    if stats is None:
        raise ValueError("There are no rows to learn from.")
    return stats


def targets_on(backend: Any, T: Any, dtype: Any) -> Any:
    """Targets where a backend computes; sparse ones stay so on the host."""
    if sparse.issparse(T) and backend.name == "numpy":
        return T.astype(dtype)
    return backend.asarray(T.toarray() if sparse.issparse(T) else T, dtype)


# Sums over partitions that are saved on the way, and go on where they were stopped.


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
    kind : str
        Of what the sums are; of another kind they are not gone on with.
    """

    def __init__(
        self, level: Any, backend: Any, engine: Any, n_partitions: int, kind: str = ""
    ) -> None:
        self.level, self.engine, self.kind = level, engine, kind
        found = level.found if level.found.get("kind", kind) == kind else {}
        self.n_done = found.get("n_done", 0)
        self.n_partitions = found.get("n_partitions", n_partitions)
        parts = found.get("parts", [])
        self.results = {int(number): Stats(**part).on(backend) for number, part in parts}
        self.known = {id(result): number for number, result in self.results.items()}
        self.waiting: list[tuple[int, Any, list[int]]] = []  # number, task, tasks that it merges
        self.number = 0

    def hold(self, value: Any, identity: Any) -> Any:
        """Rows where the engine computes."""
        return self.engine.hold(value, identity) if hasattr(self.engine, "hold") else value

    def again(self) -> None:
        """The same tasks will be submitted once more, from the first one on."""
        self.known = {id(result): number for number, result in self.results.items()}
        self.waiting, self.number = [], 0

    def submit(self, f: Callable[..., Any], *args: Any) -> Any:
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

    def result(self, x: Stats) -> Stats:
        """The value, when all that was submitted is there."""
        self._settle()
        return self.results[self.known[id(x)]]

    def _settle(self) -> None:
        """Wait for tasks in their order, and save what is there."""
        for number, task, parts in self.waiting:
            result = self.engine.result(task)
            self.results = {k: part for k, part in self.results.items() if k not in parts}
            self.results[number] = result
            self.n_done = number
            kept = [[k, vars(part.on_host())] for k, part in self.results.items()]
            self.level.reached(
                n_done=number, n_partitions=self.n_partitions, parts=kept, kind=self.kind
            )
        self.waiting = []
