# SPDX-License-Identifier: BSD-3-Clause
"""Training exponential families: against bare products, scikit-learn and python-crfsuite."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from harness import Table, at_most, compare, median, ratio
from sampling_peers import (
    TOL,
    CrfTrainer,
    label_set_objective,
    logistic_regression,
    one_for_each_label,
    products,
    random_tree,
)
from scipy import sparse

from skstruct import ExponentialFamily
from skstruct.spaces import Classes, Hierarchy, LabelSets, PairwiseLabels, Rankings, Sequences

QUICK = "--quick" in sys.argv
BUDGET = 0.2 if QUICK else 8.0  # seconds for the rounds of a case
LAM = 1e-3
N_FEATURES = 50
MORE_ROWS = (1000,) if QUICK else (1000, 10_000, 100_000)
MORE_LABELS = (10,) if QUICK else (10, 100, 1000)
OURS, PEER, FLOOR = "ours", "peer", "floor"
SAME = 1e-5  # by which objectives may differ


def inputs(n, p=N_FEATURES):
    return np.random.default_rng(0).standard_normal((n, p))


def scores_of(X, d, rng):
    return X @ rng.standard_normal((X.shape[1], d)) / np.sqrt(X.shape[1])


def learner(space, **options):
    return ExponentialFamily(space, **{"alpha": LAM, "tol": TOL, "fit_intercept": False, **options})


def race(table, case, space, X, Y, peer=None, target=None):
    """Training, what it is of the bare products, and a peer's training; both objectives."""
    model = learner(space).fit(X, Y)
    calls = {OURS: partial(learner(space).fit, X, Y)}
    d = model.coef_.shape[0]
    calls[FLOOR] = products(X, d, model.n_iter_)
    if peer is not None:
        name, fit, objective = peer
        calls[PEER] = fit
    times = compare(calls, rounds=3, budget=BUDGET)
    title = f"{case}: {model.n_iter_} steps, d = {d:,}"
    table.add(title, median(times, OURS), ratio(times, OURS, FLOOR))
    if peer is not None:
        apart = (model.objective_ - objective(fit())) / abs(model.objective_)
        assert abs(apart) < SAME, f"{case}: objectives differ by {apart:.1e}"
        title = f"  {name}, objective {apart:+.0e}; ours / peer"
        table.add(title, median(times, PEER), ratio(times, OURS, PEER), target)


# ---------------------------------------------------------------------- classes, sets
def class_peer(X, y):
    """Multinomial logistic regression, and its objective."""
    rows = np.arange(len(y))

    def objective(fitted):
        logs = np.log(fitted.predict_proba(X)[rows, y])
        return LAM * (fitted.coef_**2).sum() - logs.mean()

    return "LogisticRegression", partial(logistic_regression(LAM, len(y)).fit, X, y), objective


def set_peer(X, Y):
    """One logistic regression for each label, and their joint objective."""
    fit = partial(one_for_each_label, X, Y, LAM)
    return "LogisticRegression per label", fit, lambda W: label_set_objective(X, Y, W, LAM)


