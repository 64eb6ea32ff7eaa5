# SPDX-License-Identifier: BSD-3-Clause
"""Inputs, outputs and space of a task, as learners take them."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct import spaces
from skstruct.encoding.tables import Table
from skstruct.exceptions import DataFormatError
from skstruct.spaces import Known


def space_for(data: Any) -> Any:
    """The space that a data set's outputs come from, by its task; not yet fitted.

    Parameters
    ----------
    data : Dataset
    """
    if data.task == "classes":
        return spaces.Classes(data.labels)
    if data.task == "labels":
        return spaces.LabelSets(data.labels)
    if data.task == "hierarchy":
        if data.edges is None:
            raise DataFormatError("a hierarchy needs its edges: give a file of them")
        return spaces.Hierarchy(data.edges, data.labels, close=True)
    if data.task == "ranking":
        return spaces.Rankings(data.labels)
    if data.task == "sequence":
        return spaces.Sequences()
    if data.task == "histogram":
        return spaces.Simplex(labels=data.labels)
    if data.task == "ordinal":
        return spaces.Ordinal(data.labels)
    return spaces.Interval() if len(data.labels) == 1 else spaces.Box(labels=data.labels)


def outputs_for_learning(data: Any, labels: Any = None) -> Any:
    """Outputs as ``fit`` and ``score`` read them.

    Parameters
    ----------
    data : Dataset
    labels : tuple of str, default=None
        Items or targets in the order of columns that is wanted; that of the data when None.
    """
    if data.outputs is None:
        raise DataFormatError(
            f"{data.name} has no outputs; say which columns they are (--target NAME)"
        )
    outputs = data.outputs
    if data.task in ("ranking", "regression", "histogram") and labels is not None:
        outputs = _columns(data, labels)
    if data.task == "ranking":  # 0 stands for what was not ranked
        return np.where(outputs == 0, np.nan, outputs.astype(np.float64))
    if data.task == "regression" and outputs.shape[1] == 1:
        return outputs[:, 0]
    return outputs


def check_outputs(data: Any) -> None:
    """Raise where the space of a data set's task does not take its outputs, some parts missing."""
    outputs, space = outputs_for_learning(data), space_for(data)
    if Known.of(space).read_gaps(outputs) is None:
        space.fit(outputs).validate(outputs)


def _columns(data: Any, labels: Any) -> Any:
    """Columns of outputs by name; an item that these data never rank has rank 0."""
    index = {name: j for j, name in enumerate(data.labels)}
    unknown = [name for name in data.labels if name not in set(labels)]
    missing = [name for name in labels if name not in index]
    if unknown or (missing and data.task != "ranking"):
        wrong = f"{unknown[0]!r} is none of them" if unknown else f"{missing[0]!r} is missing"
        raise DataFormatError(
            f"the outputs should be those of training, {', '.join(map(str, labels[:8]))}; {wrong}"
        )
    outputs = np.zeros((len(data), len(labels)), dtype=data.outputs.dtype)
    for j, name in enumerate(labels):
        if name in index:
            outputs[:, j] = data.outputs[:, index[name]]
    return outputs


def inputs_for_learning(inputs: Any, index: Any = None) -> Any:
    """Inputs as ``fit`` and ``predict`` read them.

    Parameters
    ----------
    inputs : Table, or list of sequences
    index : sequence, default=None
        Names of the rows.

    Returns
    -------
    pandas DataFrame, csr_array or list of sequences
        Numbers are floats and names are categories, NaN where missing; a sparse table has a column
        for each of its names. Without pandas, an array of floats, or of objects if there are names.
    """
    if not isinstance(inputs, Table):
        return inputs
    if sparse.issparse(inputs.data):
        return sparse.csr_array(inputs.one_hot()[0])
    try:
        import pandas
    except ImportError:
        return _objects(inputs)
    columns = {
        name: column if values is None else pandas.Categorical.from_codes(_codes(column), values)
        for name, values, column in zip(inputs.names, inputs.values, inputs.data.T)
    }
    rows = pandas.RangeIndex(len(inputs)) if index is None else pandas.Index(list(index))
    return pandas.DataFrame(columns, index=rows, columns=list(inputs.names))


def _codes(column: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(column), -1, column).astype(np.int64)


def _objects(table: Table) -> np.ndarray:
    """Floats, and texts where there are names, None where one is missing."""
    if all(values is None for values in table.values):
        return np.asarray(table.data)
    cells: np.ndarray = table.data.astype(object)
    for j, values in enumerate(table.values):
        if values is not None:
            cells[:, j] = np.array([*values, None], dtype=object)[_codes(table.data[:, j])]
    return cells
