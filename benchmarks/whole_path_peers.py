# SPDX-License-Identifier: BSD-3-Clause
"""Learners of ``whole_path.py``: ours with nothing set, and what others would do.

Others give a score for each label: label sets are cut at one half (and closed upwards in a tree),
classes and symbols are those of the largest score, rankings are scores in order. Symbols are
learned from the features of three neighbouring tokens, but by random fields, which know the chain.
"""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from whole_path_cases import ranks_of

GRID = np.logspace(-2, 2, 5)  # of KernelRidge
LANDMARKS = 1000  # of the solver in the manner of Falkon, at penalty 1


# ---------------------------------------------------------------------- ours
def ours(case, name):
    """The default: a space and, where it is not the space's own, a loss; nothing else."""
    from skstruct import ConditionalRiskMinimizer, spaces

    if name == "sequences":
        return ConditionalRiskMinimizer(spaces.Sequences())
    if name == "rankings":
        return ConditionalRiskMinimizer(spaces.Rankings(case.d), "kendall")
    if name == "tree":
        tree = spaces.Hierarchy(case.edges, labels=range(case.d))
        return ConditionalRiskMinimizer(tree, "hierarchical")
    return ConditionalRiskMinimizer()


# ---------------------------------------------------------------------- from scores to outputs
class Decided:
    """Scores of a peer, and the output that follows from them.

    Parameters
    ----------
    model : fit(X, Y) and scores(X), of shape (n, d)
    case : Case
    name : str, of the structure
    """

    def __init__(self, model, case, name):
        self.model, self.case, self.name = model, case, name

    def fit(self, X, Y):
        self.model.fit(*self._flat(X, Y))
        return self

    def predict(self, X):
        scores = self.model.scores(self._flat(X)[0])
        if self.name == "rankings":
            return ranks_of(scores)
        if self.name == "labels":
            return scores > 0.5
        if self.name == "tree":
            return self.case.closed(scores > 0.5)
        return scores.argmax(axis=1).reshape(X.shape[:-1])

    def _flat(self, X, Y=None):
        if self.name != "sequences":
            return X, Y
        return windows(X), None if Y is None else Y.ravel()


def windows(X):
    """Features of a token, of that before it and that behind it, zeros at the ends.

    >>> windows(np.arange(1.0, 4.0).reshape(1, 3, 1))
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 0.]])
    """
    n, length, p = X.shape
    wide = np.zeros((n, length, 3 * p))
    wide[:, 1:, :p] = X[:, :-1]
    wide[:, :, p : 2 * p] = X
    wide[:, :-1, 2 * p :] = X[:, 1:]
    return wide.reshape(n * length, 3 * p)


def targets_of(Y, d, kind):
    """What scores are regressed on: indicators, or ranks with the best item on top."""
    if kind == "ranks":
        return -Y.astype(np.float64)
    return np.eye(d)[Y] if kind == "classes" else Y.astype(np.float64)


class Regressed:
    """One regression of all indicators, or of ranks."""

    def __init__(self, make, d, kind):
        self.make, self.d, self.kind = make, d, kind

    def fit(self, X, Y):
        self.model_ = self.make(X).fit(X, targets_of(Y, self.d, self.kind))

    def scores(self, X):
        return self.model_.predict(X)


class ByLabel:
    """A classifier for each label, or a regressor for each rank."""

    def __init__(self, make, kind):
        self.make, self.kind = make, kind

    def fit(self, X, Y):
        targets = -Y.astype(np.float64) if self.kind == "ranks" else Y
        self.models_ = [self._fitted(X, column) for column in targets.T]

    def _fitted(self, X, column):
        """A number where all rows agree: classifiers refuse to learn it."""
        return self.make().fit(X, column) if np.ptp(column) else float(column[0])

    def scores(self, X):
        return np.column_stack([self._scored(model, X) for model in self.models_])

    def _scored(self, model, X):
        if isinstance(model, float):
            return np.full(len(X), model)
        return model.predict(X) if self.kind == "ranks" else model.predict_proba(X)[:, 1]


class Classified:
    """A classifier of all classes that occur twice: single ones cannot be split for validation."""

    def __init__(self, make, d):
        self.make, self.d = make, d

    def fit(self, X, Y):
        twice = np.bincount(Y)[Y] > 1
        self.model_ = self.make(Y[twice]).fit(X[twice], Y[twice])

    def scores(self, X):
        scores = np.zeros((len(X), self.d))
        scores[:, self.model_.classes_] = self.model_.predict_proba(X)
        return scores


# ---------------------------------------------------------------------- others
def ridge(d, kind):
    from sklearn.linear_model import Ridge

    return Regressed(lambda X: Ridge(), d, kind)


def kernel_ridge(d, kind):
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    model = GridSearchCV(
        KernelRidge(kernel="rbf"), {"alpha": GRID}, cv=3, scoring="neg_mean_squared_error"
    )
    return Regressed(lambda X: model, d, kind)


