# SPDX-License-Identifier: BSD-3-Clause
"""Quantities in the user's own form: numbers, arrays, series and frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas
from skstruct.spaces.forms import match_columns


@dataclass(frozen=True)
class QuantityForm:
    """How quantities were written: what ``write`` gives back."""

    kind: str = "array"  # "array" (n, d), "vector" (n,), "frame" or "series"
    dtype: Any = np.float64
    columns: Any = None  # of a frame, in the user's order
    name: Any = None  # of a series

    def write(self, Z: np.ndarray, labels: tuple, index=None):
        """Canonical rows (n, d) in this form."""
        Z = np.asarray(Z).astype(self.dtype, copy=False)
        if self.kind == "array":
            return Z
        if self.kind == "vector":
            return Z[:, 0]
        import pandas

        if self.kind == "series":
            return pandas.Series(Z[:, 0], index=index, name=self.name)
        frame = pandas.DataFrame(Z, index=index, columns=list(labels))[list(self.columns)]
        frame.columns = self.columns
        return frame


def read_quantities(Y, labels: tuple | None, *, used_by: str):
    """Finite numbers (n, d), the names of their columns, and the form they came in.

    Parameters
    ----------
    Y : numbers, one or several per row: array, list, series or frame
    labels : names of the columns, or None to take them from Y
    """
    if is_pandas(Y, "DataFrame"):
        if labels is None:
            labels = tuple(Y.columns)
        labels, ordered = match_columns(Y, labels, used_by)
        form = QuantityForm("frame", _floating(ordered.to_numpy().dtype), Y.columns)
        return _finite(ordered.to_numpy(), labels, used_by), labels, form
    if sparse.issparse(Y):
        Y = Y.toarray()
    is_series = is_pandas(Y, "Series")
    values = _numbers(Y, used_by)
    form = QuantityForm("array", _floating(values.dtype))
    if values.ndim == 1:
        kind = "series" if is_series else "vector"
        form = QuantityForm(kind, form.dtype, name=Y.name if is_series else None)
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(
            f"{used_by} expects a row of numbers for each sample; Y has shape {values.shape}."
        )
    if labels is None:
        labels = tuple(range(values.shape[1]))
    if values.shape[1] != len(labels):
        raise ValueError(
            f"{used_by} expects {len(labels)} numbers in each row of Y; got shape {values.shape}."
        )
    return _finite(values, labels, used_by), tuple(labels), form


def _numbers(Y, used_by):
    try:
        values = np.asarray(Y)
    except ValueError:
        raise ValueError(f"{used_by}: the rows of Y differ in length.") from None
    if values.dtype.kind in "USO":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            at, value = next((i, v) for i, v in np.ndenumerate(values) if not _is_number(v))
            place = ", ".join(map(str, at))
            raise ValueError(f"{used_by} expects numbers; Y[{place}] is {value!r}.") from None
    if values.dtype.kind in "mM":
        raise ValueError(f"{used_by} expects numbers; Y holds {values.dtype}: say in which unit.")
    if values.dtype.kind == "c":
        raise ValueError(f"{used_by}: Complex data not supported.")
    if len(np.atleast_1d(values)) == 0:
        raise ValueError(f"{used_by}: Y has no rows.")
    return np.atleast_1d(values)


def _is_number(value) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None  # becomes NaN
    return True


def _floating(dtype):
    return dtype if dtype == np.float32 else np.dtype(np.float64)


def _finite(values, labels, used_by):
    try:
        values = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{used_by} expects numbers in all columns of Y.") from None
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        place = f"Y[{row}]" if len(labels) == 1 else f"Y[{row}], column {labels[column]!r},"
        raise ValueError(
            f"{used_by}: {place} is {values[row, column]}; NaN and infinity are not quantities."
        )
    return values
