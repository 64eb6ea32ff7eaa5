# SPDX-License-Identifier: BSD-3-Clause
"""The space of a task, and outputs of a file in the form that this space reads."""

from __future__ import annotations

import numpy as np

from skstruct import spaces
from skstruct.exceptions import DataFormatError


def space_for(data):
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


def outputs_for_learning(data, labels=None):
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


def _columns(data, labels):
    """Columns of outputs by name; an item that these data never rank has rank 0."""
    place = {name: j for j, name in enumerate(data.labels)}
    unknown = [name for name in data.labels if name not in set(labels)]
    missing = [name for name in labels if name not in place]
    if unknown or (missing and data.task != "ranking"):
        wrong = f"{unknown[0]!r} is none of them" if unknown else f"{missing[0]!r} is missing"
        raise DataFormatError(
            f"the outputs should be those of training, {', '.join(map(str, labels[:8]))}; {wrong}"
        )
    outputs = np.zeros((len(data), len(labels)), dtype=data.outputs.dtype)
    for j, name in enumerate(labels):
        if name in place:
            outputs[:, j] = data.outputs[:, place[name]]
    return outputs
