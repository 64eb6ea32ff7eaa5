# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of labels, trained with an oracle that looks at all outputs; all their trees."""

from functools import cache
from itertools import combinations

import numpy as np

from skstruct.learners.max_margin.dual import HingeDual, Vertices
from skstruct.learners.max_margin.scores import LinearRows
from skstruct.learners.max_margin.tree_search import train_on
from skstruct.spaces.solvers.pairwise.forests import is_forest
from strategies import subsets

FINE = 1e-5


def pairs_of(n):
    return np.column_stack(np.triu_indices(n, 1))


@cache
def trees_of(n):
    """Masks of all n^(n-2) spanning trees."""
    edges = pairs_of(n)
    some = [list(some) for some in combinations(range(len(edges)), n - 1)]
    return [np.isin(np.arange(len(edges)), e) for e in some if is_forest(n, edges[e])]


class Case:
    """Rows, labels, and an oracle that looks at all outputs."""

    def __init__(self, X, Y, lam=0.05):
        self.X, self.Y, self.lam = X, np.asarray(Y, dtype=np.float64), lam
        self.n, self.edges = self.Y.shape[1], pairs_of(self.Y.shape[1])
        self.outputs = subsets(self.n).astype(np.float64)
        self.truth, self.products = self.multiplied(self.Y), self.multiplied(self.outputs)

    def multiplied(self, Y):
        return Y[:, self.edges[:, 0]] * Y[:, self.edges[:, 1]]

    def dual(self):
        rows = LinearRows(self.X, np.arange(len(self.X) + 1))
        return HingeDual(rows, self.n, len(self.edges), self.lam)

    def oracle(self, scores, constants, examples):
        Y, T = self.Y[examples], self.truth[examples]
        losses = (self.outputs[None] != Y[:, None]).sum(axis=2).astype(float)
        true = (scores * Y).sum(axis=1) + T @ constants
        values = losses + scores @ self.outputs.T + self.products @ constants - true[:, None]
        best = values.argmax(axis=1)
        row = np.arange(len(best))
        return Vertices(
            self.outputs[best] - Y, self.products[best] - T, losses[row, best], values[row, best]
        )

    def trained(self, mask, tol=FINE):
        return train_on(self.dual(), self.oracle, mask, tol=tol, max_iter=3000, rng=0)


def random_case(n, rows, seed, lam=0.05):
    """Labels that depend on two inputs and on each other."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(rows, 2)), np.ones(rows)])
    common = rng.normal(size=(rows, 1))
    scores = X @ rng.normal(size=(3, n)) + common * rng.normal(size=n)
    return Case(X, scores + 0.3 * rng.normal(size=(rows, n)) > 0, lam)
