# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical data sets by name: those of CLUS, Reuters news and WIPO patents."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from skstruct.datasets.dataset import HierarchicalData, closed_indicators, fill_missing, named_edges
from skstruct.datasets.files import data_file, open_binary, open_text
from skstruct.datasets.formats.arff.reading import ArffTable, check_same_declarations, read_arff
from skstruct.datasets.formats.libsvm import read_svm
from skstruct.spaces.common.label_graph import LabelGraph

_CLUS_SOURCE = (
    "the folder HMC_data of the GitHub repository EGiunchiglia/C-HMCNN, which joins the "
    "hierarchical collections of KU Leuven (CLUS) and of the Jozef Stefan Institute"
)
_IMAGES_NOTE = (
    "All 10000 training rows, sorted by label; the paper trains on the first 2000 of an "
    "order that is not known."
)


@dataclass(frozen=True)
class ClusFiles:
    """Files of a data set, and how the paper trims its labels."""

    folder: str
    train: tuple[str, ...]
    test: str
    min_positives: int = 0  # labels with fewer positive training rows are dropped
    root: str | None = None  # if given, only this label and its descendants are kept
    note: str = ""


def _genes(folder: str, stem: str, root: str | None = None) -> ClusFiles:
    parts = (f"{stem}.train.arff", f"{stem}.valid.arff")
    return ClusFiles(folder, parts, f"{stem}.test.arff", min_positives=3, root=root)


CLUS_FILES = {
    "enron": ClusFiles("enron_hmc", ("Enron_corr_trainvalid.arff",), "Enron_corr_test.arff"),
    "imclef07a": ClusFiles(
        "imclef07a", ("ImCLEF07A_Train.arff",), "ImCLEF07A_Test.arff", note=_IMAGES_NOTE
    ),
    "imclef07d": ClusFiles(
        "imclef07d", ("ImCLEF07D_Train.arff",), "ImCLEF07D_Test.arff", note=_IMAGES_NOTE
    ),
    "pheno_fun": _genes("pheno_fun", "pheno_FUN"),
    "pheno_go": _genes("pheno_go", "pheno_GO", root="GO0003674"),
    "spo_fun": _genes("spo_fun", "spo_FUN"),
    "spo_go": _genes("spo_go", "spo_GO", root="GO0003674"),
}


def load_clus(name: str) -> HierarchicalData:
    """One of ``CLUS_FILES``: parts merged, nominal attributes one-hot, labels trimmed."""
    files = CLUS_FILES[name]
    *train, test = (_read_clus(files.folder, part) for part in (*files.train, files.test))
    check_same_declarations([*train, test], name)
    return _assemble_clus(name, files, train, test)


def _read_clus(folder: str, part: str) -> ArffTable:
    path = data_file(folder, part, source=_CLUS_SOURCE)
    table = read_arff(path)
    if table.hierarchy is None:
        raise ValueError(f"{path} declares no hierarchical class.")
    return table


def _assemble_clus(
    name: str, files: ClusFiles, train: list[ArffTable], test: ArffTable
) -> HierarchicalData:
    graph: Any = test.hierarchy
    X_train = np.vstack([table.one_hot()[0] for table in train])
    X_train, X_test = fill_missing(X_train, test.one_hot()[0])
    sets = [labels for table in train for labels in table.classes or ()]
    Y_train, Y_test = closed_indicators(sets, graph), closed_indicators(test.classes or (), graph)

    kept = _kept_labels(Y_train, graph, files)
    labels = tuple(graph.names[j] for j in kept)
    Y_train, Y_test = Y_train[:, kept], Y_test[:, kept]
    # A row that had dropped labels only says nothing about those that are left.
    left_train, left_test = Y_train.any(axis=1), Y_test.any(axis=1)
    return HierarchicalData(
        name=name,
        X_train=X_train[left_train],
        Y_train=Y_train[left_train],
        X_test=X_test[left_test],
        Y_test=Y_test[left_test],
        edges=named_edges(graph, labels),
        labels=labels,
        note=files.note,
    )


def _kept_labels(Y_train: np.ndarray, graph: LabelGraph, files: ClusFiles) -> np.ndarray:
    """Positions of the labels that stay; with each of them the ancestors below the root do."""
    keep = Y_train.sum(axis=0) >= files.min_positives
    if files.root is not None:
        keep &= graph.dag.ancestors[:, [graph.number[files.root]]].toarray()[:, 0] > 0
    return np.flatnonzero(keep)


# Documents with hierarchical topics: Reuters news and WIPO patents.


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


def _read_svm(name: str, graph: Any) -> Any:
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


def _read_patents(part: str) -> Any:
    folder = "wipo_d_reduced"
    with open_binary(data_file(folder, f"{part}-D.npy", source=_WIPO_SOURCE)) as file:
        X = np.load(io.BytesIO(file.read()), allow_pickle=False)
    with open_text(data_file(folder, f"{part}_label-D.txt", source=_WIPO_SOURCE)) as file:
        codes = file.read().split()
    return X.astype(np.float64), codes


# Hierarchical data sets by name.


_LOADERS: dict[str, Callable[[], HierarchicalData]] = {
    **{name: partial(load_clus, name) for name in CLUS_FILES},
    "reuters": load_reuters,
    "wipo": load_wipo,
}


def load_hierarchical(name: str, subset: int | None = None) -> HierarchicalData:
    """Load a benchmark of hierarchical multilabel classification, as the paper [1]_ sets it up.

    The files are looked for below :func:`skstruct.datasets.data_home`. Labels are closed
    under ancestors. Nominal features become one-hot columns (one column if two-valued, zeros
    if missing), a missing number becomes the training mean of its column; nothing is
    standardized. In the four gene data sets training and validation rows are merged, labels
    with fewer than 3 positive training rows are dropped, and of the Gene Ontology only
    molecular functions are kept.

    Parameters
    ----------
    name : str
        "enron", "imclef07a", "imclef07d", "pheno_fun", "pheno_go", "reuters", "spo_fun",
        "spo_go" or "wipo".
    subset : int, slice or array of positions, default=None
        Which training rows to keep, the first ones if an int. All of them when None.

    Returns
    -------
    HierarchicalData
        Its ``note`` tells how the data differ from the paper's.

    Raises
    ------
    MissingDataError
        If the files are not on this machine; the message says where to get them.

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", appendix C.

    Examples
    --------
    >>> data = load_hierarchical("enron")  # doctest: +SKIP
    >>> data.X_train.shape, data.Y_train.shape  # doctest: +SKIP
    ((988, 1001), (988, 56))
    """
    if name not in _LOADERS:
        raise ValueError(f"load_hierarchical knows {', '.join(sorted(_LOADERS))}; got {name!r}.")
    data = _LOADERS[name]()
    if subset is None:
        return data
    rows = slice(subset) if isinstance(subset, Integral) else subset
    return replace(data, X_train=data.X_train[rows], Y_train=data.Y_train[rows])
