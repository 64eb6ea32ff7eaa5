# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families on real data, beside ConditionalRiskMinimizer on the same splits.

Chapter 6 of Vembu (2010), "Learning to predict combinatorial structures", proposes these models and
has no experiment with them; there is no printed figure to compare with. Rows that name a space are
of ExponentialFamily. Protocol:

* Yeast (1,500 genes for training, 917 for testing, 14 labels) and ENRON (988 and 660 mails, 56
  labels in a tree) with the parts in use; rankings by five folds, every row tested once;
* features are standardised by means and deviations of the training rows, and divided by the square
  root of their number, so that rows have a length of about one. The constant feature of
  ExponentialFamily is free of the penalty. Words of ENRON are weighted by their rarity among
  training rows, and rows have length one;
* the penalty of ExponentialFamily is that of least log-loss, by three folds of the training rows
  or, where these are more than 1,000, on one quarter of them, in steps of a factor sqrt(10); then
  all training rows are learned from. That of ConditionalRiskMinimizer comes from leave-one-out on
  the training rows under the loss itself. The test rows are used once. rbf kernels have the
  default width, for ExponentialFamily by so many Nyström features as are named;
* log-loss is -ln p(y | x) of the whole output. The loss (Hamming: labels that are wrong; Kendall:
  pairs in the wrong order) is that of the prediction of least risk, and of the most probable
  output, for ConditionalRiskMinimizer that under the zero-one loss. "wrong" is the share of rows
  whose most probable output is not the true one. ECE is the expected calibration error, in ten
  bins, of the probabilities of labels, or of pairs being in order; ConditionalRiskMinimizer's means
  are clipped to 0..1 for it;
* "all pairs" of Yeast's labels are trained by stochastic gradients (persistent chains), and judged
  by exact sums over the 16,384 label sets.

"wins" and "LOSES" at the end of a table: the loss of least risk differs from that of
ConditionalRiskMinimizer with the same kernel by more than two standard errors, over test rows.

The loss of least risk has its standard error over test rows beside it.

Usage: python papers/sampling_models.py [--jobs N] [--only TASK] [--kept FOLDER] [--figures FOLDER]
Tasks are yeast, enron and names of label ranking sets. ``--quick``: fewer rows, models and folds.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from hierarchy_data import scaled as weighted
from hierarchy_data import standardised
from sampling_rows import Part, Row, exponential, minimizer, show, without_inputs
from sklearn.model_selection import KFold

from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.multilabel import load_multilabel
from skstruct.datasets.rankings import load_label_ranking
from skstruct.learners import chow_liu_tree
from skstruct.losses import Hamming, Kendall
from skstruct.spaces import Hierarchy, LabelSets, PairwiseLabels, Rankings

RANKED = ("iris", "wine", "glass", "vehicle", "housing", "stock", "cold")


def nystroem(n_landmarks):
    return {"kernel": "rbf", "n_landmarks": n_landmarks}


def scaled(X_train, X_test):
    """Standardised features over the square root of their number."""
    return tuple(X / np.sqrt(X.shape[1]) for X in standardised((X_train, X_test)))


def yeast(figures, quick):
    data = load_multilabel("yeast")
    X_train, X_test = scaled(data.X_train, data.X_test)
    n = 400 if quick else len(X_train)
    part, loss = Part(X_train[:n], data.Y_train[:n], X_test, data.Y_test), Hamming()
    sets = LabelSets(data.labels)
    tree = PairwiseLabels(chow_liu_tree(part.Y_train, data.labels), data.labels)
    full = PairwiseLabels("full", data.labels)
    print(f"\nYeast: {n} rows for training, {len(X_test)} for testing, {len(data.labels)} labels")
    rows = [
        without_inputs(sets, loss, part),
        exponential("label sets, linear", sets, loss, part),
        exponential("tree of pairs, linear", tree, loss, part),
    ]
    if not quick:
        chains = {"solver": "contrastive"}
        rows += [
            exponential("all pairs, linear, by chains", full, loss, part, **chains),
            exponential("label sets, rbf, 500 features", sets, loss, part, **nystroem(500)),
            exponential("tree of pairs, rbf, 500 features", tree, loss, part, **nystroem(500)),
        ]
    rows += [minimizer(sets, loss, part, kernel) for kernel in ("linear", "rbf")]
    show("yeast", "Hamming", rows, figures)


def enron(figures, quick):
    data = load_hierarchical("enron")
    X_train, X_test = weighted(data.X_train, data.X_test, "tf-idf")
    n = 200 if quick else len(X_train)
    part, loss = Part(X_train[:n], data.Y_train[:n], X_test, data.Y_test), Hamming()
    space, sets = Hierarchy(data.edges, data.labels), LabelSets(data.labels)
    print(f"\nENRON: {n} rows for training, {len(X_test)} for testing, {len(data.labels)} labels")
    rows = [without_inputs(space, loss, part), exponential("hierarchy, linear", space, loss, part)]
    if not quick:
        rows.append(exponential("label sets, linear", sets, loss, part))
        rows.append(exponential("hierarchy, rbf, 500 features", space, loss, part, **nystroem(500)))
    rows += [minimizer(space, loss, part, kernel) for kernel in ("linear", "rbf")]
    show("enron", "Hamming", rows, figures)


def ranking(name, figures, quick):
    data, loss = load_label_ranking(name), Kendall()
    pairs, positions = (Rankings(data.labels, embedding) for embedding in ("pairs", "positions"))
    folds = list(KFold(5, shuffle=True, random_state=0).split(data.X))[: 1 if quick else 5]
    n, d = data.Y.shape
    print(f"\n{name}: {n} rankings of {d} labels, {len(folds)} of 5 folds")
    found = []
    for train, test in folds:
        X, X_test = scaled(data.X[train], data.X[test])
        part = Part(X, data.Y[train], X_test, data.Y[test])
        rows = [
            without_inputs(pairs, loss, part),
            exponential("pairs, linear", pairs, loss, part),
            exponential("positions, linear", positions, loss, part),
        ]
        if not quick:
            features = nystroem(200)
            rows += [
                exponential("pairs, rbf, 200 features", pairs, loss, part, **features),
                exponential("positions, rbf, 200 features", positions, loss, part, **features),
            ]
        rows += [minimizer(pairs, loss, part, kernel) for kernel in ("linear", "rbf")]
        found.append(rows)
    show(name, "Kendall", [Row.joined(rows) for rows in zip(*found)], figures)


def run(task, figures, quick):
    started = time.process_time()
    if task in ("yeast", "enron"):
        {"yeast": yeast, "enron": enron}[task](figures, quick)
    else:
        ranking(task, figures, quick)
    print(f"   {task}: {time.process_time() - started:.0f} s")


def main():
    from keeping import arguments, printed, results

    figures = ("--figures", {"type": Path, "help": "folder of the calibration plots"})
    given = arguments(__doc__, figures, ("--quick", {"action": "store_true"}))
    if given.figures is not None:
        given.figures.mkdir(exist_ok=True, parents=True)
    every = ("yeast", "enron", *(RANKED[:2] if given.quick else RANKED))
    tasks = {task: (printed, run, task, given.figures, given.quick) for task in every}
    name = "sampling_models_quick" if given.quick else "sampling_models"
    for text in results(name, tasks, given).values():
        print(text, end="")


if __name__ == "__main__":
    main()
