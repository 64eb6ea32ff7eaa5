# SPDX-License-Identifier: BSD-3-Clause
"""The space that outputs without a name for it seem to come from."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.classes.space import Classes
from skstruct.spaces.common.formats import is_missing_name
from skstruct.spaces.label_sets.space import LabelSets


def infer_space(y: Any, quantities: bool = False) -> BaseSpace:
    """Classes for one label per row, label sets for indicator rows or rows of names.

    Numbers that are not whole are quantities: an interval, or a box where there are several
    per row. So are all numbers where ``quantities`` says that the loss is one of quantities.

    >>> infer_space(["cat", "dog"]), infer_space([{"cat"}, set()]), infer_space([0.5, 1.0])
    (Classes(), LabelSets(), Interval())
    """
    y = in_memory(y)
    if is_pandas(y, "DataFrame") and y.shape[1] == 1 and y.dtypes.iloc[0].kind not in "biuf":
        y = y.iloc[:, 0]  # of names, or of lists of them
    if quantities or _are_fractions(y):
        from skstruct.spaces.quantities.boxes import Box, Interval

        return Interval() if np.ndim(y) == 1 or np.shape(y)[1] == 1 else Box()
    if is_pandas(y, "DataFrame") or sparse.issparse(y):
        return LabelSets()
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return Classes()
    if len(y) == 0:
        raise ValueError("y has no rows.")
    if type(y).__name__ == "Censored":
        from skstruct.spaces.quantities.boxes import Box, Interval

        return Interval() if np.ndim(y.low) == 1 else Box()
    rows = y.tolist() if is_pandas(y, "Series") else y
    given = (row for row in rows if not is_missing_name(row))
    first = next(given, rows[0])
    if isinstance(first, (set, frozenset)) and any(isinstance(row, str) for row in given):
        return Classes()  # names, and sets of names of which one is meant
    several = isinstance(first, (list, tuple, set, frozenset, dict, np.ndarray))
    return LabelSets() if several else Classes()


def _are_fractions(y: Any) -> bool:
    """Whether these are floating point numbers, some of them not whole, all of them finite."""
    if sparse.issparse(y):
        return False
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths
        return False
    if values.dtype.kind != "f" or values.ndim not in (1, 2):
        return False
    values = values[~np.isnan(values)]  # gaps
    return bool(np.isfinite(values).all() and (values != np.rint(values)).any())
