# SPDX-License-Identifier: BSD-3-Clause
"""Which few constraints of an infeasible system conflict."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.polytopes.linear_programs import solve_linear_program

FILTERED = 100  # constraints that are tried one by one
NAMED = 10  # constraints that are named
LEAST = 1e-9  # total violation, relative to the right-hand sides, that counts as none


def describe_conflict(constraints, low, high, labels=None) -> str:
    """Constraints that cannot hold together, none of which could be left out; in words.

    A linear program finds the least total violation; the constraints with a price there
    prove that it is positive (Farkas), and each of them that can be spared is taken out
    (deletion filter, Chinneck and Dravnieks 1991). ``labels`` are names of the columns.
    """
    labels = range(constraints.n_columns) if labels is None else labels
    low, high = (
        np.broadcast_to(low, constraints.n_columns),
        np.broadcast_to(high, constraints.n_columns),
    )
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        j = int(crossed[0])
        return (
            f"the lower bound of column {labels[j]!r} is above its upper bound, "
            f"{low[j]:.6g} > {high[j]:.6g}"
        )
    system = _System(constraints, low, high, labels)
    keep = system.priced(np.ones(system.size, bool))
    for i in np.flatnonzero(keep)[:FILTERED]:
        without = keep.copy()
        without[i] = False
        if system.violation(without) > LEAST:
            keep = without
    names = [system.name(int(i)) for i in np.flatnonzero(keep)]
    if len(names) > NAMED:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    if len(names) < 2:
        return f"{''.join(names) or 'the constraints'} cannot hold"
    return f"{', '.join(names[:-1])} and {names[-1]} conflict"


class _System:
    """All constraints in one list: equalities, inequalities, lower and upper bounds."""

    def __init__(self, constraints, low, high, labels):
        from scipy import sparse

        self.labels = labels

        d = constraints.n_columns
        self.lows, self.highs = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
        eye = sparse.eye_array(d, format="csr")
        blocks = [constraints.A_eq, constraints.A_ub, -eye[self.lows], eye[self.highs]]
        A = sparse.vstack(blocks, format="csr")
        b = np.concatenate([constraints.b_eq, constraints.b_ub, -low[self.lows], high[self.highs]])
        largest = abs(A).max(axis=1).toarray().ravel() if A.shape[0] else np.zeros(0)
        norm = np.where(largest > 0, largest, 1.0)
        self.A, self.b = sparse.diags_array(1 / norm).tocsr() @ A, b / norm
        self.b = self.b / max(np.abs(self.b).max(initial=0.0), np.finfo(float).tiny)
        self.n_eq, self.n_ub = len(constraints.b_eq), len(constraints.b_ub)
        self.size = len(b)

    def name(self, i: int) -> str:
        if i < self.n_eq:
            return f"A_eq row {i}"
        if i < self.n_eq + self.n_ub:
            return f"A_ub row {i - self.n_eq}"
        i -= self.n_eq + self.n_ub
        if i < len(self.lows):
            return f"the lower bound of column {self.labels[self.lows[i]]!r}"
        return f"the upper bound of column {self.labels[self.highs[i - len(self.lows)]]!r}"

    def _elastic(self, keep):
        """Least total violation of the constraints kept: min sum s, A x - s <= b, s >= 0."""
        from scipy import sparse

        equal = keep[: self.n_eq]
        A, b = self.A[keep], self.b[keep]
        m, d = A.shape
        n_eq = int(equal.sum())
        under = sparse.eye_array(m, n_eq, format="csr")  # equalities may be missed both ways
        system = sparse.hstack([A, -sparse.eye_array(m), under], format="csr")
        cost = np.concatenate([np.zeros(d), np.ones(m + n_eq)])
        low = np.concatenate([np.full(d, -np.inf), np.zeros(m + n_eq)])
        high = np.full(d + m + n_eq, np.inf)
        answer = solve_linear_program(
            cost, system[:n_eq], b[:n_eq], system[n_eq:], b[n_eq:], low, high
        )
        return float(cost @ answer.point), np.concatenate([answer.eq_prices, answer.ub_prices])

    def violation(self, keep) -> float:
        return self._elastic(keep)[0]

    def priced(self, keep) -> np.ndarray:
        """Those of the constraints kept that the least violation depends on."""
        total, prices = self._elastic(keep)
        chosen = keep.copy()
        chosen[np.flatnonzero(keep)] = np.abs(prices) > LEAST
        return chosen if total > LEAST and chosen.any() else keep
