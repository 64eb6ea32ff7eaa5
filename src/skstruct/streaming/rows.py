# SPDX-License-Identifier: BSD-3-Clause
"""Rows of whatever holds rows: arrays, sparse matrices, frames, tensors, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas
from skstruct._arrays.sparse_rows import narrow_indices
from skstruct.backends import is_tensor


def count_rows(value) -> int:
    """How many rows there are."""
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape else len(value)


def sliceable(value) -> Any:
    """The same rows in a form of which rows can be taken: sparse formats become CSR."""
    return value.tocsr() if sparse.issparse(value) and value.format != "csr" else value


def take_rows(value, rows) -> Any:
    """Rows by a slice or an array of numbers; None stays None.

    >>> take_rows(["a", "b", "c"], np.array([0, 2]))
    ['a', 'c']
    """
    if value is None:
        return None
    if is_pandas(value, "DataFrame", "Series", "Index"):
        return value.iloc[rows] if hasattr(value, "iloc") else value[rows]
    if isinstance(value, (list, tuple)):
        return list(value[rows]) if isinstance(rows, slice) else [value[i] for i in rows]
    return value[rows]


def join_rows(values: list) -> Any:
    """One after another; all are of one kind.

    >>> join_rows([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    first = values[0]
    if len(values) == 1 or first is None:
        return first
    if is_pandas(first, "DataFrame", "Series"):
        import pandas

        return pandas.concat(values)
    if sparse.issparse(first):
        return narrow_indices(sparse.vstack(values, format="csr"))
    if is_tensor(first):
        import torch

        return torch.cat(values)
    if isinstance(first, (list, tuple)):
        return [row for part in values for row in part]
    return np.concatenate(values)
