# SPDX-License-Identifier: BSD-3-Clause
"""What a loader returns, and steps that several loaders share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces.label_graph import LabelGraph


@dataclass(frozen=True)
class HierarchicalData:
    """Features, and label sets closed in a hierarchy.

    Attributes
    ----------
    name : str
    X_train, X_test : float64 arrays or csr_arrays of shape (n_rows, n_features)
    Y_train, Y_test : int8 arrays of shape (n_rows, n_labels)
        Indicators; whoever is in, has all ancestors in.
    edges : tuple of (parent, child) pairs of label names
    labels : tuple of str
        In the order of the columns of ``Y_train``.
    note : str
        How the data differ from those of the paper they stand for; empty if they do not.
    """

    name: str
    X_train: Any
    Y_train: np.ndarray
    X_test: Any
    Y_test: np.ndarray
    edges: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class MultilabelData:
    """Features and label sets, in the parts for training and testing that are in use.

    Attributes
    ----------
    name : str
    X_train, X_test : float64 arrays or csr_arrays of shape (n_rows, n_features)
    Y_train, Y_test : int8 arrays of shape (n_rows, n_labels)
    labels : tuple of str
        In the order of the columns of ``Y_train``.
    """

    name: str
    X_train: Any
    Y_train: np.ndarray
    X_test: Any
    Y_test: np.ndarray
    labels: tuple[str, ...]


@dataclass(frozen=True)
class LabelRankingData:
    """Features, and a ranking of all labels for every row.

    Attributes
    ----------
    name : str
    X : float64 array of shape (n_rows, n_features)
    Y : int64 array of shape (n_rows, n_labels)
        Ranks: ``Y[i, k]`` is the place of label k in row i, and 1 is the best.
    labels : tuple of str
        In the order of the columns of ``Y``.
    """

    name: str
    X: np.ndarray
    Y: np.ndarray
    labels: tuple[str, ...]


def closed_indicators(label_sets, graph: LabelGraph) -> np.ndarray:
    """Indicators of label sets given by names, with all ancestors added."""
    columns = [graph.number[label] for labels in label_sets for label in labels]
    ends = np.cumsum([0, *(len(labels) for labels in label_sets)])
    shape = (len(ends) - 1, len(graph.names))
    given = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)
    return (given @ graph.dag.ancestors > 0).toarray().astype(np.int8)


def named_edges(graph: LabelGraph, kept=None) -> tuple[tuple[str, str], ...]:
    """Arcs as (parent, child) pairs of names; only those between kept labels, if given."""
    kept = set(graph.names if kept is None else kept)
    names = graph.names
    arcs = ((names[p], names[c]) for p, c in zip(graph.dag.parents, graph.dag.children))
    return tuple((parent, child) for parent, child in arcs if parent in kept and child in kept)


def fill_missing(X_train, X_test):
    """Both arrays with the training mean of the column for NaN; 0 if all are missing."""
    known = ~np.isnan(X_train)
    mean = np.where(known, X_train, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return tuple(np.where(np.isnan(X), mean, X) for X in (X_train, X_test))
