# SPDX-License-Identifier: BSD-3-Clause
"""Folds of rows that depend on what the rows hold, not on their order."""

from typing import Any

import numpy as np


def projected(rows: Any) -> np.ndarray:
    """A number for each row, by a random projection: the same for equal rows; shape (n,)."""
    rng, rows = np.random.default_rng(0), rows if rows.ndim == 2 else rows[:, None]
    if not hasattr(rows, "indptr"):
        rows = np.nan_to_num(rows)  # gaps of targets
    return rows @ rng.standard_normal(rows.shape[1])


def rank_by_content(X: Any, targets: np.ndarray) -> np.ndarray:
    """The place of each row among all by its inputs, and by its targets among equal inputs."""
    order = np.lexsort((projected(targets), projected(X)))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return rank


def folds_of(group: np.ndarray, n_folds: int, key: np.ndarray) -> np.ndarray:
    """A fold for each row, the same for rows of one group, about as large as the others.

    Parameters
    ----------
    group : array of shape (n,), numbers from 0
    n_folds : int
    key : array of shape (n,)
        The folds do not change with the order of the rows, if it does not.

    Examples
    --------
    >>> folds_of(np.array([0, 1, 2, 2, 3]), 2, np.arange(5.0)).tolist()
    [1, 1, 0, 0, 0]
    """
    sizes = np.bincount(group)
    of_group = np.bincount(group, key) / sizes
    order = np.argsort(of_group, kind="stable")
    order = order[np.random.default_rng(0).permutation(len(order))]
    n_folds = min(n_folds, len(sizes))
    fold_of: np.ndarray = np.empty(len(sizes), dtype=np.int64)
    if sizes.max() == 1:
        fold_of[order] = np.arange(len(order)) % n_folds
        return np.asarray(fold_of[group])
    return np.asarray(packed(sizes, n_folds, order)[group])


def n_folds_for(n_folds: int, n_left_out: int, n_rows: int) -> int:
    """Into how many folds some rows are divided, if all were into ``n_folds``."""
    return max(1, -(-n_folds * n_left_out // n_rows))


def folds_of_rows(rows: np.ndarray, group: np.ndarray, n_folds: int, key: np.ndarray) -> np.ndarray:
    """A fold for each of some rows, of about as many rows as a fold of all would have.

    Parameters
    ----------
    rows : array of row numbers
        Groups are in it as a whole, or not at all.
    group, key : arrays of shape (n,)
        Of all rows, as of :func:`folds_of`.
    n_folds : int
        Of all rows.
    """
    number = np.unique(group[rows], return_inverse=True)[1].reshape(-1)
    return folds_of(number, n_folds_for(n_folds, len(rows), len(group)), key[rows])


def packed(sizes: np.ndarray, n_folds: int, order: np.ndarray | None = None) -> np.ndarray:
    """The fold of each group: the largest first, into the emptiest; of equal ones by ``order``.

    >>> packed(np.array([1, 3, 2]), 2).tolist()
    [1, 0, 1]
    """
    order = np.arange(len(sizes)) if order is None else order
    fold_of, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(n_folds)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of
