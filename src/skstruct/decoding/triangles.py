# SPDX-License-Identifier: BSD-3-Clause
"""Linear ordering as a program over pairs with triangle inequalities, added as they break."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.decoding.binary_programs import ROUND, BinaryProgram

MOST_CUTS = 2000  # added in one round, the most violated ones


def triangle_order(pair: np.ndarray, *, prove: bool = False) -> tuple[np.ndarray, float]:
    """A good order and a lower bound on the cost of every order, for one cost matrix.

    Items are given in an order that is good already: the answer is the better of it and
    of the rounded solution.

    Parameters
    ----------
    pair : array of shape (d, d)
        Antisymmetric; ``pair[p, q]`` is the cost of p before q.
    prove : bool
        Go on with branch and bound, until the two meet.
    """
    matrix, bound, cuts = solve_triangles(pair)
    orders = [np.arange(len(pair)), _rounded(pair, matrix)]
    best = min(orders, key=lambda order: _total(pair, order))
    if prove and _total(pair, best) > bound + 1e-9 * np.abs(pair).sum():
        matrix, bound, _ = solve_triangles(pair, cuts, branch=True)
        best = np.argsort(-matrix.sum(axis=1), kind="stable")
    return best, min(bound, _total(pair, best))


def solve_triangles(pair, cuts=(), *, branch=False):
    """x[p, q] in [0, 1] says that p comes before q: the best x, its bound, and the cuts.

    Any three items obey 0 <= x[p, q] + x[q, r] - x[p, r] <= 1; with ``branch`` all x are
    whole, and the bound is the cost of the best order.
    """
    d = len(pair)
    p, q = np.triu_indices(d, 1)
    number = np.zeros((d, d), np.int64)
    number[p, q] = np.arange(len(p))
    cuts, matrix = list(cuts), np.zeros((d, d))
    while True:
        program = _program(cuts, len(p))
        x, bound = (program.solve if branch else program.relax_costs)(2 * pair[p, q])
        matrix[p, q], matrix[q, p] = x, 1 - x
        violated = _violated(matrix, number)
        if not len(violated):
            return matrix, bound - pair[p, q].sum(), cuts
        cuts.append(violated)


def _total(pair, order) -> float:
    return float(np.triu(pair[np.ix_(order, order)], 1).sum())


def _rounded(pair, matrix):
    """Items by how many they precede in the relaxation, then moved one by one."""
    from skstruct.decoding._compiled_insertion import insert

    order = np.argsort(-matrix.sum(axis=1), kind="stable")
    insert(np.ascontiguousarray(pair), order, 100)
    return order


def _violated(matrix, number):
    """Triples (p < q < r) with a sign: x[p, q] + x[q, r] - x[p, r] above 1 or below 0."""
    d = len(matrix)
    found = []
    for p in range(d - 2):
        value = matrix[p, p + 1 :, None] + matrix[p + 1 :, p + 1 :] - matrix[p, None, p + 1 :]
        value[np.tril_indices(len(value))] = 0.5
        excess = np.maximum(value - 1, -value)
        q, r = np.nonzero(excess > ROUND)
        sign = np.where(value[q, r] > 1, 1, -1)
        q_, r_ = q + p + 1, r + p + 1
        triples = number[p, q_], number[q_, r_], number[p, r_], sign, excess[q, r]
        found.append(np.column_stack(triples))
    cuts = np.concatenate(found)
    return cuts[np.argsort(-cuts[:, 4], kind="stable")][:MOST_CUTS, :4].astype(np.int64)


def _program(rows, n_pairs):
    """sign (x[p, q] + x[q, r] - x[p, r]) <= 1 or 0 for the triples found so far."""
    triples = np.concatenate(rows) if rows else np.zeros((0, 4), np.int64)
    m, sign = len(triples), triples[:, 3]
    data = np.concatenate([sign, sign, -sign]).astype(np.float64)
    at = np.tile(np.arange(m), 3), np.concatenate([triples[:, 0], triples[:, 1], triples[:, 2]])
    A_ub = sparse.csr_array((data, at), shape=(m, n_pairs))
    none = sparse.csr_array((0, n_pairs))
    return BinaryProgram(A_ub, np.where(sign > 0, 1.0, 0.0), none, np.zeros(0))
