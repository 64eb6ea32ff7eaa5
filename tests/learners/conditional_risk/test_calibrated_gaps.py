# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities where parts of training outputs are missing at random: simulations.

The bias of a part is its mean probability on fresh rows less how often it is there, and its
standard error that over fits to fresh draws. Of right probabilities one mean in ten would be beyond
two standard errors of six fits; at these seeds none is.
"""

import numpy as np
import pytest
from scipy.special import expit

from skstruct import ConditionalRiskMinimizer
from skstruct.spaces import Classes, Hierarchy, LabelSets, Sequences

EDGES = [("r", f"m{i}") for i in range(2)]
EDGES += [(f"m{i}", f"l{i}{k}") for i in range(2) for k in range(3)]
NAMES = ["r", "m0", "m1", *(leaf for _, leaf in EDGES[2:])]
TREE = Hierarchy(EDGES, labels=NAMES)
DAG = Hierarchy([*EDGES, ("m0", "l12")], labels=NAMES)  # one label has two parents
FITS, ROWS, FRESH = 6, 200, 2000


def drawn_sets(space, n, rng):
    """A frequent root, and labels below that are there given their parents."""
    weights = np.random.default_rng(99).normal(size=(3, len(NAMES)))
    X = rng.normal(size=(n, 3))
    odds = X @ weights + np.where(space.dag_.depth == 0, 1.7, -0.3)
    Z = (rng.random(odds.shape) < expit(odds)).astype(int)
    for j in space.dag_.order:
        Z[:, j] &= Z[:, space.dag_.parents_of[j]].all(axis=1)
    return X, Z


def drawn_names(n, rng, width):
    weights = np.random.default_rng(98).normal(size=(3, width, 3))
    X = rng.normal(size=(n, 3))
    odds = np.einsum("np,pwk->nwk", X, weights) + np.array([1.0, 0.0, -1.0])
    p = np.exp(odds) / np.exp(odds).sum(axis=2, keepdims=True)
    return X, (rng.random((n, width, 1)) > p.cumsum(axis=2)).sum(axis=2).clip(max=2)


def hidden(case, X, Z, share, rng):
    """Outputs in the user's format with gaps, and the truth in that of marginals."""
    gap = rng.random(Z.shape) < share
    if case in ("labels", "tree", "dag"):
        return np.where(gap, np.nan, Z), Z
    if case == "words":
        rows = [["abc"[z] for z in row] for row in Z]
        return [[None if g else s for s, g in zip(*one)] for one in zip(rows, gap)], np.eye(3)[Z]
    return [None if g else int(z) for z, g in zip(Z[:, 0], gap[:, 0])], np.eye(3)[Z[:, 0]]


CASES = {
    "labels": (LabelSets(NAMES), np.array([0, 1, 1, 2, 2, 2, 2, 2, 2])),
    "tree": (TREE, TREE.dag_.depth),
    "dag": (DAG, DAG.dag_.depth),
    "classes": (Classes(range(3)), np.arange(3)),
    "words": (Sequences("abc"), np.arange(3)),
}


def fitted(case, share, seed):
    space, rng = CASES[case][0], np.random.default_rng(seed)

    def rows(n):
        if case in ("labels", "tree", "dag"):
            return drawn_sets(DAG if case == "dag" else TREE, n, rng)
        return drawn_names(n, rng, 3 if case == "words" else 1)

    X, Z = rows(ROWS)
    fresh, truth = rows(FRESH)
    loss = None if case == "classes" else "hamming"
    model = ConditionalRiskMinimizer(space, loss, kernel="rbf", alpha=[3.0, 10.0])
    model.fit(X, hidden(case, X, Z, share, rng)[0])
    return model, fresh, hidden(case, fresh, truth, 0.0, rng)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "share"), [(case, 0.8 if case == "tree" else 0.5) for case in CASES]
)
def test_no_bias_by_depth(case, share):
    depth, biases = CASES[case][1], []
    for seed in range(FITS):
        model, X, truth = fitted(case, share, seed)
        bias = (model.predict_marginals(X) - truth).reshape(-1, len(depth)).mean(axis=0)
        biases.append([bias[depth == k].mean() for k in np.unique(depth)])
    error = np.std(biases, axis=0, ddof=1) / np.sqrt(FITS)
    assert (np.abs(np.mean(biases, axis=0)) < 2.0 * error).all()
