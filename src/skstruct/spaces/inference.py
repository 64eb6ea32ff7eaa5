# SPDX-License-Identifier: BSD-3-Clause
"""The space that outputs without a name for it seem to come from."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.classes import Classes
from skstruct.spaces.label_sets import LabelSets


def infer_space(y) -> BaseSpace:
    """Classes for one label per row, label sets for indicator rows or rows of names.

    >>> infer_space(["cat", "dog"]), infer_space([{"cat"}, set()])
    (Classes(), LabelSets())
    """
    if is_pandas(y, "DataFrame") or sparse.issparse(y):
        return LabelSets()
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return Classes()
    if len(y) == 0:
        raise ValueError("y has no rows.")
    first = y.iloc[0] if is_pandas(y, "Series") else y[0]
    several = isinstance(first, (list, tuple, set, frozenset, np.ndarray))
    return LabelSets() if several else Classes()
