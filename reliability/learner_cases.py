# SPDX-License-Identifier: BSD-3-Clause
"""Every public learner with several spaces, on data that tie: rows on a coarse grid, rows twice.

CASES has, by name, a function that makes a learner, and the kind of its outputs; ``draw`` makes
rows and outputs of a kind. Inputs are multiples of an eighth, so that float32 holds them too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    MaxMarginNetwork,
    MaxMarginTree,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.learners import (
    ConstraintClassification,
    LabelRankingBoosting,
    LabelRankingSVM,
    NeighborLabelRanker,
    OnlineLabelRanker,
    PairwiseComparison,
)
from skstruct.smoothing import Forest, Neighbors
from skstruct.spaces import (
    Assignments,
    Box,
    Cycles,
    Hierarchy,
    Interval,
    Knapsacks,
    LabelSets,
    Matchings,
    Ordinal,
    Rankings,
    Sequences,
    Simplex,
    SpanningTrees,
)

# What locales write in other ways: an i with a dot and without, commas and points of numbers.
NAMES = ("I", "ı", "İ", "i", "1,5", "1.5", "ß")
TREE = [("I", "ı"), ("I", "İ"), ("ı", "i"), ("ı", "1,5"), ("İ", "1.5"), ("İ", "ß")]
STEPS = np.array([8.0, 2.0, 1.0, 4.0, 8.0])
N_FEATURES = len(STEPS)
WEIGHTS = {"I": 1, "ı": 2, "İ": 2, "i": 3, "1,5": 1}


class Drawn(NamedTuple):
    """Rows of training with outputs, and rows to predict."""

    X: object
    y: object
    new: object


class Case(NamedTuple):
    """How to make a learner, and of what kind its outputs are."""

    make: Callable
    kind: str


def _scores(rng, X, width):
    """Noisy linear scores on a coarse grid, (n, width): they tie all the time."""
    weights = rng.integers(-2, 3, (X.shape[1], width))
    return np.round(X @ weights + rng.standard_normal((len(X), width)))


def _sets(scores):
    return [{name for name, score in zip(NAMES, row) if score > 0} for row in scores]


def _closed(scores):
    """Sets of names with all that is above them."""
    above = {child: parent for parent, child in TREE}
    found = []
    for row in _sets(scores):
        for name in [*row]:
            while name in above:
                name = above[name]
                row.add(name)
        found.append(row)
    return found


def _ranks(scores):
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1


def _trees(scores):
    """Spanning trees of five nodes: each is joined to an earlier one."""
    return [[(NAMES[int(abs(v)) % (j + 1)], NAMES[j + 1]) for j, v in enumerate(row)]
            for row in scores]  # fmt: skip


def _matchings(scores):
    orders = np.argsort(scores, axis=1, kind="stable")
    return [[(NAMES[a], NAMES[b]), (NAMES[c], NAMES[d])] for a, b, c, d in orders]


def _packed(scores):
    """Items while they fit into a knapsack of five."""
    found = []
    for order in np.argsort(scores, axis=1, kind="stable"):
        taken, room = [], 5
        for item in order:
            if WEIGHTS[NAMES[item]] <= room:
                taken.append(NAMES[item])
                room -= WEIGHTS[NAMES[item]]
        found.append(taken)
    return found


OUTPUTS = {  # how many scores an output takes, and how it is made of them
    "classes": (4, lambda s: [NAMES[k] for k in s.argmax(axis=1)]),
    "sets": (5, _sets),
    "indicators": (4, lambda s: (s > 0).astype(int)),
    "closed": (7, _closed),
    "ranks": (4, _ranks),
    "levels": (1, lambda s: np.clip(s[:, 0], -2, 2).astype(int)),
    "number": (1, lambda s: s[:, 0] / 4 + 0.125),
    "numbers": (2, lambda s: s / 4 + 0.125),
    "shares": (3, lambda s: np.exp(s / 4) / np.exp(s / 4).sum(axis=1, keepdims=True)),
    "tours": (4, lambda s: [[NAMES[k] for k in row] for row in np.argsort(s, axis=1)]),
    "trees": (4, _trees),
    "matchings": (4, _matchings),
    "assignments": (3, lambda s: [[NAMES[k] for k in row] for row in np.argsort(s, axis=1)]),
    "packed": (5, _packed),
}


def draw(kind, rng, n=24, n_new=24, grid=True):
    """Rows on a grid, many of them twice, with outputs that need not agree.

    Every other time all rows are there twice, with the first two names exchanged: whatever learns
    from sums over rows then scores these two alike, and every bit of rounding is a preference.
    Without a grid no row is there twice, and nothing ties.
    """
    if kind == "sequences":
        return _sentences(rng, n, n_new)
    if not grid:
        X = rng.standard_normal((n + n_new, N_FEATURES))
        width, make = OUTPUTS[kind]
        return Drawn(X[:n], make(_scores(rng, X[:n], width)), X[n:])
    X = rng.integers(-4, 5, (n + n_new, N_FEATURES)) / STEPS
    width, make = OUTPUTS[kind]
    scores = _scores(rng, X[:n], width)
    if rng.random() < 0.5:
        X[n // 2 : n] = X[: n // 2]
        scores[n // 2 :] = scores[: n // 2, ([1, 0, *range(2, width)] if width > 1 else [0])]
    X[n // 2 : n // 2 + n // 3] = X[: n // 3]
    X[n : n + n_new // 3] = X[: n_new // 3]
    X[n + n_new // 3] = 0.0
    return Drawn(X[:n], make(scores), X[n:])


def _sentences(rng, n, n_new):
    X = [rng.integers(-4, 5, (rng.integers(1, 5), N_FEATURES)) / STEPS for _ in range(n + n_new)]
    X[n // 2 : n // 2 + n // 3] = X[: n // 3]
    y = [[NAMES[k] for k in _scores(rng, x, 3).argmax(axis=1)] for x in X[:n]]
    return Drawn(X[:n], y, X[n:])


def _risk(space=None, loss=None, **settings):
    return lambda: ConditionalRiskMinimizer(space, loss, random_state=0, **settings)


RIDGE = {"smoother": "kernel_ridge"}
CASES = {
    "risk, classes": Case(_risk(**RIDGE), "classes"),
    "risk, weighed smoothers": Case(_risk(), "classes"),
    "risk, linear": Case(_risk(kernel="linear", alpha=1.0), "classes"),
    "risk, landmarks": Case(_risk(solver="nystroem", alpha=0.1, n_landmarks=10), "classes"),
    "risk, neighbors": Case(_risk(smoother=Neighbors(3)), "classes"),
    "risk, forest": Case(_risk(LabelSets(), smoother=Forest(5, random_state=0)), "indicators"),
    "risk, label sets": Case(_risk(LabelSets(), "hamming", **RIDGE), "sets"),
    "risk, f1": Case(_risk(LabelSets(), "f1", alpha=0.5), "sets"),
    "risk, hierarchy": Case(_risk(Hierarchy(TREE), "hierarchical", **RIDGE), "closed"),
    "risk, rankings": Case(_risk(Rankings(), alpha=0.5), "ranks"),
    "risk, positions": Case(_risk(Rankings(), "spearman", alpha=0.5), "ranks"),
    "risk, levels": Case(_risk(Ordinal(), **RIDGE), "levels"),
    "risk, mean": Case(_risk(Interval(), **RIDGE), "number"),
    "risk, median": Case(_risk(Interval(), "absolute", alpha=0.5), "number"),
    "risk, box": Case(_risk(Box(), alpha=0.5), "numbers"),
    "risk, shares": Case(_risk(Simplex(), alpha=0.5), "shares"),
    "risk, sequences": Case(_risk(Sequences(), alpha=0.5), "sequences"),
    "risk, tours": Case(_risk(Cycles(), alpha=0.5), "tours"),
    "risk, spanning trees": Case(_risk(SpanningTrees(), alpha=0.5), "trees"),
    "risk, matchings": Case(_risk(Matchings(), alpha=0.5), "matchings"),
    "risk, assignments": Case(
        _risk(Assignments(["x", "y", "z"], [*NAMES[:3]]), alpha=0.5), "assignments"
    ),
    "risk, knapsacks": Case(_risk(Knapsacks(WEIGHTS, 5), alpha=0.5), "packed"),
    "counting, label sets": Case(lambda: CountingRidge(LabelSets(), alpha=0.1), "sets"),
    "counting, rankings": Case(lambda: CountingRidge(Rankings(), alpha=0.1), "ranks"),
    "family, classes": Case(lambda: ExponentialFamily(alpha=0.1, random_state=0), "classes"),
    "family, label sets": Case(
        lambda: ExponentialFamily(LabelSets(), alpha=0.1, random_state=0), "sets"
    ),
    "family, sequences": Case(
        lambda: ExponentialFamily(Sequences(), alpha=0.1, random_state=0), "sequences"
    ),
    "svm, classes": Case(lambda: StructuredSVM(alpha=0.1, random_state=0), "classes"),
    "svm, label sets": Case(lambda: StructuredSVM(LabelSets(), alpha=0.1, random_state=0), "sets"),
    "svm, kernel": Case(
        lambda: StructuredSVM(LabelSets(), alpha=0.1, kernel="rbf", random_state=0), "sets"
    ),
    "svm, sequences": Case(
        lambda: StructuredSVM(Sequences(), alpha=0.1, random_state=0), "sequences"
    ),
    "perceptron, label sets": Case(
        lambda: StructuredPerceptron(LabelSets(), random_state=0), "sets"
    ),
    "perceptron, rankings": Case(lambda: StructuredPerceptron(Rankings(), random_state=0), "ranks"),
    "network": Case(lambda: MaxMarginNetwork(alpha=0.1, random_state=0), "indicators"),
    "tree": Case(lambda: MaxMarginTree(method="mst", alpha=0.1, random_state=0), "indicators"),
    "output kernel": Case(lambda: OutputKernelRegressor(alpha=0.5, random_state=0), "classes"),
    "output kernel, hamming": Case(
        lambda: OutputKernelRegressor(space=LabelSets(), output_kernel="hamming", random_state=0),
        "indicators",
    ),
    "rankings by pairs": Case(PairwiseComparison, "ranks"),
    "rankings by constraints": Case(ConstraintClassification, "ranks"),
    "rankings by margins": Case(lambda: LabelRankingSVM(alpha=0.1, random_state=0), "ranks"),
    "rankings by boosting": Case(
        lambda: LabelRankingBoosting(n_estimators=5, random_state=0), "ranks"
    ),
    "rankings by neighbors": Case(lambda: NeighborLabelRanker(n_neighbors=3), "ranks"),
    "rankings online": Case(lambda: OnlineLabelRanker(alpha=1.0, random_state=0), "ranks"),
}
