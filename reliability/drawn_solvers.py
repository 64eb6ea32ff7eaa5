# SPDX-License-Identifier: BSD-3-Clause
"""A solver that somebody else wrote: it compares all solutions on a list."""

import numpy as np
import oracle_sets as oracle
from drawn import LETTERS, Drawn

from skstruct import spaces


def solver_space(rng):
    """Solutions of zeros and ones; options limit their number of ones, for all rows or each."""
    d = int(rng.integers(2, 6))
    Z = oracle.binary_vectors(d)
    Z = Z[(rng.random(len(Z)) < 0.6) | (Z.sum(axis=1) == 0)]  # any set of solutions
    exact, states = rng.random() < 0.6, rng.random() < 0.5

    def solve(costs, most=d):
        left = Z[Z.sum(axis=1) <= most]
        values = left @ costs
        best = left[values.argmin()]
        return (best, float(values.min())) if states else best

    def bound(costs):
        return float(np.minimum(costs, 0).sum())

    def feasible(z, most=d):
        return bool((z == Z).all(axis=1).any() and z.sum() <= most)

    names = list(LETTERS[:d])
    space = spaces.SolverSpace(
        solve, labels=names, exact=exact, bound=bound, feasible=feasible, binary=True
    ).fit(Z)

    def narrow(rng, n):
        if rng.random() < 0.5:
            most = int(rng.integers(0, d + 1))
            return {"most": most}, (Z.sum(axis=1) <= most)[None]
        each = rng.integers(0, d + 1, n)
        return {"per_row": {"most": each.tolist()}}, Z.sum(axis=1) <= each[:, None]

    def key(z):
        return tuple(np.asarray(z, dtype=int).tolist())

    return Drawn("SolverSpace", space, list(Z), Z, key, narrow, {"Z": Z, "names": names})


FAMILIES = [solver_space]
