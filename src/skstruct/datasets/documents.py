# SPDX-License-Identifier: BSD-3-Clause
"""Documents with hierarchical topics: Reuters news and WIPO patents."""

from __future__ import annotations

import io

import numpy as np

from skstruct.datasets.base import HierarchicalData, closed_indicators, named_edges
from skstruct.datasets.home import data_file, open_binary, open_text
from skstruct.datasets.svm_rows import read_svm
from skstruct.spaces.label_graph import LabelGraph

_REUTERS_SOURCE = (
    "LIBSVM's page of multilabel data (rcv1v2, topics, subset 1), with the tree of topics "
    "written as a table of id, topic and parent"
)
_REUTERS_NOTE = (
    "A repaired copy: the topic M143 is lost (its column is all zero), MCAT comes from its "
    "descendants only, and which half was for training is not verified."
)
_WIPO_SOURCE = (
    "the folder PatentPredictionProject of the GitHub repository ermlickw/AIT690, with the "
    "label codes written as text, one per line"
)
_WIPO_NOTE = (
    "A stand-in for WIPO-alpha D: 100 latent semantic features instead of 74435, and 85 "
    "labels instead of 188, since main groups are cut to two digits."
)
_WIPO_LEVELS = (1, 3, 4, 6)  # characters that name section, class, subclass, main group


def load_reuters() -> HierarchicalData:
    """News documents with the topics of RCV1, as CSR arrays."""
    with open_text(data_file("rcv1_subset1", "topics.tsv", source=_REUTERS_SOURCE)) as file:
        rows = [line.split() for line in file][1:]
    labels = tuple(topic for _, topic, _ in rows)
    graph = LabelGraph.read([(up, topic) for _, topic, up in rows if up != "Root"], labels)
    X_train, Y_train = _read_svm("rcv1subset1_train.svm", graph)
    X_test, Y_test = _read_svm("rcv1subset1_test.svm", graph)
    edges = named_edges(graph)
    return HierarchicalData(
        "reuters", X_train, Y_train, X_test, Y_test, edges, labels, _REUTERS_NOTE
    )


def _read_svm(name, graph):
    path = data_file("rcv1_subset1", name, source=_REUTERS_SOURCE)
    X, topics = read_svm(path, n_features=47236)
    sets = [[graph.names[int(topic)] for topic in row] for row in topics]
    return X, closed_indicators(sets, graph)


def load_wipo() -> HierarchicalData:
    """Patents of section D with the four levels of their code."""
    X_train, codes_train = _read_patents("train")
    X_test, codes_test = _read_patents("test")
    prefixes = {code[:k] for code in (*codes_train, *codes_test) for k in _WIPO_LEVELS}
    labels = tuple(sorted(prefixes, key=lambda label: (len(label), label)))
    above = dict(zip(_WIPO_LEVELS[1:], _WIPO_LEVELS))
    pairs = [(label[: above[len(label)]], label) for label in labels if len(label) > 1]
    graph = LabelGraph.read(pairs, labels)
    Y_train, Y_test = (
        closed_indicators([[code] for code in codes], graph) for codes in (codes_train, codes_test)
    )
    edges = named_edges(graph)
    return HierarchicalData("wipo", X_train, Y_train, X_test, Y_test, edges, labels, _WIPO_NOTE)


def _read_patents(part):
    folder = "wipo_d_reduced"
    with open_binary(data_file(folder, f"{part}-D.npy", source=_WIPO_SOURCE)) as file:
        X = np.load(io.BytesIO(file.read()), allow_pickle=False)
    with open_text(data_file(folder, f"{part}_label-D.txt", source=_WIPO_SOURCE)) as file:
        codes = file.read().split()
    return X.astype(np.float64), codes
