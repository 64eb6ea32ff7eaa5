# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to decode rankings: SciPy row by row, an integer program, plain Python."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from skstruct.spaces.solvers.linear_ordering import pair_signs


def assignments_by_scipy(costs):
    """One call for every row; values."""
    return np.array([cost[linear_sum_assignment(cost)].sum() for cost in costs])


def order_by_table(pair):
    """Subset dynamic programming in plain Python: the least cost of one row."""
    d = len(pair)
    rows = pair.tolist()
    best = [0.0] * (1 << d)
    for S in range((1 << d) - 2, -1, -1):
        left = [i for i in range(d) if not S >> i & 1]
        best[S] = min(
            sum(rows[i][q] for q in left if q != i) + best[S | 1 << i] for i in left
        )  # fmt: skip
    return best[0]


class TriangleProgram:
    """The integer program with all triangle inequalities, by HiGHS through SciPy."""

    def __init__(self, d):
        p, q = np.triu_indices(d, 1)
        number = np.zeros((d, d), int)
        number[p, q] = np.arange(len(p))
        triples = np.array([(i, j, k) for i in range(d) for j in range(i) for k in range(j)])
        k, j, i = triples.T[0], triples.T[1], triples.T[2]  # i < j < k
        m = len(i)
        data = np.concatenate([np.ones(2 * m), -np.ones(m)])
        at = np.tile(np.arange(m), 3), np.concatenate([number[i, j], number[j, k], number[i, k]])
        self.inequalities = LinearConstraint(sparse.csr_array((data, at)), 0, 1)

    def __call__(self, costs):
        """Values of rows of pair costs."""
        return np.array([self._one(cost) for cost in costs])

    def _one(self, cost):
        whole = np.ones(len(cost))
        answer = milp(2 * cost, integrality=whole, constraints=self.inequalities,
                      bounds=Bounds(0, 1), options={"mip_rel_gap": 0.0})  # fmt: skip
        return answer.fun - cost.sum()


def weighted_votes(n, d, rng, noise, voters=50):
    """Pair costs from signed votes of noisy rankings around one order per row."""
    costs = np.zeros((n, d * (d - 1) // 2))
    for row in costs:
        base = rng.permutation(d)
        for weight in rng.normal(1, 0.7, voters):
            row -= weight * pair_signs((base + rng.normal(0, noise * d, d))[None])[0]
    return costs


def place_votes(n, d, rng, voters=50):
    """Position costs from the same kind of votes."""
    costs = np.zeros((n, d, d))
    for row in costs:
        for weight in rng.normal(1, 0.7, voters):
            order = np.argsort(np.arange(d) + rng.normal(0, d / 8, d))
            row[np.arange(d), order] -= weight
    return costs
