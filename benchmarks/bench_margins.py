# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin networks, trees and chains: training to a gap, growth, prediction."""

from __future__ import annotations

import json
import sys
import time
import warnings
from copy import copy
from functools import partial
from importlib.util import find_spec

import numpy as np
from chain_peers import CrfTagger
from harness import Table, at_least, compare, in_fresh_process, median, peak_bytes, ratio
from margin_peers import NetworkByPrograms, TreeByPrograms
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from skstruct.datasets import make_label_tree
from skstruct.datasets.images import load_ocr_words
from skstruct.datasets.multilabel import load_multilabel
from skstruct.exceptions import MissingDataError
from skstruct.learners import CircuitRank, MaxMarginNetwork, MaxMarginTree, StructuredSVM
from skstruct.spaces import Sequences, Solving

FEW = 150  # rows on which a linear program per example is affordable
MORE_LABELS = [(1000, 6), (1000, 14), (1000, 45), (1000, 100)]  # rows and labels
MORE_ROWS = [(1000, 14), (10_000, 14), (100_000, 14)]
GROWTH_PASSES, MORE_PASSES = 30, 100  # at most, and with all pairs of 100 labels


def once(fit) -> tuple[float, object]:
    """CPU seconds of a fit and what it returns."""
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        model = fit()
        return time.process_time() - start, model


def multilabel():
    """Yeast, its features scaled; made-up data of the same size where it is missing."""
    try:
        data = load_multilabel("yeast")
    except MissingDataError as error:
        print(f"\nYeast is left out, with data made up in its place: {error}")
        made = make_label_tree(1500, 14, 103, noise=3.0, random_state=0)
        return "made up", made.X, made.Y
    return "Yeast", StandardScaler().fit_transform(data.X_train), data.Y_train


def describe(model):
    return f"{model.n_iter_} passes, gap {model.gap_ / model.objective_:.1e}"


# ---------------------------------------------------------------------- training
def bench_training(name, X, Y):
    table = Table(f"Training on {name} {X.shape}, all pairs of 14 labels", "time / that of 1e-2")
    once(
        lambda: MaxMarginTree(method=CircuitRank(n_restarts=1), alpha=0.01, random_state=0).fit(
            X[:50], Y[:50]
        )
    )
    for lam in (0.01, 0.001):
        first = None
        for tol in (1e-2, 1e-3):
            model = MaxMarginNetwork(alpha=lam, tol=tol, max_iter=300, random_state=0)
            seconds, model = once(partial(model.fit, X, Y))
            first = first or seconds
            table.add(f"full, alpha {lam}: {describe(model)}", seconds, seconds / first)
        model = MaxMarginTree(
            method=CircuitRank(n_restarts=1), alpha=lam, max_iter=300, random_state=0
        )
        seconds, model = once(partial(model.fit, X, Y))
        table.add(f"CRANK, one start, alpha {lam}: the forest's {describe(model)}", seconds,
                  seconds / first)  # fmt: skip


def bench_oracles(name, X, Y):
    table = Table(f"The same training on {FEW} rows of {name} by two oracles", "HiGHS / min cuts")
    if find_spec("highspy") is None:
        table.note("highspy is not installed: left out")
        return
    X, Y = X[:FEW], Y[:FEW]
    for kind in (MaxMarginTree, TreeByPrograms):  # compiles
        once(partial(kind(alpha=0.01, max_iter=1, random_state=0).fit, X[:20], Y[:20]))
    for lam in (0.01, 0.001):
        settings = {"alpha": lam, "max_iter": 30, "random_state": 0}
        ours, peer = MaxMarginNetwork(**settings), NetworkByPrograms(**settings)
        ours, peer = race(table, f"full, alpha {lam}", ours, peer, X, Y)
        # One convex problem: the same optimum lies between both bounds.
        assert ours.dual_objective_ <= peer.objective_ + 1e-9
        assert peer.dual_objective_ <= ours.objective_ + 1e-9
        settings.update(max_iter=2)  # of each of its convex problems
        tree = MaxMarginTree(method=CircuitRank(n_restarts=1), **settings)
        peer = TreeByPrograms(method=CircuitRank(n_restarts=1), **settings)
        race(table, f"CRANK, alpha {lam}", tree, peer, X, Y)


def race(table, case, ours, peer, X, Y):
    """Both learners once, with the passes they took: hardly more or less than each other."""
    seconds, ours = once(partial(ours.fit, X, Y))
    table.add(f"{case}, min cuts: {describe(ours)}", seconds)
    longer, peer = once(partial(peer.fit, X, Y))
    table.add(f"{case}, HiGHS: {describe(peer)}", longer, longer / seconds, at_least(10))
    return ours, peer


# ---------------------------------------------------------------------- growth
def fit_made_up(n_rows, n_labels, graph):
    """In a process of its own: seconds, passes, gap and how much the peak of memory grew."""
    n_rows, n_labels = int(n_rows), int(n_labels)
    data = make_label_tree(n_rows, n_labels, 20, noise=1.0, random_state=0)
    edges = "full" if graph == "full" else data.tree.edges.tolist()
    passes = MORE_PASSES if graph == "full" and n_labels >= 100 else GROWTH_PASSES
    model = MaxMarginNetwork(edges, alpha=0.01, max_iter=passes, random_state=0)
    once(partial(model.fit, data.X[:50], data.Y[:50]))
    before = peak_bytes()
    seconds, model = once(partial(model.fit, data.X, data.Y))
    grown = (peak_bytes() - before) / 2**20
    return seconds, model.n_iter_, model.gap_ / model.objective_, grown


