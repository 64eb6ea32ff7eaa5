# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to sums over trees and to likelihoods: NumPy, scikit-learn, python-crfsuite."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

TOL = 1e-5  # of the gradient of the mean


# ---------------------------------------------------------------------- trees
def random_tree(d, rng):
    """Parents of nodes 1 .. d - 1, each before its children."""
    return np.concatenate([[-1], rng.integers(0, np.arange(1, d))])


def closed_sets_row_by_row(scores, parent):
    """Probabilities of the labels of a tree: a loop over rows, and in each over nodes."""
    return np.array([_closed_sets(u, parent) for u in scores])


def closed_sets_node_by_node(scores, parent):
    """The same, all rows at once."""
    return _closed_sets(scores.T, parent).T


def _closed_sets(inside, parent):
    """Nodes go along the first axis: inside(v) = u_v + sum over children of ln(1 + e^inside)."""
    inside = inside.copy()
    for v in range(len(parent) - 1, 0, -1):
        inside[parent[v]] += np.logaddexp(0.0, inside[v])
    probabilities = expit(inside)
    for v in range(1, len(parent)):
        probabilities[v] *= probabilities[parent[v]]
    return probabilities


def pairwise_row_by_row(scores, parent):
    """Probabilities of labels and of pairs of them on a tree: a loop over rows, and in each over
    nodes.

    The pair of node v and its parent has the score number d + v - 1.
    """
    return np.array([_pairwise(u, parent) for u in scores])


def pairwise_node_by_node(scores, parent):
    """The same, all rows at once."""
    return _pairwise(scores.T, parent).T


def _pairwise(u, parent):
    """Sums over the subtree of v, for its parent out (0) and in (1)."""
    d = len(parent)
    below, given = u[:d].copy(), {}  # ln of odds that v is in, from below
    for v in range(d - 1, 0, -1):
        out, held = below[v], below[v] + u[d + v - 1]
        below[parent[v]] += np.logaddexp(0.0, held) - np.logaddexp(0.0, out)
        given[v] = expit(out), expit(held)
    probabilities = np.empty_like(u)
    probabilities[0] = expit(below[0])
    for v in range(1, d):
        above, (out, held) = probabilities[parent[v]], given[v]
        probabilities[d + v - 1] = above * held
        probabilities[v] = (1 - above) * out + above * held
    return probabilities


# ---------------------------------------------------------------------- likelihoods
def products(X, d, n_steps):
    """Scores X W and gradients X' G, as often as L-BFGS made a step: what training cannot avoid."""
    W, XT = np.ones((X.shape[1], d)), X.T
    G = np.ones((X.shape[0], d))

    def run():
        for _ in range(n_steps):
            X @ W
            XT @ G

    return run


def logistic_regression(lam, n):
    """The objective lam |w|^2 + mean loss in scikit-learn's terms, with the same stopping rule."""
    return LogisticRegression(C=1 / (2 * lam * n), fit_intercept=False, tol=TOL, max_iter=1000)


def one_for_each_label(X, Y, lam):
    """Coefficients (d, p) of independent logistic regressions."""
    return np.vstack([logistic_regression(lam, len(Y)).fit(X, y).coef_ for y in Y.T])


def label_set_objective(X, Y, W, lam):
    scores = X @ W.T
    losses = (np.logaddexp(0.0, scores) - Y * scores).sum(axis=1)
    return losses.mean() + lam * (W**2).sum()


class CrfTrainer:
    """Linear-chain conditional random fields of python-crfsuite: sum of losses + c2 |w|^2."""

    def __init__(self, X, Y, lam):
        import pycrfsuite

        self.trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        for x, y in zip(X, Y):
            self.trainer.append(pycrfsuite.ItemSequence(_named(x)), [str(symbol) for symbol in y])
        self.trainer.set_params({
            "c2": lam * len(Y), "epsilon": 1e-4, "delta": 0.0, "max_iterations": 1000,
            "feature.possible_states": True, "feature.possible_transitions": True,
        })  # fmt: skip

    def fit(self):
        with tempfile.TemporaryDirectory() as folder:
            self.trainer.train(str(Path(folder) / "model"))
        return self

    @property
    def objective(self):
        """Of all sequences together, as it stood after the last step."""
        return self.trainer.logparser.last_iteration["loss"]

    @property
    def n_iter(self):
        return self.trainer.logparser.last_iteration["num"]


def _named(x):
    """Features of the tokens of a sequence, by names."""
    x = sparse.csr_array(x)
    x.sum_duplicates()
    rows = zip(np.split(x.indices, x.indptr[1:-1]), np.split(x.data, x.indptr[1:-1]))
    return [{str(j): float(value) for j, value in zip(*row)} for row in rows]
