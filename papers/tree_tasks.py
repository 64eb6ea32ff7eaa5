# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of papers/max_margin_trees.py: each is one training, or one table cell, on one thread."""

import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.model_selection import KFold
from tree_choices import (
    FORMS,
    MEASURES,
    accuracies_of_rows,
    dense,
    in_form,
    learner,
    load,
    quietly,
    trained_on,
)

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_label_tree
from skstruct.kernels import RBF, Laplacian, Linear
from skstruct.spaces import Solving

SLOW = ("greedy", "mst")
MOST_PASSES = 300  # of each training of these: they are hundreds of trainings
FIGURE_LAMBDAS = (3e-3, 1e-2, 3e-2, 1e-1)


def fitted(name, method, form, lam, restarts):
    """Accuracies of the test rows by one model, and how well it was trained."""
    quietly()
    halves, Y, truth = load(name)
    (X, X_test), square = in_form(halves, form)
    settings = {"n_restarts": restarts} if method == "crank" else {}
    settings |= {"max_iter": MOST_PASSES} if method in SLOW else {}
    started = time.process_time()
    model = learner(method, lam * square, **settings).fit(X, Y)
    spent = time.process_time() - started
    numbers = {name: getattr(model, f"{name}_", None) for name in ("objective", "dual_objective")}
    rows = accuracies_of_rows(model.predict(X_test), truth)
    return {"rows": np.round(rows, 6).tolist(), "seconds": spent, **numbers}


def by_default(name, measure):
    """Accuracies of the test rows in one measure: ours for its loss, as it comes."""
    halves, Y, truth = load(name)
    return _measured(ConditionalRiskMinimizer(loss=MEASURES[measure]), halves, Y, truth, measure)


def chosen_kernel(name, measure):
    """The same with kernel, width, alpha and scale of inputs by leave-one-out."""
    halves, Y, truth = load(name)
    trials = []
    for form in (form for form in FORMS if form.endswith("/1")):
        # Widths are tried around one over the number of features, for features of size one.
        X, X_test = (dense(half) * np.sqrt(half.shape[1]) for half in in_form(halves, form)[0])
        for kernel in (Linear(), RBF("auto"), Laplacian("auto")):
            model = ConditionalRiskMinimizer(loss=MEASURES[measure], kernel=kernel)
            started = time.process_time()
            model.fit(X, Y)
            risk = min(trial["risk"] for trial in model.search_.trials)
            spent = time.process_time() - started
            trials.append((risk, f"{form} {kernel.name}", model, X_test, spent))
    _, what, model, X_test, _ = min(trials, key=lambda trial: trial[0])
    rows = 1 - MEASURES[measure](model.predict(X_test), truth)
    return {"rows": rows.tolist(), "seconds": sum(t[-1] for t in trials), "what": what}


def _measured(model, halves, Y, truth, measure):
    X, X_test = map(dense, halves)
    started = time.process_time()
    model.fit(X, Y)
    rows = 1 - MEASURES[measure](model.predict(X_test), truth)
    return {"rows": rows.tolist(), "seconds": time.process_time() - started}


# ---------------------------------------------------------------------- Table 2


def times(method, form, lam, restarts=10):
    """CPU seconds on Yeast: training, prediction and decoding of the test rows; programs."""
    quietly()
    halves, Y, _ = load("yeast")
    (X, X_test), square = in_form(halves, form)
    settings = {"n_restarts": restarts} if method == "crank" else {}
    settings |= {"max_iter": MOST_PASSES} if method in SLOW else {}
    learner(method, 0.01, **settings, tol=0.1).fit(X[:40], Y[:40])  # compiles
    started = time.process_time()
    model = learner(method, lam * square, **settings).fit(X, Y)
    spent = {"train": time.process_time() - started, "objective": model.objective_}
    scores = X_test @ model.coef_.T + model.intercept_
    spent["predict"] = seconds(lambda: model.predict(X_test))
    spent["decoding"] = seconds(
        lambda: Solving.of(model.space_).argmin_shared(-scores, -model.edge_coef_)
    )
    if method == "full":
        spent["programs"] = len(scores) * seconds(lambda: programs(model, scores[:40]), 3) / 40
    return spent


def seconds(action, repeats=5):
    spent = []
    for _ in range(repeats):
        started = time.process_time()
        action()
        spent.append(time.process_time() - started)
    return min(spent)


def programs(model, scores):
    """The local polytope's optimum of each row, by scipy's HiGHS."""
    edges, n = model.space_.edges_, scores.shape[1]
    E, rows = len(edges), np.arange(len(edges))
    ends = [sparse.coo_array((np.ones(E), (rows, edges[:, k])), (E, n)) for k in (0, 1)]
    pairs = sparse.eye_array(E)
    below = sparse.bmat([[-ends[0], pairs], [-ends[1], pairs], [ends[0] + ends[1], -pairs]]).tocsc()
    constraints = np.repeat([0.0, 0.0, 1.0], E)
    for row in scores:
        costs = -np.concatenate([row, model.edge_coef_])
        linprog(costs, A_ub=below, b_ub=constraints, bounds=(0, 1), method="highs")


# ---------------------------------------------------------------------- Figure 1


def figure(methods, repeat, size, largest):
    """Test accuracies of the methods on one tree and one size of training set: (methods, 3)."""
    quietly()
    train = make_label_tree(largest, random_state=repeat)
    test = make_label_tree(1000, tree=train.tree, random_state=1000 + repeat)
    X, Y = train.X[:size], train.Y[:size]
    tried = np.zeros((len(FIGURE_LAMBDAS), 3))
    for split in KFold(3, shuffle=True, random_state=0).split(Y):
        here = trained_on("full", X, Y, *split, lambdas=FIGURE_LAMBDAS)["accuracies"]
        tried += len(split[1]) * np.array(here)
    lam = FIGURE_LAMBDAS[int(tried.mean(axis=1).argmax())]
    found = []
    for method in methods:
        model = learner(method, lam, n_restarts=3).fit(X, Y)
        found.append(accuracies_of_rows(model.predict(test.X), test.Y).mean(axis=1).tolist())
    return {"lam": lam, "accuracies": found}
