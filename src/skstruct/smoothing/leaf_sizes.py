# SPDX-License-Identifier: BSD-3-Clause
"""How many draws a leaf of a forest holds at least, chosen by out-of-bag errors."""

from __future__ import annotations

import numpy as np

N_COMPARED = 50  # trees that each size is judged by
PATIENCE = 3  # sizes in a row that are worse than the best, before larger ones are left untried


def leaf_sizes(n_draws: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... up to a quarter of the draws, and all of them: no split at all.

    >>> leaf_sizes(100), leaf_sizes(7)
    ([1, 2, 5, 10, 20, 100], [1, 7])
    """
    steps = [m * 10**k for k in range(len(str(n_draws))) for m in (1, 2, 5)]
    return [size for size in steps if size == 1 or 4 * size <= n_draws] + [n_draws] * (n_draws > 1)


def chosen_leaf_size(sizes, compare):
    """The size of least error and what was grown for it; ties go to the smaller size.

    Parameters
    ----------
    sizes : list of int, increasing
    compare : callable (size) -> error, trees
    """
    best, worse = (np.inf, sizes[0], []), 0
    for size in sizes if len(sizes) > 1 else ():
        error, trees = compare(size)
        better = error < best[0]
        best, worse = ((error, size, trees), 0) if better else (best, worse + 1)
        if worse == PATIENCE:
            break
    return best[1:]


def out_of_bag_error(votes, free, leaf_means, targets, weight, n_estimators: int) -> float:
    r"""Squared error of out-of-bag means, as a forest of ``n_estimators`` trees would have it.

    The mean of few trees varies more than that of many, and the more so the smaller their
    leaves are. With b trees that have not seen a row, and s^2 the variance between these, the
    error of B trees is estimated by

    .. math:: (m - t)^2 + s^2 \left(\tfrac1B - \tfrac1b\right)

    Each target is measured in units of its variance; those that do not vary do not count.

    Parameters
    ----------
    votes : callable (n, n_trees) -> sparse (n, n_leaves)
        Votes of trees at the leaves of the rows.
    free : bool array (n, n_trees)
        Trees that have not seen the row.
    leaf_means : array (n_leaves, q)
    targets : array (n, q) or (n,)
    weight : array (n,)
    """
    T = targets.reshape(len(targets), -1)
    n_free = free.sum(axis=1)
    judged = np.flatnonzero((n_free > 1) & (weight > 0))
    scale = np.average((T - np.average(T, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    vary = scale > np.finfo(float).eps * np.abs(T).max(axis=0, initial=0.0) ** 2
    if not len(judged) or not vary.any():
        return np.inf
    V, b = votes(free / np.maximum(n_free, 1)[:, None])[judged], n_free[judged, None]
    L = leaf_means.reshape(len(leaf_means), -1)[:, vary]
    means = V @ L
    between = (V @ L**2 - means**2).clip(min=0.0) * b / (b - 1)
    errors = (means - T[np.ix_(judged, vary)]) ** 2 + between * (1.0 / n_estimators - 1.0 / b)
    return float(np.average(errors @ (1.0 / scale[vary]), weights=weight[judged]) / vary.sum())
