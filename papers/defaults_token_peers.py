# SPDX-License-Identifier: BSD-3-Clause
"""Classifiers of classes and of the symbols of sequences for papers/defaults.py, and crfsuite.

Settings are chosen by the share of wrong classes, out of bag for forests and in three folds for
others; the positions of a sequence stay in one fold. crfsuite's c1 and c2 are chosen by a third of
the training sequences.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

PENALTIES = tuple(product((0.0, 0.1, 1.0), (0.01, 0.1, 1.0)))  # c1, c2
CRF_STEPS = 100
MANY_TOKENS = 20_000
N_TREES = 300


@dataclass(frozen=True)
class ClassPeer:
    """A classifier of scikit-learn and the grid that its user would search."""

    name: str
    make: Callable[[], Any]
    grid: dict[str, Any]
    dense_only: bool = True  # not for tokens that have names of features
    out_of_bag: bool = False

    def search(self, X, y, groups=None):
        """A grid search; groups of rows, if given, are in one fold."""
        if self.out_of_bag:
            return OutOfBagSearch(self.make(), self.grid)
        if groups is not None:
            folds: Any = list(GroupKFold(3).split(X, y, groups))
        else:
            folds = StratifiedKFold(3, shuffle=True, random_state=0)
        return GridSearchCV(self.make(), self.grid, cv=folds, scoring="accuracy")

    def fits_tokens(self, case, X, Y):
        named = not isinstance(X[0], np.ndarray)
        n_tokens = sum(map(len, Y))
        return not self.dense_only if named else n_tokens <= MANY_TOKENS


class OutOfBagSearch:
    """The forest of highest accuracy on rows that its trees have not seen."""

    def __init__(self, forest, grid):
        self.forest, self.grid = forest, grid

    def fit(self, X, y):
        trials = [
            clone(self.forest).set_params(**one).fit(X, y) for one in ParameterGrid(self.grid)
        ]
        self.best_ = max(trials, key=lambda forest: forest.oob_score_)
        self.best_params_ = {name: getattr(self.best_, name) for name in self.grid}
        return self

    def predict(self, X):
        return self.best_.predict(X)


CLASS_PEERS = (
    ClassPeer(
        "random forest",
        lambda: RandomForestClassifier(N_TREES, bootstrap=True, oob_score=True, random_state=0),
        {"min_samples_leaf": [1, 3, 8]},
        out_of_bag=True,
    ),
    ClassPeer(
        "extra trees",
        lambda: ExtraTreesClassifier(N_TREES, bootstrap=True, oob_score=True, random_state=0),
        {"min_samples_leaf": [1, 3, 8]},
        out_of_bag=True,
    ),
    ClassPeer(
        "logistic", lambda: LogisticRegression(max_iter=500), {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    ),
    ClassPeer(
        "linear SVM", lambda: LinearSVC(random_state=0), {"C": [0.01, 0.1, 1.0]}, dense_only=False
    ),
    ClassPeer(
        "kernel SVM", SVC, {"C": [1.0, 10.0, 100.0], "gamma": ["scale", 0.005, 0.02, 0.1]}
    ),
    ClassPeer(
        "boosting",
        lambda: HistGradientBoostingClassifier(random_state=0),
        {"learning_rate": [0.03, 0.1]},
    ),
    ClassPeer(
        "network",
        lambda: MLPClassifier(max_iter=300, random_state=0),
        {"alpha": [1e-4, 1e-2, 1.0]},
    ),
    ClassPeer(
        "neighbors",
        KNeighborsClassifier,
        {"n_neighbors": [1, 3, 5, 10, 20], "weights": ["uniform", "distance"]},
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- symbols of sequences


def token_answers(peer):
    """A function of training sequences and test inputs: every token by itself."""

    def predict(X, Y, X_test):
        read = reader(X)
        tokens, symbols = read(X), np.array(list(chain.from_iterable(Y)))
        groups = np.repeat(np.arange(len(Y)), [len(y) for y in Y])
        search = peer.search(tokens, symbols, groups).fit(tokens, symbols)
        found = search.predict(read(X_test))
        ends = np.cumsum([len(x) for x in X_test])[:-1]
        return [list(part) for part in np.split(found, ends)], str(search.best_params_)

    return predict


def reader(X):
    """A function of sequences to an array with a row for each token."""
    if isinstance(X[0], np.ndarray):
        return lambda X: np.vstack(X)
    counts = CountVectorizer(analyzer=list, binary=True).fit(chain.from_iterable(X))
    return lambda X: sparse.csr_array(counts.transform(chain.from_iterable(X)))


def crf_answers(X, Y, X_test):
    """Predictions of a conditional random field whose c1 and c2 a held-out third chose."""
    X, X_test = crf_items(X), crf_items(X_test)
    order = np.random.default_rng(0).permutation(len(Y))
    third = len(Y) // 3
    held, rest = order[:third], order[third:]

    def wrong(setting):
        predict = fit_crf([X[i] for i in rest], [Y[i] for i in rest], *setting)
        pairs = zip(predict([X[i] for i in held]), (Y[i] for i in held))
        return sum(a != b for z, y in pairs for a, b in zip(z, y))

    best = min(PENALTIES, key=wrong)
    return fit_crf(X, Y, *best)(X_test), str(best)


def crf_items(X):
    """Sequences as crfsuite reads them: names of features, or their values."""
    import pycrfsuite

    def item(token):
        if not isinstance(token, np.ndarray):
            return token
        return {f"{j}": float(token[j]) for j in np.flatnonzero(token)}

    return [pycrfsuite.ItemSequence([item(token) for token in x]) for x in X]


def fit_crf(X, Y, c1, c2):
    import pycrfsuite

    trainer, tagger = pycrfsuite.Trainer(verbose=False), pycrfsuite.Tagger()
    for x, y in zip(X, Y):
        trainer.append(x, list(y))
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": CRF_STEPS})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)
    return lambda X: [tagger.tag(x) for x in X]
