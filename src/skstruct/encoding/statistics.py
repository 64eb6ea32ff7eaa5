# SPDX-License-Identifier: BSD-3-Clause
"""What an encoder has to know of the columns of training: moments, medians, counts of names."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct.encoding.tables import Table

_BUDGET = 1 << 26  # bytes that are copied at once
_KEPT = 1 << 13  # numbers of a running median


@dataclass(frozen=True)
class ColumnFacts:
    """Of p columns, over the rows of training.

    Attributes
    ----------
    mean, variance, median : arrays of shape (p,)
        Of the numbers that are known; 0 where none is. Of sparse columns the variance is about
        zero, since they are not centred.
    binary : bool array of shape (p,)
        Whether all known numbers are 0 or 1.
    n_missing : int array of shape (p,)
    counts : list of p int arrays, or None
        In how many rows each name is; None of columns of numbers.
    """

    mean: np.ndarray
    variance: np.ndarray
    median: np.ndarray
    binary: np.ndarray
    n_missing: np.ndarray
    counts: list[Any]


def facts_of(table: Table) -> ColumnFacts:
    """Facts of the columns of a table, dense or sparse."""
    X = table.data
    found = _sparse_moments(X.tocsc()) if sparse.issparse(X) else _moments(X)
    mean, variance, binary, n_missing = found
    counts = [
        None if values is None else _counts(X[:, [j]], len(values))
        for j, values in enumerate(table.values)
    ]
    return ColumnFacts(mean, variance, medians(X), binary, n_missing, counts)


def _moments(X: np.ndarray) -> tuple[np.ndarray, ...]:
    known = ~np.isnan(X)
    n = known.sum(axis=0)
    filled = np.where(known, X, 0.0)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    variance = (np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / np.maximum(n, 1)
    binary = (~known | (X == 0) | (X == 1)).all(axis=0)
    return mean, variance, binary, X.shape[0] - n


def _sparse_moments(X: Any) -> tuple[np.ndarray, ...]:
    gaps = np.isnan(X.data)
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    filled = np.where(gaps, 0.0, X.data)
    add = partial(np.bincount, column, minlength=X.shape[1])
    n_missing = add(gaps).astype(np.int64)
    known = np.maximum(1, X.shape[0] - n_missing)
    other = add(~gaps & ~np.isin(X.data, (0.0, 1.0)))
    # Zeros stay zeros, so that the mean square is what tells the size of a column.
    return add(filled) / known, add(filled**2) / known, other == 0, n_missing


def _counts(column: Any, n_values: int) -> np.ndarray:
    codes = column.toarray() if sparse.issparse(column) else column
    codes = codes[~np.isnan(codes)].astype(np.int64)
    return np.bincount(codes, minlength=n_values)


def medians(X: Any) -> np.ndarray:
    """Medians of the columns of an array or CSR without what is missing; 0 where nothing is known.

    >>> medians(np.array([[1.0, np.nan], [5.0, np.nan], [2.0, np.nan]]))
    array([2., 0.])
    """
    if sparse.issparse(X):
        return _sparse_medians(X.tocsc())
    found = np.zeros(X.shape[1])
    for columns in row_blocks(X.shape[1], 8 * X.shape[0], _BUDGET):
        found[columns] = np.median(np.ascontiguousarray(X[:, columns].T), axis=1)
    for j in np.flatnonzero(np.isnan(found)):
        found[j] = _median(X[:, j])
    return found


def _sparse_medians(X: Any) -> np.ndarray:
    """Zero, unless at least half of the known numbers of a column are not."""
    found = np.zeros(X.shape[1])
    for j in np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0]):
        entries = X.data[X.indptr[j] : X.indptr[j + 1]]
        found[j] = _median(np.concatenate([entries, np.zeros(X.shape[0] - len(entries))]))
    return found


def _median(column: np.ndarray) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0


class RunningMedian:
    """The median of numbers that come in blocks; exact up to some thousands of them.

    Beyond, pairs of neighbours in the order of size become one that stands for both, as in the
    algorithm of Munro and Paterson: what is kept has weights, and the median of these is taken.
    Every merging moves ranks by less than the weight of one number.

    Examples
    --------
    >>> median = RunningMedian()
    >>> for block in np.split(np.arange(3.0, 9.0), 2):
    ...     median.add(block)
    >>> median.value
    5.5
    """

    def __init__(self) -> None:
        self._levels: list[np.ndarray] = [np.empty(0)]

    def add(self, numbers: np.ndarray) -> None:
        """Further numbers, all of them finite."""
        self._levels[0] = np.concatenate([self._levels[0], numbers])
        level = 0
        while len(self._levels[level]) > 2 * _KEPT:
            if level + 1 == len(self._levels):
                self._levels.append(np.empty(0))
            ordered = np.sort(self._levels[level])
            paired = len(ordered) // 2 * 2
            # Of every other pair the smaller, so that ranks do not drift.
            kept = np.where(np.arange(paired // 2) % 2, ordered[1:paired:2], ordered[:paired:2])
            self._levels[level] = ordered[paired:]
            self._levels[level + 1] = np.concatenate([self._levels[level + 1], kept])
            level += 1

    @property
    def value(self) -> float:
        """The median, 0 of no numbers."""
        numbers = np.concatenate(self._levels)
        if not len(numbers):
            return 0.0
        weights = np.concatenate([np.full(len(x), 2**k) for k, x in enumerate(self._levels)])
        order = np.argsort(numbers, kind="stable")
        upto = np.cumsum(weights[order])
        total = int(upto[-1])
        low, high = (
            np.searchsorted(upto, rank, side="right") for rank in ((total - 1) // 2, total // 2)
        )
        return float((numbers[order[low]] + numbers[order[high]]) / 2)
