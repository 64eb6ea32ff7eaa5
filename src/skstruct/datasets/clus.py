# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical data sets in the ARFF dialect of CLUS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.arff import ArffTable, check_same_declarations, read_arff
from skstruct.datasets.base import (
    HierarchicalData,
    closed_indicators,
    fill_missing,
    named_edges,
)
from skstruct.datasets.home import data_file

_SOURCE = (
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


def _genes(folder, stem, root=None):
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
    *train, test = (_read(files.folder, part) for part in (*files.train, files.test))
    check_same_declarations([*train, test], name)
    return _assemble(name, files, train, test)


def _read(folder, part) -> ArffTable:
    path = data_file(folder, part, source=_SOURCE)
    table = read_arff(path)
    if table.hierarchy is None:
        raise ValueError(f"{path} declares no hierarchical class.")
    return table


def _assemble(name, files, train, test):
    graph = test.hierarchy
    X_train = np.vstack([table.one_hot()[0] for table in train])
    X_train, X_test = fill_missing(X_train, test.one_hot()[0])
    sets = [labels for table in train for labels in table.classes]
    Y_train, Y_test = closed_indicators(sets, graph), closed_indicators(test.classes, graph)

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


def _kept_labels(Y_train, graph, files):
    """Positions of the labels that stay; with each of them the ancestors below the root do."""
    keep = Y_train.sum(axis=0) >= files.min_positives
    if files.root is not None:
        keep &= graph.dag.ancestors[:, [graph.number[files.root]]].toarray()[:, 0] > 0
    return np.flatnonzero(keep)
