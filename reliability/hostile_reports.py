# SPDX-License-Identifier: BSD-3-Clause
"""Reports in which every name is one of those given: features, labels, classes, files."""

import warnings

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.reports import write_report
from skstruct.spaces import Box, Cycles, Flows, Hierarchy, LabelSets, Rankings, Sequences

N_TRAIN, N_TEST = 24, 12
RNG = np.random.default_rng(0)


def hierarchy(names):
    """Label sets closed in a tree with three labels below each."""
    edges = [(names[(j - 1) // 3], names[j]) for j in range(1, len(names))]
    space = Hierarchy(edges)
    labels, Z = space.labels_, space.sample(N_TRAIN + N_TEST, 0)
    return space, [{labels[j] for j in np.flatnonzero(z)} for z in Z]


def labels(names):
    """Label sets."""
    Z = RNG.random((N_TRAIN + N_TEST, len(names))) < 0.3
    return LabelSets(names), [{names[j] for j in np.flatnonzero(z)} for z in Z]


def classes(names):
    """One class for each row."""
    return None, [names[k % len(names)] for k in range(N_TRAIN + N_TEST)]


def ranking(names):
    """Orders of items."""
    orders = [RNG.permutation(len(names)) for _ in range(N_TRAIN + N_TEST)]
    return Rankings(names), [[names[j] for j in order] for order in orders]


def sequence(names):
    """Four symbols for each row."""
    rows = [RNG.integers(len(names), size=4) for _ in range(N_TRAIN + N_TEST)]
    return Sequences(names), [tuple(names[j] for j in row) for row in rows]


def quantities(names):
    """Numbers with names."""
    return Box(labels=names), RNG.random((N_TRAIN + N_TEST, len(names)))


def flow(names):
    """One unit from the first node to the second by way of all others."""
    first, last, between = names[0], names[1], names[2:]
    arcs = [arc for name in between for arc in ((first, name), (name, last))]
    shares = RNG.dirichlet(np.ones(len(between)), N_TRAIN + N_TEST)
    return Flows(arcs, {first: 1.0, last: -1.0}), np.repeat(shares, 2, axis=1)


def tour(names):
    """Round trips of four nodes."""
    tours = [RNG.permutation(len(names))[:4] for _ in range(N_TRAIN + N_TEST)]
    return Cycles(names), [[names[j] for j in stops] for stops in tours]


# Names of outputs that a report of each kind can show, with what is left for features.
KINDS = {
    hierarchy: 60, labels: 60, classes: 12, ranking: 6, sequence: 12, quantities: 6, flow: 8,
    tour: 8,
}  # fmt: skip
N_FEATURES = 40


def fitted(kind, outputs, X):
    """A model of some rows whose outputs have these names, and the outputs of all rows."""
    space, y = kind(outputs)
    model = ConditionalRiskMinimizer(
        space, "hamming" if kind is hierarchy else None, alpha=[0.1, 1.0]
    )
    return model.fit(X[:N_TRAIN], y[:N_TRAIN]), y


def write_hostile(names, kind, path) -> list[str]:
    """Write one report with as many of the names as fit; returns those that were used."""
    outputs = names[: KINDS[kind]]
    features = names[len(outputs) : len(outputs) + N_FEATURES]
    features += [f"feature {j}" for j in range(4 - len(features))]
    used = names[: len(outputs) + N_FEATURES]
    X = RNG.standard_normal((N_TRAIN + N_TEST, len(features)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, y = fitted(kind, outputs, X)
        write_report(
            model, X[N_TRAIN:], y[N_TRAIN:], path, title=used[0], data_name=used[-1],
            timings={used[1]: 1.0, used[2]: used[3]}, feature_names=features, n_examples=4,
        )  # fmt: skip
    return used
