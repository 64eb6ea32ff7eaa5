# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines over hierarchies: one per label, and one of whole label sets."""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.svm import SVC

from skstruct import StructuredSVM

STEPS = (1e-3, 3e-3, 1e-2, 3e-2)


def binary_relevance(kernel, X_train, data, X_test, space):
    """One machine per label; a label found anywhere brings in all above it."""
    counts = data.Y_train.sum(axis=0)
    both = np.flatnonzero((counts >= 3) & (counts <= len(data.Y_train) - 3))
    middle = both[np.argsort(counts[both])[len(both) // 2 - 1 :][:3]]
    chosen = [
        GridSearchCV(SVC(kernel=kernel), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=3)
        .fit(X_train, data.Y_train[:, j]).best_params_["C"]
        for j in middle
    ]  # fmt: skip
    predicted = np.zeros((X_test.shape[0], len(counts)), np.int8)
    predicted[:, counts == len(data.Y_train)] = 1
    mixed = np.flatnonzero((counts > 0) & (counts < len(data.Y_train)))

    def one(j):
        machine = SVC(kernel=kernel, C=float(np.median(chosen)))
        return machine.fit(X_train, data.Y_train[:, j]).predict(X_test)

    columns = Parallel(n_jobs=-1, prefer="threads")(delayed(one)(j) for j in mixed)
    predicted[:, mixed] = np.column_stack(columns)
    return (predicted @ space.dag_.ancestors > 0).astype(np.int8)


def structured_machine(space, loss, judge, kernel, X, Y, *, by_path=False):
    """The hierarchical max-margin network, trained for a loss, and its penalty.

    lam is one of STEPS times the mean of k(x, x) over the mean loss of no labels at all,
    which makes it no matter in which units inputs and losses are. Three folds choose it; with
    ``by_path`` all rows of the same label path are in the same fold.
    """
    squares = 1.0 if kernel == "rbf" else sparse.csr_array(X).power(2).sum() / X.shape[0]
    unit = squares / judge(np.zeros_like(Y), Y).mean()
    if by_path:
        paths = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
        folds = GroupKFold(3).split(X, groups=paths)
    else:
        folds = KFold(3, shuffle=True, random_state=0).split(X)
    settings = {"kernel": kernel, "max_iter": 100, "random_state": 0}

    def left_out(fitted, held, lam):
        model = StructuredSVM(space, loss, alpha=lam, **settings).fit(X[fitted], Y[fitted])
        return -model.score(X[held], Y[held])

    trials = [(fold, unit * step) for fold in folds for step in STEPS]
    losses = Parallel(n_jobs=-1)(delayed(left_out)(*fold, lam) for fold, lam in trials)
    best = np.argmin(np.reshape(losses, (3, len(STEPS))).mean(axis=0))
    return StructuredSVM(space, loss, alpha=unit * STEPS[best], **settings).fit(X, Y), STEPS[best]
