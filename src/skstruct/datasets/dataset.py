# SPDX-License-Identifier: BSD-3-Clause
"""What a data file holds, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct.datasets.table import Table

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
    """

    name: str
    format: str
    task: str
    inputs: Table | list
    outputs: Any = None
    labels: tuple | None = None
    edges: tuple | None = None
    index: tuple | None = None
    folds: np.ndarray | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self):
        if self.task not in TASKS:
            raise ValueError(f"task is one of {', '.join(TASKS)}; got {self.task!r}.")

    def __len__(self):
        return len(self.inputs)

    def take(self, rows) -> Dataset:
        """The same data with these rows only, given by position."""
        rows, inputs = np.arange(len(self))[rows], self.inputs
        return replace(
            self,
            inputs=inputs.rows(rows) if isinstance(inputs, Table) else _taken(inputs, rows),
            outputs=_taken(self.outputs, rows),
            index=None if self.index is None else tuple(_taken(list(self.index), rows)),
            folds=_taken(self.folds, rows),
        )


def _taken(values, rows):
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[rows]
    return [values[i] for i in rows]
