# SPDX-License-Identifier: BSD-3-Clause
"""Multilabel learners for papers/max_margin_trees.py, and how their settings are chosen."""

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import RepeatedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skstruct import ConditionalRiskMinimizer, MaxMarginTree
from skstruct.kernels import RBF, Laplacian, Linear
from skstruct.learners import CircuitRank
from skstruct.losses import F1, Hamming, ZeroOne

MEASURES = {"Hamming": Hamming(normalize=True), "0/1": ZeroOne(), "F1": F1()}
LAMBDAS = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
WIDE = (1e-6, 1e-5, *LAMBDAS)  # for LinearSVC, whose hinge is squared


def accuracies(predicted, truth):
    """Hamming, 0/1 and F1 accuracy in percent; F1 by example, 1 where both sets are empty."""
    return 100 * np.array([1 - loss(predicted, truth).mean() for loss in MEASURES.values()])


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def scaled(X_train, X_test):
    """Features as they are and standardised, both of mean squared length one in training."""
    scaler = StandardScaler().fit(dense(X_train))
    standardised = (scaler.transform(dense(X)) for X in (X_train, X_test))
    forms = {"raw": (X_train, X_test), "standardised": tuple(standardised)}
    for name, (train, test) in forms.items():
        length = np.sqrt((train**2).sum() / train.shape[0])
        forms[name] = train / length, test / length
    return forms


class LabelMachines(BaseEstimator):
    """scikit-learn's LinearSVC for each label, its C = 1 / (n lam)."""

    def __init__(self, lam=0.01):
        self.lam = lam

    def fit(self, X, Y):
        machine = LinearSVC(C=1 / (X.shape[0] * self.lam), random_state=0, max_iter=10_000)
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
    if method == "crank" and "n_restarts" in settings:
        method = CircuitRank(n_restarts=settings["n_restarts"])
    settings.pop("n_restarts", None)
    return MaxMarginTree(method=method, alpha=lam, random_state=0, **settings)


def left_out(method, X, Y, lam, fitted, held):
    warnings.filterwarnings("ignore", message=".*the gap is.*")  # in a process of its own
    model = learner(method, lam, n_restarts=1, max_iter=100).fit(X[fitted], Y[fitted])
    return accuracies(model.predict(X[held]), Y[held])


def choose(method, forms, Y, *, lambdas=None, folds=5, jobs=-1):
    """(form, lam) of largest accuracy on left-out rows: mean of the three, and Hamming alone.

    Folds are drawn three times where there are fewer than 500 rows.
    """
    lambdas = lambdas or (WIDE if method == "LinearSVC" else LAMBDAS)
    repeats = 3 if len(Y) < 500 else 1
    splits = list(RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=0).split(Y))
    plans = [(form, lam) for form in forms for lam in lambdas]
    found = Parallel(n_jobs=jobs)(
        delayed(left_out)(method, forms[form][0], Y, lam, *split)
        for form, lam in plans for split in splits
    )  # fmt: skip
    found = np.reshape(found, (len(plans), len(splits), 3)).mean(axis=1)
    return plans[found.mean(axis=1).argmax()], plans[found[:, 0].argmax()]


def risk_minimizers(forms, Y):
    """For each measure, predictions by its own loss, and what leave-one-out chose for it."""
    for loss in MEASURES.values():
        trials = []
        for form, halves in forms.items():
            # Widths are tried around one over the number of features, for features of size one.
            X, X_test = (dense(half) * np.sqrt(half.shape[1]) for half in halves)
            for kernel in (Linear(), RBF("auto"), Laplacian("auto")):
                model = ConditionalRiskMinimizer(loss=loss, kernel=kernel).fit(X, Y)
                risk = min(trial["risk"] for trial in model.search_.trials)
                trials.append((risk, f"{form} {kernel.name}", model, X_test))
        _, name, model, X_test = min(trials, key=lambda trial: trial[0])
        yield name, model.predict(X_test)
