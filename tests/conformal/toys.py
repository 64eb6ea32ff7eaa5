# SPDX-License-Identifier: BSD-3-Clause
"""Learners over distributions that are known: an input is the number of a row."""

from copy import copy
from itertools import permutations

import numpy as np
from scipy.special import expit

from skstruct.spaces import (
    Classes,
    Description,
    Hierarchy,
    Interval,
    LabelSets,
    Ordinal,
    Rankings,
    Sequences,
)

TREE = [("a", "b"), ("a", "c"), ("c", "d")]
DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def plain(space):
    """A space whose outputs are written as it keeps them, so that nothing has to be parsed."""
    kind = type(space)
    as_kept = {"validate": lambda self, Z: Z, "restore": lambda self, Z, index=None: Z}
    found = copy(space)
    found.__class__ = type(kind.__name__, (kind,), as_kept)
    return found


class Toy:
    """A fitted learner: probabilities, predictions and risks of numbered rows, and their truth."""

    def __init__(self, space, P, Z, **more):
        self.space_, self.P, self.Z = space, P, Z
        self.predictions = more.get("predictions")
        self.risks = more.get("risks")
        self.loss_ = more.get("loss")
        self.intervals = more.get("intervals")

    def predict_marginals(self, X):
        rows = self.P[np.asarray(X, dtype=int).ravel()]
        return rows

    def predict(self, X):
        return self.space_.restore(self.predictions[np.asarray(X, dtype=int).ravel()])

    def predict_risk(self, X):
        return self.risks[np.asarray(X, dtype=int).ravel()]

    def predict_interval(self, X):
        return tuple(end[np.asarray(X, dtype=int).ravel()] for end in self.intervals)

    def plain(self):
        self.space_ = plain(self.space_)
        return self

    def y(self, X):
        return self.space_.restore(self.Z[np.asarray(X, dtype=int).ravel()])


def distorted(p):
    """Probabilities of a learner that is too sure of itself: monotone, and wrong."""
    return expit(1.7 * np.log((p + 0.01) / (1.01 - p)) + 0.3)


def closed_in(space, rng, n):
    """Probabilities and outputs of labels that need all their parents."""
    dag = Description.of(space).output_dag()
    d = dag.n_nodes
    given = expit(rng.normal(0.5, 1.5, (n, d)))
    Z, p = np.zeros((n, d), np.int8), np.ones((n, d))
    for j in dag.order:
        parents = dag.parents[dag.children == j]
        Z[:, j] = (rng.random(n) < given[:, j]) & Z[:, parents].all(axis=1)
        p[:, j] = given[:, j] * p[:, parents].min(axis=1, initial=1.0)
    return distorted(p), Z


def labels(n, seed=0):
    rng = np.random.default_rng(seed)
    space = LabelSets(["a", "b", "c", "d"]).fit(np.eye(4, dtype=int))
    return Toy(space, *closed_in(space, rng, n))


def tree(n, seed=0):
    rng = np.random.default_rng(seed)
    space = Hierarchy(TREE).fit(np.ones((1, 4), int))
    return Toy(space, *closed_in(space, rng, n))


def dag(n, seed=0):
    rng = np.random.default_rng(seed)
    space = Hierarchy(DIAMOND).fit(np.ones((1, 4), int))
    return Toy(space, *closed_in(space, rng, n))


def rankings(n, seed=0):
    """Items by noisy utilities; pairs are told independently, so that there are cycles."""
    rng = np.random.default_rng(seed)
    utility = rng.normal(size=(n, 4))
    Z = (-(utility + rng.normal(size=(n, 4)))).argsort(axis=1).argsort(axis=1) + 1.0
    told = utility[:, :, None] - utility[:, None, :]
    noise = np.triu(rng.normal(size=(n, 4, 4)), 1)
    P = expit(2.0 * told + noise - noise.transpose(0, 2, 1))
    return Toy(Rankings(4).fit(Z), P, Z)


def sequences(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.5] * 3, size=(n, 4))
    Z = (rng.random((n, 4, 1)) > p.cumsum(axis=2)).sum(axis=2).clip(max=2)
    P = p**1.5 + 0.01
    space = Sequences("abc", length=4).fit(["abca"])
    return Toy(space, P / P.sum(axis=2, keepdims=True), Z)


def classes(n, seed=0, space=None):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.7] * 4, size=n)
    y = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=3)
    P = p**1.5 + 0.01
    P /= P.sum(axis=1, keepdims=True)
    return Toy(
        Classes(list("wxyz")).fit(list("wxyz")), P, y, predictions=P.argmax(axis=1),
        risks=1.0 - P.max(axis=1), loss=lambda a, b: (a != b).astype(float),
    )  # fmt: skip


def levels(n, seed=0):
    toy = classes(n, seed)
    space = Ordinal([1, 2, 3, 4]).fit([1, 2, 3, 4])
    return Toy(space, toy.P, space.psi(toy.Z))


def quantities(n, seed=0):
    """Noise that grows with x, and a learner that is off by a little."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = (x + (0.1 + x) * rng.standard_t(3, n))[:, None]
    centre = (1.1 * x + 0.1)[:, None]
    ends = centre - 0.2, centre + 0.2 + x[:, None]
    return Toy(
        Interval(-50.0, 50.0).fit([0.0, 1.0]), None, y.clip(-50, 50), predictions=centre,
        risks=(0.1 + x) ** 2, intervals=ends,
    )  # fmt: skip


PARTS = {f.__name__: f for f in (labels, tree, dag, rankings, sequences, classes, levels)}
ALL = {**PARTS, "quantities": quantities}


def is_partial_order(pairs):
    """Whether a list of pairs is transitive and never goes both ways."""
    pairs = set(pairs)
    closed = all((a, d) in pairs for a, b in pairs for c, d in pairs if b == c)
    return closed and not any((b, a) in pairs for a, b in pairs)


def all_orders(d):
    return np.array(list(permutations(range(1, d + 1))), dtype=float)
