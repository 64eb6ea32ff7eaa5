# SPDX-License-Identifier: BSD-3-Clause
"""What a data file or a loader gives: data sets with their task, and the records of public data
sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.gaps import count_parts
from skstruct.datasets.tasks import inputs_for_learning, outputs_for_learning, space_for
from skstruct.encoding.tables import Table as Table
from skstruct.spaces.common.label_graph import LabelGraph

# What a data file holds, whatever its format.


TASKS = {
    "classes": "one class per row",
    "labels": "a set of labels per row",
    "hierarchy": "labels of a hierarchy, with their ancestors",
    "ranking": "an order of items",
    "sequence": "a symbol for every position",
    "regression": "one or several numbers",
    "histogram": "shares that add up to one",
    "ordinal": "one level of an ordered scale",
}


@dataclass(frozen=True)
class Dataset:
    """Inputs and outputs of one file, in the names of the file.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    format : str
    task : str
        One of ``TASKS``; settles the form of ``outputs``.
    inputs : Table, or list with one entry per sequence
        A sequence is an array of shape (T, n_features) or a list of T tuples of words.
    outputs : by task, None where the file has none
        classes, ordinal: array (n,) of str. labels, hierarchy: list of tuples of names, for a
        hierarchy as the file gives them, without ancestors. ranking: int array (n, d) of ranks,
        1 is the best, 0 is not ranked. sequence: list of tuples of str. regression, histogram:
        float array (n, d).
    labels : tuple of str or None
        Names of classes, labels, items, symbols or targets, in the order of columns.
    edges : tuple of (parent, child) pairs or None
    index : tuple or None
        Names of the rows.
    folds : int array of shape (n,) or None
        Parts that were published with the data.
    remarks : tuple of str
        What was guessed and what was changed on reading.
    layout : list of SentenceLines or None
        Lines of a file of tokens as they came, to write them again with other tags.

    Examples
    --------
    >>> table = Table(("size", "sky"), (None, ("sun", "rain")), np.array([[0.5, 1], [np.nan, 0]]))
    >>> data = Dataset("days", "csv", "classes", table, np.array(["in", "out"]), ("in", "out"))
    >>> data.X
       size   sky
    0   0.5  rain
    1   NaN   sun
    >>> data.space(), data.y.tolist()
    (Classes(labels=('in', 'out')), ['in', 'out'])
    """

    name: str
    format: str
    task: str
    inputs: Table | list[Any]
    outputs: Any = None
    labels: tuple[Any, ...] | None = None
    edges: tuple[Any, ...] | None = None
    index: tuple[Any, ...] | None = None
    folds: np.ndarray | None = None
    remarks: tuple[str, ...] = ()
    layout: list[Any] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"task is one of {', '.join(TASKS)}; got {self.task!r}.")

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def X(self) -> Any:
        """Inputs as learners take them.

        Of a table a pandas DataFrame: floats, and categories for names, NaN where missing; its
        index has the names of the rows. A sparse table is a csr_array with a column for each
        name, and sequences are a list as in ``inputs``.
        """
        return inputs_for_learning(self.inputs, self.index)

    @property
    def y(self) -> Any:
        """Outputs as learners take them, None where the file has none.

        They are ``outputs``, but for rankings, where NaN stands for what is not ranked, and a
        single number per row, which has no axis of its own.
        """
        return None if self.outputs is None else outputs_for_learning(self)

    def space(self) -> Any:
        """The space of the outputs, not fitted, for ``space=`` of a learner."""
        return space_for(self)

    def take(self, rows: Any) -> Dataset:
        """The same data with these rows only, given by position."""
        rows, inputs = np.arange(len(self))[rows], self.inputs
        return replace(
            self,
            inputs=inputs.rows(rows) if isinstance(inputs, Table) else _taken(inputs, rows),
            outputs=_taken(self.outputs, rows),
            index=None if self.index is None else tuple(_taken(list(self.index), rows)),
            folds=_taken(self.folds, rows),
            layout=_taken(self.layout, rows),
        )


def _taken(values: Any, rows: np.ndarray) -> Any:
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[rows]
    return [values[i] for i in rows]


# What a loader returns, and steps that several loaders share.


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
        Ranks: ``Y[i, k]`` is the rank of label k in row i, and 1 is the best.
    labels : tuple of str
        In the order of the columns of ``Y``.
    """

    name: str
    X: np.ndarray
    Y: np.ndarray
    labels: tuple[str, ...]


def closed_indicators(label_sets: Sequence[Any], graph: LabelGraph) -> np.ndarray:
    """Indicators of label sets given by names, with all ancestors added."""
    columns = [graph.number[label] for labels in label_sets for label in labels]
    ends = np.cumsum([0, *(len(labels) for labels in label_sets)])
    shape = (len(ends) - 1, len(graph.names))
    given = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)
    return (given @ graph.dag.ancestors > 0).toarray().astype(np.int8)


def named_edges(graph: LabelGraph, kept: Any = None) -> tuple[tuple[str, str], ...]:
    """Arcs as (parent, child) pairs of names; only those between kept labels, if given."""
    kept = set(graph.names if kept is None else kept)
    names = graph.names
    arcs = ((names[p], names[c]) for p, c in zip(graph.dag.parents, graph.dag.children))
    return tuple((parent, child) for parent, child in arcs if parent in kept and child in kept)


def fill_missing(X_train: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays with the training mean of the column for NaN; 0 if all are missing."""
    known = ~np.isnan(X_train)
    mean = np.where(known, X_train, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    train, test = (np.where(np.isnan(X), mean, X) for X in (X_train, X_test))
    return train, test


def description(data: Dataset) -> dict[Any, Any]:
    """What a Dataset holds, for people and machines."""
    summary = {"name": data.name, "format": data.format, "task": data.task, "rows": len(data)}
    if isinstance(data.inputs, Table):
        summary |= _describe_table(data.inputs)
    else:
        summary["positions"] = int(sum(len(sequence) for sequence in data.inputs))
    if data.labels is not None:
        summary["outputs"] = len(data.labels)
        names = [str(name) for name in data.labels[:8]]
        summary["names"] = names + (["..."] if len(data.labels) > len(names) else [])
    if data.edges is not None:
        summary["edges"] = len(data.edges)
    if data.task in ("labels", "hierarchy") and data.outputs is not None and len(data):
        sets = [row for row in data.outputs if row is not None and not isinstance(row, Mapping)]
        if sets:
            summary["labels_per_row"] = round(float(np.mean([len(row) for row in sets])), 2)
    missing, _ = count_parts(data.task, data.outputs, len(data.labels or ()))
    if missing:
        summary["missing_outputs"] = missing
    summary["remarks"] = list(data.remarks)
    return summary


def _describe_table(table: Table) -> dict[str, Any]:
    X = table.data
    cells = X.data if sparse.issparse(X) else X
    return {
        "columns": len(table.names),
        "nominal_columns": sum(values is not None for values in table.values),
        "sparse": bool(sparse.issparse(X)),
        "missing_cells": int(np.isnan(cells).sum()),
    }
