# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost one-to-one assignments, for many cost matrices at once."""

import numpy as np


def min_cost_assignments(
    costs: np.ndarray, allowed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """For every cost matrix the column of each row, all different, of least total cost.

    Parameters
    ----------
    costs : array of shape (n, r, d), r <= d
        Finite, of any sign.
    allowed : bool array that broadcasts to (n, r, d), default=None
        Entries that may be used; None for all.

    Returns
    -------
    columns : int array of shape (n, r)
    values : array of shape (n,)
        Infinite where every assignment uses an entry that is not allowed.

    Examples
    --------
    >>> columns, values = min_cost_assignments(np.array([[[1.0, 2.0], [0.0, 5.0]]]))
    >>> columns.tolist(), values.tolist()
    ([[1, 0]], [2.0])
    >>> min_cost_assignments(np.array([[[1.0, 0.0, -2.0]]]))[0].tolist()
    [[2]]
    """
    from skstruct.spaces.solvers._numba_assignment import assign_fewer_rows, assign_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    n, r, d = costs.shape
    columns = np.empty((n, r), np.int64)
    penalized = costs if allowed is None else _penalized(costs, allowed)
    (assign_rows if r == d else assign_fewer_rows)(penalized, columns)
    at = np.arange(n)[:, None], np.arange(r), columns
    values = costs[at].sum(axis=1)
    if allowed is not None:
        values[~np.broadcast_to(allowed, costs.shape)[at].all(axis=1)] = np.inf
    return columns, values


def _penalized(costs: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Costs where one forbidden entry is more expensive than any assignment of allowed ones."""
    d = costs.shape[1]
    low, high = costs.min(axis=(1, 2)), costs.max(axis=(1, 2))
    penalty = high + (d + 1) * (high - low) + 1.0
    return np.where(allowed, costs, penalty[:, None, None])