class _Centred:
    """A solver without an intercept, on targets without their mean."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, T):
        self.mean_ = T.mean(axis=0)
        self.model.fit(X, T - self.mean_)
        return self

    def predict(self, X):
        return self.model.predict(X) + self.mean_


def falkon(d, kind):
    from scale_peers import FalkonStyle

    def make(X):
        return _Centred(FalkonStyle(1.0 / X.shape[1], 1.0, min(LANDMARKS, len(X) // 2)))

    return Regressed(make, d, kind)


def forest(d, kind):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if kind == "classes":
        return Classified(lambda Y: RandomForestClassifier(100, random_state=0), d)
    features = {} if kind == "ranks" else {"max_features": "sqrt"}  # as a classifier takes them
    return Regressed(lambda X: RandomForestRegressor(100, random_state=0, **features), d, kind)


def logistic(d, kind):
    from sklearn.linear_model import LogisticRegression

    def make(Y=None):
        return LogisticRegression(max_iter=1000)

    return Classified(make, d) if kind == "classes" else ByLabel(make, kind)


def mlp(d, kind):
    """Stopped by a tenth of the rows; of label sets a regression, since a classifier would stop by
    the share of sets that are right in all labels, which are hardly any.
    """
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    if kind != "classes":
        return Regressed(lambda X: MLPRegressor(early_stopping=True, random_state=0), d, kind)

    def make(Y):
        return MLPClassifier(early_stopping=len(Y) >= 10 * len(np.unique(Y)), random_state=0)

    return Classified(make, d)


def histgb(d, kind):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if kind == "ranks":
        return ByLabel(lambda: HistGradientBoostingRegressor(random_state=0), kind)

    def make(Y=None):
        return HistGradientBoostingClassifier(random_state=0)

    return Classified(make, d) if kind == "classes" else ByLabel(make, kind)


def lightgbm(d, kind):
    from lightgbm import LGBMClassifier, LGBMRegressor

    settings = {"n_jobs": 1, "verbose": -1, "random_state": 0}
    if kind == "ranks":
        return ByLabel(lambda: LGBMRegressor(**settings), kind)

    def make(Y=None):
        return LGBMClassifier(**settings)

    return Classified(make, d) if kind == "classes" else ByLabel(make, kind)


class Crfsuite:
    """A random field of python-crfsuite with its own defaults, on the features of each token."""

    def fit(self, X, Y):
        import pycrfsuite

        trainer = pycrfsuite.Trainer(verbose=False)
        for x, y in zip(self._named(X), Y.astype(str).tolist()):
            trainer.append(x, y)
        self.tagger_ = pycrfsuite.Tagger()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            trainer.train(path)
            self.tagger_.open(path)
        return self

    def predict(self, X):
        return np.array([self.tagger_.tag(x) for x in self._named(X)]).astype(int)

    def _named(self, X):
        import pycrfsuite

        names = [f"x{j}" for j in range(X.shape[2])] + ["one"]
        for x in X.tolist():
            yield pycrfsuite.ItemSequence([dict(zip(names, [*token, 1.0])) for token in x])


class Hiclass:
    """A logistic regression for each node; a label set is the list of its paths."""

    def __init__(self, case):
        self.case = case
        self.paths = []
        for j, parent in enumerate(case.parents):
            self.paths.append([*(self.paths[parent] if parent >= 0 else []), str(j)])
        self.depth = max(map(len, self.paths))

    def fit(self, X, Y):
        from hiclass import MultiLabelLocalClassifierPerNode
        from sklearn.linear_model import LogisticRegression

        some = Y.any(axis=1)  # it knows no empty sets
        paths = [self._paths_of(y) for y in Y[some]]
        most = max(map(len, paths))
        table = np.full((len(paths), most, self.depth), "", dtype=object)
        for row, chosen in enumerate(paths):
            for number, path in enumerate(chosen):
                table[row, number, : len(path)] = path
        local = LogisticRegression(max_iter=1000)
        self.model_ = MultiLabelLocalClassifierPerNode(local, n_jobs=1).fit(X[some], table)
        return self

    def _paths_of(self, y):
        """Those that no other path of the set goes on from."""
        inner = {int(self.case.parents[j]) for j in np.flatnonzero(y)}
        return [self.paths[j] for j in np.flatnonzero(y) if j not in inner]

    def predict(self, X):
        Z = np.zeros((len(X), self.case.d), dtype=bool)
        for row, paths in enumerate(self.model_.predict(X)):
            labels = [int(label) for path in np.atleast_2d(paths) for label in path if label != ""]
            Z[row, labels] = True
        return self.case.closed(Z)


# ---------------------------------------------------------------------- all of them
@dataclass(frozen=True)
class Peer:
    """What a table calls it, the package it needs, structures it is for, most rows."""

    title: str
    needs: str | None = None
    only: tuple = ("labels", "classes", "rankings", "tree", "sequences")
    most: int = 100_000_000


NOT_RANKINGS = ("labels", "classes", "tree", "sequences")
PEERS = {
    "ours": Peer("ours, default"),
    "ridge": Peer("Ridge"),
    "logistic": Peer("LogisticRegression", only=NOT_RANKINGS),
    "kernel_ridge": Peer("KernelRidge, 5 alphas", most=10_000),
    "falkon": Peer("Falkon-style"),
    "forest": Peer("RandomForest, 100"),
    "mlp": Peer("MLP"),
    "histgb": Peer("HistGradientBoosting"),
    "lightgbm": Peer("LightGBM", needs="lightgbm"),
    "crfsuite": Peer("python-crfsuite", needs="pycrfsuite", only=("sequences",)),
    "hiclass": Peer("hiclass", needs="hiclass", only=("tree",)),
}
KINDS = {"rankings": "ranks", "classes": "classes", "sequences": "classes"}


def missing(method):
    """Whether the package of a peer is not installed; hiclass from 5 on knows no label sets."""
    needs = PEERS[method].needs
    if needs is None:
        return False
    if importlib.util.find_spec(needs) is None:
        return True
    return needs == "hiclass" and not hasattr(
        importlib.import_module(needs), "MultiLabelLocalClassifierPerNode"
    )


def made(method, case, name):
    """A learner with fit and predict, in the form of outputs of the case."""
    if method == "ours":
        return ours(case, name)
    if method == "crfsuite":
        return Crfsuite()
    if method == "hiclass":
        return Hiclass(case)
    return Decided(globals()[method](case.d, KINDS.get(name, "labels")), case, name)
