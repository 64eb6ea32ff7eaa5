# SPDX-License-Identifier: BSD-3-Clause
"""Peers of papers/defaults.py that give probabilities of labels, tuned on training rows.

A peer has several settings. Out-of-bag probabilities of forests, and those of three folds for all
others, choose among the settings (for each label by itself where labels are fitted so) by the log
loss, and serve to find thresholds (defaults_decisions.py). Of more than MANY_ROWS rows, folds
compare settings on so many, drawn at random. The same peers give probabilities that one item
precedes another, for rankings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

N_TREES = 300
MANY_ROWS = 2500  # settings are compared on so many
LEAVES = (1, 3, 8)
PENALTIES = (0.01, 0.1, 1.0, 10.0)
ALPHAS = (1e-4, 1e-2, 1.0)
NEIGHBORS = (5, 10, 20, 40)
MACHINES = tuple((C, width) for C in (1.0, 10.0) for width in (0.5, 1.0, 2.0))
RATES = (0.03, 0.1)


@dataclass(frozen=True)
class LabelPeer:
    """``fit(X, Y, settings)``, with a setting for each label, gives a function of X to (n, L)."""

    name: str
    settings: tuple[Any, ...]
    fit: Callable[..., Any]
    per_label: bool = False  # labels may differ in their setting
    calibrate: bool = False  # scores are no probabilities yet
    largest: float = np.inf  # rows * columns of X * labels
    out_of_bag: bool = False

    def fits(self, X, Y):
        """Whether it is meant for data of such a size."""
        return X.shape[0] * X.shape[1] * Y.shape[1] <= self.largest

    def probabilities(self, X, Y, X_test):
        """Left-out ones of the training rows (n, L), those of test rows, and what was chosen."""
        if self.out_of_bag:
            return forest_probabilities(self, X, Y, X_test)
        some = np.sort(np.random.default_rng(0).permutation(len(Y))[:MANY_ROWS])
        trials = np.array(
            [out_of_fold(self.fit, X[some], Y[some], [one] * Y.shape[1]) for one in self.settings]
        )
        best = self.best_settings(trials, Y[some])
        if len(some) == len(Y):
            left_out = np.take_along_axis(trials, best[None, None], axis=0)[0]
        else:
            left_out = out_of_fold(self.fit, X, Y, [self.settings[k] for k in best])
        P = fit_varied(self.fit, X, Y, [self.settings[k] for k in best])(X_test)
        if self.calibrate:
            left_out, P = platt(left_out, Y, P)
        return left_out, P, most_frequent(self.settings, best)

    def best_settings(self, trials, Y):
        """Number of a setting for each label, the same for all if they are fitted together."""
        scores = error(trials, Y) if self.calibrate else log_loss(trials, Y)  # (settings, L)
        if not self.per_label:
            scores = np.repeat(scores.mean(axis=1, keepdims=True), Y.shape[1], axis=1)
        return scores.argmin(axis=0)


def most_frequent(settings, best):
    return str(settings[np.bincount(best).argmax()])


def fit_varied(fit, X, Y, settings):
    """Fit the labels that occur and do not always occur; others have their mean."""
    Y = np.asarray(Y)
    mean = Y.mean(axis=0)
    varied = np.flatnonzero((mean > 0) & (mean < 1))
    predict = fit(X, Y[:, varied], [settings[j] for j in varied]) if len(varied) else None

    def probabilities(X):
        P = np.repeat(mean[None], X.shape[0], axis=0)
        if predict is not None:
            P[:, varied] = predict(X)
        return P

    return probabilities


def out_of_fold(fit, X, Y, settings, n_folds=3):
    """Probabilities of every row by a fit without its fold."""
    P = np.empty(Y.shape)
    for rows, held in KFold(n_folds, shuffle=True, random_state=0).split(X):
        P[held] = fit_varied(fit, X[rows], Y[rows], settings)(X[held])
    return P


def log_loss(P, Y):
    """Of each label; P may have leading axes."""
    P = np.clip(P, 1e-3, 1 - 1e-3)
    return -np.where(Y == 1, np.log(P), np.log(1 - P)).mean(axis=-2)


def error(P, Y):
    return ((P > 0.5) != Y).mean(axis=-2)


def platt(left_out, Y, P):
    """Scores of each label through a logistic curve that left-out rows settle."""
    left_out, P = left_out.copy(), P.copy()
    for j in range(Y.shape[1]):
        if 0 < Y[:, j].sum() < len(Y):
            curve = LogisticRegression(C=100.0).fit(logit(left_out[:, [j]]), Y[:, j])
            for scores in (left_out, P):
                scores[:, j] = curve.predict_proba(logit(scores[:, [j]]))[:, 1]
    return left_out, P


def logit(P):
    P = np.clip(P, 1e-4, 1 - 1e-4)
    return np.log(P / (1 - P))


# ---------------------------------------------------------------------- all labels together


def forest_probabilities(peer, X, Y, X_test):
    """Trees of indicators: their mean squares are the Gini impurity of all labels together."""
    best = None
    for setting in peer.settings:
        forest = peer.fit(setting).fit(X, Y)
        left_out = forest.oob_prediction_.reshape(Y.shape)
        score = log_loss(left_out, Y).mean()
        if best is None or score < best[0]:
            best = score, left_out, forest, setting
    _, left_out, forest, setting = best
    return left_out, forest.predict(X_test).reshape(-1, Y.shape[1]), str(setting)


def forest(kind, leaf):
    return kind(
        N_TREES, min_samples_leaf=leaf, max_features="sqrt", bootstrap=True, oob_score=True,
        random_state=0,
    )  # fmt: skip


def random_forest(leaf):
    return forest(RandomForestRegressor, leaf)


def extra_trees(leaf):
    return forest(ExtraTreesRegressor, leaf)


def fit_chain(X, Y, settings):
    base = logistic(X, settings[0])
    return ClassifierChain(base, order="random", random_state=0).fit(X, Y).predict_proba


def fit_network(X, Y, settings):
    network = MLPClassifier(alpha=settings[0], max_iter=200, random_state=0).fit(X, Y)
    return lambda X: network.predict_proba(X)[:, -Y.shape[1] :]  # two columns for one label


def fit_neighbors(X, Y, settings):
    k = min(settings[0], X.shape[0])
    model = KNeighborsRegressor(k, weights="distance").fit(X, Y)
    return lambda X: model.predict(X).reshape(-1, Y.shape[1])


# ---------------------------------------------------------------------- each label by itself


def each_label(make, score):
    """A fit of one classifier for each label."""

    def fit(X, Y, settings):
        models = [make(X, setting).fit(X, y) for y, setting in zip(Y.T, settings)]
        return lambda X: np.column_stack([score(model, X) for model in models])

    return fit


def logistic(X, C):
    wide = sparse.issparse(X) or X.shape[1] > min(300, X.shape[0])
    return LogisticRegression(
        C=C, solver="liblinear" if wide else "newton-cholesky", max_iter=300, random_state=0
    )


def machine(X, setting):
    C, width = setting
    spread = X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
    return SVC(C=C, gamma=width / (X.shape[1] * max(spread, np.finfo(float).tiny)))


class Dense:
    """A classifier of arrays that takes sparse ones as well."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(self._dense(X), y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self._dense(X))

    @staticmethod
    def _dense(X):
        return X.toarray() if sparse.issparse(X) else X


def boosting(X, rate):
    return Dense(HistGradientBoostingClassifier(learning_rate=rate, random_state=0))


def probability(model, X):
    return model.predict_proba(X)[:, 1]


def margin(model, X):
    return expit(2 * model.decision_function(X))


FORESTS = (
    LabelPeer("random forest", LEAVES, random_forest, out_of_bag=True),
    LabelPeer("extra trees", LEAVES, extra_trees, out_of_bag=True),
)
LOGISTIC = LabelPeer("logistic", PENALTIES, each_label(logistic, probability), per_label=True)
SVM = LabelPeer("kernel SVM", MACHINES, each_label(machine, margin), calibrate=True)
LABEL_PEERS = (
    *FORESTS,
    LOGISTIC,
    LabelPeer("chain", PENALTIES, fit_chain),
    LabelPeer("boosting", RATES, each_label(boosting, probability), largest=1e7),
    LabelPeer("network", ALPHAS, fit_network),
    SVM,
    LabelPeer("neighbors", NEIGHBORS, fit_neighbors),
)
