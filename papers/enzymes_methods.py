# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of papers/enzymes.py: data, and what every method answers."""

from __future__ import annotations

import time
import warnings
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor, StructuredSVM
from skstruct.datasets.sequences import load_enzymes
from skstruct.kernels import PathKernel, SpectrumKernel
from skstruct.losses import resolve_loss
from skstruct.smoothing import LargestWeights, SampleCompression
from skstruct.spaces import Hierarchy, Poset

N_TEST = 1755
CS = (3.0, 10.0, 30.0, 100.0)
SHARES = (0.1, 0.2, 0.4, 0.8)  # of the root of m: radii
SPARSE = {
    "alpha": [10.0, 1.0, 0.1, 0.01],
    "method": LargestWeights(n_weights=[None, 300, 100, 30, 10, 3, 1]),
}
STEPS = (1e-3, 3e-3, 1e-2, 3e-2)  # penalties of H-M3, by the loss of no node at all
LANDMARKS, PASSES = 500, 30
MACHINES = {"hierarchical": "hierarchical", "hamming": "hamming", "one path": "hamming"}
PARTS = ("split", "new")
RULE, NEAREST, DEFAULT = "SORR, sparse", "nearest neighbour", "default"


def load(part):
    """Sequences, and EC numbers such as "3.5.2.6"."""
    data = load_enzymes(part, single=True)
    return np.array(data.sequences, dtype=object), np.array([".".join(path) for path in data.paths])


def parts(name):
    """Training sequences and numbers, and those to test on."""
    X, y = load("split10")
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[:N_TEST], order[N_TEST:]
    if name == "split":
        return X[train], y[train], X[test], y[test]
    return X[order], y[order], *load("new")


def nodes(number):
    """All nodes on the path to an EC number.

    >>> sorted(nodes("3.5.2.6"))
    ['3', '3.5', '3.5.2', '3.5.2.6']
    """
    parts = number.split(".")
    return {".".join(parts[: k + 1]) for k in range(len(parts))}


def edges(numbers):
    return sorted({pair for number in numbers for pair in _steps(number)})


def _steps(number):
    path = sorted(nodes(number), key=len)
    return pairwise(path)


def wrong_nodes(predicted, true):
    """How many nodes are too many, and how many are missed, for each row."""
    pairs = ((set(p), nodes(t)) for p, t in zip(predicted, true))
    return [[len(p - t), len(t - p)] for p, t in pairs]


def told(predicted, true, part, note, seconds):
    """What a task returns of one part."""
    return {part: {"wrong": wrong_nodes(predicted, true), "note": note, "seconds": seconds}}


# ---------------------------------------------------------------------- tasks


def regressor(**settings):
    return OutputKernelRegressor(kernel=SpectrumKernel(4), output_kernel=PathKernel(), **settings)


def regression(method):
    """Choose on the training part of the split, and predict both parts."""
    found, chosen = {}, None
    for part in PARTS:
        X, y, X_test, true = parts(part)
        start = time.process_time()
        settings = SETTINGS[method](len(X)) if chosen is None else again(chosen, method, len(X))
        model = regressor(**settings).fit(X, y)
        predicted = [nodes(number) for number in model.predict(X_test)]
        chosen = (model, len(X)) if chosen is None else chosen
        found |= told(predicted, true, part, note_of(model), time.process_time() - start)
    return found


SETTINGS = {
    "SORR": lambda m: {"alpha": [1 / C for C in CS], "solver": "spectral"},
    RULE: lambda m: SPARSE,
    "SOSC": lambda m: {
        "method": SampleCompression(radius=np.array(SHARES) * m**0.5), "cv": 3, "random_state": 0
    },
}  # fmt: skip


def again(chosen, method, m):
    """The same settings for more rows."""
    model, before = chosen
    if method == "SOSC":
        return {"method": SampleCompression(radius=model.radius_ * (m / before) ** 0.5)}
    same = {"alpha": model.alpha_}
    if method == RULE:
        same["method"] = LargestWeights(n_weights=model.n_weights_)
    return same


def note_of(model):
    if model.radius_ is not None:
        return f"radius {model.radius_:.3g}"
    sparse = isinstance(model.method, LargestWeights)
    weights = f", {model.n_weights_ or 'all'} weights" if sparse else ""
    return f"C {1 / model.alpha_:g}{weights}"


def simple(method):
    """The nearest training enzyme, and the one path that shares most nodes with all others."""
    found = {}
    for part in PARTS:
        X, y, X_test, true = parts(part)
        start = time.process_time()
        if method == NEAREST:
            kernel = SpectrumKernel(4).fit(X)  # of features that have norm one
            near = NearestNeighbors(n_neighbors=1).fit(kernel.transform(X))
            rows = near.kneighbors(kernel.transform(X_test), return_distance=False)[:, 0]
            answers = y[rows]
        else:
            names, counts = np.unique(y, return_counts=True)
            answers = np.full(len(true), names[np.argmax(PathKernel()(names.tolist()) @ counts)])
        predicted = [nodes(number) for number in answers]
        found |= told(predicted, true, part, "", time.process_time() - start)
    return found


def default(part):
    X, y, X_test, true = parts(part)
    start = time.process_time()
    kernel = SpectrumKernel(4).fit(X)
    model = ConditionalRiskMinimizer(Poset(edges(y), leaves_only=True), "hamming")
    model.fit(kernel.transform(X), y)
    predicted = [nodes(number) for number in model.predict(kernel.transform(X_test))]
    return told(predicted, true, part, "", time.process_time() - start)


def machine(part, kind, step):
    """H-M3 with one penalty: answers for a part, or for the fifth of rows that chooses."""
    X, y, X_test, true = parts("split" if part == "held out" else part)
    if part == "held out":
        n = len(y) // 5
        X, y, X_test, true = X[n:], y[n:], X[:n], y[:n]
    start = time.process_time()
    kernel, loss = SpectrumKernel(4).fit(X), MACHINES[kind]
    one_path = kind == "one path"
    space = Poset(edges(y), leaves_only=True) if one_path else Hierarchy(edges(y))
    model = StructuredSVM(
        space, loss, alpha=step / mean_loss(loss, [set()] * len(y), y), n_landmarks=LANDMARKS,
        fit_intercept=False, max_iter=PASSES, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(kernel.transform(X), y if one_path else [nodes(number) for number in y])
    predicted = model.predict(kernel.transform(X_test))
    predicted = [nodes(number) for number in predicted] if one_path else predicted
    note = f"step {step:g}, gap {model.gap_ / model.objective_:.1%}"
    found = told(predicted, true, part, note, time.process_time() - start)
    return {**found, "risk": mean_loss(loss, predicted, true, y)}


def mean_loss(loss, predicted, true, more=()):
    """In the hierarchy of the true numbers, and more."""
    space, sets = Hierarchy(edges([*true, *more])), [nodes(number) for number in true]
    space = space.fit(sets)
    judge = resolve_loss(loss).bind(space)
    return float(np.mean(judge(space.validate([set(p) for p in predicted]), space.validate(sets))))


def tasks():
    found = {method: (regression, method) for method in SETTINGS}
    found |= {method: (simple, method) for method in (NEAREST, "always the same path")}
    found |= {f"{DEFAULT}/{part}": (default, part) for part in PARTS}
    return found | {
        f"H-M3, {kind}/{part}/{step:g}": (machine, part, kind, step)
        for kind in MACHINES
        for step in STEPS
        for part in ("held out", *PARTS)
    }
