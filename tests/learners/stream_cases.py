# SPDX-License-Identifier: BSD-3-Clause
"""Small problems of many kinds, and sources that worker processes can import."""

import os
from pathlib import Path

import numpy as np

from skstruct.losses import Listed, ZeroOne
from skstruct.spaces import Box, Hierarchy, Interval, LabelSets, Rankings, Sequences
from skstruct.streaming import ArraySource, Partition, Source

N = 40


def inputs(n=N, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def classes(X):
    return np.array(["ash", "beech", "cedar"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.6])]


def label_sets(X):
    return (X[:, [0, 1, 2, 0]] + np.array([0.2, -0.1, 0.4, -1.0]) > 0).astype(int)


def closed_sets(X):
    sets = label_sets(X)[:, :3]
    sets[:, 1] *= sets[:, 0]
    sets[:, 2] *= sets[:, 1]
    return sets


def rankings(X):
    return np.argsort(np.argsort(X @ np.array([[1, 0, 1, -1], [0, 1, 0.5, 0], [1, 1, 0, 2]]))) + 1


def words(X):
    signs = np.where(X > 0.2, "b", np.where(X < -0.7, "c", "a"))
    return ["".join(row[: 2 + (row[0] == "a")]) for row in signs]


def tokens(X):
    """Features for every position of sequences of one to four positions."""
    lengths = np.arange(len(X)) % 4 + 1
    rng = np.random.default_rng(9)
    return [x + 0.5 * rng.standard_normal((n, 3)) for x, n in zip(X, lengths)]


def symbols(inputs):
    return [["up" if row[0] > 0 else "down" for row in rows] for rows in inputs]


def chain():
    return Hierarchy([("a", "b"), ("b", "c")])


CASES = {
    "classes": (None, None, classes),
    "classes by outputs": (None, Listed(ZeroOne()), classes),
    "label sets": (LabelSets(), "hamming", label_sets),
    "label sets, F1": (LabelSets(), "f1", label_sets),
    "label sets, zero-one": (LabelSets(), "zero_one", label_sets),
    "hierarchy": (chain(), "hierarchical", closed_sets),
    "rankings": (Rankings(), "spearman", rankings),
    "rankings by pairs": (Rankings(), "kendall", rankings),
    "interval": (Interval(-2.0, 2.0), None, lambda X: np.clip(X[:, 0], -2, 2)),
    "box": (Box(), None, lambda X: X[:, :2] + 0.5),
    "words": (Sequences(), "hamming", words),
}


# ---------------------------------------------------------------------- sources
class Watched(Source):
    """Rows of arrays, where a file in a folder tells of every partition that was read."""

    def __init__(
        self, X, y, folder, *, weight=None, killer=None, fails_after=None, fails_from=None
    ):
        self.whole, self.folder, self.n_rows = ArraySource(X, y, weight), str(folder), len(X)
        self.killer, self.fails_after, self.fails_from = killer, fails_after, fails_from

    def sample(self, n, random_state=None):
        return self.whole.sample(n, random_state)

    def partitions(self, count=None):
        parts = self.whole.partitions(count)
        return [WatchedPartition(self, part, number) for number, part in enumerate(parts)]

    def n_read(self):
        return len(list(Path(self.folder).glob("read-*")))


class WatchedPartition(Partition):
    """One that kills its process the first time, fails, or fails once so many have been read."""

    def __init__(self, source, part, number):
        self.folder, self.part, self.number = source.folder, part, number
        self.killer, self.fails_after = source.killer, source.fails_after
        self.fails = source.fails_from is not None and number >= source.fails_from
        self.n_rows, self.start = part.n_rows, part.start

    def blocks(self, rows):
        folder = Path(self.folder)
        n_read = len(list(folder.glob("read-*")))
        if self.fails or n_read == self.fails_after:
            raise OSError("the disk is gone")
        if self.number == self.killer:
            try:
                with open(folder / "killed", "x"):
                    os.kill(os.getpid(), 9)
            except FileExistsError:
                pass
        (folder / f"read-{self.number}-{n_read}-{os.getpid()}").touch()
        yield from self.part.blocks(rows)
