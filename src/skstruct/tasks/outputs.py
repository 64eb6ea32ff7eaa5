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
    return spaces.Interval() if data.outputs.shape[1] == 1 else spaces.Box(labels=data.labels)


def outputs_for_learning(data):
    """Outputs as ``fit`` and ``score`` read them.

    Parameters
    ----------
    data : Dataset
    """
    if data.outputs is None:
        raise DataFormatError(
            f"{data.name} has no outputs; say which columns they are (--target NAME)"
        )
    if data.task == "ranking":  # 0 stands for what was not ranked
        return np.where(data.outputs == 0, np.nan, data.outputs.astype(np.float64))
    if data.task == "regression" and data.outputs.shape[1] == 1:
        return data.outputs[:, 0]
    return data.outputs
