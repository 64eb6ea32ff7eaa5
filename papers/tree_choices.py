# SPDX-License-Identifier: BSD-3-Clause
"""Multilabel learners for papers/max_margin_trees.py, and how their settings are chosen."""

import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skstruct import MaxMarginTree
from skstruct.datasets.multilabel import load_multilabel
from skstruct.learners import CircuitRank
from skstruct.losses import F1, Hamming, ZeroOne

MEASURES = {"Hamming": Hamming(normalize=True), "0/1": ZeroOne(), "F1": F1()}
MEAN = "mean of three"
LAMBDAS = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
WIDE = (1e-6, 1e-5, *LAMBDAS)  # for LinearSVC, whose hinge is squared
FORMS = ("raw", "raw/1", "standardised", "standardised/1")  # "/1": of length one
FOLDS = 5


def accuracies_of_rows(predicted, truth):
    """Hamming, 0/1 and F1 accuracy of each row; F1 is 1 where both sets are empty; (3, n)."""
    return np.array([1 - loss(predicted, truth) for loss in MEASURES.values()])


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def load(name):
    """Features, and the labels of both halves; Medical's ten most frequent ones."""
    data = load_multilabel(name)
    kept = slice(None)
    if name == "medical":
        kept = np.sort(np.argsort(-data.Y_train.sum(axis=0), kind="stable")[:10])
    return (data.X_train, data.X_test), data.Y_train[:, kept], data.Y_test[:, kept]


def in_form(halves, form):
    """Features of both halves in a form, and the mean squared length of training rows."""
    scale, _, length = form.partition("/")
    if scale == "standardised":
        scaler = StandardScaler().fit(dense(halves[0]))
        halves = tuple(scaler.transform(dense(X)) for X in halves)
    square = float((halves[0] ** 2).sum() / halves[0].shape[0])
    if length:
        halves, square = tuple(X / np.sqrt(square) for X in halves), 1.0
    return halves, square


class LabelMachines(BaseEstimator):
    """scikit-learn's LinearSVC for each label, its C = 1 / (n lam)."""

    def __init__(self, lam=0.01):
        self.lam = lam

    def fit(self, X, Y):
        machine = LinearSVC(C=1 / (X.shape[0] * self.lam), random_state=0, max_iter=2000)
        self.columns_ = [
            clone(machine).fit(dense(X), y) if 0 < y.sum() < len(y) else y[0] for y in Y.T
        ]
        return self

    def predict(self, X):
        columns = [c.predict(dense(X)) if hasattr(c, "predict") else np.full(X.shape[0], c)
                   for c in self.columns_]  # fmt: skip
        return np.column_stack(columns).astype(np.int8)


def learner(method, lam, **settings):
    if method == "LinearSVC":
        return LabelMachines(lam)
    starts = {key: settings.pop(key) for key in ("n_restarts", "exchange") if key in settings}
    if method == "crank" and starts:
        method = CircuitRank(**starts)
    return MaxMarginTree(method=method, alpha=lam, random_state=0, **settings)


def quietly():
    """Without warnings of gaps that are still wide: they are printed."""
    warnings.filterwarnings("ignore", message=".*the gap is.*")
    warnings.filterwarnings("ignore", message=".*failed to converge.*")


# ---------------------------------------------------------------------- tasks and choices


def grid_of(method):
    return WIDE if method == "LinearSVC" else LAMBDAS


def left_out(name, method, form, fold, folds=FOLDS):
    """Accuracies of the rows of one fold, by penalty: (lambdas, 3), and how many rows."""
    quietly()
    halves, Y, _ = load(name)
    (X, _), square = in_form(halves, form)
    fitted, held = list(KFold(folds, shuffle=True, random_state=0).split(Y))[fold]
    return {"rows": len(held), **trained_on(method, X, Y, fitted, held, square)}


def trained_on(method, X, Y, fitted, held, square=1.0, lambdas=None):
    started, found = time.process_time(), []
    for lam in lambdas or grid_of(method):
        settings = {"n_restarts": 1, "exchange": False, "max_iter": 100}
        model = learner(method, lam * square, **settings).fit(X[fitted], Y[fitted])
        found.append(accuracies_of_rows(model.predict(X[held]), Y[held]).mean(axis=1).tolist())
    return {"accuracies": found, "seconds": time.process_time() - started}


def choices(found, grid):
    """{criterion: (form, lam)} of largest accuracy on left-out rows.

    ``found`` is {form: what ``left_out`` returned for each fold}. The first of equal ones.
    """
    forms, table = list(found), []
    for folds in found.values():
        rows = np.array([fold["rows"] for fold in folds], float)
        table.append(np.tensordot(rows / rows.sum(), [fold["accuracies"] for fold in folds], 1))
    table = np.reshape(table, (len(forms), len(grid), 3))
    columns = {name: table[:, :, i] for i, name in enumerate(MEASURES)}
    columns[MEAN] = table.mean(axis=2)
    best = {name: np.unravel_index(np.argmax(values), values.shape)
            for name, values in columns.items()}  # fmt: skip
    return {name: (forms[f], grid[k]) for name, (f, k) in best.items()}
