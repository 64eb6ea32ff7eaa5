# SPDX-License-Identifier: BSD-3-Clause
"""Trees by a price on circles."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from skstruct.decoding.pairwise.forests import is_forest
from skstruct.learners.margins.spanning import n_nodes, spanning_forest, random_spanning_tree
from skstruct.learners.margins.structures import train_on


def linearize(edges, weights, z):
    tree = spanning_forest(edges, np.abs(weights), np.abs(z))
    return np.where(tree, np.sign(np.where(weights != 0, weights, z)), 0.0)


def follow(dual, oracle, edges, v, beta, *, growth, beta_max, tol, max_iter, rng, stay=3, trace=None):
    while True:
        for _ in range(stay):
            dual.penalise(l1=beta, shift=beta * v).solve(oracle, tol, range(max_iter), rng)
            before, v = v, linearize(edges, dual.constants, dual.z)
            if (before == v).all():
                break
        used = dual.constants != 0
        if trace is not None: trace.append((beta, int(used.sum()), dual.objective, dual.n_iter))
        if is_forest(n_nodes(edges), edges[used]) and (before == v).all():
            return v != 0
        beta = min(beta * growth, beta_max)
