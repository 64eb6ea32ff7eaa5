# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are left out together: by group, or by sets of groups."""

from __future__ import annotations

import numpy as np

FOLDS = 10  # sets of groups at most
LARGEST_GROUP = 2000  # rows: a larger one would take longer than the sums of ten folds


def group_numbers(groups, n: int, weight=None) -> np.ndarray:
    """A number from 0 for the group of each row; at least two groups have weight."""
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}; one entry for each of {n} rows expected."
        )
    number = np.unique(groups, return_inverse=True)[1].reshape(-1)
    if np.count_nonzero(np.bincount(number, weight)) < 2:
        raise ValueError("All rows are in one group: leaving it out leaves nothing.")
    return number


def fold_numbers(number) -> np.ndarray:
    """The fold of each row: rows of a group together, at most ten folds of about equal size.

    >>> fold_numbers(np.array([0, 0, 1]))
    array([0, 0, 1])
    """
    sizes = np.bincount(number)
    if len(sizes) <= FOLDS:
        return number
    fold_of, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(FOLDS)
    for group in np.argsort(-sizes, kind="stable"):  # the largest first, into the emptiest fold
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of[number]


def group_blocks(number, step: int) -> list[np.ndarray]:
    """Numbers of rows in blocks of whole groups, about so many rows in each.

    >>> group_blocks(np.array([1, 0, 1, 2]), 2)
    [array([1, 0, 2]), array([3])]
    """
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number))
    cuts = [0]
    for end in ends:
        if end - cuts[-1] >= step or end == len(order):
            cuts.append(int(end))
    return [order[a:b] for a, b in zip(cuts, cuts[1:])]  # noqa: RUF007
