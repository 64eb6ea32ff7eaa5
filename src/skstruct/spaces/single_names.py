# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are one name per row, in the user's own form: lists, arrays, series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.optional import is_pandas
from skstruct.spaces.classes import holding, is_missing
from skstruct.spaces.forms import plain_name, unknown_label


@dataclass(frozen=True)
class SingleNameForm:
    """How names were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "series" or "categorical"
    dtype: Any = None
    name: Any = None  # of a series

    def write(self, numbers: np.ndarray, labels: tuple, index=None):
        """The names of these numbers in this form."""
        known = name_array(labels)
        names, dtype = known[numbers], None if self.dtype is None else holding(known, self.dtype)
        if self.kind == "array":
            return names if dtype is None else names.astype(dtype)
        import pandas

        if self.kind == "categorical":
            return pandas.Categorical(names, dtype=dtype)
        return pandas.Series(names, index=index, name=self.name, dtype=dtype)


def read_single_names(Y, *, used_by: str, what: str) -> tuple[list, SingleNameForm]:
    """The names in ``Y`` one by one, as Python's own objects, and the form they came in."""
    form = SingleNameForm()
    if is_pandas(Y, "DataFrame"):
        if Y.shape[1] != 1:
            raise ValueError(_not_one(Y, used_by, what))
        Y = Y.iloc[:, 0]
    if is_pandas(Y, "Series"):
        form = SingleNameForm("series", Y.dtype, Y.name)
    elif is_pandas(Y, "Categorical"):
        form = SingleNameForm("categorical", Y.dtype)
    elif isinstance(Y, np.ndarray):
        if Y.ndim == 2 and Y.shape[1] == 1:
            Y = Y[:, 0]
        if Y.ndim != 1:
            raise ValueError(_not_one(Y, used_by, what))
        form = SingleNameForm("array", Y.dtype if Y.dtype.kind in "biuf" else None)
    plain = Y.tolist() if hasattr(Y, "tolist") else list(Y)
    names = list(map(plain_name, plain))
    if not names:
        raise ValueError(f"{used_by}: Y has no rows.")
    column = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):  # NumPy would look into tuples
        column[i] = name
    missing = np.flatnonzero(is_missing(column))
    if len(missing):
        raise ValueError(f"{used_by}: Y[{missing[0]}] is {names[missing[0]]}, not a {what}.")
    return names, form


def _not_one(Y, used_by: str, what: str) -> str:
    return (
        f"{used_by} expects one {what} per sample; Y has shape {np.shape(Y)}. "
        "Use LabelSets for several labels per sample."
    )


def numbers_of(names: list, labels: tuple, used_by: str) -> np.ndarray:
    """Positions of the names in ``labels``; int64 of shape (n,)."""
    number = {name: j for j, name in enumerate(labels)}
    for i, name in enumerate(names):
        try:
            known = name in number
        except TypeError:  # what cannot be hashed is no label
            known = False
        if not known:
            raise ValueError(unknown_label(f"Y[{i}] is", name, labels, used_by))
    return np.array([number[name] for name in names], dtype=np.int64)


def name_array(names: tuple) -> np.ndarray:
    """Names as an array of numbers or of text, else of objects: tuples stay tuples."""
    for kinds in ((str,), (bool,), (int,), (int, float)):
        if all(type(name) in kinds for name in names):
            return np.array(names)
    array = np.empty(len(names), dtype=object)
    for j, name in enumerate(names):
        array[j] = name
    return array
