# SPDX-License-Identifier: BSD-3-Clause
"""Rows of whose outputs all parts were looked at, where a promise needs such."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from skstruct._arrays.methods import warn_caller
from skstruct.spaces.truth import Truth, read_truth

LEFT_OUT = (
    "rows of which parts are missing were left out: what is learned holds for rows like the others"
)


def whole_rows(used_by: str, space: Any, X: Any, y: Any, *others: Any) -> tuple[Any, ...]:
    """Inputs, outputs in canonical form, and what else there is of rows of which all was looked at.

    What follows from values does not count: a hierarchy whose root is out is known as a whole, so
    that rows of few labels would be kept more often than others.

    Parameters
    ----------
    used_by : str
        Begins the warning that says how many rows were left out.
    space : fitted space
    X, y : inputs, and outputs of which parts may be missing
    *others : sequences with an entry for each row, or None

    Returns
    -------
    X, outputs, *others
        As they came where nothing is missing.
    """
    truth = read_truth(space, y)
    seen = _looked_at(truth)
    if seen.all():
        return X, truth.outputs, *others
    check_consistent_length(X, truth.outputs)
    rows = np.flatnonzero(seen)
    if not len(rows):
        raise ValueError(
            f"{used_by}: no row of y is known as a whole without what follows from other parts; "
            "give some rows in which every part was looked at."
        )
    warn_caller(f"{used_by}: {len(truth) - len(rows):,} of {len(truth):,} {LEFT_OUT}.")
    kept = [None if part is None else _safe_indexing(part, rows) for part in others]
    return _safe_indexing(X, rows), truth.outputs[rows], *kept


def _looked_at(truth: Truth) -> np.ndarray:
    """Of which rows all parts were given; shape (n,)."""
    if truth.looked_at is not None:
        return np.asarray(truth.looked_at.all(axis=1))
    outputs = np.reshape(truth.outputs, (len(truth), -1))
    return np.asarray(
        (outputs == outputs).all(axis=1)
    )  # items of a ranking that are not ranked are NaN
