# SPDX-License-Identifier: BSD-3-Clause
"""Counts of what was found, missed and made up, and the shares that come of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.reports.pages import Share


@dataclass(frozen=True)
class Counts:
    """Rows in which each label was found, missed or false; shape (d,) each."""

    found: np.ndarray
    missed: np.ndarray
    false: np.ndarray
    n: int

    @classmethod
    def of_sets(cls, predicted, truth) -> Counts:
        """From indicators (n, d).

        >>> counts = Counts.of_sets(np.array([[1, 1, 0]]), np.array([[1, 0, 1]]))
        >>> counts.found, counts.missed, counts.false
        (array([1, 0, 0]), array([0, 0, 1]), array([0, 1, 0]))
        """
        Z, Y = np.asarray(predicted) != 0, np.asarray(truth) != 0
        counts = (Z & Y).sum(axis=0), (~Z & Y).sum(axis=0), (Z & ~Y).sum(axis=0)
        return cls(*counts, len(Z))

    @classmethod
    def of_table(cls, table) -> Counts:
        """From a confusion table: truths in rows, predictions in columns."""
        right = np.diag(table)
        missed, false = table.sum(axis=1) - right, table.sum(axis=0) - right
        return cls(right, missed, false, int(table.sum()))

    def take(self, labels) -> Counts:
        return Counts(self.found[labels], self.missed[labels], self.false[labels], self.n)

    def total(self) -> Counts:
        """All labels as one."""
        found, missed, false = (
            np.atleast_1d(part.sum()) for part in (self.found, self.missed, self.false)
        )
        return Counts(found, missed, false, self.n * len(self.found))

    @property
    def support(self) -> np.ndarray:
        return self.found + self.missed

    @property
    def errors(self) -> np.ndarray:
        return self.missed + self.false

    @property
    def precision(self) -> np.ndarray:
        return _share(self.found, self.found + self.false)

    @property
    def recall(self) -> np.ndarray:
        return _share(self.found, self.found + self.missed)

    @property
    def f1(self) -> np.ndarray:
        return _share(2 * self.found, 2 * self.found + self.missed + self.false)

    @property
    def hamming(self) -> np.ndarray:
        """Share of the rows in which a label is wrong."""
        return _share(self.errors, np.full(len(self.errors), self.n))

    def rows(self, names, order=None) -> list[list]:
        """Cells of a table: name, support, found, missed, false, and the shares."""
        order = np.arange(len(self.found)) if order is None else order
        counts = (self.support, self.found, self.missed, self.false)
        shares = (self.precision, self.recall, self.f1, self.hamming)
        return [
            [names[j], *(part[j] for part in counts), *(Share(part[j]) for part in shares)]
            for j in order
        ]


HEADER = ["support", "found", "missed", "false", "precision", "recall", "F1", "Hamming"]


def _share(part, whole) -> np.ndarray:
    """NaN where nothing was there to share."""
    whole = np.asarray(whole, dtype=float)
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def confusion(truth, predicted, k: int) -> np.ndarray:
    """How often class i was taken for class j; shape (k, k).

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    flat = np.bincount(np.asarray(truth) * k + np.asarray(predicted), minlength=k * k)
    return flat.reshape(k, k)
