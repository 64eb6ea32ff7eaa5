# SPDX-License-Identifier: BSD-3-Clause
"""Sums over partitions, in a module that worker processes can import."""

import os
import time
from functools import reduce
from pathlib import Path

import numpy as np


def products(part, scale=1.0):
    """X' X of a partition, block after block: floats whose sum depends on their order."""
    total = np.zeros(1)
    for block in part.blocks(3):
        X = np.asarray(block.X, float) * scale
        total = total + X.T @ X
    return total


def added(results):
    """The sum, in a new array."""
    return reduce(np.add, results[1:], results[0].copy())


def added_in_place(results):
    """The mistake: the first argument becomes the sum."""
    for other in results[1:]:
        results[0] += other
    return results[0]


def products_once_stuck(part, folder):
    """Products; but whoever is first to take the partition in the middle waits to be killed."""
    folder = Path(folder)
    (folder / f"run-{part.start}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if part.start == 12:
        try:
            with open(folder / "stuck", "x") as file:
                file.write(str(os.getpid()))
            (folder / "stuck").rename(folder / "victim")  # written whole
            (folder / "stuck").touch()
            time.sleep(3600)  # nobody waits so long: it is killed
        except FileExistsError:
            pass
    return products(part)


def kill_this_worker(part):
    os.kill(os.getpid(), 9)


def fail(part):
    raise OSError(f"no rows from {part.start} on")


def row_sums(block):
    return {"row": np.arange(len(block)) + block.start, "sum": np.asarray(block.X).sum(axis=1)}


def row_sums_killed_once(block, folder):
    """As row_sums, by a worker that is killed once, after its part file was begun."""
    if block.start > 12:
        try:
            with open(os.path.join(folder, "killed"), "x"):
                os.kill(os.getpid(), 9)
        except FileExistsError:
            pass
    return row_sums(block)


def sums_by_an_engine(rows):
    """Runs on a worker, and itself gives work to workers."""
    from skstruct.streaming import ArraySource
    from skstruct.streaming.engines import merge_tree, opened

    with opened("dask") as engine:
        return merge_tree(ArraySource(rows).partitions(3), engine, products, added)