def bench_growth():
    table = Table(
        f"Training to a gap of 1e-2, at most {GROWTH_PASSES} passes, with all pairs of 100 labels "
        f"{MORE_PASSES}; made-up data of 20 features",
        "time / that of the case above",
    )
    for graph in ("tree", "full"):
        for sizes in (MORE_LABELS, MORE_ROWS):
            before = None
            for n_rows, n_labels in sizes:
                arguments = "growth", n_rows, n_labels, graph
                seconds, passes, gap, grown = in_fresh_process(__file__, *arguments)
                name = f"{graph}, {n_rows:,} rows, {n_labels} labels"
                table.add(f"{name}: {passes} passes, gap {gap:.1e}, {grown:.0f} MiB", seconds,
                          seconds / before if before else None)  # fmt: skip
                before = seconds


# ---------------------------------------------------------------------- predicting
def bench_prediction(name, X, Y, n_rows=100_000):
    title = f"Predicting {n_rows:,} rows as of {name}, per row"
    settings = {"alpha": 0.01, "tol": 0.05, "random_state": 0}
    tree = MaxMarginTree(method="chow-liu", **settings).fit(X, Y)
    full = MaxMarginNetwork(**settings).fit(X, Y)
    svm = LinearSVC(dual=False, C=1e-3)
    alone, chain = OneVsRestClassifier(svm).fit(X, Y), ClassifierChain(svm).fit(X, Y)
    many = X[np.random.default_rng(0).integers(len(X), size=n_rows)]
    few = many[:5000]
    costs = {model: -model.scores_.predict(many) for model in (tree, full)}
    pairs = {model: -model.edge_coef_ for model in (tree, full)}
    table = Table(title, "time / that of one-vs-rest: one matrix product and a sign")
    calls = {
        "OneVsRestClassifier(LinearSVC).predict": partial(alone.predict, many),
        "ClassifierChain(LinearSVC).predict": partial(chain.predict, many),
        "MaxMarginTree.predict": partial(tree.predict, many),
        "MaxMarginNetwork.predict, full": partial(full.predict, few),
        "tree: decoding alone": partial(
            Solving.of(tree.space_).argmin_shared, costs[tree], pairs[tree]
        ),
        "full: decoding alone": partial(
            Solving.of(full.space_).argmin_shared, costs[full][: len(few)], pairs[full]
        ),
    }
    rows = {call: len(few) if "full" in call else n_rows for call in calls}
    times = compare(calls, rows, budget=15.0)
    for call in calls:
        table.add(call, median(times, call), ratio(times, call, next(iter(calls))))
    share = ratio(times, "full: decoding alone", "tree: decoding alone")
    table.note(f"all pairs take {share:.0f} times as long to decode as a tree")
    bench_two_threads(tree, many, {"decoding": calls["tree: decoding alone"]})


def bench_two_threads(tree, X, calls):
    table = Table(f"The tree, {len(X):,} rows, per row", "millions of rows per second")
    for n_jobs in (1, 2):
        calls[f"predict, n_jobs={n_jobs}"] = clone_with(tree, n_jobs).predict
    calls = {name: partial(call, X) if "predict" in name else call for name, call in calls.items()}
    rows = dict.fromkeys(calls, len(X))
    for clock, unit in ((time.process_time, "CPU"), (time.perf_counter, "wall")):
        times = compare(calls, rows, budget=6.0, clock=clock)
        for name in calls:
            seconds = median(times, name)
            bar = at_least(1) if unit == "CPU" else None  # others may share the cores
            table.add(f"{name}, {unit} time", seconds, 1e-6 / seconds, bar)


def clone_with(model, n_jobs):
    """The same fitted model, for so many threads."""
    other = copy(model)
    other.n_jobs = n_jobs
    return other


# ---------------------------------------------------------------------- chains
def bench_words():
    try:
        data = load_ocr_words()
    except MissingDataError as error:
        print(f"\nWords are left out: {error}")
        return
    inside = data.folds == 0
    train, test = np.flatnonzero(inside), np.flatnonzero(~inside)[:2000]
    X, Y = [data.images[i] for i in train], [data.words[i] for i in train]
    table = Table(f"Letters of {len(test):,} words, trained on {len(train)}", "time / crfsuite")

    def accuracy(words):
        pairs = [(a, b) for i, word in zip(test, words) for a, b in zip(data.words[i], word)]
        return np.mean([a == b for a, b in pairs])

    seconds, peer = once(partial(CrfTagger, map(inked, X), Y, n_steps=100))
    found = peer.tag(peer.prepare(inked(data.images[i]) for i in test))
    table.add(f"crfsuite, L-BFGS, 100 steps: accuracy {accuracy(found):.3f}", seconds)
    once(partial(StructuredSVM(Sequences(), alpha=0.01, max_iter=1).fit, X[:20], Y[:20]))
    for lam in (0.1, 0.01):
        model = StructuredSVM(Sequences(), alpha=lam, max_iter=100, random_state=0)
        longer, model = once(partial(model.fit, X, Y))
        right = accuracy(model.predict([data.images[i] for i in test]))
        table.add(f"StructuredSVM, alpha {lam}, {describe(model)}: accuracy {right:.3f}", longer,
                  longer / seconds)  # fmt: skip


def inked(image):
    """Names of the pixels that are black, letter by letter."""
    return [["one", *map(str, np.flatnonzero(letter))] for letter in image]


if __name__ == "__main__":
    if sys.argv[1:2] == ["growth"]:
        print(json.dumps(fit_made_up(*sys.argv[2:])))
        sys.exit()
    data = multilabel()
    bench_oracles(*data)
    bench_training(*data)
    bench_prediction(*data)
    bench_growth()
    bench_words()
