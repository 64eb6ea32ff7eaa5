# SPDX-License-Identifier: BSD-3-Clause
"""One small fitted model for every structure that the page draws, with names that try to run."""

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    StructuredSVM,
    TokenFeatures,
)
from skstruct.datasets import make_tours
from skstruct.kernels import RBF
from skstruct.spaces import (
    Classes,
    Cycles,
    Flows,
    Hierarchy,
    Interval,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    Rankings,
    Sequences,
    ShortestPaths,
)

EVIL = '<img src=x onerror="window.hit=1">'
SCRIPT = "</text><script>window.hit=2</script>"
N = 60


def frame(X, *names):
    return pd.DataFrame(np.asarray(X).round(3), columns=list(names))


def hierarchy(rng):
    edges = [("animal", "cat"), ("animal", "dog"), ("dog", "poodle"), ("plant", EVIL)]
    space = Hierarchy(edges)
    Z = space.sample(N, 0)
    X = frame(Z + rng.normal(0, 0.6, Z.shape), "furry", "tall", "barks", "green", EVIL, "old")
    Y = [[space.labels_[j] for j in np.flatnonzero(row)] for row in Z]
    return ConditionalRiskMinimizer(space, "hierarchical").fit(X, Y), X, Y


def labels(rng):
    words = np.array(["beach", "city", "sunset", SCRIPT], dtype=object)
    X = rng.normal(size=(N, 4))
    Y = [words[x + rng.normal(0, 0.8, 4) > 0.3].tolist() for x in X]
    X = frame(X, "blue", "straight", "orange", SCRIPT)
    return ConditionalRiskMinimizer(LabelSets(words.tolist()), "hamming").fit(X, Y), X, Y


def classes(rng):
    X = rng.normal(size=(N, 2))
    y = np.array(["ash", "elm", EVIL])[np.digitize(X[:, 0] + rng.normal(0, 0.4, N), [-0.5, 0.5])]
    X = frame(X, "bark", "leaf")
    X.index = [EVIL, *map(str, range(1, N))]
    return ConditionalRiskMinimizer(Classes()).fit(X, y), X, y


def ordinal(rng):
    X = rng.normal(size=(N, 1))
    grade = np.clip(np.rint(2 * X[:, 0] + rng.normal(0, 0.8, N)) + 2, 0, 4).astype(int)
    y = np.array(["E", "D", "C", "B", "A"])[grade]
    X = frame(X, "hours")
    return ConditionalRiskMinimizer(Ordinal(["E", "D", "C", "B", "A"])).fit(X, y), X, y


def ranking(rng):
    drinks = np.array(["cola", "milk", "tea", EVIL])
    age = rng.uniform(5, 70, N)
    taste = np.c_[70 - 1.5 * age, 40 - age / 2, age, 30 + 0 * age] + rng.normal(0, 10, (N, 4))
    Y = [drinks[row].tolist() for row in np.argsort(-taste, axis=1)]
    X = frame(age[:, None], "age")
    return ConditionalRiskMinimizer(Rankings(), "kendall").fit(X, Y), X, Y


def sequence(rng):
    said = [
        ("Anna sees the old dog", "NAME VERB DET ADJ NOUN"),
        ("the dog sees Anna", "DET NOUN VERB NAME"),
        ("a cat likes Ben", "DET NOUN VERB NAME"),
        ("Ben likes the <script>window.hit=3</script>", "NAME VERB DET NOUN"),
        ("the old cat sees a dog", "DET ADJ NOUN VERB DET NOUN"),
    ]
    words, tags = ([text.split() for text in part] for part in zip(*said, strict=True))
    model = make_pipeline(TokenFeatures(), ExponentialFamily(Sequences())).fit(words, tags)
    return model, words, tags


def regression(rng):
    X = rng.uniform(0, 10, (N, 2))
    y = X[:, 0] + rng.exponential(1 + X[:, 1] / 4)
    X = frame(X, "hours", "crowd")
    model = ConditionalRiskMinimizer(Interval(0, None), "absolute", kernel=RBF("auto"))
    return model.fit(X, y), X, y


def flow(rng):
    arcs = [("s", "a"), ("s", EVIL), ("a", "t"), (EVIL, "t")]
    X = rng.uniform(0, 1, (N, 1))
    share = np.clip(X[:, 0] + rng.normal(0, 0.2, N), 0, 1)
    Y = np.c_[share, 1 - share, share, 1 - share]
    X = frame(X, "rain")
    return ConditionalRiskMinimizer(Flows(arcs, {"s": 1, "t": -1}), "absolute").fit(X, Y), X, Y


def tour(rng):
    data = make_tours(N, random_state=0)
    model = CountingRidge(Cycles(data.places, directed=False), alpha=0.01)
    return model.fit(data.X, data.tours), data.X, data.tours


def label_graph(rng):
    X = rng.normal(size=(N, 2))
    sea = (X[:, 0] + rng.normal(0, 0.5, N) > 0).astype(int)
    beach = sea * (rng.random(N) < 0.9)
    names = np.array(["beach", "city", "sea"])
    Y = [names[row > 0].tolist() for row in np.c_[beach, X[:, 1] > 0, sea]]
    X = frame(X, "blue", "towers")
    space = PairwiseLabels([("beach", "sea")])
    return StructuredSVM(space, alpha=0.01, random_state=0).fit(X, Y), X, Y


def matching(rng):
    space = Matchings(["ann", EVIL], ["cook", "dig", "mend"])
    skill = rng.normal(size=(N, 6))
    best = space.argmin(-skill - 0.2).outputs
    Y = [{space.labels_[j] for j in np.flatnonzero(row)} for row in best]
    X = skill + rng.normal(0, 0.1, skill.shape)
    return ConditionalRiskMinimizer(space).fit(X, Y), X, Y


def path(rng):
    space = ShortestPaths.grid(4, 4)
    X = rng.normal(size=(N, 3))
    costs = np.exp(0.5 * X @ rng.normal(size=(3, 24)))
    Y = space.restore(space.argmin(costs).outputs)
    return ConditionalRiskMinimizer(space).fit(X, Y), X, Y


STRUCTURES = {
    made.__name__: made
    for made in (hierarchy, labels, classes, ordinal, ranking, sequence, regression, flow, tour,
                 label_graph, matching, path)
}  # fmt: skip


def fitted(name):
    """The model of a structure, with rows and truths."""
    return STRUCTURES[name](np.random.default_rng(0))
