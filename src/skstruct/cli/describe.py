# SPDX-License-Identifier: BSD-3-Clause
"""A data set in a few words."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.datasets.table import Table


def description(data) -> dict:
    """What a Dataset holds, for people and machines."""
    told = {"name": data.name, "format": data.format, "task": data.task, "rows": len(data)}
    if isinstance(data.inputs, Table):
        told |= _of_table(data.inputs)
    else:
        told["positions"] = int(sum(len(sequence) for sequence in data.inputs))
    if data.labels is not None:
        told["outputs"] = len(data.labels)
        names = [str(name) for name in data.labels[:8]]
        told["names"] = names + (["..."] if len(data.labels) > len(names) else [])
    if data.edges is not None:
        told["edges"] = len(data.edges)
    if data.task in ("labels", "hierarchy") and data.outputs is not None and len(data):
        told["labels_per_row"] = round(float(np.mean([len(row) for row in data.outputs])), 2)
    told["remarks"] = list(data.remarks)
    return told


def _of_table(table):
    X = table.data
    cells = X.data if sparse.issparse(X) else X
    return {
        "columns": len(table.names),
        "nominal_columns": sum(values is not None for values in table.values),
        "sparse": bool(sparse.issparse(X)),
        "missing_cells": int(np.isnan(cells).sum()),
    }