def bench_rows(n_classes=10, n_labels=14):
    table = Table(f"Training, {N_FEATURES} features", "time / X W and X' G in every step")
    for n in MORE_ROWS:
        X, rng = inputs(n), np.random.default_rng(1)
        y = (scores_of(X, n_classes, rng) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
        race(table, f"{n:,} rows, {n_classes} classes", Classes(range(n_classes)), X, y,
             class_peer(X, y), at_most(2))  # fmt: skip
        Y = labels_of(X, n_labels, rng)
        race(table, f"{n:,} rows, {n_labels} labels", LabelSets(range(n_labels)), X, Y,
             set_peer(X, Y), at_most(1))  # fmt: skip


def labels_of(X, d, rng):
    return (scores_of(X, d, rng) + rng.logistic(size=(len(X), d)) > 0.5).astype(int)


def bench_labels(n=1000):
    table = Table(f"Training, {n:,} rows", "time / X W and X' G in every step")
    for d in MORE_LABELS:
        X, rng = inputs(n), np.random.default_rng(1)
        Y, parent = labels_of(X, d, rng), random_tree(d, rng)
        edges = [(int(parent[v]), v) for v in range(1, d)]
        race(table, f"LabelSets, {d:,}", LabelSets(range(d)), X, Y,
             set_peer(X, Y) if d <= 100 else None, at_most(1))  # fmt: skip
        race(table, f"PairwiseLabels, tree of {d:,}", PairwiseLabels(edges, range(d)), X, Y)
        for v in range(1, d):
            Y[:, v] &= Y[:, parent[v]]
        race(table, f"Hierarchy, {d:,} labels", Hierarchy(edges, labels=range(d)), X, Y)


def bench_other_spaces():
    """What sums cost where they are many: pairs of all labels, orders of items."""
    table = Table("Training, other spaces", "time / X W and X' G in every step")
    n, rng = 100 if QUICK else 500, np.random.default_rng(1)
    X = inputs(n)
    for d in (6,) if QUICK else (6, 10, 14):
        space = PairwiseLabels("full", labels=range(d))
        race(table, f"PairwiseLabels, all pairs of {d}", space, X, labels_of(X, d, rng))
    for d in (4,) if QUICK else (5, 8, 10):
        order = (scores_of(X, d, rng) + rng.gumbel(size=(n, d))).argsort(axis=1)
        for embedding in ("ranks", "positions", "pairs"):
            space = Rankings(range(d), embedding)
            race(table, f"Rankings, {embedding} of {d}", space, X, order.argsort(axis=1) + 1)


# ---------------------------------------------------------------------- chains
def sentences(n, length, q, p, rng, per_token=10):
    """Sequences of symbols, and sparse rows of features that tell them half of the time."""
    X, Y = [], []
    for _ in range(n):
        y = np.cumsum(rng.integers(0, 2, length)) % q
        signal = q * rng.integers(0, p // q, (length, per_token)) + y[:, None]
        noise = rng.integers(0, p, signal.shape)
        columns = np.where(rng.random(signal.shape) < 0.2, signal, noise).ravel()
        upto = np.arange(0, len(columns) + 1, per_token)
        X.append(sparse.csr_matrix((np.ones(len(columns)), columns, upto), shape=(length, p)))
        Y.append(y.tolist())
    return X, Y


def bench_chains():
    table = Table("Training chains of 20 of 10 symbols, 10 of all features at each",
                  "time / X W and X' G in every step")  # fmt: skip
    for n, p in ((50, 100),) if QUICK else ((100, 1000), (1000, 1000), (1000, 10_000)):
        X, Y = sentences(n, 20, 10, p, np.random.default_rng(0))
        model = learner(Sequences(range(10))).fit(X, Y)
        tokens = sparse.csr_array(sparse.vstack(X))
        calls = {
            OURS: partial(learner(Sequences(range(10))).fit, X, Y),
            FLOOR: products(tokens, 10, model.n_iter_),
        }
        try:
            peer = CrfTrainer(X, Y, LAM)
            calls[PEER] = peer.fit
        except ImportError:
            table.note("python-crfsuite is not installed: left out")
        times = compare(calls, rounds=3, budget=BUDGET)
        title = f"{n:,} sequences, {p:,} features: {model.n_iter_} steps"
        table.add(title, median(times, OURS), ratio(times, OURS, FLOOR))
        if PEER in calls:
            apart = (model.objective_ - peer.objective / n) / abs(model.objective_)
            title = f"  python-crfsuite, {peer.n_iter} steps, objective {apart:+.0e}; ours / peer"
            table.add(title, median(times, PEER), ratio(times, OURS, PEER), at_most(1))


if __name__ == "__main__":
    bench_rows()
    bench_labels()
    bench_other_spaces()
    bench_chains()
