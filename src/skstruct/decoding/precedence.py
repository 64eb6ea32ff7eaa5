# SPDX-License-Identifier: BSD-3-Clause
"""Assignments of items to positions with "a before b", as programs: for many items."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.decoding.binary_programs import BinaryProgram
from skstruct.exceptions import InfeasibleError


def cheapest_by_program(places: np.ndarray, *, before: np.ndarray, allowed: np.ndarray):
    """Best order of every row, its value (infinite where infeasible) and a lower bound.

    x[i, t] says that item i is at position t. "a before b" reads: b has come by t + 1
    only if a has come by t.

    Parameters
    ----------
    places : array of shape (n, d, d)
        Cost of item i at position t.
    before : bool array of shape (n or 1, d, d)
    allowed : bool array of shape (n or 1, d, d)
        ``allowed[:, t, i]``: whether item i may stand at position t.

    Returns
    -------
    orders : int array of shape (n, d), best item first
    values, bounds : arrays of shape (n,)
    """
    n, d, _ = places.shape
    orders = np.zeros((n, d), np.int64)
    values, bounds = np.full(n, np.inf), np.full(n, np.inf)
    program, known = None, None
    for row in range(n):
        demanded = before[min(row, len(before) - 1)]
        if program is None or (demanded != known).any():
            program, known = _program(demanded), demanded
        high = allowed[min(row, len(allowed) - 1)].T.ravel()
        try:
            point, bounds[row] = program.solve(places[row].ravel(), high=high)
        except InfeasibleError:
            continue
        orders[row] = point.reshape(d, d).argmax(axis=0)
        values[row] = places[row].ravel() @ point
    return orders, values, bounds


def _program(before):
    d = len(before)
    once = sparse.kron(sparse.eye_array(d), np.ones((1, d)))
    filled = sparse.kron(np.ones((1, d)), sparse.eye_array(d))
    first, second = np.nonzero(before)
    m = len(first)
    # by[t, s] = 1 for s <= t: sums an item's row into "has come by t".
    by = np.tril(np.ones((d, d)))
    earlier = np.vstack([np.zeros(d), by[:-1]])
    pick = np.arange(m), np.ones(m)
    take_first = sparse.csr_array((pick[1], (pick[0], first)), shape=(m, d))
    take_second = sparse.csr_array((pick[1], (pick[0], second)), shape=(m, d))
    A_ub = sparse.csr_array(sparse.kron(take_second, by) - sparse.kron(take_first, earlier))
    A_eq = sparse.csr_array(sparse.vstack([once, filled]))
    return BinaryProgram(A_ub, np.zeros(m * d), A_eq, np.ones(2 * d))
