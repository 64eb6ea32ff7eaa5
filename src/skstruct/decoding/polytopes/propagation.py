# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of single coordinates that linear constraints imply."""

from __future__ import annotations

import numpy as np
from scipy import sparse

PASSES = 5
MARGIN = 1e-6  # relative to the largest bound: implied bounds are this much wider than computed,
# so that solvers still find the points of polytopes that are single points


def implied_ranges(constraints, low, high):
    r"""Narrower bounds that every point of the polytope meets; low, high and answers (B, d).

    From :math:`\sum_k a_k z_k \le b` follows :math:`a_j z_j \le b - \sum_{k \ne j} \min a_k z_k`.
    Rows that turn out to have no points keep their bounds.

    Examples
    --------
    >>> from skstruct.decoding.polytopes.constraints import read_constraints
    >>> low, high = np.zeros((1, 2)), np.full((1, 2), 9.0)
    >>> implied_ranges(read_constraints([[1, 2]], [4.0]), low, high)[1].round(3).tolist()
    [[4.0, 2.0]]
    """
    A_eq, A_ub = constraints.A_eq, constraints.A_ub
    matrix = sparse.vstack([A_eq, -A_eq, A_ub]).tocsr()
    sides = [np.atleast_2d(b) for b in (constraints.b_eq, -constraints.b_eq, constraints.b_ub)]
    n = len(low)
    sides = np.hstack([np.broadcast_to(b, (n, b.shape[1])) for b in sides])
    matrix.eliminate_zeros()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, entry = matrix.indices, matrix.data
    if not len(entry):
        return low, high
    size = np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    margin = MARGIN * np.maximum(size, np.abs(sides).max(axis=1, keepdims=True))
    new_low, new_high = low.copy(), high.copy()
    total = sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
    total.resize(matrix.shape[0], len(row))
    above, below, on = entry > 0, entry < 0, np.arange(n)
    for _ in range(PASSES):
        lower, upper = new_low[on], new_high[on]
        width = (upper - lower).sum(axis=1)
        least = np.where(above, lower[:, column], upper[:, column]) * entry
        spare = (sides[on] - (total @ least.T).T)[:, row] + least  # what is left for entry * z
        limit = spare / entry + np.sign(entry) * margin[on] * np.maximum(1.0, 1.0 / np.abs(entry))
        np.minimum.at(upper, (slice(None), column[above]), limit[:, above])
        np.maximum.at(lower, (slice(None), column[below]), limit[:, below])
        new_low[on], new_high[on] = lower, upper
        on = on[(upper - lower).sum(axis=1) <= 0.99 * width]  # a row goes on by itself alone
        if not len(on):
            break
    fine = (new_low <= new_high).all(axis=1, keepdims=True)
    return np.where(fine, new_low, low), np.where(fine, new_high, high)
