# SPDX-License-Identifier: BSD-3-Clause
"""Which rows a sample has, when rows lie in groups that are read whole."""

from __future__ import annotations

import numpy as np
from sklearn.utils.random import sample_without_replacement


def fair_rows(sizes, n: int, rng, max_groups: int) -> np.ndarray:
    """Numbers of n rows, in order; every row is among them with probability n / sum(sizes).

    With at most ``max_groups`` groups, all sets of n rows are equally likely. With more, only
    about so many are looked into: groups are drawn with probability proportional to their sizes,
    systematically in a random order, and rows within each at random. Rows of one group then come
    together more often than by chance, while each alone has the same chance.

    Parameters
    ----------
    sizes : array of the numbers of rows in the groups
    rng : np.random.RandomState

    Examples
    --------
    >>> fair_rows([3, 4], 3, np.random.RandomState(0), max_groups=10)
    array([1, 2, 6])
    """
    sizes = np.asarray(sizes, np.int64)
    total = int(sizes.sum())
    if n >= total:
        return np.arange(total)
    starts = _large_groups(sizes, max(4, -(-4 * n // max_groups)))
    if len(starts) <= max_groups or 4 * max(n, max_groups) > total:
        return np.sort(sample_without_replacement(total, n, random_state=rng))
    ends = np.append(starts[1:], total)
    # Points at equal distances over the groups laid end to end: one of s rows gets k s / N of
    # them on average, at n / k rows each.
    order = rng.permutation(len(starts))
    points = (rng.random_sample() + np.arange(max_groups)) * (total / max_groups)
    laid = np.cumsum((ends - starts)[order])
    hit = order[np.minimum(np.searchsorted(laid, points, side="right"), len(order) - 1)]
    quota = np.full(max_groups, n // max_groups)
    quota[rng.permutation(max_groups)[: n % max_groups]] += 1
    wanted = np.bincount(hit, quota, len(starts)).astype(np.int64)
    rows = [
        starts[g] + sample_without_replacement(ends[g] - starts[g], wanted[g], random_state=rng)
        for g in np.flatnonzero(wanted)
    ]
    return np.sort(np.concatenate(rows))


def _large_groups(sizes, least: int) -> np.ndarray:
    """Where groups begin after neighbours were joined until all have at least so many rows."""
    starts, begin, end = [0], 0, 0
    for size in sizes:
        if end - begin >= least:
            starts.append(end)
            begin = end
        end += int(size)
    if end - begin < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)
