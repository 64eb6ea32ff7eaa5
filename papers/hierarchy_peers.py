# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines over hierarchies: one per label, one per label below its parent, and one
of whole label sets; regularised least squares per label too.

Tasks of papers/ecrm_hierarchies.py and papers/counting_hierarchies.py; results as in
papers/hierarchy_data.py.
"""

import numpy as np
from hierarchy_data import LOSSES, answer, judged, rows_of
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.svm import SVC

from skstruct import StructuredSVM

STEPS = (1e-3, 3e-3, 1e-2, 3e-2)  # penalties of structured machines, in units of the data
COSTS = (0.1, 1.0, 10.0, 100.0)  # C of a machine per label
RIDGES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
FOLDS = 3
ALL = "all"  # in place of a fold: fitted to all training rows


def folds_of(rows):
    """Pairs of fitted and held rows; images of one label path are in one fold."""
    if rows.cv == "output":
        paths = np.unique(rows.Y_train, axis=0, return_inverse=True)[1].reshape(-1)
        return list(GroupKFold(FOLDS).split(rows.Y_train, groups=paths))
    return list(KFold(FOLDS, shuffle=True, random_state=0).split(rows.Y_train))


# ---------------------------------------------------------------------- one machine per label
class PerLabel:
    """One machine per label; a label found anywhere brings in all above it."""

    def __init__(self, kernel, cost, space):
        self.kernel, self.cost, self.space = kernel, cost, space

    def fit(self, X, Y):
        self.counts, self.n = Y.sum(axis=0), len(Y)
        self.machines = {
            j: SVC(kernel=self.kernel, C=self.cost).fit(X, Y[:, j])
            for j in np.flatnonzero((self.counts > 0) & (self.counts < self.n))
        }
        return self

    def predict(self, X):
        predicted = np.zeros((X.shape[0], len(self.counts)), np.int8)
        predicted[:, self.counts == self.n] = 1
        for j, machine in self.machines.items():
            predicted[:, j] = machine.predict(X)
        return (predicted @ self.space.dag_.ancestors > 0).astype(np.int8)


def per_label(name, scaling):
    """C by three folds on three labels of middling frequency; the risk is their share of errors."""
    rows = rows_of(name, scaling)
    counts = rows.Y_train.sum(axis=0)
    both = np.flatnonzero((counts >= FOLDS) & (counts <= len(rows.Y_train) - FOLDS))
    middle = both[np.argsort(counts[both])[len(both) // 2 - 1 :][:3]]
    right = np.array([
        [cross_val_score(SVC(kernel=rows.kernel, C=C), rows.X_train, rows.Y_train[:, j], cv=FOLDS)
         .mean() for C in COSTS]
        for j in middle
    ])  # fmt: skip
    cost = float(np.median([COSTS[k] for k in right.argmax(axis=1)]))
    return answer(
        rows,
        lambda: PerLabel(rows.kernel, cost, rows.space).fit(rows.X_train, rows.Y_train),
        risk=lambda _: 1 - right.max(axis=1).mean(),
        scaling=lambda _: scaling,
        C=lambda _: cost,
    )


# ---------------------------------------------------------------------- from the top down
class TopDown:
    """A decision per label, learned from rows that have all its parents, asked from the top down.

    ``make()`` gives a classifier, or a regressor of -1 and 1. A label whose rows are all alike is
    what these are.
    """

    def __init__(self, make, space):
        self.make, self.dag = make, space.dag_

    def fit(self, X, Y):
        self.found = {}
        for j in range(Y.shape[1]):
            below = np.flatnonzero(Y[:, self.dag.parents_of[j]].all(axis=1))
            signs = 2.0 * Y[below, j] - 1
            alike = len(np.unique(signs)) < 2
            constant = signs[0] if len(signs) else -1.0
            self.found[j] = constant if alike else self.make().fit(X[below], signs)
        return self

    def predict(self, X):
        predicted = np.zeros((X.shape[0], len(self.found)), np.int8)
        for j in self.dag.order:  # parents first
            asked = np.flatnonzero(predicted[:, self.dag.parents_of[j]].all(axis=1))
            decide = self.found[j]
            if len(asked):
                signs = decide.predict(X[asked]) if hasattr(decide, "predict") else decide
                predicted[asked, j] = signs > 0
        return predicted


def machine(cost):
    return lambda: SVC(kernel="linear", C=cost)


def least_squares(alpha):
    return lambda: Ridge(alpha)


TOP_DOWN = {"H-SVM": (machine, COSTS), "H-RLS": (least_squares, RIDGES)}


def top_down(name, scaling, method):
    """H-SVM or H-RLS: C, or the penalty, by three folds on the Hamming loss of whole answers."""
    rows = rows_of(name, scaling)
    make, grid = TOP_DOWN[method]
    X, Y = rows.X_train, rows.Y_train

    def left_out(value):
        for fitted, held in folds_of(rows):
            model = TopDown(make(value), rows.space).fit(X[fitted], Y[fitted])
            yield (model.predict(X[held]) != Y[held]).sum(axis=1).mean()

    risks = {value: float(np.mean(list(left_out(value)))) for value in grid}
    best = min(grid, key=risks.get)
    return answer(
        rows,
        lambda: TopDown(make(best), rows.space).fit(X, Y),
        risk=lambda _: risks[best],
        scaling=lambda _: scaling,
        **{"C" if method == "H-SVM" else "alpha": lambda _: best},
    )


# ---------------------------------------------------------------------- whole label sets
def penalty(rows, loss, step):
    return penalty_on(rows.X_train, rows.Y_train, rows.space, rows.kernel, loss, step)


def penalty_on(X, Y, space, kernel, loss, step):
    """lam: a step times the mean of k(x, x) over the mean loss of no labels at all, which makes it
    no matter in which units inputs and losses are.
    """
    squares = 1.0 if kernel == "rbf" else sparse.csr_array(X).power(2).sum() / X.shape[0]
    return float(step * squares / np.mean(judged(space, np.zeros_like(Y), Y)[loss]))


def structured(name, scaling, loss, step, fold):
    """The hierarchical max-margin network, fitted to all rows and tested, or to all folds but one.

    In the latter case only the mean loss of the held rows is returned.
    """
    rows = rows_of(name, scaling)
    lam = penalty(rows, loss, step)
    model = StructuredSVM(
        rows.space, LOSSES[loss](), kernel=rows.kernel, alpha=lam, max_iter=100, random_state=0
    )
    X, Y = rows.X_train, rows.Y_train
    if fold != ALL:
        fitted, held = folds_of(rows)[fold]
        return float(-model.fit(X[fitted], Y[fitted]).score(X[held], Y[held]))
    return answer(
        rows,
        lambda: model.fit(X, Y),
        scaling=lambda _: scaling,
        step=lambda _: step,
        lam=lambda _: lam,
        gap=lambda model: float(model.gap_ / model.objective_),
    )


def structured_tasks(name, scalings, losses):
    """All that a choice of the penalty, and of the scaling, needs; every task is one fit."""
    return {
        f"{name}/structured SVM/{loss}/{scaling}/{step:g}/{fold}":
            (structured, name, scaling, loss, step, fold)
        for loss in losses for scaling in scalings for step in STEPS
        for fold in (*range(FOLDS), ALL)
    }  # fmt: skip


def chosen_structured(found, name, loss):
    """Of what these tasks found, the answer of least mean loss over the folds; None if none ran."""
    start, by_trial = f"{name}/structured SVM/{loss}/", {}
    for key, value in found.items():
        if key.startswith(start):
            trial, _, fold = key.rpartition("/")
            by_trial.setdefault(trial, {})[fold] = value
    best = None
    for folds in by_trial.values():
        held = [folds[str(k)] for k in range(FOLDS) if str(k) in folds]
        if len(held) == FOLDS and ALL in folds:
            one = {**folds[ALL], "risk": float(np.mean(held))}
            best = one if best is None or one["risk"] < best["risk"] else best
    return best
