# SPDX-License-Identifier: BSD-3-Clause
"""Data sets as ARFF files of Weka, MEKA or CLUS, whichever can hold them."""

from __future__ import annotations

import re
from itertools import chain, count

import numpy as np
from scipy import sparse

from skstruct.datasets.arff import ArffTable
from skstruct.datasets.arff_writing import class_name, write_arff
from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.table import Table
from skstruct.exceptions import DataFormatError
from skstruct.spaces.label_graph import LabelGraph


def write_arff_data(dataset: Dataset, file) -> None:
    """Write a data set as ARFF: a hierarchical class of CLUS, labels behind MEKA's ``-C``, or
    the output in the last attributes.

    A comment ``% task: ranking`` tells what the attributes do not, and others pass over it.
    """
    if not isinstance(dataset.inputs, Table) or dataset.task == "sequence":
        raise DataFormatError("sequences cannot be written as ARFF")
    keys = _key(dataset)
    if dataset.task == "hierarchy":
        try:
            graph = LabelGraph.read(dataset.edges or (), dataset.labels)
        except ValueError as error:
            raise DataFormatError(str(error)) from None
        classes = [()] * len(dataset) if dataset.outputs is None else list(dataset.outputs)
        inputs = dataset.inputs
        parts = (inputs.names, inputs.values, inputs.data, graph, classes, keys)
        write_arff(ArffTable(*parts), file, dataset.name)
        return
    outputs = _output_columns(dataset, keys)
    names, values, data = _beside(dataset.inputs, outputs)
    relation = dataset.name
    if len(outputs.names) > 1 or (dataset.task == "labels" and outputs.names):
        relation = f"{relation.replace('-C', '_C')}: -C -{len(outputs.names)}"
    comments: tuple[str, ...] = ()
    if dataset.task in _UNTOLD or not outputs.names:
        comments = (task_comment(dataset.task, bool(outputs.names)),)
    write_arff(ArffTable(names, values, data, keys=keys, comments=comments), file, relation)


_UNTOLD = ("ranking", "histogram", "ordinal")  # read as numbers or classes but for a comment
_COMMENT = re.compile(r"% task: ([a-z]+)(, no outputs)?")


def task_comment(task: str, with_outputs: bool) -> str:
    """The comment of a header that tells the task.

    Examples
    --------
    >>> task_comment("ranking", True), told_task([task_comment("labels", False)])
    ('% task: ranking', ('labels', False))
    """
    return f"% task: {task}" + ("" if with_outputs else ", no outputs")


def told_task(comments) -> tuple[str | None, bool]:
    """The task that a comment tells, or None; and whether there are outputs."""
    for comment in comments:
        found = _COMMENT.fullmatch(comment)
        if found and found[1] in TASKS:
            return found[1], found[2] is None
    return None, True


def _key(dataset):
    if dataset.index is None:
        return {}
    taken = {*dataset.inputs.names, *(dataset.labels or ())}
    name = next(n for n in chain(["id", "key"], map("key{}".format, count(1))) if n not in taken)
    return {name: tuple(map(str, dataset.index))}


def _output_columns(dataset, keys) -> Table:
    n, labels = len(dataset), dataset.labels or ()
    inputs = dataset.inputs
    if dataset.outputs is None and not labels:
        return Table((), (), np.empty((n, 0)))
    if not labels:
        raise DataFormatError("outputs without names of labels cannot be written as ARFF")
    if dataset.task in ("classes", "ordinal"):
        number = {label: code for code, label in enumerate(labels)}
        codes = [np.nan] * n if dataset.outputs is None else [number[y] for y in dataset.outputs]
        name = class_name(ArffTable(inputs.names, inputs.values, inputs.data, keys=keys))
        return Table((name,), (tuple(labels),), np.array(codes, dtype=np.float64)[:, None])
    taken = next((name for name in labels if name in {*inputs.names, *keys}), None)
    if taken is not None:
        raise DataFormatError(f"{taken[:60]!r} is the name of an input and of an output")
    values = (("0", "1") if dataset.task == "labels" else None,) * len(labels)
    if dataset.outputs is None:
        return Table(labels, values, np.full((n, len(labels)), np.nan))
    if dataset.task != "labels":
        return Table(labels, values, np.asarray(dataset.outputs, dtype=np.float64))
    number = {label: j for j, label in enumerate(labels)}
    data = np.zeros((n, len(labels)))
    for i, row in enumerate(dataset.outputs):
        data[i, [number[label] for label in row]] = 1
    return Table(labels, values, data)


def _beside(inputs, outputs):
    names, values = inputs.names + outputs.names, inputs.values + outputs.values
    if sparse.issparse(inputs.data):
        return names, values, sparse.hstack([inputs.data, sparse.csr_array(outputs.data)], "csr")
    return names, values, np.hstack([inputs.data, outputs.data])
