# SPDX-License-Identifier: BSD-3-Clause
"""Small fitted models of every structure, for the tests of the explorer."""

from functools import cache

import numpy as np
import pandas as pd

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredSVM,
)
from skstruct.learners import LabelRankingSVM
from skstruct.spaces import (
    Assignments,
    Box,
    Candidates,
    Classes,
    Cycles,
    Flows,
    Graphs,
    Hierarchy,
    Interval,
    Knapsacks,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Rankings,
    Sequences,
    ShortestPaths,
    Simplex,
    SpanningTrees,
    Strings,
    Tournaments,
)

RNG = np.random.default_rng(0)
N = 24
X = RNG.standard_normal((N, 3))
SETS = (X + 0.3 * RNG.standard_normal((N, 3)) > 0).astype(int)
NAMES = [{"abc"[j] for j in np.flatnonzero(row)} for row in SETS]
TOKENS = [RNG.standard_normal((2 + i % 3, 2)) for i in range(N)]
TAGS = [tuple("xy"[int(t[0] > 0)] for t in x) for x in TOKENS]
WORDS = [[("the", "D"), ("cat", "N")] if row[0] else [("a", "D"), ("dog", "N")] for row in SETS]
WORD_TAGS = [("B", "I") if row[0] else ("B", "O") for row in SETS]
ARCS = [("s", "a"), ("a", "t", 0.9), ("s", "t")]
SHARES = np.clip(np.abs(X[:, :1]) / 3, 0, 0.9)
RANKS = np.argsort(np.argsort(X, axis=1), axis=1) + 1
FRAME = pd.DataFrame(
    {"size": X[:, 0], "sky": np.where(SETS[:, 1], "sun", "rain"), "wind": X[:, 2]},
    index=[f"day {i}" for i in range(N)],
)
ROADS = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
SQUARE = {"a": (0, 0), "b": (1, 0), "c": (1, 1), "d": (0, 1)}
RISK = ConditionalRiskMinimizer


def chosen(first, second):
    """One of two outputs for every row."""
    return [first if row[0] else second for row in SETS]


CASES = {  # model, inputs, outputs, options of the explorer
    "classes": (RISK(Classes(), alpha=0.1), X, chosen("yes", "no"), {}),
    "labels": (RISK(LabelSets("abc"), alpha=0.1), X, NAMES, {}),
    "hierarchy": (RISK(Hierarchy([("a", "b"), ("a", "c")], close=True), alpha=0.1), X, NAMES, {}),
    "frame": (RISK(LabelSets("abc"), alpha=0.1), FRAME, NAMES, {}),
    "ranking": (RISK(Rankings("abc"), alpha=0.1), X, RANKS, {}),
    "ranker": (LabelRankingSVM(alpha=0.01), X, RANKS, {}),
    "sequence": (RISK(Sequences(), alpha=1.0), TOKENS, TAGS, {}),
    "words": (ExponentialFamily(Sequences(), alpha=0.01, max_iter=20), WORDS, WORD_TAGS, {}),
    "strings": (RISK(Strings("xy", (0, 3)), alpha=1.0), X, chosen("xy", "x"), {}),
    "interval": (RISK(Interval(), "absolute", alpha=0.1), X, X[:, 0], {}),
    "box": (RISK(Box(), alpha=0.1), X, pd.DataFrame(X[:, :2], columns=["u", "v"]), {}),
    "histogram": (RISK(Simplex(), alpha=0.1), X, np.abs(X) / np.abs(X).sum(1, keepdims=True), {}),
    "ordinal": (RISK(Ordinal(["low", "high"]), alpha=0.1), X, chosen("high", "low"), {}),
    "flow": (
        RISK(Flows(ARCS, {"s": 1, "t": -1}), alpha=0.1), X,
        np.hstack([SHARES, SHARES, 1 - SHARES]), {},
    ),
    "tour": (
        CountingRidge(Cycles(list("abcd")), alpha=0.1), X, chosen(list("abcd"), list("acb")),
        {"coordinates": SQUARE},
    ),
    "label graph": (
        ExponentialFamily(PairwiseLabels(), alpha=0.01, loss="hamming", max_iter=20), X, SETS, {},
    ),
    "states": (
        RISK(PairwiseStates([("u", "v")], states=["off", "on"], labels=["u", "v"]), alpha=0.1), X,
        chosen(("on", "off"), ("off", "off")), {},
    ),
    "matching": (
        RISK(Matchings(list("abcd")), alpha=0.1), X,
        chosen([("a", "b"), ("c", "d")], [("a", "c"), ("b", "d")]), {},
    ),
    "assignment": (
        RISK(Assignments(["ann", "bob"], ["x", "y"]), alpha=0.1), X,
        chosen({"ann": "x", "bob": "y"}, {"ann": "y", "bob": "x"}), {},
    ),
    "tree": (
        RISK(SpanningTrees(list("abc")), alpha=0.1), X,
        chosen([("a", "b"), ("b", "c")], [("a", "c"), ("b", "c")]), {},
    ),
    "graph": (RISK(Graphs(list("abc")), alpha=0.1), X, chosen([("a", "b")], [("b", "c")]), {}),
    "tournament": (
        RISK(Tournaments(list("abc")), alpha=0.1), X,
        chosen([("a", "b"), ("b", "c"), ("a", "c")], [("b", "a"), ("b", "c"), ("a", "c")]), {},
    ),
    "partial order": (
        RISK(PartialOrders(list("abc")), alpha=0.1), X,
        chosen([("a", "b"), ("a", "c")], [("b", "a")]), {},
    ),
    "path": (
        RISK(ShortestPaths(ROADS, source="s", target="t"), "regret", alpha=0.1), X,
        1.0 + RNG.random((N, 5)), {},
    ),
    "knapsack": (
        RISK(Knapsacks([2.0, 1.0, 3.0], 4.0, labels=["tent", "stove", "boat"]),
             "regret", alpha=0.1), X, -RNG.random((N, 3)), {},
    ),
    "candidates": (RISK(Candidates(["cat", "cow", "dog"]), alpha=1.0), X, chosen("cat", "dog"), {}),
    "svm": (StructuredSVM(LabelSets(), alpha=0.01, max_iter=5), X, SETS, {}),
    "output kernel": (OutputKernelRegressor(output_kernel="hamming"), X, chosen("cat", "dog"), {}),
}  # fmt: skip


@cache
def fitted(name):
    """The model of a case, fitted once."""
    model, inputs, outputs, _ = CASES[name]
    return model.fit(inputs, outputs)
