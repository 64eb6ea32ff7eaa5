# SPDX-License-Identifier: BSD-3-Clause
"""Penalties that are chosen: alpha="auto" against one fixed penalty and a grid search.

For every learner and data set the test loss, with its standard error over random splits, and the
seconds of fit: with ``alpha="auto"``, with the penalty that was the default before penalties were
chosen (0.01 for margins, 1e-3 for likelihoods, 1 / n for rankers), and with GridSearchCV over the
penalties that "auto" has tried, five folds, every fit from scratch and of 100 passes at most.
Real data are used where they are found.
"""

from __future__ import annotations

import sys
import warnings
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.preprocessing import StandardScaler

from skstruct.datasets import load, make_label_tree, rank_classes
from skstruct.learners import (
    ExponentialFamily,
    LabelRankingSVM,
    MaxMarginNetwork,
    MaxMarginTree,
    OnlineLabelRanker,
    StructuredSVM,
)

QUICK = "--quick" in sys.argv
N_SPLITS, MOST_ROWS = (1, 40) if QUICK else (3, 100)
RANKERS = (LabelRankingSVM, OnlineLabelRanker)
SLOW = (MaxMarginNetwork, MaxMarginTree)  # without a grid search: 56 fits from scratch


def data_sets():
    """Name, inputs, and outputs for each kind of learner."""
    made = make_label_tree(MOST_ROWS, 6, random_state=0)
    yield "labels of a tree", made.X, made.Y, "sets"
    try:
        emotions = load("emotions")
        yield "emotions", np.asarray(emotions.X_train), np.asarray(emotions.Y_train), "sets"
    except (OSError, ValueError, AttributeError):
        print("emotions is not there")
    X, y = load_wine(return_X_y=True)
    yield "wine", X, y, "classes"
    X, y = load_wine(return_X_y=True)
    yield "wine, ranked", X, rank_classes(X, y)[0], "rankings"


def learners(kind):
    """Learners with the penalty of old, by name."""
    if kind == "rankings":
        yield LabelRankingSVM(random_state=0), None
        yield OnlineLabelRanker(random_state=0), 1.0
        return
    yield StructuredSVM(random_state=0), 0.01
    yield ExponentialFamily(), 1e-3
    if kind == "sets":
        yield MaxMarginNetwork(random_state=0), 0.01
        yield MaxMarginTree(random_state=0), 0.01


def scored(model, X, y, train, test):
    """Test loss, seconds of fit and the fitted model; a ranker's loss is (1 - tau) / 2."""
    begun = perf_counter()
    model.fit(X[train], y[train])
    seconds = perf_counter() - begun
    score = model.score(X[test], y[test])
    ranker = isinstance(getattr(model, "estimator", model), RANKERS)
    return (1.0 - score) / 2.0 if ranker else -score, seconds, model


def compared(learner, fixed, X, y, splits):
    """Losses and seconds (splits, 3): chosen, fixed, and by a grid search."""
    losses, seconds = np.zeros((len(splits), 3)), np.zeros((len(splits), 3))
    for number, (train, test) in enumerate(splits):
        auto = clone(learner)
        losses[number, 0], seconds[number, 0], auto = scored(auto, X, y, train, test)
        old = clone(learner).set_params(alpha=fixed or 1.0 / len(train))
        losses[number, 1], seconds[number, 1], _ = scored(old, X, y, train, test)
        if auto.search_ is None or isinstance(learner, SLOW):
            losses[number, 2] = seconds[number, 2] = np.nan
            continue
        grid = {"alpha": [trial["alpha"] for trial in auto.search_.trials]}
        search = GridSearchCV(clone(learner).set_params(alpha=1.0, max_iter=100), grid, cv=5)
        losses[number, 2], seconds[number, 2], _ = scored(search, X, y, train, test)
    return losses, seconds


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'':38}{'auto':>16}{'fixed':>16}{'grid search':>16}{'seconds':>22}")
    for name, X, y, kind in data_sets():
        X = StandardScaler().fit_transform(X)
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        X, y = X[rows], y[rows]
        splits = list(ShuffleSplit(N_SPLITS, test_size=0.3, random_state=0).split(X))
        for learner, fixed in learners(kind):
            losses, seconds = compared(learner, fixed, X, y, splits)
            mean = losses.mean(axis=0)
            error = losses.std(axis=0) / np.sqrt(max(1, len(splits) - 1))
            cells = "".join(f"{m:>9.4f} ±{e:.3f}" for m, e in zip(mean, error))
            times = " ".join(f"{s:.2f}" for s in seconds.mean(axis=0))
            print(f"{name:>18} {type(learner).__name__:19}{cells}   {times}", flush=True)


if __name__ == "__main__":
    main()
